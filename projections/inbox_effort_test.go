//go:build !rlsonly

package projections

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/eventstoretest"
)

// stuffed are inboxes of 10,000 each: 1 has read nothing, 2 all at once, 3 one
// by one; 4 has read all but the newest three, 5 the oldest three alone, and 6
// has marked three old ones as unread after reading all.
const stuffed = `
	insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, read_at,
		created_at, updated_at, version)
		select md5(u || '-' || n)::uuid, u, 'info', '', '', '', '{}',
			case when u = 6 and n <= 3 then at(30000) else at(n) end, case when u = 3 or u = 5 and n <= 3 then at(n) end, at(n), at(n), 1
		from generate_series(1, 10000) n, generate_series(1, 6) u;
	insert into inboxes (user_id, total, unread, through, read_at, version) values
		(1, 10000, 10000, '-infinity', null, 0), (2, 10000, 0, at(10000), at(10000), 1), (3, 10000, 0, '-infinity', null, 0),
		(4, 10000, 3, at(9997), at(9997), 1), (5, 10000, 9997, '-infinity', null, 0), (6, 10000, 3, at(10000), at(10000), 1)`

// openStuffed is a panel with the inboxes, which is filled once.
func openStuffed(t testing.TB) *panel {
	t.Helper()
	eventstoretest.Measures(t)
	return openPanelAt(t, withRows(t,
		`create function at(n int) returns timestamptz language sql immutable as $$
			select timestamptz '2026-01-01 00:00Z' + n * interval '1s' $$`,
		stuffed, `vacuum analyze notifications`, `vacuum analyze inboxes`))
}

// blocks are how many Postgres looks at for a question of the caller's.
func (p *panel) blocks(t testing.TB, c Caller, q *pgx.QueuedQuery) int {
	t.Helper()
	return blocks(t, p.For(c).db.ask, q)
}

// blocks are how many Postgres looks at for a question that is asked in this way.
func blocks(t testing.TB, ask func(context.Context, func(*pgx.Batch)) error, q *pgx.QueuedQuery) int {
	t.Helper()
	var told []byte
	var found []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	err := ask(t.Context(), func(b *pgx.Batch) {
		b.Queue(`explain (analyze, buffers, format json) `+q.SQL, q.Arguments...).QueryRow(func(r pgx.Row) error { return r.Scan(&told) })
	})
	if err == nil {
		err = json.Unmarshal(told, &found)
	}
	if err != nil {
		t.Fatal(q.SQL, err)
	}
	return found[0].Plan.Hit + found[0].Plan.Read
}
