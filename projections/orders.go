package projections

import (
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
)

// orders is every order as it stands, for its customer, for operators and for provisioning.
var orders = New("orders", `
	create table orders (
		id                 uuid    primary key,
		order_number       text    not null,
		status             text    not null,
		holds              text[]  not null default '{}',
		warnings           text[]  not null default '{}',
		settling           boolean not null default false, -- the customer is done, the bank is not
		failed_step        text    not null default '',
		failed_code        text    not null default '',
		cancel_reason      text    not null default '',
		subject            uuid    not null,
		customer_name      text    not null,
		customer_email     text    not null,
		customer_phone     text    not null,
		customer_company   text    not null,
		customer_address     text not null default '',
		customer_city        text not null default '',
		customer_postal_code text not null default '',
		customer_country     text not null default '', -- ISO 3166
		customer_tax_id      text not null default '',
		plan_id            bigint  not null,
		plan_name          text    not null,
		resource_type      text    not null,
		plan               jsonb   not null, -- as it was bought
		billing_period     text    not null,
		price              numeric not null, -- per month
		period_price       numeric not null, -- per billing period, exact
		setup_fee          numeric not null,
		tax_rate           numeric not null,
		tax_kind           text    not null default '', -- how the rate came about; '': it is the single one
		tax_country        text    not null default '', -- ISO 3166
		tax_removed        numeric not null default 0, -- percent that the price includes and the total does not
		tax_id_accepted_by text    not null default '',
		total              numeric not null,
		subtotal           numeric not null,
		tax                numeric not null,
		currency           text    not null,
		minor              bigint  not null, -- the total as the provider counts it
		payment_method     text    not null,
		test               boolean not null,
		domain             text    not null,
		os_choice          text    not null,
		hostname           text    not null default '', -- of a virtual server
		ssh_key            text    not null default '', -- of who may sign in there
		language           text    not null,
		widget_id          text    not null,
		api_key            text    not null, -- its public id
		owner              bigint  not null, -- the user to whom the key belongs
		success_url        text    not null default '', -- where the customer goes afterwards; '': where the widget says
		cancel_url         text    not null default '',
		session_id         text    not null default '',
		payment_url        text    not null default '',
		session_expires_at timestamptz,
		payment_id         text    not null default '',
		payment_status     text    not null default '',
		refunded           bigint  not null default 0, -- minor units that went back, or were lost, of the payment that it runs on
		cancel_requested   boolean not null default false,
		tenant             bigint,  -- that has the service, or that it joins; null: none yet
		subscribed         boolean not null default false, -- its service is billed, or was
		ordered_by         bigint,  -- the user who ordered for a tenant that there was; null: no user has
		invoice            uuid,    -- that it pays; null: it buys a service
		keep_for           uuid,    -- who agreed that the payment method is kept; null: it is not
		kept_method        uuid,    -- that is charged; null: the customer pays on a page
		created_at         timestamptz not null,
		updated_at         timestamptz not null,
		version            int     not null, -- of the order's stream
		search             text    not null generated always as (
			lower(order_number || chr(10) || customer_email || chr(10) || customer_name || chr(10) || domain)) stored
	) with (fillfactor = 80);
	create unique index orders_number on orders (order_number);
	create index orders_newest on orders (created_at desc, id desc) include (owner, tenant);
	create index orders_status on orders (status, created_at desc, id desc) include (owner, tenant);
	create index orders_plan on orders (plan_id, created_at desc, id desc) include (owner, tenant);
	create index orders_held on orders (created_at desc, id desc) where holds <> '{}';
	create index orders_tenant on orders (tenant, created_at desc, id desc) where tenant is not null;
	create index orders_subject on orders (subject);
	create index orders_invoice on orders (invoice, created_at, id) where invoice is not null`+orderDays,

	ordersAndDays(On(placed).Unique("orders_number", errNumberTaken),
		orderChange(func(e order.PaymentSessionOpened) Row {
			return Row{
				{"status", "payment_processing"},
				{"session_id", e.Session},
				{"payment_url", e.URL},
				{"session_expires_at", e.ExpiresAt},
			}
		}),
		orderChange(func(e order.PaymentApproved) Row { return seen(e.Payment) }),
		orderChange(func(e order.AwaitingSettlement) Row { return append(seen(e.Payment), Column{"settling", true}) }),
		orderChange(func(e order.PaymentDeclined) Row { return seen(e.Payment) }),
		orderChange(func(order.WebhookMatched) Row { return Row{} }),
		orderChange(func(order.PaymentMethodKept) Row { return Row{} }),
		orderChange(func(e order.TenantChosen) Row {
			return Row{{"tenant", domain.OrNull(e.Tenant)}, {"ordered_by", domain.OrNull(e.User)}}
		}),
		On(func(_ eventstore.RecordedEvent, e billing.SubscriptionStarted) Change {
			return update("orders", Row{{"id", e.Order}}, Row{{"tenant", e.Tenant}, {"subscribed", true}})
		}),
		orderChange(func(e order.PaymentConfirmed) Row {
			return heldFor(append(seen(e.Payment), Column{"settling", false}, Column{"status", "paid"}), e.Holds)
		}),
		orderChange(func(e order.PaymentMismatchFound) Row { return append(seen(e.Payment), held(order.MismatchHold)...) }),
		orderChange(func(e order.LatePaymentFound) Row {
			if len(e.Refund) == 0 || e.GoesBack() {
				return seen(e.Payment)
			}
			return append(seen(e.Payment), held(order.OperatorHold)...)
		}),
		orderChange(func(order.DuplicatePaymentFound) Row { return held(order.DuplicateHold) }),
		orderChange(func(e order.PaymentAccepted) Row { return append(runsOn(e.Payment), Column{"holds", e.Holds}) }),
		orderChange(func(e order.PaymentHeld) Row { return Row{{"holds", e.Holds}} }),
		orderChange(func(e order.RefundRequested) Row { return Row{{"holds", e.Holds}} }),
		orderChange(func(e order.PartiallyRefunded) Row { return returned(e.Refund.Payment, e.Returned, e.Holds) }),
		orderChange(func(e order.RefundCompleted) Row {
			return append(returned(e.Refund.Payment, e.Returned, e.Holds), Column{"status", "refunded"}, Column{"settling", false})
		}),
		orderChange(func(e order.RefundFailed) Row { return returned(e.Payment, e.Returned, e.Holds) }),
		orderChange(func(order.DisputeReported) Row { return held(order.DisputeHold) }),
		orderChange(func(order.DisputeOpened) Row { return held(order.DisputeHold) }),
		orderChange(func(e order.DisputeClosed) Row {
			row := returned(e.Dispute.Payment, e.Returned, e.Holds)
			if e.Chargeback {
				row = append(row, Column{"status", "refunded"})
			}
			return row
		}),
		orderChange(func(order.CancelRequested) Row { return Row{{"cancel_requested", true}} }),
		orderChange(func(e order.CompensationParked) Row { return Row{{"holds", e.Holds}} }),
		orderChange(func(e order.CompensationCompleted) Row { return Row{{"holds", e.Holds}} }),
		orderChange(func(e order.Reopened) Row {
			return append(runsOn(e.Payment), Column{"status", "paid"}, Column{"settling", false}, Column{"cancel_reason", ""})
		}),
		orderChange(func(e order.Cancelled) Row {
			return heldFor(Row{{"status", "cancelled"}, {"settling", false}, {"cancel_reason", e.Reason}}, e.Holds)
		}),
		orderChange(func(order.ProvisioningStarted) Row { return Row{{"status", "provisioning"}} }),
		orderChange(func(e order.ProvisioningParked) Row {
			return Row{{"status", "failed"}, {"failed_step", e.Step}, {"failed_code", e.Code}}
		}),
		orderChange(func(order.ProvisioningResumed) Row {
			return Row{{"status", "provisioning"}, {"failed_step", ""}, {"failed_code", ""}}
		}),
		orderChange(func(order.Activated) Row { return Row{{"status", "active"}} }),
		orderChange(func(order.WelcomeMailDelayed) Row { return Row{{"warnings", joined(order.MailWarning)}} }),
		orderChange(func(order.WelcomeMailGivenUp) Row { return Row{{"warnings", joined(order.MailWarning)}} }),
		orderChange(func(order.WelcomeMailSent) Row { return Row{{"warnings", removed(order.MailWarning)}} }),
		erasing("orders", append(Row{
			{"customer_name", ""},
			{"customer_email", ""},
			{"customer_phone", ""},
			{"customer_company", ""},
			{"success_url", ""},
			{"cancel_url", ""},
			{"ssh_key", ""},
		}, detailColumns(buyer.Details{})...)))...,
).
	ReadBy("orders", operators, ofKeyOwner("owner"), ofTenant("tenant")).
	ReadBy("order_days", operators).
	ReadBy("order_money", operators)

