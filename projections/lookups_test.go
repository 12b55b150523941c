//go:build !rlsonly

package projections

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// aLotMore are records of the same tenants and users as those of aLot.
const aLotMore = `
	insert into credit_notes (id, number, order_id, tenant, invoice_id, invoice, refund, total, subtotal, tax, tax_rate, currency, created_at, updated_at)
		select md5('c' || n)::uuid, 'CRN-' || n, md5('o' || n)::uuid, n, md5('o' || n)::uuid, 'INV-' || n, 're_' || n, 1, 1, 0, 0, 'EUR', now() + n * interval '1s', now() from generate_series(1, 4000) n;
	insert into credit_balances (id, tenant, currency, test_money, balance, created_at, updated_at, version)
		select md5('b' || n)::uuid, n, 'EUR', false, 1, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into credit_movements (id, tenant, currency, test_money, kind, amount, balance, actor, created_at, version)
		select md5('m' || n)::uuid, n, 'EUR', false, 'booked', 1, 1, 'x', now() + n * interval '1s', 1 from generate_series(1, 4000) n;
	insert into payment_methods (id, tenant, subject, provider, kind, brand, last4, expires, order_id, created_at, updated_at, version)
		select md5('p' || n)::uuid, n, md5('s' || n)::uuid, 'test', 'card', '', '', '2029-03', md5('o' || n)::uuid, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into method_setups (id, tenant, user_id, subject, provider, status, expires_at, created_at, updated_at, version)
		select md5('t' || n)::uuid, n, n, md5('s' || n)::uuid, 'test', case when n % 2 = 0 then 'open' else 'done' end, now(), now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into webhook_endpoints (id, tenant, url, events, is_active, created_at, updated_at, version)
		select n, n, 'https://hook.example/', '{}', true, now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into webhook_deliveries (id, endpoint, tenant, event_id, event_type, status, created_at, updated_at, version)
		select md5('d' || n)::uuid, n, n, n, 'x', 'delivered', now() + n * interval '1s', now(), 1 from generate_series(1, 4000) n;
	insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, engine_id, created_at, updated_at, version)
		select kind, n, n, 'running', jsonb_build_object('site', n, 'zone', n, 'mail_domain', n, 'name', 'n' || n, 'origin', n || '.example.com.', 'domain', n || '.example.com'), 1, 'synced', '', n, now(), now(), 1
		from generate_series(1, 4000) n, unnest(array['dns_zone', 'dns_record', 'mail_domain', 'mail_alias', 'ftp_account', 'cron_job', 'certificate']) kind;
	insert into zone_serials (zone, serial) select n, 2026010101 from generate_series(1, 4000) n;
	analyze`

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
		"deliveries":              func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookDeliveries(ctx, 42, page)) },
		"a delivery":              func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookDelivery(ctx, 42, id("d"))) },
		"an endpoint":             func(ctx context.Context, s Scope) error { return tried(s.Notices().WebhookEndpoint(ctx, 42)) },
		"what a method pays":      func(ctx context.Context, s Scope) error { return tried(s.Billing().ChargedBy(ctx, id("p"))) },
		"a balance":               func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditBalance(ctx, id("b"))) },
		"a movement":              func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditMovement(ctx, id("m"))) },
		"a credit note":           func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNote(ctx, id("c"))) },
		"credit notes of invoice": func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNotesOfInvoice(ctx, ofOrder)) },
		"credit notes of order":   func(ctx context.Context, s Scope) error { return tried(s.Billing().CreditNotesOfOrder(ctx, ofOrder)) },
		"due documents":           func(ctx context.Context, s Scope) error { return dueFirst(ctx, s, DueDocuments) },
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

func tried[T any](_ T, err error) error { return err }

// dueFirst reads the first items of a queue of tasks.
func dueFirst(ctx context.Context, s Scope, due func() (string, []any)) error {
	type item struct {
		Key   string
		Since time.Time
	}
	sql, args := due()
	w := s.db.caller.operators()
	w.args = args
	return tried(list[item](ctx, s.db, `select key, since from (`+sql+`) d`, w, ` order by since limit 20`))
}
