package projections

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Difference is a row of which the table in use says something else than the log.
// It names no values, because they may be personal data.
type Difference struct {
	Table   string   `json:"table"`
	Key     string   `json:"key"`     // the row's primary key, as text
	What    string   `json:"what"`    // missing, not_in_log, changed
	Columns []string `json:"columns"` // that differ
}

// What a [Difference] may be.
const (
	Missing  = "missing"
	NotInLog = "not_in_log"
	Changed  = "changed"
)

// mostDifferences are reported; the others are counted.
const mostDifferences = 100

// compare holds the new tables against those in use, row by row, as both are at one
// position of the log. Writers go on meanwhile.
func (r *rebuild) compare(ctx context.Context) error {
	conn, err := r.owner.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var head int64
		if err := tx.QueryRow(ctx, `select coalesce(max(position), 0) from events`).Scan(&head); err != nil {
			return err
		}
		if err := r.catchUpTo(ctx, head); err != nil {
			return err
		}
		for _, p := range r.parts {
			for _, name := range p.names {
				if err := r.compareTable(ctx, tx, p, p.tables[name]); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	})
}

// tellCompared tells what compare has found.
func (r *rebuild) tellCompared(ctx context.Context) error {
	if r.Compared == nil {
		return nil
	}
	found := r.result
	found.Position = r.position
	return r.Compared(ctx, found)
}

// compareTable walks through both tables in the order of their keys.
func (r *rebuild) compareTable(ctx context.Context, tx pgx.Tx, p *member, t table) error {
	if len(t.key) == 0 {
		return nil // it never has a row
	}
	var there bool
	if err := tx.QueryRow(ctx, `select to_regclass('public.' || quote_ident($1)) is not null`, t.name).Scan(&there); err != nil || !there {
		return err
	}
	live, err := openRows(ctx, tx, "public", t)
	if err != nil {
		return err
	}
	defer live.rows.Close()
	built, err := openRows(ctx, r.conn, p.schema(), t)
	if err != nil {
		return err
	}
	defer built.rows.Close()
	for live.more || built.more {
		r.compareRow(t.name, live, built)
	}
	return errors.Join(live.rows.Err(), built.rows.Err())
}

// compareRow takes the row with the smaller key, or both.
func (r *rebuild) compareRow(table string, live, built *sortedRows) {
	order := slices.Compare(live.key, built.key)
	switch {
	case !built.more || live.more && order < 0:
		r.differs(Difference{Table: table, Key: live.name(), What: NotInLog})
		live.next()
	case !live.more || order > 0:
		r.differs(Difference{Table: table, Key: built.name(), What: Missing})
		built.next()
	default:
		if !bytes.Equal(live.row, built.row) {
			r.differs(Difference{Table: table, Key: live.name(), What: Changed, Columns: differing(live.row, built.row)})
		}
		live.next()
		built.next()
	}
}

func (r *rebuild) differs(d Difference) {
	r.result.Different++
	if len(r.result.Differences) < mostDifferences {
		r.result.Differences = append(r.result.Differences, d)
	}
}

// differing are the columns in which two rows differ.
func differing(a, b []byte) (columns []string) {
	var left, right map[string]json.RawMessage
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return nil
	}
	both := maps.Clone(left)
	maps.Copy(both, right)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !bytes.Equal(left[name], right[name]) {
			columns = append(columns, name)
		}
	}
	return columns
}

// sortedRows are the rows of a table in the order of their keys, one at a time.
type sortedRows struct {
	rows pgx.Rows
	key  []string
	row  []byte
	more bool
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func openRows(ctx context.Context, db querier, schema string, t table) (*sortedRows, error) {
	texts, orders := make([]string, len(t.key)), make([]string, len(t.key))
	for i, name := range t.key {
		texts[i] = "t." + name + "::text"
		orders[i] = texts[i] + ` collate "C"`
	}
	rows, err := db.Query(ctx, fmt.Sprintf(`select array[%s], to_jsonb(t)::text from %s t order by %s`,
		strings.Join(texts, ", "), pgx.Identifier{schema, t.name}.Sanitize(), strings.Join(orders, ", ")))
	if err != nil {
		return nil, err
	}
	s := &sortedRows{rows: rows}
	s.next()
	return s, nil
}

func (s *sortedRows) next() {
	s.key, s.row = nil, nil
	s.more = s.rows.Next() && s.rows.Scan(&s.key, &s.row) == nil
}

func (s *sortedRows) name() string { return strings.Join(s.key, " ") }
