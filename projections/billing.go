package projections

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
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
		saved_method   uuid,        -- that renewals are charged by; null: none
		next_at        timestamptz, -- when it has to go on by itself; null: it has ended
		end_reason     text    not null default '',
		change_plan_id   bigint,  -- of the plan that was asked for and does not count yet; null: none
		change_plan_name text,
		change_period    text,    -- its billing period
		change_price     numeric, -- of one period
		change_invoice   uuid,    -- that has to be paid for it; null: it waits for the end of the period
		change_at        timestamptz, -- from when it counts, or until when its invoice has to be paid
		created_at     timestamptz not null,
		updated_at     timestamptz not null,
		version        int     not null  -- of the subscription's stream
	);
	create unique index subscriptions_of_tenant on subscriptions (tenant, order_id);
	create index subscriptions_newest on subscriptions (created_at desc, order_id desc) include (tenant);
	create index subscriptions_tenant on subscriptions (tenant, created_at desc, order_id desc);
	create index subscriptions_method on subscriptions (saved_method) where saved_method is not null;
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
		amount_due       numeric not null default 0, -- what has yet to be paid
		documented_at    timestamptz, -- when its document was stored; null: it is not yet
		erased           boolean not null default false, -- the legal period is over, and the buyer's data destroyed
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
	create index invoices_open on invoices (tenant, currency, created_at, number) where status = 'open';
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
	create index credit_notes_tenant on credit_notes (tenant, created_at desc, id desc);

	create table payment_methods (
		id         uuid   primary key,
		tenant     bigint not null,
		subject    uuid   not null, -- the person who agreed
		provider   text   not null,
		kind       text   not null,
		brand      text   not null,
		last4      text   not null,
		expires    text   not null, -- 2029-03
		order_id   uuid,            -- with which the person agreed; null: with a setup
		setup_id   uuid,            -- by which it was added without a payment
		end_reason text   not null default '',
		created_at timestamptz not null,
		updated_at timestamptz not null,
		removed_at timestamptz, -- null: it can be charged
		version    int    not null -- of the stream of the method
	);
	create index payment_methods_newest on payment_methods (created_at desc, id desc) include (tenant) where removed_at is null;
	create index payment_methods_tenant on payment_methods (tenant, created_at desc, id desc) where removed_at is null;
	create index payment_methods_subject on payment_methods (subject)`,

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
		return update(
			"subscriptions", Row{{"order_id", at.Stream.ID}},
			changed(at, Row{{"status", "ended"}, {"end_reason", e.Reason}, {"due_at", nil}, {"next_at", nil}}),
		)
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
			{"status", billing.Running},
			{"period_start", e.PeriodStart},
			{"period_end", e.PeriodEnd},
			{"due_at", nil},
			{"suspended_at", nil},
			{"next_at", e.NextAt},
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
	subscriptionChange(func(e billing.MethodChosen) Row {
		return Row{{"saved_method", domain.OrNull(e.Method)}, {"next_at", e.NextAt}}
	}),
	subscriptionChange(func(e billing.ChargeStarted) Row { return Row{{"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.ChargeExpired) Row { return Row{{"next_at", e.NextAt}} }),
	subscriptionChange(func(e billing.ChargeFailed) Row {
		return Row{
			{"status", either(is(col("status"), word(string(billing.Running))), word(string(billing.PastDue)), keep)},
			{"next_at", e.NextAt},
		}
	}),
	On(func(at eventstore.RecordedEvent, e billing.PaymentMethodSaved) Change {
		return insert("payment_methods", Row{
			{"id", at.Stream.ID},
			{"tenant", e.Tenant},
			{"subject", e.SubjectID},
			{"provider", e.Provider},
			{"kind", e.Kind},
			{"brand", e.Brand},
			{"last4", e.Last4},
			{"expires", e.Expires},
			{"order_id", domain.OrNull(e.Order)},
			{"setup_id", domain.OrNull(e.Setup)},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e billing.PaymentMethodRemoved) Change {
		return update("payment_methods", Row{{"id", at.Stream.ID}}, changed(at, Row{{"removed_at", e.At}, {"end_reason", e.Reason}}))
	}),
	erasing("payment_methods", Row{{"brand", ""}, {"last4", ""}, {"expires", ""}}),
	subscriptionChange(func(e billing.ChangeInvoiced) Row {
		return append(pendingChange(e.PlanTerms, e.Invoice, e.DueAt), Column{"next_at", e.NextAt})
	}),
	subscriptionChange(func(e billing.ChangePlanned) Row {
		return append(pendingChange(e.PlanTerms, uuid.Nil, e.StartsAt), Column{"next_at", e.NextAt})
	}),
	subscriptionChange(func(e billing.ChangeWithdrawn) Row { return append(noChange(), Column{"next_at", e.NextAt}) }),
	subscriptionChange(func(e billing.ChangeDropped) Row { return append(noChange(), Column{"next_at", e.NextAt}) }),
	subscriptionChange(func(e billing.PlanChanged) Row {
		return append(noChange(), Row{
			{"plan_id", e.Plan},
			{"plan_name", e.PlanName},
			{"billing_period", e.BillingPeriod},
			{"price", e.Price.String()},
			{"period_start", e.PeriodStart},
			{"period_end", e.PeriodEnd},
			{"next_at", e.NextAt},
		}...)
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
			{"amount_due", dueAtIssue(e)},
			{"due_at", domain.OrNull(e.DueAt)},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		}, slices.Concat(detailColumns(e.Details), taxColumns(e.Treatment))...)).after("subscriptions", Row{{"order_id", e.Order}})
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoicePaid) Change {
		return update("invoices", Row{{"id", at.Stream.ID}}, changed(at, Row{
			{"status", billing.Paid}, {"paid_at", e.At}, {"payment_method", e.Method}, {"reference", e.Reference}, {"amount_due", "0"},
		}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoicePartPaid) Change {
		return update("invoices", Row{{"id", at.Stream.ID}}, changed(at, Row{{"amount_due", e.Due.String()}}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoicePartReturned) Change {
		return update("invoices", Row{{"id", at.Stream.ID}}, changed(at, Row{{"amount_due", e.Due.String()}}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.DocumentMade) Change {
		version := Row{{"version", at.Version}}
		if e.CreditNote == uuid.Nil {
			return update("invoices", Row{{"id", at.Stream.ID}}, append(version, Column{"documented_at", e.At}))
		}
		return update("invoices", Row{{"id", at.Stream.ID}}, version).with(
			update("credit_notes", Row{{"id", e.CreditNote}}, Row{{"documented_at", e.At}}),
		)
	}),
	On(func(_ eventstore.RecordedEvent, e billing.FiscalKeysDestroyed) Change { // as much as a rebuild would no longer find
		return update("invoices", Row{{"erased", false}}, append(Row{
			{"erased", true}, {"customer_name", ""}, {"customer_email", ""}, {"customer_company", ""},
		}, detailColumns(buyer.Details{})...)).provided(before(col("created_at"), e.Until()))
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
		return update(
			"invoices", Row{{"id", at.Stream.ID}},
			changed(at, Row{{"status", billing.Withdrawn}, {"amount_due", "0"}}),
		).with(note)
	}),
).
	ReadBy("subscriptions", operators, ofTenant("tenant")).
	ReadBy("invoices", operators, ofTenant("tenant")).
	ReadBy("credit_notes", operators, ofTenant("tenant")).
	ReadBy("payment_methods", operators, ofTenant("tenant"))

// dueAtIssue is what has to be paid of a new invoice.
func dueAtIssue(e billing.InvoiceIssued) string {
	if e.Status == billing.Open {
		return e.Total.String()
	}
	return "0"
}

// pendingChange are the columns of a change of the plan that does not count yet.
func pendingChange(to billing.PlanTerms, invoice uuid.UUID, at time.Time) Row {
	return Row{
		{"change_plan_id", to.Plan},
		{"change_plan_name", to.PlanName},
		{"change_period", to.BillingPeriod},
		{"change_price", to.Price.String()},
		{"change_invoice", domain.OrNull(invoice)},
		{"change_at", at},
	}
}

func noChange() Row {
	return Row{
		{"change_plan_id", nil},
		{"change_plan_name", nil},
		{"change_period", nil},
		{"change_price", nil},
		{"change_invoice", nil},
		{"change_at", nil},
	}
}

// subscriptionChange is what an event does to the row of its subscription.
func subscriptionChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("subscriptions", Row{{"order_id", at.Stream.ID}}, changed(at, set(e)))
	})
}
