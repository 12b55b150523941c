//go:build system

package projections

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
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
		for _, s := range notifications.Project(
			eventstore.RecordedEvent{Stream: notice.InboxOf(user), Version: 7, Name: e.EventName(), Event: e},
		) {
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
		strings.ReplaceAll(someOrders, "(1, 4000)", "(4001, 20000)"), `insert into order_days (day, currency, test,
			placed) select created_at::date, currency, test, count(*) from orders group by 1, 2, 3`, `vacuum analyze orders`,
	} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	for _, l := range []Listing{
		{},
		{Offset: LastPage},
		{Offset: 9000, Mark: Mark{ID: p.id(t, "o9000")}},
		{Offset: 9000, Mark: Mark{ID: p.id(t, "o9000"), Before: true}},
	} {
		l.Limit = 20
		for _, c := range []Caller{System, {User: 42, Superuser: true}} {
			ear.heard = nil
			if found, err := tables.For(c).Orders().OrdersListed(t.Context(), l); err != nil || found.Count != 20_000 ||
				len(found.Rows) != 20 {
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
		{
			"by several names", "resources_called",
			kindOf(site, Listing{Filters: []Filter{{Field: "domain", Op: "in", Value: []string{"42.example.com", "43.example.com"}}}}),
		},
		{
			"the records of a zone", "resources_of_zone",
			kindOf(record, Listing{Filters: by("zone", int64(42)), Order: []Ordering{{Field: "id"}}}),
		},
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
		if err := l.owner.QueryRow(
			t.Context(), `select exists (select from pg_stats where schemaname = $1 and tablename = $2)`, schema,
			table,
		).Scan(&known); err != nil {
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

func TestNoLookUpReadsAWholeTableBecauseOfTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	ear, tables := p.listening(t)
	var (
		program  = []Caller{System, {User: 42, Superuser: true}}
		member   = Caller{User: 42, Tenant: 42}
		everyone = append(slices.Clone(program), member)
		own      = append(slices.Clone(program), Caller{KeyOwner: 42})
		person   = append(slices.Clone(everyone), Caller{User: 42})
	)
	ofOrder, ofSubject, notification, job := p.id(t, "o42"), p.id(t, "s42"), p.id(t, "n42"), p.id(t, "p42")
	for _, look := range []struct {
		up      string
		callers []Caller
		with    func(context.Context, Scope) error
	}{
		{"a user", person, func(ctx context.Context, s Scope) error { _, err := s.Accounts().User(ctx, 42); return err }},
		{"a user's address", program, func(ctx context.Context, s Scope) error {
			return found(s.Accounts().UserByEmail(ctx, "User42@example.com"))
		}},
		{
			"a person's account", program,
			func(ctx context.Context, s Scope) error { return found(s.Accounts().UserBySubject(ctx, ofSubject)) },
		},
		{"superusers", program, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Superusers(ctx); return err }},
		{"memberships", person, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Memberships(ctx, 42); return err }},
		{"memberships of a page of users", program, func(ctx context.Context, s Scope) error {
			_, err := s.Accounts().MembershipsOf(ctx, 41, 42, 43)
			return err
		}},
		{"members", everyone, func(ctx context.Context, s Scope) error { _, err := s.Accounts().Members(ctx, 42); return err }},
		{"an identity", person, func(ctx context.Context, s Scope) error { return found(s.Accounts().Identity(ctx, 42)) }},
		{"a resource", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Resource(ctx, hosting.Ref{Kind: "site", ID: 42})
			return err
		}},
		{"a tenant", everyone, func(ctx context.Context, s Scope) error { _, err := s.Hosting().Tenant(ctx, 42); return err }},
		{"own tenants", []Caller{member, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Tenants(ctx, Listing{Limit: 20})
			return err
		}},
		{"resources", append(everyone, Caller{User: 42, Superuser: true, Tenant: 42}), func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().Resources(ctx, "site", 20)
			return err
		}},
		{"resources of an order", program, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ResourcesOfOrder(ctx, ofOrder)
			return err
		}},
		{"all of a tenant", program, func(ctx context.Context, s Scope) error { _, err := s.Hosting().OfTenant(ctx, 42); return err }},
		{"an operation", everyone, func(ctx context.Context, s Scope) error { _, err := s.Hosting().Operation(ctx, job); return err }},
		{"an open operation", everyone, func(ctx context.Context, s Scope) error {
			_, _, err := s.Hosting().OpenOperation(ctx, hosting.TenantSync, hosting.Ref{Kind: "tenant", ID: 42})
			return err
		}},
		{"an open rebuild", program, func(ctx context.Context, s Scope) error {
			_, _, err := s.Operations().OpenRebuild(ctx, "orders")
			return err
		}},
		{"the latest rebuilds", program, func(ctx context.Context, s Scope) error {
			_, err := s.Operations().LatestRebuilds(ctx)
			return err
		}},
		{
			"a subscription", everyone,
			func(ctx context.Context, s Scope) error { return found(s.Billing().SubscriptionOfOrder(ctx, ofOrder)) },
		},
		{"an invoice", everyone, func(ctx context.Context, s Scope) error { return found(s.Billing().InvoiceOfOrder(ctx, ofOrder)) }},
		{"an invoice by its id", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Invoice(ctx, ofOrder)
			return err
		}},
		{"subscriptions", []Caller{member, {User: 42, Superuser: true, Tenant: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Subscriptions(ctx, Listing{Limit: 20})
			return err
		}},
		{"a service", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Service(ctx, ofOrder, false)
			return err
		}},
		{"what orders have made", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().MadeBy(ctx, ofOrder)
			return err
		}},
		{"invoices", []Caller{member, {User: 42, Superuser: true, Tenant: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Billing().Invoices(ctx, Listing{Limit: 20})
			return err
		}},
		{"an order of a key", own, func(ctx context.Context, s Scope) error { _, err := s.Orders().OrderView(ctx, ofOrder); return err }},
		{"an order", program, func(ctx context.Context, s Scope) error { _, err := s.Orders().Order(ctx, ofOrder); return err }},
		{"an order's number", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().OrderByNumber(ctx, "ORD-42")
			return err
		}},
		{"the newest orders", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().Orders(ctx, OrderFilter{Limit: 20})
			return err
		}},
		{"orders by status", program, func(ctx context.Context, s Scope) error {
			_, err := s.Orders().Orders(ctx, OrderFilter{Status: order.StatusFailed, Limit: 20})
			return err
		}},
		{"an API key", program, func(ctx context.Context, s Scope) error { return found(s.Orders().APIKey(ctx, "key42")) }},
		{"a name", everyone, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().NameTaken(ctx, "site", "domain", "42.example.com")
			return err
		}},
		{"a mailbox's set of values", everyone, func(ctx context.Context, s Scope) error {
			return noneTaken(ctx, s, "mailbox", field.Values{"mail_domain": []byte(`42`), "local_part": []byte(`"ana"`)})
		}},
		{"a database's two sets of values", everyone, func(ctx context.Context, s Scope) error {
			return noneTaken(ctx, s, "database", field.Values{"name": []byte(`"shop"`), "db_user": []byte(`"u42"`)})
		}},
		{"claims of a domain", program, func(ctx context.Context, s Scope) error {
			_, err := s.Hosting().ClaimedByOthers(ctx, "site", "shop.42.example.com", 7, uuid.Nil)
			return err
		}},
		{"a notification", []Caller{System, {User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Notices().Notification(ctx, notification)
			return err
		}},
		{"notifications", []Caller{{User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Notices().Notifications(ctx, Listing{Limit: 20})
			return err
		}},
		{"unread notifications", []Caller{{User: 42, Superuser: true}, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, err := s.Notices().Unread(ctx)
			return err
		}},
		{"preferences", []Caller{System, {User: 42}}, func(ctx context.Context, s Scope) error {
			_, _, err := s.Notices().Preferences(ctx, 42)
			return err
		}},
		{"differences of a tenant", program, func(ctx context.Context, s Scope) error {
			_, err := s.Operations().DifferencesOf(ctx, 42)
			return err
		}},
		{"the state of the tables", program, func(ctx context.Context, s Scope) error { _, err := s.Operations().States(ctx); return err }},
	} {
		for _, c := range look.callers {
			ear.heard = nil
			if err := look.with(t.Context(), tables.For(c)); err != nil {
				t.Errorf("%s, %+v: %v", look.up, c, err)
			}
			for _, q := range ear.heard {
				plan := p.plan(t, c, q)
				if strings.Contains(strings.ReplaceAll(plan, "Seq Scan on projections", ""), "Seq Scan") {
					t.Errorf("%s, %+v:\n%s\n%s", look.up, c, q.SQL, plan)
				}
				if blocks := p.blocks(t, c, q); blocks > 100 {
					t.Errorf("%s, %+v read %d blocks:\n%s\n%s", look.up, c, blocks, q.SQL, plan)
				}
			}
			if len(ear.heard) == 0 {
				t.Errorf("%s, %+v: nothing was asked", look.up, c)
			}
		}
	}
}

