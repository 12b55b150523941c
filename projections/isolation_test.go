package projections

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/storefront"
)

// Two of everything: what belongs to Ana (user 1, tenant 5, key owner 7) and
// what belongs to Ben (user 2, tenant 6, key owner 8). Both are members of
// their tenant alone.
var (
	ana = Caller{User: 1, Tenant: 5, KeyOwner: 7}
	ben = Caller{User: 2, Tenant: 6, KeyOwner: 8}
)

// eventually bounds every wait.
const eventually = 20 * time.Second

func openTwo(t testing.TB) *panel {
	t.Helper()
	p := openPanel(t)
	p.do(t, hosting.Request{
		Ref: hosting.Ref{Kind: hosting.NodeKind, ID: 1}, Spec: values(&hosting.Node{Name: "alpha", Cores: 4, MemoryMB: 4096, DiskGB: 40}),
	})
	for _, c := range []Caller{ana, ben} {
		name := fmt.Sprint("user", c.User)
		place := p.place("")
		block := netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(c.User)}), 32)
		place.Machine.Placement = &compute.Placement{
			Node: "alpha", Size: compute.Size{Cores: 1, MemoryMB: 1024, DiskGB: 10},
			Addresses: []compute.Address{{Pool: "blue", Block: block, Address: block}},
		}
		place.Owner = c.KeyOwner
		p.do(
			t, open(c.User, name+"@example.com"), tenant(c.Tenant, name, name),
			account.GrantMembership{User: c.User, Tenant: c.Tenant, Role: account.Admin, At: noon},
		)
		p.do(
			t,
			hosting.QueueOperation{
				ID: uuid.New(), Kind: hosting.TenantSync, Tenant: c.Tenant, User: c.User,
				About: hosting.Ref{Kind: "tenant", ID: c.Tenant},
			},
		)
		p.do(t, site(10+c.Tenant, c.Tenant, name+".example.com", ""), place)
		p.do(t, billing.Subscribe{
			Order: place.ID, Tenant: c.Tenant, User: c.User, Plan: 1, PlanName: "Basic", BillingPeriod: "yearly",
			Price: amount("28.704"), Currency: "EUR", At: noon,
		},
			billing.Issue{
				Order: place.ID, Tenant: c.Tenant, SubjectID: uuid.New(), Name: name,
				Lines: []billing.Line{{Text: "Basic"}}, Total: amount("28.70"), Subtotal: amount("23.72"),
				Tax: amount("4.98"), TaxRate: amount("21"), Currency: "EUR", At: noon,
			},
			billing.SaveMethod{
				ID: place.ID, Tenant: c.Tenant, At: noon,
				Kept: billing.KeptMethod{SubjectID: uuid.New(), Order: place.ID, Provider: "test", Token: "pm_1", Kind: "card"},
			},
			billing.StartSetup{
				ID: place.ID, Tenant: c.Tenant, User: c.User, Subject: uuid.New(), Provider: "test", At: noon,
				ExpiresAt: noon,
			},
			billing.BookPayment{
				CreditAccount: billing.CreditAccount{Tenant: c.Tenant, Currency: "EUR"}, ID: uuid.New(),
				Amount: amount("5"), Method: "cash", Reference: "ST-1", Received: noon, At: noon,
			})
		p.do(t, notice.Raise{
			ID: uuid.New(), InApp: true, User: c.User,
			Text: notice.Text{Type: notice.Info, Title: "Hello", Message: "You.", URL: "/account/"}, At: noon,
		},
			notice.MarkAllRead{User: c.User, Through: noon},
			notice.SetPreferences{User: c.User, Values: (&notice.Preferences{}).Fields().Values()})
		p.do(
			t,
			storefront.IssueKey{
				ID: fmt.Sprintf("key%05d", c.User), Mode: storefront.Test,
				Spec: (&storefront.APIKey{Name: name}).Fields().Values(), CreatedBy: 1, Owner: c.KeyOwner, At: noon,
			},
		)
		p.do(t, endpoint(c.Tenant, c.Tenant), delivery(uuid.New(), c.Tenant, "site.created"))
		if err := p.TouchKey(t.Context(), fmt.Sprintf("key%05d", c.User), noon); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// visible counts the rows of each walled table that a query without a condition
// finds.
func (p *panel) visible(t testing.TB, c *Caller) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range append(All.walled(), "api_key_uses", "events") {
		b := &pgx.Batch{}
		if c != nil {
			b.Queue(onBehalf, c.behalf()...)
		}
		b.Queue(`select count(*) from ` + table).QueryRow(func(r pgx.Row) error {
			var n int64
			defer func() { counts[table] = n }()
			return r.Scan(&n)
		})
		if err := p.readers.SendBatch(t.Context(), b).Close(); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	return counts
}

