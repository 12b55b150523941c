package erasures

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/note"

	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/eventstore/wholefile"
)

const (
	// renewed is how old a file becomes in which nothing is missing.
	renewed = 10 * time.Minute
	// looked is how long other processes take to see an erasure.
	looked = 5 * time.Second
	// patience bounds the writing of the files.
	patience = 15 * time.Second
	// unlocking bounds the end of the lock, also for a caller that has left.
	unlocking = 5 * time.Second
)

// A Book keeps the list of erasures in files. It is derived from the log, so each
// process writes the whole list, whichever process has erased. Files of several
// processes may be the same one: a lock of the database lets one write at a time.
type Book struct {
	pool   *pgxpool.Pool
	keys   *sealing.Keyring
	log    *slog.Logger
	places []string

	mu     sync.Mutex
	kept   int       // erasures that all files had lastly
	keptAt time.Time // business time
}

// NewBook makes a book that is kept in the files at places.
func NewBook(pool *pgxpool.Pool, keys *sealing.Keyring, log *slog.Logger, places ...string) *Book {
	return &Book{pool: pool, keys: keys, log: log, places: places}
}

// An Outcome says why a file could not be written; nil: it has the whole list.
type Outcome struct {
	File string
	Err  error
}

// Keep writes what is missing in the files, and tells the outcome for each. Before the
// log has a key, which it gets with its first seal, nothing is written or told.
func (b *Book) Keep(ctx context.Context) (of []Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	err = b.alone(ctx, func() error {
		now, signers, err := b.present(ctx)
		if err != nil || len(signers) == 0 {
			return err
		}
		whole := true
		for _, place := range b.places {
			err := b.keepIn(ctx, place, now, signers)
			of, whole = append(of, Outcome{place, err}), whole && err == nil
		}
		if whole {
			b.kept, b.keptAt = len(now.Erasures), now.Until
		}
		return nil
	})
	if err != nil {
		return of, fmt.Errorf("keep the list of erasures: %w", err)
	}
	return of, nil
}

// alone does something while no other process does. The lock belongs to a connection and
// to no transaction: files may be slow.
func (b *Book) alone(ctx context.Context, do func() error) error {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext('hostpanel erasures'))`); err != nil {
		return err
	}
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlocking)
		defer cancel()
		if _, err := conn.Exec(after, `select pg_advisory_unlock(hashtext('hostpanel erasures'))`); err != nil {
			_ = conn.Conn().Close(after) // the lock ends with it
		}
	}()
	return do()
}

// present is the list that the log gives now, and what signs it: the keys of all origins,
// so that an older backup knows one of them.
func (b *Book) present(ctx context.Context) (l List, signers []note.Signer, err error) {
	if l, err = ofLog(ctx, b.pool); err != nil {
		return l, nil, err
	}
	origins, err := tree.Open(b.pool).Origins(ctx)
	if err != nil {
		return l, nil, err
	}
	for _, o := range origins {
		signer, err := o.Signer(b.keys)
		if err != nil {
			return l, nil, err
		}
		if signer != nil {
			signers, l.Keys, l.Origin = append(signers, signer), append(l.Keys, o.VKey), o.Name
		}
	}
	return l, signers, nil
}

// keepIn writes one file, unless nothing is missing in it. What the file has and the log
// has not stays in the list: the log may come from an older backup.
func (b *Book) keepIn(ctx context.Context, place string, now List, signers []note.Signer) error {
	kept, err := Read(place)
	if err == nil {
		err = kept.SignedBy(now.Keys)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, ErrList), errors.Is(err, ErrOther):
		if kept, err = (List{}), b.putAside(ctx, place, err); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	all := Merge(kept, now)
	if len(all.Erasures) == len(kept.Erasures) && slices.Equal(kept.Keys, now.Keys) && now.Until.Sub(kept.Until) < renewed {
		return nil
	}
	text, err := all.Sign(signers...)
	if err != nil {
		return err
	}
	return wholefile.Write(place, text)
}

// putAside renames a file that is not ours or is damaged.
func (b *Book) putAside(ctx context.Context, place string, because error) error {
	text, err := os.ReadFile(place)
	if err != nil {
		return err
	}
	aside := fmt.Sprintf("%s.%.4x", place, sha256.Sum256(text))
	b.log.ErrorContext(ctx, "a list of erasures is put aside and written anew", "file", aside, "error", because, "alarm", true)
	return os.Rename(place, aside)
}

type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// subjectStreams are the streams "subject-<uuid>", by the unique index of the log. Each
// has one event: the erasure.
const subjectStreams = `from events where stream >= 'subject-' and stream < 'subject.' and name = 'subject.erased'`

// ofLog is the list of all erasures in the log.
func ofLog(ctx context.Context, db queryer) (l List, err error) {
	err = db.QueryRow(
		ctx, `select business_now(), coalesce((select position from events order by position desc limit 1), 0)`,
	).Scan(&l.Until, &l.Position)
	if err != nil {
		return l, fmt.Errorf("read the end of the log: %w", err)
	}
	var stream string
	var at time.Time
	rows, _ := db.Query(ctx, `select stream, recorded_at `+subjectStreams+` order by position`)
	_, err = pgx.ForEachRow(rows, []any{&stream, &at}, func() error {
		subject, err := uuid.Parse(strings.TrimPrefix(stream, "subject-"))
		l.Erasures = append(l.Erasures, Erasure{subject, at.UTC()})
		return err
	})
	if err != nil {
		return l, fmt.Errorf("read the erasures in the log: %w", err)
	}
	return l, nil
}

// Run keeps the files until ctx ends: at once, soon after each erasure of another
// process, and every ten minutes, so that the list tells up to when it is complete.
// Changed returns a channel that is closed when the log grows. Tell is called with each
// outcome.
func (b *Book) Run(ctx context.Context, changed func() <-chan struct{}, tell func(ctx context.Context, of []Outcome, err error)) {
	for ctx.Err() == nil {
		grown := changed()
		due, err := b.isDue(ctx)
		var of []Outcome
		if due {
			of, err = b.Keep(ctx)
		}
		if ctx.Err() == nil && (due || err != nil) {
			tell(ctx, of, err)
		}
		select {
		case <-ctx.Done():
		case <-grown:
		case <-time.After(renewed):
		}
		select {
		case <-ctx.Done():
		case <-time.After(looked):
		}
	}
}

// isDue tells whether there are erasures that were not kept, or the files are old.
func (b *Book) isDue(ctx context.Context) (due bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var now time.Time
	var count int
	if err := b.pool.QueryRow(ctx, `select business_now(), (select count(*) `+subjectStreams+`)`).Scan(&now, &count); err != nil {
		return false, fmt.Errorf("count the erasures in the log: %w", err)
	}
	return count != b.kept || now.Sub(b.keptAt) >= renewed, nil
}