// runsOn is the payment that the order runs on. What went back of another does not
// count.
func runsOn(payment string) Row {
	return Row{{"payment_id", payment}, {"refunded", either(is(col("payment_id"), payment), keep, 0)}}
}

// seen is what was seen of a payment. A paid order keeps the payment that it runs on.
func seen(p order.Seen) Row {
	unpaid := among(col("status"), "pending", "payment_processing", "cancelled")
	row := Row{{"payment_status", either(unpaid, p.State, keep)}}
	if p.ID == "" {
		return row
	}
	return append(row, Column{"payment_id", either(unpaid, p.ID, keep)},
		Column{"refunded", either(and(unpaid, not(is(col("payment_id"), p.ID))), 0, keep)})
}

// returned is how much of a payment has gone back, and what the order waits for now.
func returned(payment string, minor int64, holds []order.Hold) Row {
	return Row{{"refunded", either(is(col("payment_id"), payment), minor, keep)}, {"holds", holds}}
}

// heldFor adds other holds to a change, if an event has any.
func heldFor(row Row, holds []order.Hold) Row {
	if holds == nil {
		return row
	}
	return append(row, Column{"holds", holds})
}

func held(by order.Hold) Row { return Row{{"holds", joined(by)}} }

// errNumberTaken makes the caller draw another random part.
var errNumberTaken = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "order_number_taken"}