func TestAQueryWithoutAnOwnerFindsOnlyTheCallersRows(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	events := p.count(t, `select count(*) from events`)
	ofFive, ofSix := p.count(t, `select count(*) from events where tenant = 5`), p.count(t, `select count(*) from events where tenant = 6`)
	if ofFive == 0 || ofSix == 0 || ofFive+ofSix >= events {
		t.Fatal(events, ofFive, ofSix)
	}
	superuser := Caller{User: 1, Superuser: true}
	for _, c := range []struct {
		who    string
		caller *Caller
		want   string
	}{
		{
			"Ana", &ana,
			fmt.Sprint(
				"users 1, memberships 1, orders 1, order_days 0, order_money 0, resources 2, operations 1, "+
					"subscriptions 1, invoices 1, credit_notes 0, payment_methods 1, method_setups 1, "+
					"credit_balances 1, credit_movements 1, notifications 1, inboxes 1, preferences 1, api_keys 0, "+
					"api_key_uses 0, webhook_endpoints 1, webhook_deliveries 1, machine_places 0, machine_addresses 0, events ",
				ofFive,
			),
		},
		{
			"Ben", &ben,
			fmt.Sprint(
				"users 1, memberships 1, orders 1, order_days 0, order_money 0, resources 2, operations 1, "+
					"subscriptions 1, invoices 1, credit_notes 0, payment_methods 1, method_setups 1, "+
					"credit_balances 1, credit_movements 1, notifications 1, inboxes 1, preferences 1, api_keys 0, "+
					"api_key_uses 0, webhook_endpoints 1, webhook_deliveries 1, machine_places 0, machine_addresses 0, events ",
				ofSix,
			),
		},
		{
			"no caller", nil,
			"users 0, memberships 0, orders 0, order_days 0, order_money 0, resources 0, operations 0, subscriptions " +
				"0, invoices 0, credit_notes 0, payment_methods 0, method_setups 0, credit_balances 0, " +
				"credit_movements 0, notifications 0, inboxes 0, preferences 0, api_keys 0, api_key_uses 0, " +
				"webhook_endpoints 0, webhook_deliveries 0, machine_places 0, machine_addresses 0, events 0",
		},
		{
			"a visitor", &Caller{},
			"users 0, memberships 0, orders 0, order_days 0, order_money 0, resources 0, operations 0, subscriptions " +
				"0, invoices 0, credit_notes 0, payment_methods 0, method_setups 0, credit_balances 0, " +
				"credit_movements 0, notifications 0, inboxes 0, preferences 0, api_keys 0, api_key_uses 0, " +
				"webhook_endpoints 0, webhook_deliveries 0, machine_places 0, machine_addresses 0, events 0",
		},
		{
			"Ana in Ben's tenant", &Caller{User: 1, Tenant: 6},
			fmt.Sprint(
				"users 1, memberships 2, orders 1, order_days 0, order_money 0, resources 3, operations 1, "+
					"subscriptions 1, invoices 1, credit_notes 0, payment_methods 1, method_setups 1, "+
					"credit_balances 1, credit_movements 1, notifications 1, inboxes 1, preferences 1, api_keys 0, "+
					"api_key_uses 0, webhook_endpoints 1, webhook_deliveries 1, machine_places 0, machine_addresses 0, events ",
				ofSix,
			),
		},
		{
			"an operator", &superuser,
			fmt.Sprint(
				"users 2, memberships 2, orders 2, order_days 1, order_money 0, resources 5, operations 2, "+
					"subscriptions 2, invoices 2, credit_notes 0, payment_methods 2, method_setups 2, "+
					"credit_balances 2, credit_movements 2, notifications 1, inboxes 1, preferences 1, api_keys 2, "+
					"api_key_uses 2, webhook_endpoints 2, webhook_deliveries 2, machine_places 2, machine_addresses 2, events ",
				events,
			),
		},
		{
			"the program", &System,
			fmt.Sprint(
				"users 2, memberships 2, orders 2, order_days 1, order_money 0, resources 5, operations 2, "+
					"subscriptions 2, invoices 2, credit_notes 0, payment_methods 2, method_setups 2, "+
					"credit_balances 2, credit_movements 2, notifications 2, inboxes 2, preferences 2, api_keys 2, "+
					"api_key_uses 2, webhook_endpoints 2, webhook_deliveries 2, machine_places 2, machine_addresses 2, events ",
				events,
			),
		},
	} {
		found := p.visible(t, c.caller)
		for _, line := range strings.Split(c.want, ", ") {
			table, n, _ := strings.Cut(line, " ")
			if fmt.Sprint(found[table]) != n {
				t.Errorf("%s finds %d rows of %s, want %s", c.who, found[table], table, n)
			}
			delete(found, table)
		}
		for table := range found {
			t.Errorf("the table %s is walled, but not in this story", table)
		}
	}
}

