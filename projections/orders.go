package projections

import (
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// orders is every order as it stands: what its customer sees of it, what
// operators see, and what provisioning has to know.
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
		plan_id            bigint  not null,
		plan_name          text    not null,
		resource_type      text    not null,
		plan               jsonb   not null, -- as it was bought
		billing_period     text    not null,
		price              numeric not null, -- per month
		period_price       numeric not null, -- per billing period, exact
		setup_fee          numeric not null,
		tax_rate           numeric not null,
		total              numeric not null,
		subtotal           numeric not null,
		tax                numeric not null,
		currency           text    not null,
		minor              bigint  not null, -- the total as the provider counts it
		payment_method     text    not null,
		test               boolean not null,
		domain             text    not null,
		os_choice          text    not null,
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
		created_at         timestamptz not null,
		updated_at         timestamptz not null,
		version            int     not null, -- of the order's stream
		search             text    not null generated always as (
			lower(order_number || chr(10) || customer_email || chr(10) || customer_name || chr(10) || domain)) stored
	) with (fillfactor = 80);
	create unique index orders_number on orders (order_number);
	create index orders_newest on orders (created_at desc, id desc) include (owner);
	create index orders_status on orders (status, created_at desc, id desc) include (owner);
	create index orders_plan on orders (plan_id, created_at desc, id desc) include (owner);
	create index orders_held on orders (created_at desc, id desc) where holds <> '{}';
	create index orders_subject on orders (subject)`+orderDays,

	ordersAndDays(On(`insert into orders (id, order_number, status, subject, customer_name, customer_email, customer_phone, customer_company,
			plan_id, plan_name, resource_type, plan, billing_period, price, period_price, setup_fee, tax_rate, total, subtotal, tax,
			currency, minor, payment_method, test, domain, os_choice, language, widget_id, api_key, owner, success_url, cancel_url,
			created_at, updated_at, version)
		values ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
			$20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, recorded_at(), recorded_at(), $32)`, placed).
		Unique("orders_number", errNumberTaken),
		orderChange(`status = 'payment_processing', session_id = $3, payment_url = $4, session_expires_at = $5`,
			func(e order.PaymentSessionOpened) []any { return []any{e.Session, e.URL, e.ExpiresAt} }),
		orderChange(seen, func(e order.PaymentApproved) []any { return of(e.Payment) }),
		orderChange(seen+`, settling = true`, func(e order.AwaitingSettlement) []any { return of(e.Payment) }),
		orderChange(seen, func(e order.PaymentDeclined) []any { return of(e.Payment) }),
		orderChange(`status = status`, func(order.WebhookMatched) []any { return []any{} }),
		orderChange(seen+`, settling = false, status = 'paid'`, func(e order.PaymentConfirmed) []any { return of(e.Payment) }),
		orderChange(seen+`, `+hold5, func(e order.PaymentMismatchFound) []any { return append(of(e.Payment), order.MismatchHold) }),
		orderChange(seen, func(e order.LatePaymentFound) []any { return of(e.Payment) }),
		orderChange(hold3, func(e order.LatePaymentFound) []any {
			if len(e.Refund) == 0 || e.GoesBack() {
				return nil
			}
			return []any{order.OperatorHold}
		}),
		orderChange(hold3, func(order.DuplicatePaymentFound) []any { return []any{order.DuplicateHold} }),
		orderChange(runsOn+`, holds = $4`, func(e order.PaymentAccepted) []any { return []any{e.Payment, e.Holds} }),
		orderChange(`holds = $3`, func(e order.RefundRequested) []any { return []any{e.Holds} }),
		orderChange(returned+`, holds = $5`, func(e order.PartiallyRefunded) []any {
			return []any{e.Refund.Payment, e.Returned, e.Holds}
		}),
		orderChange(returned+`, holds = $5, status = 'refunded', settling = false`, func(e order.RefundCompleted) []any {
			return []any{e.Refund.Payment, e.Returned, e.Holds}
		}),
		orderChange(returned+`, holds = $5`, func(e order.RefundFailed) []any { return []any{e.Payment, e.Returned, e.Holds} }),
		orderChange(hold3, func(order.DisputeReported) []any { return []any{order.DisputeHold} }),
		orderChange(hold3, func(order.DisputeOpened) []any { return []any{order.DisputeHold} }),
		orderChange(returned+`, holds = $5, status = case when $6 then 'refunded' else status end`, func(e order.DisputeClosed) []any {
			return []any{e.Dispute.Payment, e.Returned, e.Holds, e.Chargeback}
		}),
		orderChange(`cancel_requested = true`, func(order.CancelRequested) []any { return []any{} }),
		orderChange(`holds = $3`, func(e order.CompensationParked) []any { return []any{e.Holds} }),
		orderChange(`holds = $3`, func(e order.CompensationCompleted) []any { return []any{e.Holds} }),
		orderChange(runsOn+`, status = 'paid', settling = false, cancel_reason = ''`,
			func(e order.Reopened) []any { return []any{e.Payment} }),
		orderChange(`status = 'cancelled', settling = false, cancel_reason = $3`,
			func(e order.Cancelled) []any { return []any{e.Reason} }),
		orderChange(`status = 'provisioning'`, func(order.ProvisioningStarted) []any { return []any{} }),
		orderChange(`status = 'failed', failed_step = $3, failed_code = $4`,
			func(e order.ProvisioningParked) []any { return []any{e.Step, e.Code} }),
		orderChange(`status = 'provisioning', failed_step = '', failed_code = ''`,
			func(order.ProvisioningResumed) []any { return []any{} }),
		orderChange(`status = 'active'`, func(order.Activated) []any { return []any{} }),
		orderChange(warn, func(order.WelcomeMailDelayed) []any { return []any{order.MailWarning} }),
		orderChange(warn, func(order.WelcomeMailGivenUp) []any { return []any{order.MailWarning} }),
		orderChange(`warnings = array_remove(warnings, $3::text)`, func(order.WelcomeMailSent) []any { return []any{order.MailWarning} }),
		erasing(`update orders set customer_name = '', customer_email = '', customer_phone = '', customer_company = '',
		success_url = '', cancel_url = '' where subject = $1`))...,
).
	ReadBy("orders", operators, ofKeyOwner("owner")).
	ReadBy("order_days", operators).
	ReadBy("order_money", operators)

// Parts of statements that several events share.
const (
	runsOn = `payment_id = $3, refunded = case when payment_id = $3 then refunded else 0 end` // what went back of another payment does not count
	seen   = `payment_id = case when ` + unpaid + ` then coalesce(nullif($3::text, ''), payment_id) else payment_id end,
		refunded = case when ` + unpaid + ` and $3 not in ('', payment_id) then 0 else refunded end,
		payment_status = case when ` + unpaid + ` then $4::text else payment_status end`
	returned = `refunded = case when payment_id = $3 then $4::bigint else refunded end`
	unpaid   = `status in ('pending', 'payment_processing', 'cancelled')` // the payment that it runs on stays
	hold3    = `holds = array(select distinct h from unnest(holds || $3::text) h order by h)`
	hold5    = `holds = array(select distinct h from unnest(holds || $5::text) h order by h)`
	warn     = `warnings = array(select distinct w from unnest(warnings || $3::text) w order by w)`
)

// errNumberTaken makes the caller draw another random part.
var errNumberTaken = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "order_number_taken"}

func of(p order.Seen) []any { return []any{p.ID, p.State} }

// orderChange is what an event does to the row of its order. The arguments begin
// with $3; nil means that nothing changes.
func orderChange[E domain.Event](set string, args func(E) []any) Handler {
	return On(`update orders set `+set+`, updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.RecordedEvent, e E) []any {
			if more := args(e); more != nil {
				return append([]any{at.Stream.ID, at.Version}, more...)
			}
			return nil
		})
}

