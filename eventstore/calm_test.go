package eventstore_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// heard keeps what operators would read.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (*heard) Enabled(context.Context, slog.Level) bool { return true }
func (h *heard) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h *heard) WithGroup(string) slog.Handler          { return h }

func (h *heard) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Level > slog.LevelDebug {
		line := r.Level.String() + " " + r.Message
		r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
		h.lines = append(h.lines, line)
	}
	return nil
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

func TestAReaderThatIsStoppedSaysNothing(t *testing.T) {
	var log heard
	s := newStore(t, eventstore.WithLog(slog.New(&log)))
	do(t, s, putIn{"a", 1}, putIn{"a", 2})
	for n := range 24 {
		sub, err := s.Subscriber("restless", eventstore.ReaderOptions{Poll: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		messages, err := sub.Subscribe(ctx, eventstore.Topic)
		if err != nil {
			t.Fatal(err)
		}
		switch n % 3 {
		case 0: // while it holds a message
			next(t, messages)
		case 1: // while it makes a note of what it has read
			next(t, messages).Ack()
		default: // while it asks for more, or before it has
		}
		leave()
		if err := sub.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if lines := log.all(); len(lines) > 0 {
		t.Errorf("%q", lines)
	}
}

func TestAReaderThatLosesItsConnectionSaysSoOnce(t *testing.T) {
	var log heard
	url := eventstoretest.URL(t)
	s := eventstore.Open(
		eventstoretest.Pool(t, url), facts, eventstoretest.Keys(t), eventstore.WithLog(slog.New(&log)),
		eventstoretest.Caused(),
	)
	eventstore.Serve(s, "till", tills)
	do(t, s, putIn{"a", 1})
	messages := follow(t, s, "unlucky")
	owner := eventstoretest.Owner(t, url)
	for loss := 1; loss <= 3; loss++ {
		held := next(t, messages)
		var ended int
		if err := owner.QueryRow(t.Context(), `
			select count(*) from (select pg_terminate_backend(pid, 10000) from pg_stat_activity
			where datname = current_database() and state = 'idle in transaction'
				and query like '%readers%') ended`).Scan(&ended); err != nil || ended != 1 {
			t.Fatal(ended, err)
		}
		held.Ack() // which cannot be noted
		again := next(t, messages)
		if lines := log.all(); len(lines) != loss {
			t.Fatalf("after %d losses: %q", loss, lines)
		}
		again.Nack()
	}
}
