//go:build system

package audit_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/eventstore/evidence"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A worker that dies after the pack is stored does not make it again, and one that dies
// before leaves it to the next.
func TestAPackSurvivesTheDeathOfItsWorker(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	seals(w)
	var deaths atomic.Int32
	w.Fault.To(func(p sagas.Point, r sagas.Run) error {
		if strings.HasPrefix(r.Key, "evidence:") && p == sagas.BeforeComplete && deaths.Add(1) == 1 {
			return sagas.ErrKilled
		}
		return nil
	})
	o := pack(w, sagastest.Superuser, of)
	w.Equal("status", o.Status+o.Error, "succeeded")
	w.Equal("deaths", deaths.Load() >= 2, true)
	w.Equal("packs", w.Count(`select count(*) from evidence_packs`), 1)
	r := file(w, sagastest.Superuser, o.ID)
	w.Equal("faults", len(r.Faults), 0)
	var events, size int
	w.Must(json.Unmarshal(o.Result["events"], &events))
	w.Must(json.Unmarshal(o.Result["size"], &size))
	w.Equal("events", events, len(r.Events))
	w.Equal("size", size, w.Count(`select length(file) from evidence_packs`))
	w.Equal("file", string(o.Result["file"]), `"`+audit.PackPath(o.ID)+`"`)
	packs, err := w.Audit.PacksOf(t.Context(), sagastest.Superuser, of.Order)
	w.Must(err)
	w.Equal("on the page of the order", len(packs) == 1 && packs[0].ID == o.ID && packs[0].Status == "succeeded", true)
	_, err = w.Audit.PackFile(t.Context(), projections.Caller{User: 3, Tenant: 5}, o.ID)
	w.Equal("an administrator", domain.CodeOf(err), domain.NotFound)
}

// More events than a pack may have are refused at once, and make no job.
func TestAPackOfTooManyEventsIsRefused(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	_, err := w.Owner().Exec(t.Context(), `
		insert into log_index (position, stream, name, tenant, actor, correlation, recorded_at)
		select n, 'site-' || n, 'x', 7, 'x', gen_random_uuid(), now() - case n when 1 then interval '1 hour'
			else '0' end from generate_series(1, 100001) n`)
	w.Must(err)
	queue := func(of audit.PackOf) error {
		return w.Audit.QueuePack(t.Context(), domain.Metadata{Actor: "operator:1"}, sagastest.Superuser, uuid.New(), of)
	}
	w.Equal("refused", domain.CodeOf(queue(audit.PackOf{Tenant: 7})), domain.Invalid)
	w.Must(queue(audit.PackOf{Tenant: 7, From: w.Runner.Now().Add(-time.Minute * 30)}))
	w.Equal("packs", w.Count(`select count(*) from evidence_packs`), 1)
}

// The bar for a pack of an order of 30 events, without texts and page, stands also in a log
// of a million events that two witnesses cosign, wherever in it the events are
// (docs/benchmarks.md, "Figures that tests hold").
func TestAPackOfAnOrderIsSmallInALargeLog(t *testing.T) {
	t.Parallel()
	w, of := sealed(t)
	pack, err := w.Audit.Pack(t.Context(), projections.System, of)
	w.Must(err)
	pack.Story, pack.Keys = nil, nil
	_, before := reopened(w, pack)
	amongMany(w, &pack, 1_000_000)
	again, size := reopened(w, pack)
	r, err := again.Check(nil)
	w.Must(err)
	w.Equal("faults", len(r.Faults), 0)
	w.Equal("size of the tree", r.Checkpoint.Size, 1_000_000)
	if size*30 > 40_000*len(pack.Events) {
		t.Errorf("%d events take %d bytes, which are more than 40 kB for 30", len(pack.Events), size)
	}
	t.Logf("%d events: %d bytes in a small log, %d among a million", len(pack.Events), before, size)
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
