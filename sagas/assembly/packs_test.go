package assembly_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"strings"
	"sync/atomic"
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
	"hostpanel/sagas"
)

// seals keeps the transparency log up to date until the test ends.
func (w *world) seals() {
	sealer := tree.NewSealer(w.pool, w.store.Keys(), func() string { return "panel.example/audit/log" }, "")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := sealer.Seal(w.t.Context()); err != nil && w.t.Context().Err() == nil {
				w.t.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	w.t.Cleanup(func() { close(stop); <-ended })
}

var superuser = projections.Caller{User: 1, Superuser: true}

// pack asks for a pack, and waits for what becomes of it.
func (w *world) pack(who projections.Caller, of audit.PackOf) projections.Operation {
	w.t.Helper()
	id := uuid.New()
	w.must(w.Audit.QueuePack(w.t.Context(), domain.Metadata{Actor: "operator:1"}, who, id, of))
	return w.over(id)
}

// file is what a stranger reads in the file of a pack.
func (w *world) file(who projections.Caller, id uuid.UUID) evidence.Report {
	w.t.Helper()
	file, err := w.Audit.PackFile(w.t.Context(), who, id)
	w.must(err)
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	w.must(err)
	pack, err := evidence.Read(z)
	w.must(err)
	r, err := pack.Check(nil)
	w.must(err)
	return r
}

// A worker that dies after the pack is stored does not make it again, and one that dies
// before leaves it to the next.
func TestAPackSurvivesTheDeathOfItsWorker(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	w.seals()
	var deaths atomic.Int32
	w.fault.to(func(p sagas.Point, r sagas.Run) error {
		if strings.HasPrefix(r.Key, "evidence:") && p == sagas.BeforeComplete && deaths.Add(1) == 1 {
			return sagas.ErrKilled
		}
		return nil
	})
	o := w.pack(superuser, of)
	w.equal("status", o.Status+o.Error, "succeeded")
	w.equal("deaths", deaths.Load() >= 2, true)
	w.equal("packs", w.count(`select count(*) from evidence_packs`), 1)
	r := w.file(superuser, o.ID)
	w.equal("faults", len(r.Faults), 0)
	var events, size int
	w.must(json.Unmarshal(o.Result["events"], &events))
	w.must(json.Unmarshal(o.Result["size"], &size))
	w.equal("events", events, len(r.Events))
	w.equal("size", size, w.count(`select length(file) from evidence_packs`))
	w.equal("file", string(o.Result["file"]), `"`+audit.PackPath(o.ID)+`"`)
	packs, err := w.Audit.PacksOf(t.Context(), superuser, of.Order)
	w.must(err)
	w.equal("on the page of the order", len(packs) == 1 && packs[0].ID == o.ID && packs[0].Status == "succeeded", true)
	_, err = w.Audit.PackFile(t.Context(), projections.Caller{User: 3, Tenant: 5}, o.ID)
	w.equal("an administrator", domain.CodeOf(err), domain.NotFound)
}

// Erasing a person deletes the packs that open their texts, also one that is being made.
func TestErasureDeletesPacks(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	w.seals()
	o := w.pack(superuser, of)
	w.equal("status", o.Status+o.Error, "succeeded")
	subject, err := w.tables.For(projections.System).Order(t.Context(), of.Order)
	w.must(err)
	erase := func() {
		_, err := w.store.ExecuteWith(t.Context(), domain.Metadata{Actor: "operator:1"}, eventstore.EraseRows(subject.Subject), account.EraseSubject{Subject: subject.Subject, At: w.Now()})
		w.must(err)
	}
	erase()
	_, err = w.Audit.PackFile(t.Context(), superuser, o.ID)
	w.equal("the file", domain.CodeOf(err), domain.NotFound)
	after := w.pack(superuser, of)
	w.equal("status", after.Status+after.Error, "succeeded")
	for _, e := range w.file(superuser, after.ID).Events {
		w.equal("texts", len(e.Texts), 0)
	}
}

// A pack that is larger than a file may be is not stored, and the job says so. A smaller one
// of the same panel is.
func TestAPackThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Audit.PackBounds.File = 10_000
	of := w.sealed()
	w.seals()
	for _, c := range []struct {
		of   audit.PackOf
		want string
	}{{audit.PackOf{From: w.Now().Add(-time.Hour)}, "failedpack_too_big"}, {audit.PackOf{Order: of.Order, Tenant: w.provision(of.Order).Job.Tenant}, "succeeded"}} {
		o := w.pack(superuser, c.of)
		w.equal("status", o.Status+o.Error, c.want)
		size := w.count(`select coalesce(length(file), 0) from evidence_packs where operation = $1`, o.ID)
		w.equal("is stored", size > 0 && size <= 10_000, c.want == "succeeded")
	}
}

// More events than a pack may have are refused at once, and make no job.
func TestAPackOfTooManyEventsIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.owner().Exec(t.Context(), `
		insert into log_index (position, stream, name, tenant, actor, correlation, recorded_at)
		select n, 'site-' || n, 'x', 7, 'x', gen_random_uuid(), now() - case n when 1 then interval '1 hour' else '0' end from generate_series(1, 100001) n`)
	w.must(err)
	queue := func(of audit.PackOf) error {
		return w.Audit.QueuePack(t.Context(), domain.Metadata{Actor: "operator:1"}, superuser, uuid.New(), of)
	}
	w.equal("refused", domain.CodeOf(queue(audit.PackOf{Tenant: 7})), domain.Invalid)
	w.must(queue(audit.PackOf{Tenant: 7, From: w.Now().Add(-time.Minute * 30)}))
	w.equal("packs", w.count(`select count(*) from evidence_packs`), 1)
}

// The packs of one owner have a bound: the oldest go first. All go when their day is over.
func TestPacksAreBoundedAndEnd(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	w.seals()
	row := func(tenant any, age string) uuid.UUID {
		id := uuid.New()
		_, err := w.owner().Exec(t.Context(), `insert into evidence_packs (operation, tenant, asked_at, size, file) values ($1, $2, business_now() - $3::interval, $4, 'x')`, id, tenant, age, 64<<20)
		w.must(err)
		return id
	}
	oldest, older, foreign := row(nil, "3 hours"), row(nil, "2 hours"), row(5, "4 hours")
	kept := func(id uuid.UUID) bool {
		return w.count(`select count(*) from evidence_packs where operation = $1`, id) == 1
	}
	o := w.pack(superuser, of)
	w.equal("kept", []bool{kept(oldest), kept(older), kept(foreign), kept(o.ID)}, []bool{false, true, true, true})

	_, err := w.owner().Exec(t.Context(), `update evidence_packs set asked_at = business_now() - interval '25 hours' where operation = $1`, o.ID)
	w.must(err)
	w.must(w.Audit.SweepPacks(t.Context()))
	w.equal("after a day", []bool{kept(older), kept(foreign), kept(o.ID)}, []bool{true, true, false})
}
