package eventstore

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// Remembered is of how many events of a stream this process has the ids in its cache.
func (s *Store) Remembered(stream domain.Stream) int {
	found, cached := s.states.cache.get(stream)
	if !cached {
		return 0
	}
	return len(found.ids)
}

// Forget empties the cache of states.
func (s *Store) Forget() { s.states.cache = newStateCache() }

// Settled tells whether every snapshot that was due has been written.
func (s *Store) Settled() bool {
	s.states.snapshots.mu.Lock()
	defer s.states.snapshots.mu.Unlock()
	return !s.states.snapshots.busy
}

// Busy is how many requests wait behind the group that is being committed; -1: none is.
func (s *Store) Busy() int {
	s.committer.mu.Lock()
	defer s.committer.mu.Unlock()
	if !s.committer.busy {
		return -1
	}
	return len(s.committer.waiting)
}

const KeysStand = keysStand

const FromSnapshot = fromSnapshot

// Pass moves a reader past events that it does not name, in a transaction of the caller's.
func Pass(ctx context.Context, tx pgx.Tx, reader string, names ...string) (passed bool, err error) {
	err = tx.QueryRow(ctx, passEvents, reader, names, laneWindow).Scan(&passed)
	return passed, err
}

// HashOf returns the hash of an event with these columns; a column that is
// missing is NULL.
func HashOf(previous []byte, columns map[string]string) []byte {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(columns[name], 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	e := row{
		stream: columns["stream"], version: int32(number("version")), id: uuid.MustParse(columns["id"]),
		name: columns["name"], schema: int16(number("schema")), actor: columns["actor"],
		correlation: uuid.MustParse(columns["correlation"]), saga: columns["saga"],
		data: []byte(columns["data"]), meta: []byte(columns["meta"]),
	}
	if _, known := columns["tenant"]; known {
		tenant := number("tenant")
		e.tenant = &tenant
	}
	if causation, known := columns["causation"]; known {
		e.causation = &causation
	}
	return e.chain(previous)
}

// ChainAnew computes the hashes that the events of all streams would have, by their
// positions.
func (r *Reader) ChainAnew(ctx context.Context) (map[int64][]byte, error) {
	rows, _ := r.pool.Query(ctx, `select `+columns+` from events order by position`)
	events, err := pgx.CollectRows(rows, scanRow)
	hashes, last := map[int64][]byte{}, map[string][]byte{}
	for _, e := range events {
		hash := e.chain(last[e.stream])
		hashes[e.position], last[e.stream] = hash, hash
	}
	return hashes, err
}

// VerifyKeeping checks the whole log, and keeps the ends of few streams.
func (r *Reader) VerifyKeeping(ctx context.Context, streams int) (Verdict, error) {
	v := &verifier{Verdict: Verdict{Intact: true}, reader: r, links: links{most: streams}}
	v.asked.Progress = func(int64, int64) {}
	var err error
	if v.HeadPosition, _, err = r.Head(ctx); err == nil {
		err = v.whole(ctx)
	}
	return v.Verdict, err
}

// FoldOf is the fold of a category's snapshots; empty: it has none.
func (s *Store) FoldOf(category string) string { return s.states.categories[category].fold }

// CacheAtMost bounds the cache of states.
func (s *Store) CacheAtMost(bytes int) { s.states.cache.most = bytes }

// WithSince is a context as reactions have it, to events that were read after a moment.
func WithSince(ctx context.Context, moment time.Time) context.Context { return withSince(ctx, moment) }
