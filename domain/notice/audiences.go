package notice

import "hostpanel/domain"

// catalogue is everything that users are told, by the name of its template, with its
// type. The texts have the same names (package texts, "notice.").
var catalogue = merged(toCustomers, toPayers, toTenants, toOwners, operators)

// operators is what every superuser is told.
var operators = merged(toOperators, toWatchers)

// leads are the pages that notifications lead to, by whom they tell. One that is about
// a thing with a page of its own leads there ([Text.At]).
var leads = []struct {
	told map[string]Type
	page string
}{
	{toCustomers, domain.PanelPath},
	{toPayers, InvoicesPath},
	{toTenants, domain.PanelPath},
	{toOwners, AccountPath},
	{toOperators, OrdersPath},
	{toWatchers, IncidentsPath},
}

// toCustomers is what those are told who have ordered something.
var toCustomers = map[string]Type{
	"order_active":      Success,
	"order_active_vps":  Success,
	"order_active_saas": Success,
	"invoice_created":   Billing,
	"refund_done":       Billing,
	"machine_ready":     VPS,
	"machine_failed":    VPS,
}

// toOwners is what users are told of their own accounts.
var toOwners = map[string]Type{
	"token_reused":      Warning,
	"second_factor_on":  System,
	"second_factor_off": Warning,
	"codes_renewed":     Warning,
}

// toTenants is what the administrators of a tenant are told.
var toTenants = map[string]Type{
	"certificate_issued":   Hosting,
	"certificate_failed":   Hosting,
	"certificate_expiring": Hosting,
	"engine_refused":       Hosting,
	"traffic_near":         VPS,
	"traffic_used":         VPS,
	"traffic_slowed":       VPS,
	"traffic_stopped":      VPS,
	"installed":            Hosting,
	"webhook_disabled":     Warning,
	"tenant_suspended":     System,
	"tenant_reactivated":   System,
}

// toOperators is what every superuser is told of orders.
var toOperators = map[string]Type{
	"order_parked":     Error,
	"payment_mismatch": Warning,
	"payment_disputed": Warning,

	"change_dropped_order": Warning,
}