func (p *panel) count(t testing.TB, sql string, args ...any) (n int64) {
	t.Helper()
	if err := p.owner.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRowsOutsideTheLogAreInvisibleToReaders(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	var kept []string
	rows, _ := p.owner.Query(t.Context(), `select relname from pg_class join pg_policy on polrelid = pg_class.oid
		group by relname having array_agg(polname::text) = '{program}' order by 1`)
	kept, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Contains(kept, "credentials") || !slices.Contains(kept, "subject_keys") ||
		!slices.Contains(kept, "browser_sessions") {
		t.Fatal(kept, err)
	}
	if _, err := p.owner.Exec(t.Context(), `insert into credentials (user_id, phc) values (1, '$argon2id$')`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Caller{ana, {User: 1, Superuser: true}, {}} {
		for _, table := range kept {
			n, err := value[int64](t.Context(), p.For(c).db, `select count(*) from `+table, p.For(c).caller.public(), "")
			if err != nil || n != 0 {
				t.Errorf("%+v finds %d rows of %s: %v", c, n, table, err)
			}
		}
	}
	if n, err := value[int64](
		t.Context(), p.For(System).db, `select count(*) from credentials`, p.For(System).caller.public(), "",
	); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}

func TestUsersWriteNoRowsDirectly(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	before := p.visible(t, &System)
	for _, c := range []Caller{ana, {User: 1, Superuser: true}, {}} {
		for _, sql := range []string{
			`insert into memberships (user_id, tenant, role, granted_at) values (1, 6, 'admin', now())`,
			`insert into memberships (user_id, tenant, role, granted_at) values (1, 9, 'admin', now())`,
			`insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
				values ('site', 99, 6, 'running', '{}', 1, 'synced', '', now(), now(), 1)`,
			`insert into events (position, stream, version, id, name, schema, tenant, actor, correlation, causation,
				saga, data, meta, recorded_at, hash)
				values (99, 'site-99', 1, gen_random_uuid(), 'x', 1, 5, 'x', gen_random_uuid(), 'event:site-1/1', '',
					'{}', '{}', now(), '')`,
			`insert into api_keys (id, mode, hash, spec, created_by, owner, created_at, updated_at, version) values ('x',
				'live', '', '{}', 1, 1, now(), now(), 1)`,
			`insert into credentials (user_id, phc) values (1, 'x')`,
		} {
			if err := p.write(t, c, sql); err == nil || !strings.Contains(err.Error(), "row-level security") {
				t.Errorf("%+v, %s: %v", c, sql, err)
			}
		}
		for _, table := range All.walled() {
			if err := p.write(t, c, `delete from `+table); err != nil {
				t.Errorf("%+v, delete from %s: %v", c, table, err)
			}
		}
		if err := p.write(t, c, `update resources set tenant = 5`); err != nil {
			t.Error(err)
		}
	}
	if after := p.visible(t, &System); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v became %v", before, after)
	}
	if n := p.count(t, `select count(*) from resources where tenant = 5`); n != 2 {
		t.Errorf("%d rows are tenant 5's", n)
	}
}

func (p *panel) write(t testing.TB, c Caller, sql string) error {
	t.Helper()
	return p.For(c).db.ask(t.Context(), func(b *pgx.Batch) { b.Queue(sql) })
}

func TestAnInvoiceCannotBeForAnotherTenantsSubscription(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	place := p.place("")
	issue := billing.Issue{
		Order: place.ID, Tenant: 6, SubjectID: uuid.New(), Name: "Ana", Lines: []billing.Line{{Text: "Basic"}},
		Total: amount("1"), Subtotal: amount("1"), Currency: "EUR", At: noon,
	}
	err := p.try(
		t, place,
		billing.Subscribe{
			Order: place.ID, Tenant: 5, User: 1, Plan: 1, PlanName: "Basic", BillingPeriod: "yearly",
			Price: amount("1"), Currency: "EUR", At: noon,
		},
		issue,
	)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.ConstraintName != "invoices_subscription" {
		t.Fatal(err)
	}
	if n := p.count(t, `select count(*) from events where stream like '%' || $1`, place.ID.String()); n != 0 {
		t.Fatalf("%d facts of it stand in the log", n)
	}
}

func TestASuperuserSeesOnlyTheirOwnNotifications(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	for user, want := range map[int64]int{1: 1, 2: 1, 9: 0} {
		found, err := p.For(Caller{User: user, Superuser: true}).Notices().Notifications(t.Context(), Listing{})
		if err != nil || int(found.Count) != want {
			t.Errorf("user %d: %v %v", user, found, err)
		}
	}
}

func TestOnesTenantsAreReadWhicheverIsActive(t *testing.T) {
	t.Parallel()
	p := openTwo(t)
	p.do(t, account.GrantMembership{User: 1, Tenant: 6, Role: account.Member, At: noon})
	for _, c := range []Caller{{User: 1}, ana, {User: 1, Tenant: 6}} {
		of, err := p.For(c).Accounts().Memberships(t.Context(), 1)
		if err != nil || len(of) != 2 || of[0].TenantName != "user1" || of[1].TenantName != "user2" {
			t.Errorf("%+v: %+v %v", c, of, err)
		}
	}
	p.do(t, account.RevokeMembership{User: 1, Tenant: 6, At: noon})
	if n := p.visible(t, &ana)["resources"]; n != 2 {
		t.Errorf("who was a member still reads %d resources", n)
	}
}