// Who may read an order stands in its indexes, too: a query that counts orders,
// or passes by them, does not read them. All of them are counted by their days.
func TestOrdersAreCountedInAnIndexBehindTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	for _, sql := range []string{`update orders set customer_name = repeat('Ana ', 200)`, `vacuum analyze orders`} {
		if _, err := p.owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ear, tables := p.listening(t)
	superuser := Caller{User: 42, Superuser: true}
	for _, filters := range [][]Filter{nil, {{Field: "status", Op: "=", Value: "failed"}}} {
		ear.heard = nil
		if _, err := tables.For(superuser).Orders().OrdersListed(
			t.Context(), Listing{Limit: 20, Offset: 20, Filters: filters},
		); err != nil {
			t.Fatal(err)
		}
		for _, q := range ear.heard {
			if plan := p.plan(t, superuser, q); !strings.Contains(plan, "Index Only Scan") && !strings.Contains(q.SQL, "from order_days") {
				t.Errorf("%v:\n%s\n%s", filters, q.SQL, plan)
			}
		}
	}
}

func TestTheLogIsReadByItsIndexesBehindTheWall(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	for _, sql := range []string{
		`select * from events where stream = 'site-42' order by version`,
		`select * from events where stream = 'site-42' order by version desc limit 1`,
		`select * from events where position > 3900 order by position limit 20`,
		`select position, recorded_at from events order by position desc limit 1`,
		`select recorded_at from events where position = 42`,
	} {
		if plan := p.plan(t, System, &pgx.QueuedQuery{SQL: sql}); !strings.Contains(plan, "Index") ||
			strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
			t.Errorf("%s\n%s", sql, plan)
		}
	}
}

