package eventstore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/domain"
)

// errLost means that another writer has changed the stream: decide again.
var errLost = errors.New("another writer was faster")

// The number of attempts at a decision. Journals get more of them, because their
// decisions do not depend on the history.
const (
	usualTries   = 4
	journalTries = 32
)

// ErrConflict is the refusal of a request after conflicts in all attempts.
var ErrConflict error = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "conflict"}

// refusal maps the error of a failed transaction to that of a request. The
// failing request is known only in a group of one.
func refusal(err error, group []*groupMember) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return fmt.Errorf("append: %w", Unavailable(err))
	}
	p := group[0]
	switch pg.Code {
	case "HP001": // expect_rows
		var nth int
		_, scan := fmt.Sscan(pg.Detail, &nth)
		switch {
		case scan != nil || nth >= len(p.rows):
		case nth < 0: // keysStand
			return errLost
		case p.rows[nth].ErrIfNot != nil:
			return p.rows[nth].ErrIfNot
		}
		return ErrConflict
	case "23505", "23514": // a unique index, or a condition on a row
		if pg.ConstraintName == "events_stream_version" {
			return errLost
		}
		for _, s := range p.statements {
			if taken, ok := s.Taken[pg.ConstraintName]; ok {
				return taken
			}
		}
	case "40001", deadlock:
		return errLost
	}
	// The text of a Postgres error may quote values, so only code and place are kept.
	const refused = "the database refused the append"
	return fmt.Errorf("append: %w", Unavailable(&pgconn.PgError{
		Severity: pg.Severity, Code: pg.Code, Message: refused, TableName: pg.TableName, ConstraintName: pg.ConstraintName,
	}))
}

// ExecuteWith is Execute with rows in the same transaction. Without commands only
// the rows are executed.
func (s *Store) ExecuteWith(
	ctx context.Context, cause domain.Metadata, rows []TxStatement, commands ...domain.Command,
) (domain.Receipt, error) {
	cause = s.complete(ctx, cause)
	tries := usualTries
	if s.states.isJournal(commands) {
		tries = journalTries
	}
	for try := range tries {
		receipt, err := s.try(ctx, cause, rows, commands, try)
		if !errors.Is(err, errLost) {
			return receipt, err
		}
	}
	return domain.Receipt{}, ErrConflict
}

// Turns order the requests of this process on the same streams. First attempts go
// side by side. A repeated attempt waits for those under way on its streams, and
// goes alone: no other request of this process can be faster again. Requests in
// journals go alone at once, because simultaneous ones would often conflict.
type turns struct {
	seed maphash.Seed
	of   [1024]sync.RWMutex // streams share them
}

// take waits for the turn on the streams of commands. The result ends it.
func (t *turns) take(commands []domain.Command, alone bool) (end func()) {
	places := make([]uint64, len(commands))
	for i, c := range commands {
		places[i] = maphash.String(t.seed, c.Stream().String()) % uint64(len(t.of))
	}
	slices.Sort(places) // in one order, so that no two requests wait for each other
	places = slices.Compact(places)
	for _, at := range places {
		if alone {
			t.of[at].Lock()
		} else {
			t.of[at].RLock()
		}
	}
	return func() {
		for _, at := range places {
			if alone {
				t.of[at].Unlock()
			} else {
				t.of[at].RUnlock()
			}
		}
	}
}
