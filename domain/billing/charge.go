package billing

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A subscription with a saved payment method charges its open invoices by itself, when
// they are due (docs/invoices.md, "Saved payment methods"). A charge that is refused is
// tried again on the days of [Terms].
type (
	// ChooseMethod says which saved payment method renewals are charged by; zero: none.
	// An open invoice is charged anew.
	ChooseMethod struct {
		Order  uuid.UUID
		Method uuid.UUID
		At     time.Time
		Terms  Terms
	}
	// FailCharge records that a charge has come to nothing.
	FailCharge struct {
		Order   uuid.UUID
		Invoice uuid.UUID
		Count   int // which charge of the invoice; the first is 1
		Code    string
		Final   bool // it is of no use to charge the method again
		Untried bool // it expired before the panel came to it
		At      time.Time
		Terms   Terms
	}
	// MethodChosen: renewals are charged by a saved payment method. Zero: they are paid on
	// a page.
	MethodChosen struct {
		Method uuid.UUID `json:"method,omitzero"`
		NextAt time.Time `json:"next_at"`
		At     time.Time `json:"at"`
	}
	// ChargeStarted: the saved payment method is charged with the open invoice, for the
	// Count-th time.
	ChargeStarted struct {
		Invoice uuid.UUID `json:"invoice"`
		Method  uuid.UUID `json:"method"`
		Count   int       `json:"count"`
		NextAt  time.Time `json:"next_at"`
		At      time.Time `json:"at"`
	}
	// ChargeFailed: the charge has come to nothing. The payment is overdue.
	ChargeFailed struct {
		Invoice uuid.UUID `json:"invoice"`
		DueAt   time.Time `json:"due_at"`
		Count   int       `json:"count"`
		Untried int       `json:"untried,omitempty"` // charges before it that expired
		Code    string    `json:"code"`              // why
		Final   bool      `json:"final,omitempty"`   // the method is not charged again
		// Reminders is how many reminders of the payment were due until then. The news of
		// the charge stands for them.
		Reminders int       `json:"reminders"`
		NextAt    time.Time `json:"next_at"`
		At        time.Time `json:"at"`
	}
	// ChargeExpired: the charge was given up before it was tried. It is no refusal, and
	// the next one comes at once.
	ChargeExpired struct {
		Invoice uuid.UUID `json:"invoice"`
		Count   int       `json:"count"`
		NextAt  time.Time `json:"next_at"`
		At      time.Time `json:"at"`
	}
)

func (MethodChosen) EventName() string  { return "billing.method_chosen" }
func (ChargeStarted) EventName() string { return "billing.charge_started" }
func (ChargeFailed) EventName() string  { return "billing.charge_failed" }
func (ChargeExpired) EventName() string { return "billing.charge_expired" }

func (e MethodChosen) Says() string {
	if e.Method == uuid.Nil {
		return "renewals are paid on a page"
	}
	return "renewals are charged by a saved payment method"
}

func (e ChargeStarted) Says() string {
	return fmt.Sprintf("the saved payment method is charged, time %d", e.Count)
}

func (e ChargeFailed) Says() string {
	return fmt.Sprintf("charge %d was refused: %s", e.Count, wording.Spaced(e.Code))
}

func (e ChargeExpired) Says() string {
	return fmt.Sprintf("charge %d expired before it was tried", e.Count)
}

// First reports whether no earlier charge of the invoice was refused.
func (e ChargeFailed) First() bool { return e.Count-e.Untried == 1 }

// Charging is how far the charges of the open invoice are.
type Charging struct {
	Method   uuid.UUID `json:"method,omitzero"`    // that is charged; zero: none
	Charges  int       `json:"charges,omitempty"`  // so far
	Untried  int       `json:"untried,omitempty"`  // of those: expired before they were tried
	Pending  bool      `json:"charging,omitempty"` // the last one has no outcome yet
	FailedAt time.Time `json:"failed_at,omitzero"` // when the first one was refused
	Final    bool      `json:"final,omitempty"`    // the method is not charged again
}

// anew is the same method, for another invoice.
func (c Charging) anew() Charging { return Charging{Method: c.Method} }

// charge is when the open invoice is charged next; not ok: it is not.
func (t Terms) charge(s Subscription) (at time.Time, ok bool) {
	c := s.Charging
	refused := c.Charges - c.Untried
	switch {
	case s.Open == uuid.Nil || s.Status == Cancelling || c.Method == uuid.Nil || c.Pending || c.Final || refused > len(t.Retries):
		return time.Time{}, false
	case refused == 0:
		return s.DueAt, true
	}
	return c.FailedAt.Add(t.Retries[refused-1]), true
}

func (c ChooseMethod) decide(s Subscription) ([]SubscriptionEvent, error) {
	switch {
	case !s.lives():
		return nil, s.over()
	case s.Method == c.Method && !s.Final:
		return nil, nil
	}
	e := MethodChosen{Method: c.Method, At: c.At}
	e.NextAt = c.Terms.after(e, s, c.At)
	return []SubscriptionEvent{e}, nil
}

func (c FailCharge) decide(s Subscription) ([]SubscriptionEvent, error) {
	if !s.lives() || s.Open != c.Invoice || !s.Pending || s.Charges != c.Count {
		return nil, nil // it was paid by other means, or withdrawn
	}
	if c.Untried {
		e := ChargeExpired{Invoice: c.Invoice, Count: c.Count, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		return []SubscriptionEvent{e}, nil
	}
	e := ChargeFailed{
		Invoice: c.Invoice, DueAt: s.DueAt, Count: c.Count, Untried: s.Untried, Code: c.Code,
		Final: c.Final || s.Charges-s.Untried > len(c.Terms.Retries), Reminders: c.Terms.remindersUntil(s, c.At), At: c.At,
	}
	e.NextAt = c.Terms.after(e, s, c.At)
	return []SubscriptionEvent{e}, nil
}

func (e MethodChosen) evolve(s Subscription) Subscription {
	if s.Method, s.Final, s.NextAt = e.Method, false, e.NextAt; !s.Pending {
		s.Charging = s.anew()
	}
	return s
}

func (e ChargeStarted) evolve(s Subscription) Subscription {
	s.Charges, s.Pending, s.NextAt = e.Count, true, e.NextAt
	return s
}

func (e ChargeFailed) evolve(s Subscription) Subscription {
	if s.FailedAt.IsZero() {
		s.FailedAt = e.At
	}
	if s.Status == Running {
		s.Status = PastDue
	}
	s.Pending, s.Final, s.Reminders, s.NextAt = false, e.Final, e.Reminders, e.NextAt
	return s
}

func (e ChargeExpired) evolve(s Subscription) Subscription {
	s.Pending, s.NextAt = false, e.NextAt
	s.Untried++
	return s
}

func (c ChooseMethod) Stream() domain.Stream { return subscription(c.Order) }
func (c FailCharge) Stream() domain.Stream   { return subscription(c.Order) }