// orderChange is what an event does to the row of its order.
func orderChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change { return update("orders", its(at), changed(at, set(e))) })
}

func placed(at eventstore.RecordedEvent, e order.Placed) Change {
	return insert("orders", append(Row{
		{"id", e.Order},
		{"order_number", e.Number},
		{"status", "pending"},
		{"subject", e.SubjectID},
		{"customer_name", e.Name},
		{"customer_email", e.Email},
		{"customer_phone", e.Phone},
		{"customer_company", e.Company},
		{"plan_id", e.Plan.ID},
		{"plan_name", e.Plan.Name},
		{"resource_type", e.Plan.ResourceType},
		{"plan", e.Plan},
		{"billing_period", e.BillingPeriod},
		{"price", e.Price.String()},
		{"period_price", e.PeriodPrice.String()},
		{"setup_fee", e.SetupFee.String()},
		{"tax_rate", e.TaxRate.String()},
		{"total", e.Total.String()},
		{"subtotal", e.Subtotal.String()},
		{"tax", e.Tax.String()},
		{"currency", e.Currency},
		{"minor", e.Minor},
		{"payment_method", e.Provider},
		{"test", e.Test},
		{"domain", e.Domain},
		{"os_choice", e.OS},
		{"hostname", e.Hostname},
		{"ssh_key", e.SSHKey},
		{"language", e.Language},
		{"widget_id", e.Widget},
		{"api_key", e.APIKey},
		{"owner", e.Owner},
		{"tenant", domain.OrNull(e.Tenant)},
		{"ordered_by", domain.OrNull(e.User)},
		{"invoice", domain.OrNull(e.Invoice)},
		{"keep_for", domain.OrNull(e.KeepFor)},
		{"kept_method", domain.OrNull(e.Charge)},
		{"success_url", e.SuccessURL},
		{"cancel_url", e.CancelURL},
		{"created_at", now},
		{"updated_at", now},
		{"version", at.Version},
	}, slices.Concat(detailColumns(e.Details), taxColumns(e.Treatment))...))
}

// taxColumns are the columns of how a sale is taxed, of orders, invoices and credit notes.
func taxColumns(t tax.Treatment) Row {
	return Row{
		{"tax_kind", t.TaxKind},
		{"tax_country", t.TaxCountry},
		{"tax_removed", t.TaxRemoved.String()},
		{"tax_id_accepted_by", t.TaxIDAcceptedBy},
	}
}

