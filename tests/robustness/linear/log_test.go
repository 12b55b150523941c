package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// Streams of notes: each event names the command that it came from.
type (
	note struct{ InStream, Command int }
	made struct {
		Command int `json:"command"`
	}
)

func (made) EventName() string       { return "note.made" }
func (made) Says() string            { return "made" }
func (n note) Stream() domain.Stream { return noteStream(n.InStream) }
func noteStream(n int) domain.Stream { return domain.Stream{Category: "note", ID: fmt.Sprint(n)} }

var notes = domain.Decider[struct{}, note, made]{
	Decide: func(_ struct{}, n note) ([]made, error) { return []made{{n.Command}}, nil },
	Evolve: func(s struct{}, _ made) struct{} { return s },
}

var noteEvents = domain.NewCatalogue([]domain.EventType{domain.Register[made]()})

// What clients ask of the log, and what they are told.
type (
	// An adding adds an event to each of its streams, all or none, unless the first
	// stream has another version than is expected; -1: any will do.
	adding struct {
		command  int
		streams  []int
		expected int
		raw      bool // by Append, which knows no commands
	}
	added   struct{ position int64 }
	refused struct{} // the version is another one
	// A reading reads the events after a position, or those of a stream.
	reading struct {
		after  int64
		most   int
		stream int // -1: all
	}
	entry struct {
		position int64
		stream   int
		version  int
		command  int
	}
)

// A journal is the log as it should be: entries in their order, from position 1 on.
type journal struct {
	entries []entry
	digest  uint64
}

func (j journal) version(stream int) (n int) {
	for _, e := range j.entries {
		if e.stream == stream {
			n = e.version
		}
	}
	return n
}

// of is the last position of a command; 0: it is not there.
func (j journal) of(command int) int64 {
	for _, e := range slices.Backward(j.entries) {
		if e.command == command {
			return e.position
		}
	}
	return 0
}

func (j journal) add(a adding) journal {
	for _, stream := range a.streams {
		e := entry{int64(len(j.entries) + 1), stream, j.version(stream) + 1, a.command}
		j.entries = append(slices.Clip(j.entries), e)
		j.digest = j.digest*1099511628211 + uint64(a.command)<<8 + uint64(stream) + 1
	}
	return j
}

func (j journal) read(r reading) (found []entry) {
	for _, e := range j.entries[min(int(r.after), len(j.entries)):] {
		if (r.stream < 0 || r.stream == e.stream) && len(found) < r.most {
			found = append(found, e)
		}
	}
	return found
}

// aLog tells which answers a log may give: a command is added once, at the next
// positions, and every reader sees all that was added before, and nothing else.
var aLog = porcupine.Model{
	Init: func() any { return journal{} },
	Equal: func(a, b any) bool {
		return a.(journal).digest == b.(journal).digest && len(a.(journal).entries) == len(b.(journal).entries)
	},
	Hash: func(state any) uint64 { return state.(journal).digest },
	Step: func(state, asked, answer any) (bool, any) {
		j := state.(journal)
		switch asked := asked.(type) {
		case adding:
			return j.answers(asked, answer)
		case reading:
			return slices.Equal(j.read(asked), answer.([]entry)), j
		}
		return false, j
	},
	DescribeOperation: func(asked, answer any) string { return fmt.Sprintf("%+v: %+v", asked, answer) },
	DescribeState:     func(state any) string { return fmt.Sprint(len(state.(journal).entries), " events") },
}

func (j journal) answers(a adding, answer any) (bool, journal) {
	known := j.of(a.command)
	stale := a.expected >= 0 && a.expected != j.version(a.streams[0])
	told, is := answer.(added)
	switch {
	case known > 0 && !a.raw:
		return is && told.position == known, j
	case stale:
		return answer == refused{}, j
	}
	next := j.add(a)
	return is && told.position == int64(len(next.entries)), next
}

