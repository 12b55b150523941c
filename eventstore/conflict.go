package eventstore

import (
	"errors"
	"fmt"

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
