package erasures

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/tlog/tree"
)

// An Eraser erases a person as on the person's request: keys, event, and all that stands
// beside the log. A second time it changes nothing.
type Eraser interface {
	EraseSubject(ctx context.Context, subject uuid.UUID) error
}

// Apply erases each person in the list whom this log has not erased, as in a database that
// comes from an older backup. It needs the read tables, and belongs before anything is
// served. It returns how many were erased; one that fails keeps no other from it. A list
// that no key of this log has signed is refused with [ErrOther].
func Apply(ctx context.Context, pool *pgxpool.Pool, by Eraser, l List) (applied int, err error) {
	missing, err := notErased(ctx, pool, l)
	if err != nil {
		return 0, err
	}
	var failed error
	for _, e := range missing {
		if err := by.EraseSubject(ctx, e.Subject); err != nil {
			failed = errors.Join(failed, fmt.Errorf("erase the subject %s again: %w", e.Subject, err))
			continue
		}
		applied++
	}
	return applied, failed
}

// notErased are the erasures of a list that this log does not have.
func notErased(ctx context.Context, pool *pgxpool.Pool, l List) (missing []Erasure, err error) {
	origins, err := tree.Open(pool).Origins(ctx)
	if err != nil {
		return nil, err
	}
	vkeys := make([]string, len(origins))
	for i, o := range origins {
		vkeys[i] = o.VKey
	}
	if err := l.SignedBy(vkeys); err != nil {
		return nil, err
	}
	known, err := ofLog(ctx, pool)
	if err != nil {
		return nil, err
	}
	erased := map[uuid.UUID]bool{}
	for _, e := range known.Erasures {
		erased[e.Subject] = true
	}
	return slices.DeleteFunc(slices.Clone(l.Erasures), func(e Erasure) bool { return erased[e.Subject] }), nil
}

// ErrMissing means that people in a list of erasures are not erased in this database.
var ErrMissing = errors.New("people in the list of erasures are not erased in this database")

// CheckKept holds the database against the lists in the files of the book, for a process
// that may erase no person: [ErrMissing]. Files count as in [Book.ApplyKept].
func (b *Book) CheckKept(ctx context.Context) error {
	return b.each(ctx, func(l List) error {
		missing, err := notErased(ctx, b.pool, l)
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("%w: %d", ErrMissing, len(missing))
		}
		return err
	})
}

// ApplyKept applies the lists in the files of the book. A file that is missing counts as
// empty. So does one that is damaged, cannot be read or belongs to another log: the
// process's log tells that.
func (b *Book) ApplyKept(ctx context.Context, by Eraser) (applied int, err error) {
	err = b.each(ctx, func(l List) error {
		more, err := Apply(ctx, b.pool, by, l)
		applied += more
		return err
	})
	return applied, err
}

// each passes on the list of each file that can be read.
func (b *Book) each(ctx context.Context, do func(List) error) error {
	for _, place := range b.places {
		l, err := Read(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			if err = do(l); err != nil && !errors.Is(err, ErrOther) {
				return err
			}
		}
		if err != nil {
			b.log.ErrorContext(ctx, "a list of erasures is not applied", "file", place, "error", err, "alarm", true)
		}
	}
	return nil
}
