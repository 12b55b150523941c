//go:build !rlsonly

package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// stuffed are inboxes of 10,000 each: 1 has read nothing, 2 all at once, 3 one
// by one; 4 has read all but the newest three, 5 the oldest three alone, and 6
// has marked three old ones as unread after reading all.
const stuffed = `
	insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, read_at, created_at, updated_at, version)
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
		`create function at(n int) returns timestamptz language sql immutable as $$ select timestamptz '2026-01-01 00:00Z' + n * interval '1s' $$`,
		stuffed, `vacuum analyze notifications`, `vacuum analyze inboxes`))
}

// A page of notifications, and how many are unread, cost the same whatever the
// user has, has read, and has not.
func TestAnInboxOfAnySizeIsReadWithTheSameEffort(t *testing.T) {
	t.Parallel()
	p := openStuffed(t)
	ear, tables := p.listening(t)
	page := func(l Listing, filters ...Filter) func(context.Context, Scope) error {
		l.Limit, l.Filters = 20, filters
		return func(ctx context.Context, s Scope) error { _, err := s.Notices().Notifications(ctx, l); return err }
	}
	read, unread := Filter{Field: "is_read", Op: "=", Value: true}, Filter{Field: "is_read", Op: "=", Value: false}
	beside := func(offset int64, before bool, filters ...Filter) func(context.Context, Scope) error {
		return func(ctx context.Context, s Scope) error {
			l := Listing{Limit: 20, Filters: filters}
			list, err := s.Notices().Notifications(ctx, l)
			if err != nil || list.Count < offset {
				return err
			}
			l.Offset, l.Mark = offset, Mark{p.id(t, fmt.Sprint(s.caller.User, "-", offset)), before}
			_, err = s.Notices().Notifications(ctx, l)
			return err
		}
	}
	for _, look := range []struct {
		up   string
		with func(context.Context, Scope) error
	}{
		{"the figure", func(ctx context.Context, s Scope) error { _, err := s.Notices().Unread(ctx); return err }},
		{"the newest", page(Listing{})},
		{"the oldest", page(Listing{Offset: LastPage})},
		{"the newest read", page(Listing{}, read)},
		{"the oldest read", page(Listing{Offset: LastPage}, read)},
		{"the newest unread", page(Listing{}, unread)},
		{"the oldest unread", page(Listing{Offset: LastPage}, unread)},
		{"those in the middle", beside(5_000, false)},
		{"those in the middle, backwards", beside(5_000, true)},
		{"those unread in the middle", beside(5_000, false, unread)},
		{"those read in the middle", beside(5_000, false, read)},
	} {
		for user := int64(1); user <= 6; user++ {
			c := Caller{User: user}
			ear.heard = nil
			if err := look.with(t.Context(), tables.For(c)); err != nil {
				t.Fatal(err)
			}
			for _, q := range ear.heard {
				if blocks := p.blocks(t, c, q); blocks > 40 {
					t.Errorf("%s of user %d read %d blocks:\n%s\n%s", look.up, user, blocks, q.SQL, p.plan(t, c, q))
				}
			}
		}
	}
}

// Marking all as read costs the same, whatever was never opened: it counts what is unread
// from then on, and passes nothing that was read along with all others.
func TestAnInboxOfAnySizeIsMarkedAsReadWithTheSameEffort(t *testing.T) {
	t.Parallel()
	p := openStuffed(t)
	through := time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC) // later than all of them
	folding := func(ctx context.Context, fill func(*pgx.Batch)) error {
		var b pgx.Batch
		b.Queue(`select set_config('hostpanel.recorded_at', $1, true)`, through.Format(time.RFC3339))
		fill(&b)
		return p.owner.SendBatch(ctx, &b).Close()
	}
	for user := int64(1); user <= 6; user++ {
		e := notice.AllRead{Through: through}
		for _, s := range notifications.Project(eventstore.RecordedEvent{Stream: notice.InboxOf(user), Version: 7, Name: e.EventName(), Event: e}) {
			q := &pgx.QueuedQuery{SQL: s.SQL, Arguments: s.Args}
			if blocks := blocks(t, folding, q); blocks > 40 {
				t.Errorf("marking all of user %d as read looked at %d blocks:\n%s\n%s", user, blocks, s.SQL, explained(t, folding, q))
			}
		}
	}
}

// A page of the operators' list of orders costs the same however many there are, and
// so does the count of all.
func TestOrdersAreListedWithTheSameEffort(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	for _, sql := range []string{
		strings.ReplaceAll(someOrders, "(1, 4000)", "(4001, 20000)"), `insert into order_days (day, currency, test, placed) select created_at::date, currency, test, count(*) from orders group by 1, 2, 3`, `vacuum analyze orders`,
	} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	for _, l := range []Listing{
		{}, {Offset: LastPage}, {Offset: 9000, Mark: Mark{ID: p.id(t, "o9000")}}, {Offset: 9000, Mark: Mark{ID: p.id(t, "o9000"), Before: true}},
	} {
		l.Limit = 20
		for _, c := range []Caller{System, {User: 42, Superuser: true}} {
			ear.heard = nil
			if found, err := tables.For(c).Orders().OrdersListed(t.Context(), l); err != nil || found.Count != 20_000 || len(found.Rows) != 20 {
				t.Fatalf("%+v: %d of %d, %v", l, len(found.Rows), found.Count, err)
			}
			for _, q := range ear.heard {
				if blocks := p.blocks(t, c, q); blocks > 40 {
					t.Errorf("%+v read %d blocks:\n%s\n%s", l, blocks, q.SQL, p.plan(t, c, q))
				}
			}
		}
	}
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