func placed(at eventstore.RecordedEvent, e order.Placed) []any {
	return []any{
		e.Order, e.Number, e.SubjectID, e.Name, e.Email, e.Phone, e.Company,
		e.Plan.ID, e.Plan.Name, e.Plan.ResourceType, e.Plan, e.BillingPeriod,
		e.Price.String(), e.PeriodPrice.String(), e.SetupFee.String(), e.TaxRate.String(),
		e.Total.String(), e.Subtotal.String(), e.Tax.String(), e.Currency, e.Minor,
		e.Provider, e.Test, e.Domain, e.OS, e.Language, e.Widget, e.APIKey, e.Owner,
		e.SuccessURL, e.CancelURL, at.Version,
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

// dayOf is the day of an event.
const dayOf = `(recorded_at() at time zone 'UTC')::date`

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
	return On(strings.ReplaceAll(`insert into order_days as d (day, currency, test, FIGURE) select `+dayOf+`, currency, test, 1 from orders where id = $1
		on conflict (day, currency, test) do update set FIGURE = d.FIGURE + 1`, "FIGURE", figure),
		func(at eventstore.RecordedEvent, _ E) []any { return []any{at.Stream.ID} })
}

func moneyIn[E domain.Event](payment func(E) order.Seen) Handler {
	return On(`with came as (
			insert into order_money (order_id, payment, currency, test) select id, $2, $3, test from orders where id = $1
			on conflict (order_id, payment) do nothing returning currency, test)
		insert into order_days as d (day, currency, test, received) select `+dayOf+`, currency, test, $4 from came
		on conflict (day, currency, test) do update set received = d.received + excluded.received`,
		func(at eventstore.RecordedEvent, e E) []any {
			p := payment(e)
			if p.State != order.StatePaid {
				return nil
			}
			return []any{at.Stream.ID, p.ID, strings.ToUpper(p.Currency), p.Minor}
		})
}

// moneyBack takes of which payment how much has gone back by now.
func moneyBack[E domain.Event](back func(E) (payment string, returned int64)) Handler {
	return On(`with went as (update order_money set returned = $3 where order_id = $1 and payment = $2)
		insert into order_days as d (day, currency, test, returned) select `+dayOf+`, currency, test, $3 - returned from order_money
		where order_id = $1 and payment = $2 and returned <> $3
		on conflict (day, currency, test) do update set returned = d.returned + excluded.returned`,
		func(at eventstore.RecordedEvent, e E) []any {
			payment, returned := back(e)
			return []any{at.Stream.ID, payment, returned}
		})
}

// ordersAndDays are the handlers of orders, and those of their days.
func ordersAndDays(orders ...Handler) []Handler { return slices.Concat(orders, countedDaily()) }
