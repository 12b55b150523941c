package tree_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/eventstore/tlog/witness"
)

// A switched witness can be away. It counts how often it is asked.
type switched struct {
	*witness.Witness
	url   string
	away  atomic.Bool
	asked atomic.Int64
	hold  chan struct{} // nil: it answers at once
}

func newSwitched(t *testing.T, name, vkey string) *switched {
	t.Helper()
	of, err := witness.Open(filepath.Join(t.TempDir(), name), name, []string{vkey}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = of.Close() })
	w := &switched{Witness: of}
	handler := of.Handler(slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		if w.hold != nil {
			<-w.hold
		}
		if w.away.Load() {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// A witnessed log has a policy with two witnesses, both needed.
type witnessedLog struct {
	logged
	*tree.Sealer
	one, two *switched
	policy   string
}

func newWitnessedLog(t *testing.T, events int64) *witnessedLog {
	t.Helper()
	l := &witnessedLog{logged: newLogged(t, events)}
	first := l.process()
	l.seals(first)
	o, err := first.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.one, l.two = newSwitched(t, "w1", o.VKey), newSwitched(t, "w2", o.VKey)
	l.policy = "witness one " + l.one.VKey() + " " + l.one.url + "\nwitness two " + l.two.VKey() + " " + l.two.url +
		"\ngroup both all one two\nquorum both\n"
	l.Sealer = l.another()
	return l
}

func (l *witnessedLog) seals(s *tree.Sealer) {
	l.t.Helper()
	if _, err := s.Seal(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// another is a process with the same policy.
func (l *witnessedLog) another() *tree.Sealer {
	return tree.NewSealer(eventstoretest.Pool(l.t, l.url), l.keys, func() string { return "panel.example/audit/log" }, l.policy)
}

// grows adds events, seals them, and asks the witnesses.
func (l *witnessedLog) grows(events int64) (o tree.Origin) {
	l.t.Helper()
	if events > 0 {
		l.add(events)
		l.seals(l.Sealer)
	}
	return l.asks()
}

func (l *witnessedLog) asks() tree.Origin {
	l.t.Helper()
	if err := l.Publish(l.t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		l.t.Fatal(err)
	}
	o, err := l.Current(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

func (l *witnessedLog) publishes(o tree.Origin, size int64) {
	l.t.Helper()
	if o.Published.Size != size {
		l.t.Errorf("%d events are published, want %d", o.Published.Size, size)
	}
	if size == 0 {
		return
	}
	policy, err := tlog.ParsePolicy("log " + o.VKey + "\n" + l.policy)
	if err != nil {
		l.t.Fatal(err)
	}
	if c, err := policy.Check(o.Published.Text); err != nil || c.Size != size {
		l.t.Errorf("the published checkpoint: %+v, %v", c, err)
	}
}

// The quorum of a tree that does not grow comes together over several rounds. A witness
// that was away catches up with one proof.
func TestAQuorumComesTogetherOverSeveralRounds(t *testing.T) {
	t.Parallel()
	l := newWitnessedLog(t, 300)
	l.publishes(l.grows(100), 400)
	l.two.away.Store(true)
	l.grows(10)
	l.publishes(l.grows(10), 400)
	l.two.away.Store(false)
	l.one.away.Store(true)
	l.publishes(l.grows(0), 420)
	l.publishes(l.grows(1), 420)
	l.one.away.Store(false)
	l.publishes(l.grows(700), 1121)
}

// A witness has seen more of the log than the panel remembers: as after a restore of the
// table beside the log.
func TestTheSizeThatAWitnessKnowsIsItsOwn(t *testing.T) {
	t.Parallel()
	l := newWitnessedLog(t, 50)
	l.publishes(l.grows(50), 100)
	l.sql(`truncate log_witnesses`)
	l.publishes(l.grows(50), 150)
	l.sql(`update log_witnesses set size = 1000`)
	l.publishes(l.grows(50), 200)
	l.sql(`update log_witnesses set size = 0; update log_origins set published = '', published_size = 0`)
	l.publishes(l.grows(0), 200)
}

// Of several processes one asks. A new origin is not known to the witnesses: they say so.
func TestOneProcessAsksTheWitnesses(t *testing.T) {
	t.Parallel()
	l := newWitnessedLog(t, 50)
	l.one.hold = make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() { l.publishes(l.asks(), 50) })
	for l.one.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := l.another().Publish(t.Context(), slog.Default()); err != nil {
		t.Error(err)
	}
	close(l.one.hold)
	asking.Wait()
	if n := l.one.asked.Load(); n != 1 {
		t.Errorf("the witness was asked %d times", n)
	}
	if _, err := l.BeginAnew(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	l.seals(l.Sealer)
	o := l.asks()
	l.publishes(o, 0)
	states, err := l.Witnesses(t.Context(), o)
	if err != nil || len(states) != 2 || !strings.Contains(states[0].Trouble, "not known") || states[1].Name != "two" {
		t.Errorf("%+v, %v", states, err)
	}
	if text, witnessed := o.Shown(); witnessed || text != o.Checkpoint {
		t.Errorf("unwitnessed is shown %s", text)
	}
}
