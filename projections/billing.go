package projections

import (
	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// subscriptions is what customers pay for, and their invoices, which never
// change.
var subscriptions = New("billing", `
	create table subscriptions (
		order_id       uuid    primary key,
		tenant         bigint  not null,
		user_id        bigint  not null,
		plan_id        bigint  not null,
		plan_name      text    not null,
		billing_period text    not null,
		price          numeric not null, -- of one period
		currency       text    not null,
		status         text    not null, -- active, ended
		period_start   timestamptz not null,
		period_end     timestamptz not null, -- the first moment that is not paid for
		end_reason     text    not null default '',
		created_at     timestamptz not null,
		updated_at     timestamptz not null,
		version        int     not null  -- of the subscription's stream
	);
	create unique index subscriptions_of_tenant on subscriptions (tenant, order_id);
	create index subscriptions_newest on subscriptions (created_at desc, order_id desc) include (tenant);
	create index subscriptions_tenant on subscriptions (tenant, created_at desc, order_id desc);
	create index subscriptions_due on subscriptions (period_end) where status = 'active';

	create table invoices (
		id               uuid    primary key,
		number           text    not null,
		order_id         uuid    not null,
		tenant           bigint  not null,
		subject          uuid    not null,
		customer_name    text    not null,
		customer_email   text    not null,
		customer_company text    not null,
		seller           jsonb   not null,
		lines            jsonb   not null, -- their totals include tax
		total            numeric not null,
		subtotal         numeric not null,
		tax              numeric not null,
		tax_rate         numeric not null,
		currency         text    not null,
		status           text    not null,
		created_at       timestamptz not null, -- the moment of issue
		updated_at       timestamptz not null,
		version          int     not null, -- of the invoice's stream
		constraint invoices_subscription foreign key (tenant, order_id) references subscriptions (tenant, order_id)
	);
	create unique index invoices_order on invoices (order_id);
	create unique index invoices_number on invoices (number);
	create index invoices_newest on invoices (created_at desc, id desc) include (tenant);
	create index invoices_tenant on invoices (tenant, created_at desc, id desc);
	create index invoices_subject on invoices (subject);

	create table credit_notes (
		id        uuid    primary key,
		number    text    not null,
		order_id  uuid    not null,
		tenant    bigint  not null,
		invoice   text    not null,
		refund    text    not null, -- the provider's id
		total     numeric not null,
		subtotal  numeric not null,
		tax       numeric not null,
		tax_rate  numeric not null,
		currency  text    not null,
		created_at timestamptz not null, -- the moment of issue
		updated_at timestamptz not null
	);
	create unique index credit_notes_number on credit_notes (number);
	create unique index credit_notes_refund on credit_notes (order_id, refund);
	create index credit_notes_newest on credit_notes (created_at desc, id desc) include (tenant);
	create index credit_notes_tenant on credit_notes (tenant, created_at desc, id desc)`,

	On(func(at eventstore.RecordedEvent, e billing.SubscriptionStarted) Change {
		return insert("subscriptions", Row{
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"user_id", e.User},
			{"plan_id", e.Plan},
			{"plan_name", e.PlanName},
			{"billing_period", e.BillingPeriod},
			{"price", e.Price.String()},
			{"currency", e.Currency},
			{"status", "active"},
			{"period_start", e.PeriodStart},
			{"period_end", e.PeriodEnd},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e billing.SubscriptionEnded) Change {
		return update("subscriptions", Row{{"order_id", at.Stream.ID}}, changed(at, Row{{"status", "ended"}, {"end_reason", e.Reason}}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoiceIssued) Change {
		return insert("invoices", Row{
			{"id", at.Stream.ID},
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"subject", e.SubjectID},
			{"customer_name", e.Name},
			{"customer_email", e.Email},
			{"customer_company", e.Company},
			{"seller", e.Seller},
			{"lines", e.Lines},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"status", e.Status},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		}).after("subscriptions", Row{{"order_id", e.Order}})
	}).Unique("invoices_order", domain.Refuse(domain.Conflict, "The order has an invoice.")),
	On(func(at eventstore.RecordedEvent, e billing.CreditNoteIssued) Change {
		return insert("credit_notes", Row{
			{"id", at.ID},
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"invoice", e.Invoice},
			{"refund", e.Refund},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"created_at", e.At},
			{"updated_at", e.At},
		})
	}),
).
	ReadBy("subscriptions", operators, ofTenant("tenant")).
	ReadBy("invoices", operators, ofTenant("tenant")).
	ReadBy("credit_notes", operators, ofTenant("tenant"))
