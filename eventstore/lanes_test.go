package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// inLanes hands events over until the test ends, or stop ends it.
func inLanes(
	t *testing.T, s *eventstore.Store, reader string, names []string,
	handle func(context.Context, eventstore.RecordedEvent) error,
) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.RunLanes(ctx, eventstore.Lanes{Reader: reader, Names: names, Poll: 50 * time.Millisecond, Handle: handle})
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// passes waits until a reader has passed a position. A connection that was lost does not
// end the wait.
func passes(t *testing.T, s *eventstore.Store, reader string, position int64) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(aMinute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var at int64
		if at, err = readerAt(t, s, reader); err == nil && at >= position {
			return
		}
	}
	t.Fatalf("%s stands before %d (%v)", reader, position, err)
}

func readerAt(t *testing.T, s *eventstore.Store, reader string) (position int64, err error) {
	t.Helper()
	err = s.Pool().QueryRow(t.Context(), `select coalesce((select position from readers where name = $1), 0)`, reader).Scan(&position)
	return position, err
}

// A handled notes what was handled, by stream.
type handled struct {
	mu        sync.Mutex
	positions map[domain.Stream][]int64
	names     map[string]int
}

func (h *handled) note(r eventstore.RecordedEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.positions == nil {
		h.positions, h.names = map[domain.Stream][]int64{}, map[string]int{}
	}
	h.positions[r.Stream] = append(h.positions[r.Stream], r.Position)
	h.names[r.Name]++
}

func TestEventsOfAStreamAreHandledInOrderAndOthersArePassed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const streams, each = 20, 30 // more than one batch
	for n := range each {
		for i := range streams {
			do(t, s, putIn{fmt.Sprint(i), 2})
			if n%3 == 0 {
				do(t, s, takeOut{fmt.Sprint(i), 1})
			}
		}
	}
	head, _, err := s.Reader().Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all handled
	inLanes(t, s, "lanes", []string{coinsPut{}.EventName()}, func(_ context.Context, r eventstore.RecordedEvent) error {
		all.note(r)
		return nil
	})
	passes(t, s, "lanes", head)
	all.mu.Lock()
	defer all.mu.Unlock()
	for stream, positions := range all.positions {
		if len(positions) != each || !slices.IsSorted(positions) {
			t.Errorf("%s: %v", stream, positions)
		}
	}
	if len(all.positions) != streams || len(all.names) != 1 {
		t.Errorf("%d streams, events %v", len(all.positions), all.names)
	}
}

// While one stream waits, the others go on. Its own events come in their order when it
// does.
func TestAStreamThatFailsDelaysItsOwnEventsAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	do(t, s, putIn{"bad", 1})  // 1
	do(t, s, putIn{"good", 1}) // 2
	do(t, s, putIn{"bad", 2})  // 3
	var all handled
	failures := make(chan struct{})
	var once sync.Once
	repaired := make(chan struct{})
	inLanes(t, s, "lanes", nil, func(_ context.Context, r eventstore.RecordedEvent) error {
		if r.Stream == tillStream("bad") {
			select {
			case <-repaired:
			default:
				if r.Position == 3 {
					t.Error("the second event came before the first was handled")
				}
				once.Do(func() { close(failures) })
				return errors.New("not yet")
			}
		}
		all.note(r)
		return nil
	})
	<-failures
	if at, err := readerAt(t, s, "lanes"); err != nil || at != 0 {
		t.Errorf("the reader has passed what was not handled: it is at %d (%v)", at, err)
	}
	close(repaired)
	passes(t, s, "lanes", 3)
	all.mu.Lock()
	defer all.mu.Unlock()
	if bad := all.positions[tillStream("bad")]; !slices.Equal(bad, []int64{1, 3}) || len(all.positions[tillStream("good")]) == 0 {
		t.Errorf("handled: %v", all.positions)
	}
}

