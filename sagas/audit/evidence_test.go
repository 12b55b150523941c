package audit_test

import (
	"archive/zip"
	"bytes"
	"math/rand/v2"
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

// Whatever byte of an event or of its proof is changed, and whatever event is left out or
// moved: the check names it.
func TestAChangedPackIsFound(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	pack, err := w.Audit.Pack(t.Context(), projections.System, of)
	w.Must(err)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	t.Logf("seed %d", seed)
	flipped := func(b []byte) []byte {
		b = bytes.Clone(b)
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		return b
	}
	for what, change := range map[string]func(e *evidence.Event){
		"bytes": func(e *evidence.Event) { e.Bytes = flipped(e.Bytes) },
		"proof": func(e *evidence.Event) {
			proof, checkpoint, _ := strings.Cut(e.Proof, "\n\n")
			e.Proof = string(flipped([]byte(proof))) + "\n\n" + checkpoint
		},
		"position":          func(e *evidence.Event) { e.Position += 100_000 },
		"end of the leaf":   func(e *evidence.Event) { e.Proof = strings.Replace(e.Proof, "==\nindex", "A=\nindex", 1) }, // a byte more
		"line of the proof": func(e *evidence.Event) { e.Proof = strings.Replace(e.Proof, "==\nindex", "==\r\nindex", 1) },
	} {
		for range 50 {
			p := pack
			p.Events = append([]evidence.Event(nil), pack.Events...)
			change(&p.Events[random.IntN(len(p.Events))])
			if r, err := p.Check(nil); err == nil && len(r.Faults) == 0 {
				t.Errorf("changed %s were not found", what)
			}
		}
	}
	p := pack
	p.Events = append([]evidence.Event(nil), pack.Events...)
	for i, e := range p.Events { // whose texts are opened before all faults are told
		p.Events[i].Bytes = bytes.Replace(e.Bytes, []byte(`"}`), []byte(`x}`), 1)
	}
	r, err := p.Check(nil)
	w.Must(err)
	if len(r.Faults) < len(p.Events) {
		t.Errorf("of %d events that hold no JSON any more, %d faults are told", len(p.Events), len(r.Faults))
	}
	p.Events = pack.Events[1:]
	r, err = p.Check(nil)
	w.Must(err)
	want := []int64{0} // the number of events; then each text of the one that is left out
	for _, k := range pack.Keys {
		if k.Position == pack.Events[0].Position {
			want = append(want, k.Position)
		}
	}
	var named []int64
	for _, f := range r.Faults {
		named = append(named, f.Position)
	}
	w.Equal("one event less", named, want)
	p = pack
	p.Keys = append([]evidence.Key(nil), pack.Keys...)
	p.Keys[0].Key = flipped(p.Keys[0].Key)
	r, err = p.Check(nil)
	w.Must(err)
	w.Equal("another key", len(r.Faults), 1)
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
