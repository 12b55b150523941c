package order

import (
	"cmp"

	"hostpanel/domain/texts"
)

// A Standing is all that a customer's message about an order depends on.
type Standing struct {
	Status          Status
	Settling        bool // the customer is done, the bank is not
	OnHold          bool
	CancelRequested bool
	Step            string // of provisioning, such as "tenant.engine"; empty: the first
}

// Standing is how the order stands. Its step is known only while it is parked;
// until then the run knows it.
func (o Order) Standing() Standing {
	return Standing{
		Status: o.Status, Settling: o.Settling, OnHold: o.OnHold(),
		CancelRequested: o.CancelRequested, Step: o.Step,
	}
}

// Message tells the customer how the order stands, in Spanish ("es", "es-MX")
// or else in English. It names a step in plain words and never quotes a
// server's answer (docs/orders.md, "What the customer reads").
func Message(s Standing, language string) string {
	step := cmp.Or(texts.Say(language, "orders.step."+cmp.Or(s.Step, "account")), texts.Say(language, "orders.step.further"))
	return texts.Say(language, "orders.message."+string(s.subject()), "step", step)
}

// A subject is what a message is about.
type subject string

const (
	settling   subject = "settling"
	checking   subject = "checking"
	cancelling subject = "cancelling"
)

// subject picks what matters most: what is undone before what is checked, and
// that before the status.
func (s Standing) subject() subject {
	final := s.Status == StatusRefunded
	switch {
	case s.CancelRequested && !final && s.Status != StatusCancelled:
		return cancelling
	case s.OnHold && !final:
		return checking
	case s.Settling && s.Status == StatusPaymentProcessing:
		return settling
	}
	return subject(s.Status)
}