// detailColumns are the columns of a buyer's details, of orders and of invoices.
func detailColumns(d buyer.Details) Row {
	return Row{
		{"customer_address", d.Address},
		{"customer_city", d.City},
		{"customer_postal_code", d.PostalCode},
		{"customer_country", d.Country},
		{"customer_tax_id", d.TaxID},
	}
}

// The orders and the money of a day have a row per currency, which events count
// up: the overview of operators reads thirty days, however many orders there are.
// Days are those of UTC. Test payments have rows of their own.
const orderDays = `;
	create table order_days (
		day      date    not null,
		currency text    not null,
		test     boolean not null,
		placed   bigint  not null default 0, -- orders that were placed on this day
		paid     bigint  not null default 0, -- that were paid
		active   bigint  not null default 0, -- that became active
		failed   bigint  not null default 0, -- whose setup has stopped
		received bigint  not null default 0, -- minor units
		returned bigint  not null default 0, -- minor units: refunded, or lost in a dispute
		primary key (day, currency, test)
	) with (fillfactor = 50);

	create table order_money (
		order_id uuid    not null,
		payment  text    not null, -- the provider's id
		currency text    not null,
		test     boolean not null,
		returned bigint  not null default 0, -- minor units
		primary key (order_id, payment)
	)`

// countedDaily are what events add to the figures of their day. Each payment counts
// once. What has gone back of it is a total in each event: a day gets the difference,
// which is below zero where a refund came back.
func countedDaily() []Handler {
	return []Handler{
		another[order.Placed]("placed"), another[order.PaymentConfirmed]("paid"), another[order.Reopened]("paid"),
		another[order.Activated]("active"), another[order.ProvisioningParked]("failed"),
		moneyIn(func(e order.PaymentConfirmed) order.Seen { return e.Payment }),
		moneyIn(func(e order.PaymentMismatchFound) order.Seen { return e.Payment }),
		moneyIn(func(e order.DuplicatePaymentFound) order.Seen { return e.Payment }),
		moneyIn(func(e order.LatePaymentFound) order.Seen { return e.Payment }),
		moneyBack(func(e order.PartiallyRefunded) (string, int64) { return e.Refund.Payment, e.Returned }),
		moneyBack(func(e order.RefundCompleted) (string, int64) { return e.Refund.Payment, e.Returned }),
		moneyBack(func(e order.RefundFailed) (string, int64) { return e.Payment, e.Returned }),
		moneyBack(func(e order.DisputeClosed) (string, int64) { return e.Dispute.Payment, e.Returned }),
	}
}

// another counts an order of the day.
func another[E domain.Event](figure string) Handler {
	return On(func(at eventstore.RecordedEvent, _ E) Change {
		return count("order_days", dayOf(of("o", "currency")), Row{{figure, 1}}).using("o", "orders", its(at))
	})
}

// dayOf is the key of the day of an event, for an order o or its money.
func dayOf(currency any) Row {
	return Row{{"day", day.call(now)}, {"currency", currency}, {"test", of("o", "test")}}
}

func moneyIn[E domain.Event](payment func(E) order.Seen) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		p := payment(e)
		if p.State != order.StatePaid {
			return Change{}
		}
		currency, key := strings.ToUpper(p.Currency), moneyOf(at, p.ID)
		return count("order_days", dayOf(currency), Row{{"received", p.Minor}}).
			using("o", "orders", its(at)).usingAny("m", "order_money", key).provided(missing(of("m", "order_id"))).
			with(upsert("order_money", key, Row{{"currency", currency}, {"test", of("o", "test")}}, nil).using("o", "orders", its(at)))
	})
}

func moneyOf(at eventstore.RecordedEvent, payment string) Row {
	return Row{{"order_id", at.Stream.ID}, {"payment", payment}}
}

// moneyBack takes of which payment how much has gone back by now.
func moneyBack[E domain.Event](back func(E) (payment string, returned int64)) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		payment, returned := back(e)
		key := moneyOf(at, payment)
		return count("order_days", dayOf(of("o", "currency")), Row{{"returned", less(returned, of("o", "returned"))}}).
			using("o", "order_money", key).provided(not(is(of("o", "returned"), returned))).
			with(update("order_money", key, Row{{"returned", returned}}))
	})
}

// ordersAndDays are the handlers of orders, and those of their days.
func ordersAndDays(orders ...Handler) []Handler { return slices.Concat(orders, countedDaily()) }