// A statement for many rows finds each by its key, also behind the wall, and in a new panel,
// whose tables have no statistics.
func TestASetOfRowsIsWrittenByItsKeys(t *testing.T) {
	t.Parallel()
	openPanel(t).writesByKeys(t)
	openFull(t).writesByKeys(t)
}

// A look-up reads as little in a large panel as in a small one: a few blocks, whatever there is
// of other tenants. Tenants with a package are read one by one when it changes, and left out.
func TestALookUpReadsFewBlocks(t *testing.T) {
	t.Parallel()
	p := openFull(t)
	ear, tables := p.listening(t)
	id := func(sort string) uuid.UUID { return p.id(t, sort+"42") }
	ofOrder, ofSubject := id("o"), id("s")
	site, _ := hosting.KindNamed("site")
	page := Listing{Limit: 20}
	account := billing.CreditAccount{Tenant: 42, Currency: "EUR"}
	lookUps := map[string]func(context.Context, Scope) error{
		"names of users": func(ctx context.Context, s Scope) error {
			return tried(s.Accounts().UserNames(ctx, map[int64]bool{41: true, 42: true}))
		},
		"who listens": func(ctx context.Context, s Scope) error { return tried(s.Notices().Listening(ctx, 42)) },
		"some notifications": func(ctx context.Context, s Scope) error {
			return tried(s.Notices().NotificationsAmong(ctx, []uuid.UUID{id("n")}))
		},
		"deliveries":         func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookDeliveries(ctx, 42, page)) },
		"a delivery":         func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookDelivery(ctx, 42, id("d"))) },
		"an endpoint":        func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookEndpoint(ctx, 42)) },
		"what a method pays": func(ctx context.Context, s Scope) error { return tried(s.Billing().ChargedBy(ctx, id("p"))) },
		"a balance":          func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditBalance(ctx, id("b"))) },
		"a movement":         func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditMovement(ctx, id("m"))) },
		"a credit note":      func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNote(ctx, id("c"))) },
		"credit notes of invoice": func(ctx context.Context, s Scope) error {
			return tried(
				s.Billing().CreditNotesOfInvoice(ctx, ofOrder),
			)
		},
		"credit notes of order": func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNotesOfOrder(ctx, ofOrder)) },
		"due documents":         func(ctx context.Context, s Scope) error { return dueFirst(ctx, s, DueDocuments) },
		"due subscriptions": func(ctx context.Context, s Scope) error {
			return dueFirst(ctx, s, func() (string, []any) { return DueSubscriptions(time.Now()) })
		},
		"the last invoice": func(ctx context.Context, s Scope) error { return tried(s.Billing().LastInvoice(ctx, ofOrder)) },
		"a setup":          func(ctx context.Context, s Scope) error { return tried(s.Billing().MethodSetup(ctx, id("t"))) },
		"setups of a user": func(ctx context.Context, s Scope) error { return tried(s.Billing().MethodSetupsOf(ctx, 42, 42)) },
		"open setups":      func(ctx context.Context, s Scope) error { return tried(s.Billing().OpenMethodSetupsOf(ctx, 42)) },
		"open setups of a person": func(ctx context.Context, s Scope) error {
			return tried(s.Billing().OpenMethodSetupsOf(ctx, 0, ofSubject))
		},
		"open invoices":        func(ctx context.Context, s Scope) error { return tried(s.Billing().OpenInvoices(ctx, account)) },
		"an order's file":      func(ctx context.Context, s Scope) error { return tried(s.Orders().OrderFile(ctx, ofOrder)) },
		"an order for its run": func(ctx context.Context, s Scope) error { return tried(s.Orders().OrderForRun(ctx, ofOrder)) },
		"orders that pay":      func(ctx context.Context, s Scope) error { return tried(s.Orders().OrdersPaying(ctx, ofOrder)) },
		"a method":             func(ctx context.Context, s Scope) error { return tried(s.Billing().PaymentMethod(ctx, id("p"))) },
		"methods of a tenant":  func(ctx context.Context, s Scope) error { return tried(s.Billing().PaymentMethodsOf(ctx, 42)) },
		"methods of a person": func(ctx context.Context, s Scope) error {
			return tried(s.Billing().PaymentMethodsOf(ctx, 0, ofSubject))
		},
		"services of a tenant": func(ctx context.Context, s Scope) error { return tried(s.Billing().ServicesOf(ctx, 42)) },
		"a subscription":       func(ctx context.Context, s Scope) error { return tried(s.Billing().Subscription(ctx, ofOrder)) },
		"an order of a tenant": func(ctx context.Context, s Scope) error { return tried(s.Orders().TenantOrder(ctx, ofOrder)) },
		"what was acknowledged": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Acknowledged(ctx, hosting.Ref{Kind: "site", ID: 42}, 1))
		},
		"some resources": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Among(ctx, "site", []int64{41, 42}))
		},
		"what rests":               func(ctx context.Context, s Scope) error { return tried(s.Hosting().Asleep(ctx, 42)) },
		"what belongs to a tenant": func(ctx context.Context, s Scope) error { return tried(s.Hosting().Belonging(ctx, 42, 20)) },
		"the bin": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Binned(ctx, site, "42.example.com"))
		},
		"the branding":              func(ctx context.Context, s Scope) error { _, _, err := s.Hosting().Branding(ctx, 42); return err },
		"figures of a tenant":       func(ctx context.Context, s Scope) error { return tried(s.Hosting().Counts(ctx, 42)) },
		"an evidence pack":          func(ctx context.Context, s Scope) error { return tried(s.Audit().EvidencePack(ctx, id("p"))) },
		"evidence packs":            func(ctx context.Context, s Scope) error { return tried(s.Audit().EvidencePacks(ctx, ofOrder)) },
		"holders of an engine's id": func(ctx context.Context, s Scope) error { return tried(s.Hosting().Holders(ctx, "dns_zone", 42)) },
		"a kept resource": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Kept(ctx, hosting.Ref{Kind: "site", ID: 42}))
		},
		"what leaves": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Leaving(ctx, "site", 42, field.Values{"domain": []byte(`"x"`)}))
		},
		"what leaves, of all": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Leaving(ctx, "site", 0, field.Values{"domain": []byte(`"x"`)}))
		},
		"what leaves of a tenant": func(ctx context.Context, s Scope) error { return tried(s.Hosting().LeavingOf(ctx, 42)) },
		"a limit":                 func(ctx context.Context, s Scope) error { _, _, err := s.Hosting().Limit(ctx, site, 42); return err },
		"the limit of sub-tenants": func(ctx context.Context, s Scope) error {
			_, _, err := s.Hosting().LimitOfSubTenants(ctx, 42)
			return err
		},
		"the look": func(ctx context.Context, s Scope) error { _, _, err := s.Hosting().LookOf(ctx, 42); return err },
		"a name of others": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().NameTakenByOthers(ctx, "site", "domain", "42.example.com", ofOrder))
		},
		"what is out of step": func(ctx context.Context, s Scope) error { return tried(s.Hosting().OutOfStep(ctx, 42, true, 20)) },
		"sites out of step":   func(ctx context.Context, s Scope) error { return tried(s.Hosting().SitesOutOfStep(ctx, 42, true, 20)) },
		"parts of a zone": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().PartsOf(ctx, "dns_record", "zone", 42))
		},
		"who receives mail": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().ReceivesMail(ctx, 42, "42.example.com"))
		},
		"recorded ones": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Recorded(ctx, hosting.Ref{Kind: "site", ID: 42}))
		},
		"references": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Referring(ctx, "cron_job", "site", 42))
		},
		"what was refused":   func(ctx context.Context, s Scope) error { return tried(s.Hosting().Refused(ctx, 42, 20)) },
		"states of a tenant": func(ctx context.Context, s Scope) error { return tried(s.Hosting().StateCounts(ctx, 42)) },
		"sub-tenants":        func(ctx context.Context, s Scope) error { return tried(s.Hosting().SubTenants(ctx, 42)) },
		"usage":              func(ctx context.Context, s Scope) error { return tried(s.Hosting().Usage(ctx, 42)) },
		"contacts of a person": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().WithContactOf(ctx, []uuid.UUID{ofSubject}))
		},
		"a zone": func(ctx context.Context, s Scope) error {
			return tried(s.Hosting().Zone(ctx, 42, []string{"ns1.example.com."}))
		},
		"widgets with a plan": func(ctx context.Context, s Scope) error { return tried(s.Orders().WidgetsWith(ctx, 42)) },
		"a widget":            func(ctx context.Context, s Scope) error { return tried(s.Orders().Widget(ctx, "w")) },
	}
	pages := map[string]func(context.Context, Scope) error{
		"a page of orders":       func(ctx context.Context, s Scope) error { return tried(s.Orders().TenantOrders(ctx, page)) },
		"a page of services":     func(ctx context.Context, s Scope) error { return tried(s.Billing().Services(ctx, page, false)) },
		"a page of methods":      func(ctx context.Context, s Scope) error { return tried(s.Billing().PaymentMethods(ctx, page)) },
		"a page of credit notes": func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNotes(ctx, page)) },
		"a page of balances":     func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditBalances(ctx, page)) },
		"a page of movements":    func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditMovements(ctx, page)) },
		"a page of sites":        func(ctx context.Context, s Scope) error { return tried(s.Hosting().OfKind(ctx, site, page)) },
	}
	member := Caller{User: 42, Tenant: 42, Admin: true}
	readFew := func(c Caller, all map[string]func(context.Context, Scope) error) {
		for up, with := range all {
			ear.heard = nil
			if err := with(t.Context(), tables.For(c)); err != nil {
				if _, refused := errors.AsType[*domain.Error](err); !refused {
					t.Errorf("%s, %+v: %v", up, c, err)
				}
			}
			for _, q := range ear.heard {
				if blocks := p.blocks(t, c, q); blocks > 100 {
					t.Errorf("%s, %+v read %d blocks:\n%s\n%s", up, c, blocks, strings.Join(strings.Fields(q.SQL), " "), p.plan(t, c, q))
				}
			}
		}
	}
	readFew(System, lookUps)
	readFew(member, lookUps)
	readFew(member, pages) // operators' lists are counted
}

