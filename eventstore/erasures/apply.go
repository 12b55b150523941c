package erasures

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	origins, err := tree.Open(pool).Origins(ctx)
	if err != nil {
		return 0, err
	}
	vkeys := make([]string, len(origins))
	for i, o := range origins {
		vkeys[i] = o.VKey
	}
	if err := l.SignedBy(vkeys); err != nil {
		return 0, err
	}
	known, err := ofLog(ctx, pool)
	if err != nil {
		return 0, err
	}
	erased := map[uuid.UUID]bool{}
	for _, e := range known.Erasures {
		erased[e.Subject] = true
	}
	var failed error
	for _, e := range l.Erasures {
		if erased[e.Subject] {
			continue
		}
		if err := by.EraseSubject(ctx, e.Subject); err != nil {
			failed = errors.Join(failed, fmt.Errorf("erase the subject %s again: %w", e.Subject, err))
			continue
		}
		applied++
	}
	return applied, failed
}

// ApplyKept applies the lists in the files of the book. A file that is missing counts as
// empty. So does one that is damaged, cannot be read or belongs to another log: the
// process's log tells that.
func (b *Book) ApplyKept(ctx context.Context, by Eraser) (applied int, err error) {
	for _, place := range b.places {
		l, err := Read(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			var more int
			more, err = Apply(ctx, b.pool, by, l)
			if applied += more; err != nil && !errors.Is(err, ErrOther) {
				return applied, err
			}
		}
		if err != nil {
			b.log.ErrorContext(ctx, "a list of erasures is not applied", "file", place, "error", err, "alarm", true)
		}
	}
	return applied, nil
}
