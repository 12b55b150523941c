package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// ResendMail asks for the welcome mail once more. That the order has an account
// is checked where accounts stand, before.
type ResendMail struct {
	ID     uuid.UUID
	Reason string // the operator's, in words
	At     time.Time
}

// WelcomeMailRequested is a welcome mail that an operator wants to be sent once
// more.
type WelcomeMailRequested struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

func (WelcomeMailRequested) EventName() string { return "order.welcome_mail_requested" }

func (e WelcomeMailRequested) Says() string {
	return "the welcome mail is to be sent once more: " + e.Reason
}

func (c ResendMail) decide(o Order) ([]Event, error) {
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case o.Confirmed == "" || o.TurnsBack():
		return nil, o.forbids("has no welcome mail")
	}
	return []Event{WelcomeMailRequested{Reason: c.Reason, At: c.At}}, nil
}

// evolve of a request: the mail is on its way once more, and a warning stands
// until it has come through.
func (WelcomeMailRequested) evolve(o Order) Order { o.Mail = MailDelayed; return o }

func (c ResendMail) Stream() domain.Stream { return Stream(c.ID) }