// A notebook is clients of one log, in several processes.
type notebook struct {
	t         *testing.T
	processes []*eventstore.Store
	history   *history
	lie       func(s *eventstore.Store, a adding) (int64, error, bool) // answers in place of the log; nil: nothing does

	mu     sync.Mutex
	doubts []doubt
	last   int // command
}

func newNotebook(t *testing.T, processes ...*eventstore.Store) *notebook {
	for _, s := range processes {
		eventstore.Serve(s, "note", notes)
	}
	return &notebook{t: t, processes: processes, history: newHistory()}
}

const streams = 5

// client makes calls of all kinds, each of them with choices of its own.
func (n *notebook) client(ctx context.Context, id, calls int, random *rand.Rand) {
	s, at := n.processes[id%len(n.processes)], int64(0)
	for range calls {
		switch random.IntN(5) {
		case 0:
			at = n.follow(ctx, id, s, at)
		case 1:
			n.read(ctx, id, s, reading{stream: random.IntN(streams), most: 1 << 30})
		default:
			n.write(ctx, id, s, n.choose(ctx, s, random))
		}
		time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond)
	}
}

// choose draws a command, now and then one that was given before, in this process or in
// another one.
func (n *notebook) choose(ctx context.Context, s *eventstore.Store, random *rand.Rand) adding {
	n.mu.Lock()
	n.last++
	command := n.last
	n.mu.Unlock()
	switch random.IntN(4) {
	case 0: // at the version that was seen a moment ago
		a := newAdding(command)
		version, _, err := s.Reader().Extent(ctx, noteStream(a.streams[0]))
		if err != nil {
			return a
		}
		a.expected = version
		if random.IntN(2) == 0 {
			a.raw, a.command, a.streams = true, -command, a.streams[:1]
		}
		return a
	case 1:
		return newAdding(max(1, command-random.IntN(20)))
	}
	return newAdding(command)
}

// newAdding is the same for each repeat of a command.
func newAdding(command int) adding {
	a := adding{command: command, streams: []int{command % streams}, expected: -1}
	if command%3 == 0 {
		a.streams = append(a.streams, (command+1)%streams)
	}
	return a
}

func (n *notebook) write(ctx context.Context, id int, s *eventstore.Store, a adding) {
	since := n.history.now()
	position, err := n.add(ctx, s, a)
	switch {
	case err == nil:
		n.history.answered(id, a, since, added{position})
	case errors.Is(err, eventstore.ErrConflict) && a.raw, domain.CodeOf(err) == domain.Stale:
		n.history.answered(id, a, since, refused{})
	case errors.Is(err, eventstore.ErrConflict): // too many were faster: nothing is added
	case errors.Is(err, eventstore.ErrUnavailable):
		n.mu.Lock()
		n.doubts = append(n.doubts, doubt{id, a, since})
		n.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	default:
		n.t.Errorf("%+v: %v", a, err)
	}
}

func (n *notebook) add(ctx context.Context, s *eventstore.Store, a adding) (int64, error) {
	if n.lie != nil {
		if position, err, lied := n.lie(s, a); lied {
			return position, err
		}
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, a.command)), Actor: "system:test"}
	if a.raw {
		return s.Append(ctx, cause, noteStream(a.streams[0]), a.expected, nil, made{a.command})
	}
	if a.expected >= 0 {
		cause.ExpectedVersions = domain.Versions{noteStream(a.streams[0]): a.expected}
	}
	var commands []domain.Command
	for _, stream := range a.streams {
		commands = append(commands, note{stream, a.command})
	}
	receipt, err := s.Execute(ctx, cause, commands...)
	return receipt.Position, err
}

// follow reads on from a position, as a reader of the log does.
func (n *notebook) follow(ctx context.Context, id int, s *eventstore.Store, after int64) int64 {
	if found := n.read(ctx, id, s, reading{after: after, most: 10, stream: -1}); len(found) > 0 {
		return found[len(found)-1].position
	}
	return after
}

