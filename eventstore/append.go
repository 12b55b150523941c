package eventstore

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// insertEvents adds events after the last position. Their time never runs
// backwards, and the read tables use the same time.
const insertEvents = `
with last as (
	select position, recorded_at from events order by position desc limit 1
), head as (
	select coalesce((select position from last), 0) position, greatest(business_clock(), (select recorded_at from last)) recorded_at
), told as (
	select set_config('hostpanel.recorded_at', recorded_at::text, true) from head
), added as (
	insert into events (` + columns + `)
	select head.position + e.nth, e.stream, e.version, e.id, e.name, e.schema, e.tenant, e.actor, e.correlation,
		e.causation, e.saga, e.data::json, e.meta::json, head.recorded_at, e.hash
	from told, head, unnest($1::text[], $2::int[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[], $7::text[], $8::uuid[],
		$9::text[], $10::text[], $11::text[], $12::text[], $13::bytea[]) with ordinality
		as e(stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, hash, nth)
)
select position from head`

// queueEvents queues the events and their statements for read tables.
func (c *committer) queueEvents(b *pgx.Batch, group []*groupMember) {
	if events := args(group); events != nil {
		b.Queue(insertEvents, events...).QueryRow(func(r pgx.Row) error {
			var head int64
			if err := r.Scan(&head); err != nil {
				return err
			}
			for _, p := range group {
				head += int64(len(p.events))
				p.position = head
			}
			return nil
		})
	}
	var statements []Statement
	for _, p := range group {
		statements = append(statements, p.statements...)
	}
	if len(statements) > 0 {
		statements = c.encoder.projector.Together(statements)
	}
	for _, s := range statements {
		b.Queue(s.SQL, s.Args...)
	}
}

// Append adds events to one stream at the expected version without its decider,
// for imports and benchmarks. It returns [ErrConflict] if the stream has another
// version.
func (s *Store) Append(
	ctx context.Context, cause domain.Metadata, stream domain.Stream, version int, before []byte,
	events ...domain.Event,
) (int64, error) {
	cause = s.complete(ctx, cause)
	b := streamState{stream: stream, version: version, category: category{evolve: func(state any, _ domain.Event) any { return state }}}
	a := appendRequest{before: map[domain.Stream][]byte{stream: before}}
	for _, e := range events {
		a.facts = append(a.facts, b.add(cause, e))
		cause.Traceparent = ""
	}
	position, err := s.committer.add(ctx, a)
	if err == errLost { //nolint:errorlint // the committer answers with the error itself
		err = ErrConflict
	}
	if err == nil {
		s.states.snapshots.passed([]*streamState{&b})
	}
	return position, err
}

// A rowSet is what one statement of a group carries out: one [TxStatement], or the rows
// of all with the same SQL that name their columns. Its key is that of the last one.
type rowSet struct {
	TxStatement
	nth  int // of the first one among those of its request
	rows [][]any
}

// rowSets sorts the statements of a group by their keys, and joins them. Statements of
// one key stay in their order.
func rowSets(group []*groupMember) (sets []*rowSet) {
	var all []*rowSet
	for _, p := range group {
		for i, r := range p.rows {
			all = append(all, &rowSet{r, i, [][]any{r.Args}})
		}
	}
	slices.SortStableFunc(all, func(a, b *rowSet) int { return cmp.Compare(a.Key, b.Key) })
	of := map[string]int{} // the last set of each SQL
	key, last := "", 0     // the set of the statement before with the same key
	for _, one := range all {
		if one.Key != key {
			key, last = one.Key, 0
		}
		at, known := of[one.SQL]
		if !known || at < last || !sets[at].join(one) {
			at = len(sets)
			sets, of[one.SQL] = append(sets, one), at
		}
		last = at
	}
	return sets
}

// join adds the row of another statement. Rows of one key do not go together, but equal
// ones are one.
func (s *rowSet) join(one *rowSet) bool {
	switch {
	case s.Columns == "":
		return false
	case s.Key == one.Key:
		return s.WantRows == AnyRows && reflect.DeepEqual(s.rows[len(s.rows)-1], one.Args)
	}
	s.Key, s.rows = one.Key, append(s.rows, one.Args)
	return true
}

