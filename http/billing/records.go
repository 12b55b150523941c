package billing

import (
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A subscription is what a service costs, and until when it is paid for.
type subscription struct {
	projections.Subscription
	mayChange bool // the caller administers the tenant

	// On its page, the saved payment methods that the reader may choose, and the name of
	// the one that is charged.
	methods []projections.PaymentMethod
	charged string
}

// newSubscription makes records for a caller.
func newSubscription(c route.Call) func(projections.Subscription) subscription {
	mayChange := caller.Of(c).Administers()
	return func(row projections.Subscription) subscription {
		return subscription{Subscription: row, mayChange: mayChange}
	}
}

// An invoice is what a tenant was billed, for its reader.
type invoice struct {
	projections.Invoice
	mayPay     bool // the caller administers the tenant
	isOperator bool // the caller operates the installation
}

// newInvoice makes records for a caller.
func newInvoice(c route.Call) func(projections.Invoice) invoice {
	who := caller.Of(c)
	return func(row projections.Invoice) invoice { return invoice{row, who.Administers(), who.IsSuperuser} }
}

// Fields are the invoice. Operators alone see its reference.
func (i *invoice) Fields() field.Set { return i.Invoice.Fields().Hiding("reference", !i.isOperator) }