func (n *notebook) read(ctx context.Context, id int, s *eventstore.Store, r reading) []entry {
	since := n.history.now()
	found, err := readLog(ctx, s, r)
	switch {
	case err == nil:
		n.history.answered(id, r, since, found)
	case !errors.Is(err, eventstore.ErrUnavailable):
		n.t.Errorf("%+v: %v", r, err)
	}
	return found
}

func readLog(ctx context.Context, s *eventstore.Store, r reading) (found []entry, err error) {
	var events []eventstore.RecordedEvent
	if r.stream < 0 {
		events, err = s.Reader().After(ctx, r.after, r.most)
	} else {
		events, err = s.Read(ctx, noteStream(r.stream))
	}
	for _, e := range events {
		stream, _ := strconv.Atoi(e.Stream.ID)
		found = append(found, entry{e.Position, stream, e.Version, e.Event.(made).Command})
	}
	return found, err
}

// work lets clients make their calls, and reads the log at their end.
func (n *notebook) work(clients, calls int, random *rand.Rand) {
	var all sync.WaitGroup
	for id := range clients {
		own := rand.New(rand.NewPCG(random.Uint64(), 1))
		all.Go(func() { n.client(n.t.Context(), id, calls, own) })
	}
	all.Wait()
}

// close reads the whole log and settles what is in doubt.
func (n *notebook) close(quiet *eventstore.Store) {
	n.t.Helper()
	found := n.read(n.t.Context(), 0, quiet, reading{stream: -1, most: 1 << 30})
	last := journal{entries: found}
	happened := n.history.settle(n.doubts, func(asked any) (any, bool) {
		position := last.of(asked.(adding).command)
		return added{position}, position > 0
	})
	n.t.Logf(
		"%d calls, %d events, %d calls without an answer, of which %d took place", len(n.history.calls), len(found),
		len(n.doubts), happened,
	)
}

// Clients of several processes add to streams at versions that they expect, repeat
// commands, and read streams and the log, while connections are cut before and after
// commits and Postgres is killed. One order of all calls explains what they saw.
func TestTheLogIsLinearizable(t *testing.T) {
	rounds(t, func(t *testing.T, random *rand.Rand) {
		f := newField(t, 3, `"command":`)
		n := newNotebook(t, f.stores(noteEvents)...)
		f.during(random, func() { n.work(12, 120, random) })
		n.close(f.quiet(noteEvents))
		n.history.explained(t, aLog)
	})
}

// A log that loses a write, makes it twice, or gives a position that is not its own, has
// a history that no order explains.
func TestALyingLogIsFound(t *testing.T) {
	twice := func(s *eventstore.Store, a adding) (int64, error, bool) {
		n := notebook{}
		if _, err := n.add(t.Context(), s, adding{command: a.command, streams: []int{streams}, expected: -1}); err != nil {
			return 0, err, true
		}
		return 0, nil, false
	}
	lost := func(s *eventstore.Store, _ adding) (int64, error, bool) {
		head, _, err := s.Reader().Head(t.Context())
		return head + 1, err, true
	}
	elsewhere := func(s *eventstore.Store, a adding) (int64, error, bool) {
		n := notebook{}
		position, err := n.add(t.Context(), s, a)
		return position + 1, err, true
	}
	for name, lie := range map[string]func(*eventstore.Store, adding) (int64, error, bool){
		"": nil, "lost": lost, "twice": twice, "elsewhere": elsewhere,
	} {
		s := eventstoretest.Store(t, noteEvents)
		n := newNotebook(t, s)
		n.lie = func(s *eventstore.Store, a adding) (int64, error, bool) {
			if lie == nil || a.command%5 != 0 || a.raw {
				return 0, nil, false
			}
			return lie(s, a)
		}
		n.work(4, 20, rand.New(rand.NewPCG(1, 1)))
		n.close(s)
		if n.history.linearizable(aLog) != (lie == nil) {
			t.Errorf("a log that lies (%s) passes: %v", name, lie != nil)
		}
	}
}