// queueRows queues the statements of all members, each with a check of the number of
// rows.
func queueRows(b *pgx.Batch, group []*groupMember) {
	for _, set := range rowSets(group) {
		with, args := set.arguments()
		if set.WantRows != AnyRows {
			n := len(args)
			b.Queue(fmt.Sprintf(
				`with %stouched as (%s returning 1) select expect_rows(count(*), $%d, $%d) from touched`, with,
				set.SQL, n+1, n+2,
			),
				append(slices.Clip(args), set.WantRows*int64(len(set.rows)), set.nth)...)
			continue
		}
		if with != "" {
			with = "with " + strings.TrimSuffix(with, ", ") + " "
		}
		b.Queue(with+set.SQL, args...)
	}
}

// arguments are those of the rows, an array for each column, and the SQL that makes
// them arg.
func (s *rowSet) arguments() (with string, args []any) {
	if s.Columns == "" {
		return "", s.Args
	}
	var names, arrays []string
	for i, column := range strings.Split(s.Columns, ", ") {
		name, typ, _ := strings.Cut(column, " ")
		values := make([]any, len(s.rows))
		for n, row := range s.rows {
			values[n] = row[i]
		}
		args = append(args, values)
		names, arrays = append(names, name), append(arrays, fmt.Sprintf("$%d::%s[]", i+1, typ))
	}
	return fmt.Sprintf("arg as (select * from unnest(%s) as sent (%s)), ", strings.Join(arrays, ", "), strings.Join(names, ", ")), args
}

// keysStand checks that no key of the events was erased since they were sealed. The
// writers' lock makes every erasure visible. The limit makes Postgres use the index,
// because a table scan would delay all writers. A key that the transaction inserts is left
// out: no other transaction sees it, and an erasure in the same group comes after its events.
const keysStand = `
select expect_rows(count(*), $3, -1) from unnest($1::uuid[], $2::text[]) as used(subject, purpose)
cross join lateral (
	select from subject_keys k where k.subject = used.subject and k.purpose = used.purpose and k.wrapped <> '' limit 1
) standing`

func queueKeys(b *pgx.Batch, group []*groupMember) {
	used := map[subjectKey]bool{}
	var subjects []uuid.UUID
	var purposes []string
	for _, p := range group {
		for k, key := range p.keys {
			if _, made := p.made[k]; key != nil && !made && !used[k] {
				used[k] = true
				subjects, purposes = append(subjects, k.subject), append(purposes, string(k.purpose))
			}
		}
	}
	if len(used) > 0 {
		b.Queue(keysStand, subjects, purposes, len(used))
	}
}

// args returns the events of a group as one array for each column.
func args(group []*groupMember) []any {
	var (
		streams, names, actors, sagas, data, metas []string
		versions                                   []int32
		schemas                                    []int16
		tenants                                    []*int64
		ids, correlations                          []uuid.UUID
		causations                                 []*string
		hashes                                     [][]byte
	)
	for _, p := range group {
		for i := range p.events {
			e := &p.events[i]
			streams, names, actors, sagas = append(streams, e.stream), append(names, e.name), append(actors, e.actor), append(sagas, e.saga)
			data, metas = append(data, string(e.data)), append(metas, string(e.meta))
			versions, schemas, tenants = append(versions, e.version), append(schemas, e.schema), append(tenants, e.tenant)
			ids, correlations, causations = append(ids, e.id), append(correlations, e.correlation), append(causations, e.causation)
			hashes = append(hashes, e.hash)
		}
	}
	if len(streams) == 0 {
		return nil
	}
	return []any{streams, versions, ids, names, schemas, tenants, actors, correlations, causations, sagas, data, metas, hashes}
}

// An Arg is an argument of a [TxStatement] that the store fills in.
type Arg int

// The arguments of a row that keeps what it was written for.
const (
	TheCause       Arg = iota // text; null: the request has none
	TheCorrelation            // uuid
	TheSubjects               // uuid[]: of the personal texts in the request's events
	TheTenant                 // bigint: of the event that starts a run; 0: none
)

// AnyRows lets the statement of a [TxStatement] touch any number of rows.
const AnyRows = -1

// A TxStatement changes rows beside the log, in the transaction that appends the
// events of its request.
type TxStatement struct {
	// Key, such as "saga_run/6f1c…", gives all requests the same order in
	// which they lock rows, so that groups of them do not deadlock.
	Key  string
	SQL  string // one INSERT, UPDATE or DELETE, without RETURNING; with [AnyRows] also the SELECT of a function
	Args []any
	// Columns, such as "id uuid, step int", lets one statement do the work of all of
	// its kind in a group: the arguments are a row of arg, and SQL reads that. With
	// [AnyRows], equal rows of one key are one.
	Columns  string
	WantRows int64 // number of rows that it must touch
	ErrIfNot error // the error if it touches another number; nil: [ErrConflict]
}
