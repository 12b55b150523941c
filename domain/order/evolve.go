package order

import "maps"

// What each event means for the next decision. Maps and sets are copied before
// they change: an older state stays what it was.

func (e Placed) evolve(Order) Order {
	return Order{
		Status: StatusPending, ID: e.Order, Number: e.Number, Provider: e.Provider,
		Minor: e.Minor, Currency: e.Currency, Decimals: e.Decimals, Test: e.Test, PlacedAt: e.At, Invoice: e.Invoice, Joins: e.Tenant,
		KeepFor: e.KeepFor, Charge: e.Charge,
	}.placed(e.Placement)
}

func (e PaymentSessionOpened) evolve(o Order) Order {
	o.Status, o.Session, o.ExpiresAt, o.Payee = StatusPaymentProcessing, e.Session, e.ExpiresAt, e.Payee
	return o
}

func (e PaymentSessionFailed) evolve(o Order) Order { o.Refused = e.Code; return o }

func (e PaymentApproved) evolve(o Order) Order {
	o.Approved = true
	return o.know(e.Payment)
}

func (e AwaitingSettlement) evolve(o Order) Order {
	o.Settling = true
	return o.know(e.Payment)
}

func (e PaymentConfirmed) evolve(o Order) Order {
	o.Status, o.Settling, o.Confirmed = StatusPaid, false, e.Payment.ID
	return o.know(e.Payment).heldFor(e.Holds)
}

func (e PaymentDeclined) evolve(o Order) Order {
	o.Refused = e.Payment.Code
	return o.know(e.Payment)
}

func (e PaymentMismatchFound) evolve(o Order) Order {
	o.Unlike = o.Unlike || e.Payment.State != StatePaid
	return o.know(e.Payment).hold(MismatchHold)
}

func (e DuplicatePaymentFound) evolve(o Order) Order {
	o.Surplus = with(o.Surplus, e.Payment.ID)
	return o.know(e.Payment).hold(DuplicateHold)
}

func (e LatePaymentFound) evolve(o Order) Order {
	switch {
	case len(e.Refund) == 0:
	case e.GoesBack():
		o.Surplus = with(o.Surplus, e.Payment.ID)
	default:
		o = o.hold(OperatorHold)
	}
	return o.know(e.Payment)
}

func (e Reopened) evolve(o Order) Order {
	o.Status, o.Settling, o.Confirmed = StatusPaid, false, e.Payment
	return o.placed(e.Placement)
}

func (e Cancelled) evolve(o Order) Order {
	o.Status, o.Settling, o.CancelledAt, o.Cause = StatusCancelled, false, e.At, e.Reason
	return o.heldFor(e.Holds)
}

func (e ProviderEventIgnored) evolve(o Order) Order {
	o.Ignored = maps.Clone(o.Ignored)
	if o.Ignored == nil {
		o.Ignored = map[string]bool{}
	}
	o.Ignored[e.key()] = true
	return o
}

func (ProvisioningStarted) evolve(o Order) Order { o.Status = StatusProvisioning; return o }

func (e ProvisioningParked) evolve(o Order) Order {
	o.Status, o.Step = StatusFailed, e.Step
	return o
}

func (ProvisioningResumed) evolve(o Order) Order {
	o.Status, o.Step = StatusProvisioning, ""
	return o
}

func (Activated) evolve(o Order) Order { o.Status = StatusActive; return o }

func (WelcomeMailDelayed) evolve(o Order) Order {
	o.Mail, o.Warnings = MailDelayed, with(o.Warnings, MailWarning)
	return o
}

func (WelcomeMailSent) evolve(o Order) Order {
	o.Mail, o.Warnings = MailSent, without(o.Warnings, MailWarning)
	return o
}

func (WelcomeMailGivenUp) evolve(o Order) Order {
	o.Mail, o.Warnings = MailGivenUp, with(o.Warnings, MailWarning)
	return o
}

// know keeps what is known of a payment; a rank is never lowered.
func (o Order) know(s Seen) Order {
	if s.ID != "" {
		o.Payments = learn(o.Payments, s.ID, s, rank[s.State] > rank[o.Payments[s.ID].State])
	}
	return o
}

// learn keeps what is known by the provider's id if it is news. What was known
// before stays as it is for those who hold it.
func learn[T any](known map[string]T, id string, x T, news bool) map[string]T {
	if !news {
		return known
	}
	more := maps.Clone(known)
	if more == nil {
		more = map[string]T{}
	}
	more[id] = x
	return more
}

func (o Order) hold(h Hold) Order { o.Holds = with(o.Holds, h); return o }

// heldFor has other holds, unless there are none to tell of.
func (o Order) heldFor(holds []Hold) Order {
	if holds != nil {
		o.Holds = holds
	}
	return o
}
