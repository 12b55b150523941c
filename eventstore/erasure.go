package eventstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// EraseRows destroy the keys of people's contact data, the way from their
// addresses to them, and stored evidence packs that open their texts. They belong to the transaction of the event that says so,
// whose statements blank the read tables. Keys for other purposes are kept. A
// mark stays in place of a key, so that nothing is sealed for the same subject
// again: a person who comes back is a new subject (docs/log.md, "Erasure").
func EraseRows(subjects ...uuid.UUID) []TxStatement {
	var rows []TxStatement
	for _, subject := range subjects {
		rows = append(rows, TxStatement{
			Key: keyRow(subjectKey{subject, domain.Contact}),
			SQL: `
				insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, '', '')
				on conflict (subject, purpose) do update set key_id = '', wrapped = ''`,
			Args: []any{subject, string(domain.Contact)}, WantRows: 1,
		}, TxStatement{
			Key: "subjects/" + subject.String(), SQL: `delete from subjects where subject = $1`,
			Args: []any{subject}, WantRows: AnyRows,
		}, TxStatement{ // after the key: a pack that is being stored holds it
			Key: "subjects/" + subject.String() + "/packs", SQL: `delete from evidence_packs where subjects @> array[$1::uuid]`,
			Args: []any{subject}, WantRows: AnyRows,
		})
	}
	return rows
}

// errOtherKeys means that the keys of a year are not those that were counted.
var errOtherKeys = domain.Refuse(domain.Conflict, "The keys of this year have changed.")

// EraseYear destroys the keys of a year, and stored evidence packs, which may open texts of
// it. It belongs to the transaction of the event that says so, like [EraseRows]. If there
// are more or fewer keys, nothing happens and the answer is a conflict.
func EraseYear(y FiscalYear) []TxStatement {
	return []TxStatement{{
		Key:  fmt.Sprint("subject_keys/year/", y.Year),
		SQL:  `update subject_keys set key_id = '', wrapped = '' where year = $1 and wrapped <> ''`,
		Args: []any{y.Year}, WantRows: y.Keys, ErrIfNot: errOtherKeys,
	}, {
		Key: "evidence_packs/year", SQL: `delete from evidence_packs`, WantRows: AnyRows,
	}}
}

// A FiscalYear is a year of issue of which keys are left.
type FiscalYear struct {
	Year int
	Keys int64
}

// DueFiscalYears is a query of the years up to the last one of which keys are left, for a queue
// of tasks.
func DueFiscalYears(last int) (sql string, args []any) {
	return `select year::text as key, make_timestamptz(year, 1, 1, 0, 0, 0) as since from subject_keys
		where year <= $1 and wrapped <> '' group by year`, []any{last}
}

// FiscalKeys counts the keys of a year that are left.
func (s *Store) FiscalKeys(ctx context.Context, year int) (keys int64, err error) {
	err = s.pool.QueryRow(ctx, `select count(*) from subject_keys where year = $1 and wrapped <> ''`, year).Scan(&keys)
	if err != nil {
		err = fmt.Errorf("count the fiscal keys of %d: %w", year, Unavailable(err))
	}
	return keys, err
}
