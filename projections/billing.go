package projections

import (
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// subscriptions is what customers pay for, and their invoices.
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
		status         text    not null,
		period_start   timestamptz not null,
		period_end     timestamptz not null, -- the first moment that is not paid for
		due_at         timestamptz, -- of the invoice that is not paid yet
		suspended_at   timestamptz,
		next_at        timestamptz, -- when it has to go on by itself; null: it has ended
		end_reason     text    not null default '',
		created_at     timestamptz not null,
		updated_at     timestamptz not null,
		version        int     not null  -- of the subscription's stream
	);
	create unique index subscriptions_of_tenant on subscriptions (tenant, order_id);
	create index subscriptions_newest on subscriptions (created_at desc, order_id desc) include (tenant);
	create index subscriptions_tenant on subscriptions (tenant, created_at desc, order_id desc);
	create index subscriptions_due on subscriptions (next_at, order_id) where next_at is not null;

	create table invoices (
		id               uuid    primary key,
		number           text    not null,
		order_id         uuid    not null,
		tenant           bigint  not null,
		subject          uuid    not null,
		customer_name    text    not null,
		customer_email   text    not null,
		customer_company text    not null,
		customer_address     text not null default '',
		customer_city        text not null default '',
		customer_postal_code text not null default '',
		customer_country     text not null default '', -- ISO 3166
		customer_tax_id      text not null default '',
		seller           jsonb   not null,
		lines            jsonb   not null, -- their totals include tax
		total            numeric not null,
		subtotal         numeric not null,
		tax              numeric not null,
		tax_rate         numeric not null,
		tax_kind           text    not null default '', -- how the rate came about; '': it is the single one
		tax_country        text    not null default '', -- ISO 3166
		tax_removed        numeric not null default 0, -- percent that the price includes and the total does not
		tax_id_accepted_by text    not null default '',
		currency         text    not null,
		status           text    not null,
		due_at           timestamptz, -- null: it was paid before
		paid_at          timestamptz,
		payment_method   text    not null default '', -- by which it was paid
		reference        text    not null default '', -- of that payment
		documented_at    timestamptz, -- when its document was stored; null: it is not yet
		created_at       timestamptz not null, -- the moment of issue
		updated_at       timestamptz not null,
		version          int     not null, -- of the invoice's stream
		constraint invoices_subscription foreign key (tenant, order_id) references subscriptions (tenant, order_id)
	);
	create index invoices_order on invoices (order_id, created_at);
	create unique index invoices_number on invoices (number);
	create index invoices_newest on invoices (created_at desc, id desc) include (tenant);
	create index invoices_tenant on invoices (tenant, created_at desc, id desc);
	create index invoices_subject on invoices (subject);
	create index invoices_undocumented on invoices (created_at, number) where documented_at is null;

	create table credit_notes (
		id        uuid    primary key,
		number    text    not null,
		order_id  uuid    not null,
		tenant    bigint  not null,
		invoice_id uuid   not null,
		invoice   text    not null, -- its number
		refund    text    not null, -- the provider's id
		total     numeric not null,
		subtotal  numeric not null,
		tax       numeric not null,
		tax_rate  numeric not null,
		tax_kind           text    not null default '', -- those of the invoice
		tax_country        text    not null default '',
		tax_removed        numeric not null default 0,
		tax_id_accepted_by text    not null default '',
		currency  text    not null,
		documented_at timestamptz, -- when its document was stored; null: it is not yet
		created_at timestamptz not null, -- the moment of issue
		updated_at timestamptz not null
	);
	create index credit_notes_undocumented on credit_notes (created_at, number) where documented_at is null;
	create unique index credit_notes_number on credit_notes (number);
	create unique index credit_notes_refund on credit_notes (invoice_id, refund);
	create index credit_notes_order on credit_notes (order_id, created_at);
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
			{"next_at", e.NextAt},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e billing.SubscriptionEnded) Change {
		return update("subscriptions", Row{{"order_id", at.Stream.ID}}, changed(at, Row{{"status", "ended"}, {"end_reason", e.Reason}, {"due_at", nil}, {"next_at", nil}}))
	}),
	subscriptionChange(func(e billing.PeriodInvoiced) Row { return Row{{"due_at", e.DueAt}, {"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.PaymentOverdue) Row { return Row{{"status", billing.PastDue}, {"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.PaymentReminded) Row { return Row{{"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.SubscriptionSuspended) Row {
		return Row{{"status", billing.Suspended}, {"suspended_at", e.At}, {"next_at", e.NextAt}}
	}),
	subscriptionChange(func(e billing.EndAnnounced) Row { return Row{{"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.PeriodRenewed) Row {
		return Row{
			{"status", billing.Running}, {"period_start", e.PeriodStart}, {"period_end", e.PeriodEnd}, {"due_at", nil}, {"suspended_at", nil}, {"next_at", e.NextAt},
		}
	}),
	subscriptionChange(func(e billing.PaymentExtended) Row {
		return Row{{"status", billing.Running}, {"due_at", e.Until}, {"suspended_at", nil}, {"next_at", e.NextAt}}
	}),
	subscriptionChange(func(e billing.CancellationRequested) Row {
		return Row{{"status", billing.Cancelling}, {"due_at", nil}, {"next_at", e.NextAt}}
	}),
	subscriptionChange(func(e billing.CancellationRevoked) Row {
		return Row{{"status", billing.Running}, {"next_at", e.NextAt}}
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoiceIssued) Change {
		return insert("invoices", append(Row{
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
			{"due_at", domain.OrNull(e.DueAt)},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		}, slices.Concat(detailColumns(e.Details), taxColumns(e.Treatment))...)).after("subscriptions", Row{{"order_id", e.Order}})
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoicePaid) Change {
		return update("invoices", Row{{"id", at.Stream.ID}}, changed(at, Row{
			{"status", billing.Paid}, {"paid_at", e.At}, {"payment_method", e.Method}, {"reference", e.Reference},
		}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.DocumentMade) Change {
		version := Row{{"version", at.Version}}
		if e.CreditNote == uuid.Nil {
			return update("invoices", Row{{"id", at.Stream.ID}}, append(version, Column{"documented_at", e.At}))
		}
		return update("invoices", Row{{"id", at.Stream.ID}}, version).with(update("credit_notes", Row{{"id", e.CreditNote}}, Row{{"documented_at", e.At}}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.CreditNoteIssued) Change {
		note := insert("credit_notes", append(Row{
			{"id", at.ID},
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"invoice_id", at.Stream.ID},
			{"invoice", e.Invoice},
			{"refund", e.Refund},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"created_at", e.At},
			{"updated_at", e.At},
		}, taxColumns(e.Treatment)...))
		if !e.Closes {
			return note
		}
		return update("invoices", Row{{"id", at.Stream.ID}}, changed(at, Row{{"status", billing.Withdrawn}})).with(note)
	}),
).
	ReadBy("subscriptions", operators, ofTenant("tenant")).
	ReadBy("invoices", operators, ofTenant("tenant")).
	ReadBy("credit_notes", operators, ofTenant("tenant"))

// subscriptionChange is what an event does to the row of its subscription.
func subscriptionChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("subscriptions", Row{{"order_id", at.Stream.ID}}, changed(at, set(e)))
	})
}