// A process that dies between what a handler appends and the reader's position hands the
// same events over again. The ids of what follows come from the event, so it happens once.
func TestWhatFollowsFromAnEventHappensOnceThoughItsReaderDies(t *testing.T) { // W-7
	t.Parallel()
	s := newStore(t)
	const events = 20
	for i := range events {
		do(t, s, putIn{fmt.Sprintf("from%d", i), 1})
	}
	follow := func(ctx context.Context, r eventstore.RecordedEvent) error {
		if r.Position > events {
			return nil
		}
		_, err := s.Execute(
			context.WithoutCancel(ctx),
			domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("follow")), Actor: "system:test"},
			putIn{"to" + r.Stream.ID, 1},
		)
		return err
	}
	owner := eventstoretest.Owner(t, s.Pool().Config().ConnString())
	for range 3 { // it dies when some, or all, have appended
		var appended sync.WaitGroup
		appended.Add(5)
		var left sync.Mutex
		n := 5
		stop := inLanes(t, s, "lanes", nil, func(ctx context.Context, r eventstore.RecordedEvent) error {
			err := follow(ctx, r)
			left.Lock()
			defer left.Unlock()
			if n > 0 {
				n--
				appended.Done()
			}
			return err
		})
		appended.Wait()
		if _, err := owner.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_locks
			where relation = 'readers'::regclass and pid <> pg_backend_pid()
			and database = (select oid from pg_database where datname = current_database())`); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, err := owner.Exec(t.Context(), `update readers set position = 0`); err != nil { // whatever was noted is lost
			t.Fatal(err)
		}
	}
	inLanes(t, s, "lanes", nil, follow)
	passes(t, s, "lanes", events)
	for i := range events {
		history, err := s.Read(t.Context(), tillStream("tofrom"+fmt.Sprint(i)))
		if err != nil || len(history) != 1 {
			t.Errorf("event %d was followed %d times (%v)", i, len(history), err)
		}
	}
}

func TestAConnectionThatIsLostAtTheStartDelaysTheEvents(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	do(t, s, putIn{"a", 1})
	owner := eventstoretest.Owner(t, s.Pool().Config().ConnString())
	var lost int
	if err := owner.QueryRow(t.Context(), `select count(pg_terminate_backend(pid, 30000)) from pg_stat_activity
		where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`).Scan(&lost); err != nil || lost == 0 {
		t.Fatalf("%d connections were lost (%v)", lost, err)
	}
	inLanes(t, s, "lanes", nil, func(context.Context, eventstore.RecordedEvent) error { return nil })
	passes(t, s, "lanes", 1)
}

func TestOneProcessAtATimeHandsEventsOver(t *testing.T) { // W-6
	t.Parallel()
	s := newStore(t)
	other := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
	do(t, s, putIn{"a", 1})
	begun, goOn := make(chan struct{}), make(chan struct{})
	stop := inLanes(t, s, "lanes", nil, func(ctx context.Context, _ eventstore.RecordedEvent) error {
		close(begun)
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	<-begun
	came := make(chan int64, 10)
	inLanes(t, other, "lanes", nil, func(_ context.Context, r eventstore.RecordedEvent) error {
		came <- r.Position
		return nil
	})
	select {
	case <-came:
		t.Fatal("both work at once")
	case <-time.After(200 * time.Millisecond):
	}
	stop() // its event was not handled
	if position := <-came; position != 1 {
		t.Errorf("the other began with event %d", position)
	}
	close(goOn)
}

// A look for new events does not read those that the reader has passed.
func TestALookForNewEventsReadsTheNewOnesAlone(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	url := eventstoretest.URL(t)
	owner := eventstoretest.Owner(t, url)
	eventstoretest.Filler(t, owner, 4000)
	if _, err := owner.Exec(t.Context(), `insert into readers (name, position) values ('late', 3990)`); err != nil {
		t.Fatal(err)
	}
	passed := false
	eventstoretest.ReadsAtMost(t, eventstoretest.Pool(t, url), "events", 40, func(tx pgx.Tx) (err error) {
		passed, err = eventstore.Pass(t.Context(), tx, "late", "none.of.these")
		return err
	})
	if !passed {
		t.Error("the reader was not moved")
	}
}

// slowLanes is a store whose transactions Postgres ends when they were idle for 400 ms, and
// hands its events over in batches of 100 ms.
func slowLanes(t *testing.T, handle func(context.Context, eventstore.RecordedEvent) error) *eventstore.Store {
	t.Helper()
	impatient := func(c *pgconn.Config) { c.RuntimeParams["idle_in_transaction_session_timeout"] = "400ms" }
	pool, err := eventstore.Connect(t.Context(), eventstoretest.URL(t), 4, impatient)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := serve(eventstore.Open(pool, facts, eventstoretest.Keys(t), eventstoretest.Caused()))
	for range 12 {
		do(t, s, putIn{"slow", 1})
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.RunLanes(ctx, eventstore.Lanes{
			Reader: "slow", Poll: 50 * time.Millisecond, Batch: 100 * time.Millisecond, Handle: handle,
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func TestSlowHandlingIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	var all handled
	s := slowLanes(t, func(_ context.Context, r eventstore.RecordedEvent) error {
		all.note(r)
		time.Sleep(100 * time.Millisecond) // all of them take longer than Postgres waits
		if r.Position == 1 {
			time.Sleep(time.Second) // and so does one alone
		}
		return nil
	})
	passes(t, s, "slow", 12)
	all.mu.Lock()
	defer all.mu.Unlock()
	if got := all.positions[tillStream("slow")]; len(got) != 12 || !slices.IsSorted(got) {
		t.Errorf("the events came as %v", got)
	}
}

// What is handled in a transaction that is lost ends, before another process reads the same.
func TestHandlingEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	begun, over := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	s := slowLanes(t, func(ctx context.Context, _ eventstore.RecordedEvent) (err error) {
		once.Do(func() {
			close(begun)
			<-ctx.Done()
			err = context.Cause(ctx)
			over <- err
		})
		return err
	})
	<-begun
	var lost int
	if err := eventstoretest.Owner(t, s.Pool().Config().ConnString()).QueryRow(t.Context(), `
		select count(pg_terminate_backend(pid, 30000)) from pg_locks where relation = 'readers'::regclass
			and mode = 'RowShareLock' and database = (select oid from pg_database where datname = current_database())`).
		Scan(&lost); err != nil || lost != 1 {
		t.Fatalf("%d transactions were ended (%v)", lost, err)
	}
	if err := <-over; !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("the first handling ended by %v", err)
	}
	passes(t, s, "slow", 12)
}
