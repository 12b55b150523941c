package erasures_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog/tree"
)

// A panelLog is a log in which people are erased.
type panelLog struct {
	t     *testing.T
	owner *pgxpool.Pool
	pool  *pgxpool.Pool
	keys  *sealing.Keyring
	dir   string
}

func newPanelLog(t *testing.T) *panelLog {
	t.Helper()
	url := eventstoretest.URL(t)
	return &panelLog{t, eventstoretest.Owner(t, url), eventstoretest.Pool(t, url), eventstoretest.Keys(t), t.TempDir()}
}

// erases records the erasure of a new person.
func (l *panelLog) erases() uuid.UUID {
	l.t.Helper()
	subject := uuid.New()
	_, err := l.owner.Exec(l.t.Context(), `
		insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data, meta, recorded_at, hash)
		select coalesce(max(position), 0) + 1, 'subject-' || $1::text, 1, gen_random_uuid(), 'subject.erased', 1,
			'user:1', gen_random_uuid(), 'request:x', '',
			'{}', '{}', business_clock(), sha256('x') from events`, subject)
	if err != nil {
		l.t.Fatal(err)
	}
	return subject
}

func (l *panelLog) seals() {
	l.t.Helper()
	if _, err := l.sealer().Seal(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

func (l *panelLog) sealer() *tree.Sealer {
	return tree.NewSealer(l.pool, l.keys, func() string { return "panel.example/audit/log" }, "")
}

func (l *panelLog) file(name string) string { return filepath.Join(l.dir, name) }

// book is that of one process.
func (l *panelLog) book(names ...string) *erasures.Book {
	for i, name := range names {
		names[i] = l.file(name)
	}
	return erasures.NewBook(l.pool, l.keys, slog.New(slog.DiscardHandler), names...)
}

func (l *panelLog) keeps(b *erasures.Book) {
	l.t.Helper()
	of, err := b.Keep(l.t.Context())
	for _, o := range of {
		err = errors.Join(err, o.Err)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// has checks that a file has these erasures and no other, signed by this log.
func (l *panelLog) has(name string, subjects ...uuid.UUID) erasures.List {
	l.t.Helper()
	list, err := erasures.Read(l.file(name))
	if err != nil {
		l.t.Fatal(err)
	}
	o, err := tree.Open(l.pool).Current(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	if err := list.SignedBy([]string{o.VKey}); err != nil || len(list.Erasures) != len(subjects) {
		l.t.Errorf("%s has %d of %d erasures, %v", name, len(list.Erasures), len(subjects), err)
	}
	for i, e := range list.Erasures {
		if i < len(subjects) && e.Subject != subjects[i] {
			l.t.Errorf("%s: erasure %d is that of another person", name, i)
		}
	}
	return list
}

// The list is derived from the log, so it has erasures of any process and any time.
func TestEachFileHasEveryErasureOfTheLog(t *testing.T) {
	t.Parallel()
	l := newPanelLog(t)
	before := l.erases()
	one, other := l.book("one", "shared"), l.book("other", "shared")
	if of, err := one.Keep(t.Context()); err != nil || len(of) != 0 {
		t.Errorf("before the first seal: %v, %v", of, err)
	}
	l.seals()
	l.keeps(one)
	l.has("one", before)
	later := l.erases()
	l.keeps(other)
	l.has("other", before, later)
	l.has("shared", before, later)
	l.has("one", before)
	l.keeps(one)
	l.has("one", before, later)
	if err := os.Remove(l.file("one")); err != nil {
		t.Fatal(err)
	}
	l.keeps(one)
	l.has("one", before, later)
	if _, err := l.sealer().BeginAnew(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	l.keeps(other)
	if list := l.has("shared", before, later); len(list.Keys) != 2 {
		t.Errorf("an older backup does not know the key of this list: %v", list.Keys)
	}
}

// While processes erase and write the same file, each reader of it sees a whole list.
func TestProcessesWriteOneFileAtATime(t *testing.T) {
	t.Parallel()
	l := newPanelLog(t)
	all := []uuid.UUID{l.erases()}
	l.seals()
	l.keeps(l.book("shared"))
	var writing sync.WaitGroup
	for range 4 {
		process := *l
		process.pool = eventstoretest.Pool(t, l.owner.Config().ConnString())
		b := process.book("shared")
		writing.Go(func() {
			for range 10 {
				if of, err := b.Keep(context.Background()); err != nil || len(of) != 1 || of[0].Err != nil {
					t.Error(of, err)
				}
			}
		})
	}
	for last := 0; len(all) < 20; all = append(all, l.erases()) {
		list, err := erasures.Read(l.file("shared"))
		if err != nil || len(list.Erasures) < last {
			t.Fatalf("%d erasures after %d: %v", len(list.Erasures), last, err)
		}
		last = len(list.Erasures)
	}
	writing.Wait()
	l.keeps(l.book("shared"))
	l.has("shared", all...)
	if left, err := os.ReadDir(l.dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// What the file knows and the database does not is never lost: the database may be older.
func TestAnOlderDatabaseForgetsNoErasure(t *testing.T) {
	t.Parallel()
	l := newPanelLog(t)
	first, second := l.erases(), l.erases()
	l.seals()
	b := l.book("kept")
	l.keeps(b)
	if _, err := l.owner.Exec(t.Context(), `alter table events disable trigger user; delete from events where position = 2`); err != nil {
		t.Fatal(err)
	}
	third := l.erases()
	l.keeps(b)
	l.has("kept", first, second, third)
	again := &eraser{}
	if n, err := b.ApplyKept(t.Context(), again); err != nil || n != 1 || len(again.erased) != 1 || again.erased[0] != second {
		t.Errorf("%d are erased again: %v, %v", n, again.erased, err)
	}
	again.fails = true
	if _, err := b.ApplyKept(t.Context(), again); err == nil || !strings.Contains(err.Error(), second.String()) {
		t.Errorf("an erasure that fails: %v", err)
	}
}

// A damaged file, and one of another panel, are put aside: they may be needed.
func TestAFileThatIsNotOursIsPutAside(t *testing.T) {
	t.Parallel()
	stranger, l := newPanelLog(t), newPanelLog(t)
	stranger.dir = l.dir
	stranger.erases()
	stranger.seals()
	stranger.keeps(stranger.book("kept"))
	subject := l.erases()
	l.seals()
	b := l.book("kept")
	if n, err := b.ApplyKept(t.Context(), &eraser{}); err != nil || n != 0 {
		t.Errorf("%d people of another panel are erased, %v", n, err)
	}
	l.keeps(b)
	l.has("kept", subject)
	if err := os.WriteFile(l.file("kept"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := b.ApplyKept(t.Context(), &eraser{}); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	l.keeps(b)
	l.has("kept", subject)
	if aside, err := filepath.Glob(l.file("kept.*")); err != nil || len(aside) != 2 {
		t.Errorf("%v, %v", aside, err)
	}
}

// One file that cannot be written keeps no other from being complete.
func TestAPlaceThatIsAwayIsTold(t *testing.T) {
	t.Parallel()
	l := newPanelLog(t)
	subject := l.erases()
	l.seals()
	b := l.book("gone/kept", "kept")
	told := func(away bool) {
		t.Helper()
		of, err := b.Keep(t.Context())
		if err != nil || len(of) != 2 || (of[0].Err != nil) != away || of[1].Err != nil {
			t.Errorf("%v, %v", of, err)
		}
		l.has("kept", subject)
	}
	told(true)
	if err := os.Mkdir(l.file("gone"), 0o700); err != nil {
		t.Fatal(err)
	}
	told(false)
	l.has("gone/kept", subject)
}

// An eraser notes whom it was asked to erase.
type eraser struct {
	erased []uuid.UUID
	fails  bool
}

func (e *eraser) EraseSubject(_ context.Context, subject uuid.UUID) error {
	if e.fails {
		return errors.New("not now")
	}
	e.erased = append(e.erased, subject)
	return nil
}
