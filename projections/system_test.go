//go:build system

package projections

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
)

func TestTheTablesAsOfAMomentAreThoseThatWereThen(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	h := &history{panel: p, chance: seeded(t), spares: true}
	type moment struct {
		at   time.Time
		then map[string]string
	}
	moments := []moment{{p.now(t), p.seen(t, "public")}}
	for range 4 {
		h.write(t, 200)
		moments = append(moments, moment{p.now(t), p.seen(t, "public")})
	}
	h.write(t, 100)
	today := p.everything(t)
	for _, m := range moments {
		past := p.lookBack(t, m.at)
		now := p.seen(t, past.Schema)
		for _, table := range slices.Sorted(maps.Keys(m.then)) {
			if now[table] != m.then[table] {
				t.Errorf("%s as of %s, then:\n%s\nlooking back:\n%s", table, m.at, m.then[table], now[table])
			}
		}
		if err := past.Close(); err != nil {
			t.Error(err)
		}
	}
	if p.everything(t) != today {
		t.Error("looking back has changed the tables in use")
	}
	if left := p.pasts(t); len(left) > 0 {
		t.Error("looking back has left", left)
	}
}

// Whatever happens to notifications, in whatever order and however much at
// once: the figures, both lists and every page of them are what a count of the
// log gives.
func TestFiguresOfAnInboxAreWhatCountingByHandComesTo(t *testing.T) {
	t.Parallel()
	p, chance := openPanel(t), seeded(t)
	users := []int64{1, 2, 3}
	for range 12 {
		for range 25 {
			p.happens(t, chance, users)
		}
		for _, user := range users {
			p.holdsWithTheLog(t, user)
		}
	}
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	for _, user := range users {
		p.holdsWithTheLog(t, user)
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

// What is looked for by what it refers to or by what it is called is found by
// an index, however full the panel is, in the name of whomever.
func TestAFullPanelIsNotReadForAFewRecords(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for _, sql := range []string{aPanelFull, `vacuum analyze resources`} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	site, _ := hosting.KindNamed("site")
	record, _ := hosting.KindNamed("dns_record")
	ftp, _ := hosting.KindNamed("ftp_account")
	by := func(name string, value any) []Filter { return []Filter{{Field: name, Op: "=", Value: value}} }
	kindOf := func(kind hosting.Kind, l Listing) func(context.Context, Scope) error {
		l.Limit = 20
		return func(ctx context.Context, s Scope) error { _, err := s.Hosting().OfKind(ctx, kind, l); return err }
	}
	for _, look := range []struct {
		up    string
		index string // that has to be used
		with  func(context.Context, Scope) error
	}{
		{"the newest", "resources_newest", kindOf(site, Listing{})},
		{"in the order of their names", "resources_called", kindOf(site, Listing{Order: []Ordering{{Field: "domain"}}})},
		{"by its name", "resources_called", kindOf(site, Listing{Filters: by("domain", "42.example.com")})},
		{"by several names", "resources_called", kindOf(site, Listing{Filters: []Filter{{Field: "domain", Op: "in", Value: []string{"42.example.com", "43.example.com"}}}})},
		{"the records of a zone", "resources_of_zone", kindOf(record, Listing{Filters: by("zone", int64(42)), Order: []Ordering{{Field: "id"}}})},
		{"the parts of a site", "resources_of_site", kindOf(ftp, Listing{Filters: by("site", int64(42))})},
		{"how many records a zone has", "resources_of_zone", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Referring(ctx, "dns_record", "zone", 42)
			return err
		}},
		{"how many records each zone of a page has", "resources_of_zone", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ReferringEach(ctx, "dns_record", "zone", []int64{41, 42, 43})
			return err
		}},
		{"the names of a page", "resources_", func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Among(ctx, "site", []int64{42, 43})
			return err
		}},
		{"one in the bin", "resources_pkey", func(ctx context.Context, s Scope) error {
			_, _, err := maybe(s.Hosting().Kept(ctx, hosting.Ref{Kind: "site", ID: 42}))
			return err
		}},
	} {
		for _, c := range []Caller{System, {User: 1, Superuser: true}, {User: 43, Tenant: 43}} {
			p.looksBy(t, ear, tables, look.up, look.index, c, look.with)
		}
	}
	p.looksBy(t, ear, tables, "in the bin by its name", "resources_in_bin", System, func(ctx context.Context, s Scope) error {
		_, err := s.Hosting().Binned(ctx, site, "42.example.com")
		return err
	})
}

// Postgres takes a table without statistics for small, and reads all of it for each window.
// It does the same, and for longer, if it has seen that the table is small.
func TestARebuildPlansWithTheStatisticsOfLargeTables(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL), loans()}
	l := openLibrary(t, set)
	var putAndLent []domain.Command
	for n := range 500 {
		id := fmt.Sprint("book-", n)
		putAndLent = append(putAndLent, Put{id, id + strings.Repeat(" long", 380)}, Lend{id})
	}
	l.do(t, putAndLent...)
	known := func(schema, table string) (known bool) {
		if err := l.owner.QueryRow(t.Context(), `select exists (select from pg_stats where schemaname = $1 and tablename = $2)`, schema, table).Scan(&known); err != nil {
			t.Error(err)
		}
		return known
	}
	var planned []bool
	if _, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{PerSec: 800, Progress: func(int64, int64) {
		planned = append(planned, known("rebuild_books", "books"))
	}}); err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, false, false, false, true}; len(planned) < len(want) || !slices.Equal(planned[:len(want)], want) {
		t.Errorf("windows planned with statistics: %v, not %v", planned, want)
	}
	if !known("public", "books") || known("public", "loans") {
		t.Error("readers plan with statistics: of a large table", known("public", "books"), "of a small one", known("public", "loans"))
	}
}