func TestTablesAreRebuiltWhileTheirWritersGoOn(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	seed := seeded(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		h := &history{panel: p, chance: rand.New(rand.NewPCG(seed.Uint64(), 0))}
		writers.Go(func() {
			for ctx.Err() == nil {
				h.write(t, 20)
			}
		})
	}
	for _, projection := range All {
		if _, err := Rebuild(t.Context(), p.owner, p.Reader(), []string{projection.Name()}, Options{}); err != nil {
			t.Error(err)
		}
	}
	stop()
	writers.Wait()
	live := map[string]string{}
	p.eachTable(func(table string) { live[table] = contents(t, p.owner, table) })
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	p.eachTable(func(table string) {
		if rebuilt := contents(t, p.owner, table); rebuilt != live[table] {
			t.Errorf("%s, live:\n%s\nrebuilt:\n%s", table, live[table], rebuilt)
		}
	})
}

func TestAReaderInTheWayOfTheSwapStopsWritersOnlyForAWhile(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l := openLibrary(t, set)
	l.do(t, Put{"1", "Emma"})
	reader, err := l.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), `select * from books`); err != nil { // holds the table until it ends
		t.Fatal(err)
	}
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- set.rebuild(t.Context(), l.owner, l.Reader(), nil) }()
	awaitLockOn(t, l, "books")
	l.do(t, Lend{"1"}) // waits until the swap has stepped back
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-rebuilt; err != nil {
		t.Fatal(err)
	}
	if got := contents(t, l.owner, "books"); !strings.HasPrefix(got, "(1,Emma,1,") {
		t.Fatal(got)
	}
}
