package audit_test

import (
	"archive/zip"
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/audit"
	"hostpanel/eventstore"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// seals keeps the transparency log up to date until the test ends.
func seals(w *sagastest.World) {
	sealer := tree.NewSealer(w.Pool, w.Store.Keys(), func() string { return "panel.example/audit/log" }, "")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := sealer.Seal(w.T.Context()); err != nil && w.T.Context().Err() == nil {
				w.T.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	w.T.Cleanup(func() { close(stop); <-ended })
}

// pack asks for a pack, and waits for what becomes of it.
func pack(w *sagastest.World, who projections.Caller, of audit.PackOf) projections.Operation {
	w.T.Helper()
	id := uuid.New()
	w.Must(w.Audit.QueuePack(w.T.Context(), domain.Metadata{Actor: "operator:1"}, who, id, of))
	return w.Over(id)
}

// file is what a stranger reads in the file of a pack.
func file(w *sagastest.World, who projections.Caller, id uuid.UUID) evidence.Report {
	w.T.Helper()
	file, err := w.Audit.PackFile(w.T.Context(), who, id)
	w.Must(err)
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	w.Must(err)
	pack, err := evidence.Read(z)
	w.Must(err)
	r, err := pack.Check(nil)
	w.Must(err)
	return r
}

// Erasing a person deletes the packs that open their texts, also one that is being made.
func TestErasureDeletesPacks(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	seals(w)
	o := pack(w, sagastest.Superuser, of)
	w.Equal("status", o.Status+o.Error, "succeeded")
	subject, err := w.Tables.For(projections.System).Orders().Order(t.Context(), of.Order)
	w.Must(err)
	erase := func() {
		_, err := w.Store.ExecuteWith(
			t.Context(), domain.Metadata{Actor: "operator:1"}, eventstore.EraseRows(subject.Subject),
			account.EraseSubject{Subject: subject.Subject, At: w.Runner.Now()},
		)
		w.Must(err)
	}
	erase()
	_, err = w.Audit.PackFile(t.Context(), sagastest.Superuser, o.ID)
	w.Equal("the file", domain.CodeOf(err), domain.NotFound)
	after := pack(w, sagastest.Superuser, of)
	w.Equal("status", after.Status+after.Error, "succeeded")
	for _, e := range file(w, sagastest.Superuser, after.ID).Events {
		w.Equal("texts", len(e.Texts), 0)
	}
}

// A pack that is larger than a file may be is not stored, and the job says so. A smaller one
// of the same panel is.
func TestAPackThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Audit.PackBounds.File = 10_000
	of := sealedOrder(w)
	seals(w)
	for _, c := range []struct {
		of   audit.PackOf
		want string
	}{
		{audit.PackOf{From: w.Runner.Now().Add(-time.Hour)}, "failedpack_too_big"},
		{audit.PackOf{Order: of.Order, Tenant: w.Provision(of.Order).Job.Tenant}, "succeeded"},
	} {
		o := pack(w, sagastest.Superuser, c.of)
		w.Equal("status", o.Status+o.Error, c.want)
		size := w.Count(`select coalesce(length(file), 0) from evidence_packs where operation = $1`, o.ID)
		w.Equal("is stored", size > 0 && size <= 10_000, c.want == "succeeded")
	}
}

// The packs of one owner have a bound: the oldest go first. All go when their day is over.
func TestPacksAreBoundedAndEnd(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	seals(w)
	row := func(tenant any, age string) uuid.UUID {
		id := uuid.New()
		_, err := w.Owner().Exec(t.Context(), `insert into evidence_packs (operation, tenant, asked_at, size, file)
			values ($1, $2, business_now() - $3::interval, $4, 'x')`, id, tenant, age, 64<<20)
		w.Must(err)
		return id
	}
	oldest, older, foreign := row(nil, "3 hours"), row(nil, "2 hours"), row(5, "4 hours")
	kept := func(id uuid.UUID) bool {
		return w.Count(`select count(*) from evidence_packs where operation = $1`, id) == 1
	}
	o := pack(w, sagastest.Superuser, of)
	w.Equal("kept", []bool{kept(oldest), kept(older), kept(foreign), kept(o.ID)}, []bool{false, true, true, true})

	_, err := w.Owner().Exec(
		t.Context(), `update evidence_packs set asked_at = business_now() - interval '25 hours' where operation = $1`,
		o.ID,
	)
	w.Must(err)
	w.Must(w.Audit.SweepPacks(t.Context()))
	w.Equal("after a day", []bool{kept(older), kept(foreign), kept(o.ID)}, []bool{true, true, false})
}
