package audit_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// sealed is a panel with an active order whose events are all in the tree.
func sealed(t *testing.T) (w *sagastest.World, of audit.PackOf) {
	t.Helper()
	w = sagastest.NewWorld(t)
	return w, sealedOrder(w)
}

// sealed is about an active order whose events are all in the tree. The world begins here.
func sealedOrder(w *sagastest.World) audit.PackOf {
	w.T.Helper()
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "ana@example.com", Company: "Ana & Co"})
	w.Buy(sagastest.OrderForm{Email: "ben@example.com"})
	w.Becomes(id, order.StatusActive)
	w.AllTold()
	sealer := tree.NewSealer(w.Pool, w.Store.Keys(), func() string { return "panel.example/audit/log" }, "")
	for {
		n, err := sealer.Seal(w.T.Context())
		w.Must(err)
		if n == 0 {
			return audit.PackOf{Order: id}
		}
	}
}

// A stranger has the files of a pack and nothing else. Each event of the order is in it,
// with what it says of the customer, and nothing about another customer.
func TestAPackProvesAnOrderToAStranger(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	pack, err := w.Audit.Pack(t.Context(), projections.System, of)
	w.Must(err)
	stranger, _ := reopened(w, pack)
	r, err := stranger.Check(nil)
	w.Must(err)
	w.Equal("faults", len(r.Faults), 0)
	w.Equal("events", len(r.Events), w.Count(`select count(*) from events where correlation = $1`, of.Order))
	opened := ""
	for _, e := range r.Events {
		for _, text := range e.Texts {
			opened += text + "\n"
		}
	}
	for _, text := range []string{"ana@example.com", "Ana & Co"} {
		if !strings.Contains(opened, text) || !bytes.Contains(
			pack.Story, []byte(strings.ReplaceAll(text, "&", "\\u0026")),
		) && !bytes.Contains(pack.Story, []byte(text)) {
			t.Errorf("%q is not told", text)
		}
	}
	if strings.Contains(opened, "ben@") || bytes.Contains(pack.Story, []byte("ben@")) {
		t.Error("another customer is told of")
	}
}

// reopened is the pack as it is read from its .zip, and the size of that.
func reopened(w *sagastest.World, pack evidence.Pack) (evidence.Pack, int) {
	w.T.Helper()
	var file bytes.Buffer
	w.Must(pack.Zip(&file))
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	w.Must(err)
	again, err := evidence.Read(z)
	w.Must(err)
	return again, file.Len()
}

// A row that was changed in the database cannot be proven. A pack that was made before
// still proves what was there.
func TestAChangedRowCannotBeProven(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	before, err := w.Audit.Pack(t.Context(), projections.System, of)
	w.Must(err)
	_, err = eventstoretest.Owner(t, w.URL()).Exec(t.Context(), `
		alter table events disable trigger user;
		update events set actor = 'user:999' where position = (select max(position) from events
			where stream = 'order-`+of.Order.String()+`');
		alter table events enable trigger user`)
	w.Must(err)
	after, err := w.Audit.Pack(t.Context(), projections.System, of)
	w.Must(err)
	r, err := after.Check(nil)
	w.Must(err)
	w.Equal("faults", len(r.Faults) > 0, true)
	r, err = before.Check(nil)
	w.Must(err)
	w.Equal("faults of the pack of before", len(r.Faults), 0)
}

// An administrator of a tenant gets evidence of that tenant alone, whatever is asked for.
func TestAPackForATenantHasNothingOfOthers(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	job := w.Provision(of.Order).Job
	own := projections.Caller{User: job.User, Tenant: job.Tenant}
	for _, asked := range []audit.PackOf{{}, {Tenant: job.Tenant}, {Order: of.Order}} {
		pack, err := w.Audit.Pack(t.Context(), own, asked)
		w.Must(err)
		r, err := pack.Check(nil)
		w.Must(err)
		w.Equal("faults", len(r.Faults), 0)
		for _, e := range r.Events {
			w.Equal("tenant of "+e.Name, e.Tenant, job.Tenant)
		}
		w.Equal("another customer is told of", bytes.Contains(pack.Story, []byte("ben@")), false)
	}
	for _, asked := range []audit.PackOf{{Tenant: job.Tenant + 1}, {Order: uuid.New()}} {
		_, err := w.Audit.Pack(t.Context(), own, asked)
		w.Equal("what is foreign", domain.CodeOf(err), domain.NotFound)
	}
}
