package billing

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/wording"
)

type (
	// ChangeInvoiced: another plan was asked for, and its price for the rest of the period
	// is billed. It counts once that is paid.
	ChangeInvoiced struct {
		PlanTerms
		Invoice   uuid.UUID `json:"invoice"`
		StartsAt  time.Time `json:"starts_at"`
		PeriodEnd time.Time `json:"period_end"` // of what the invoice bills
		DueAt     time.Time `json:"due_at"`
		NextAt    time.Time `json:"next_at"`
		At        time.Time `json:"at"`
	}
	// ChangePlanned: another plan was asked for, and counts from the end of the period on.
	ChangePlanned struct {
		PlanTerms
		StartsAt time.Time `json:"starts_at"`
		NextAt   time.Time `json:"next_at"`
		At       time.Time `json:"at"`
	}
	// ChangeWithdrawn: a change of the plan will not come. Invoice is the open one that
	// billed it.
	ChangeWithdrawn struct {
		Plan     int64     `json:"plan"`
		PlanName string    `json:"plan_name"`
		Invoice  uuid.UUID `json:"invoice,omitzero"`
		Reason   string    `json:"reason"` // replaced, lapsed, cancelled, or why the subscription ends
		NextAt   time.Time `json:"next_at,omitzero"`
		At       time.Time `json:"at"`
	}
	// ChangeDropped: a planned change has not come, because too much is used for the plan.
	ChangeDropped struct {
		Plan     int64     `json:"plan"`
		PlanName string    `json:"plan_name"`
		Over     []Overrun `json:"over"`
		NextAt   time.Time `json:"next_at"`
		At       time.Time `json:"at"`
	}
	// PlanChanged: the subscription has another plan or cycle from now on.
	PlanChanged struct {
		PlanTerms
		Invoice     uuid.UUID `json:"invoice,omitzero"` // that was paid for it
		Waived      string    `json:"waived,omitempty"` // an operator's reason
		Anchor      time.Time `json:"anchor"`           // from which periods are counted
		First       int       `json:"first,omitempty"`  // the period that begins at the anchor
		Period      int       `json:"period"`           // that is paid for
		PeriodStart time.Time `json:"period_start"`
		PeriodEnd   time.Time `json:"period_end"`
		NextAt      time.Time `json:"next_at"`
		At          time.Time `json:"at"`
	}
)

// The reasons for which a change does not come, beside those for which a subscription ends.
const (
	Replaced = "replaced" // another one was asked for
	Lapsed   = "lapsed"   // its invoice was not paid in time
)

func (ChangeInvoiced) EventName() string  { return "billing.change_invoiced" }
func (ChangePlanned) EventName() string   { return "billing.change_planned" }
func (ChangeWithdrawn) EventName() string { return "billing.change_withdrawn" }
func (ChangeDropped) EventName() string   { return "billing.change_dropped" }
func (PlanChanged) EventName() string     { return "billing.plan_changed" }

func (e ChangeInvoiced) Says() string {
	return fmt.Sprintf("the change to %s, %s, is invoiced, due %s", e.PlanName, e.BillingPeriod, wording.Day(e.DueAt))
}

func (e ChangePlanned) Says() string {
	return fmt.Sprintf("changes to %s, %s, on %s", e.PlanName, e.BillingPeriod, wording.Day(e.StartsAt))
}

func (e ChangeWithdrawn) Says() string {
	return "the change to " + e.PlanName + " is withdrawn: " + wording.Spaced(e.Reason)
}

func (e ChangeDropped) Says() string {
	return "the change to " + e.PlanName + " is dropped: " + Overruns(e.Over)
}

func (e PlanChanged) Says() string {
	return fmt.Sprintf("changed to %s, %s, until %s", e.PlanName, e.BillingPeriod, wording.Day(e.PeriodEnd)) +
		wording.Around(" without a payment: ", e.Waived, "")
}

// Overruns lists what does not fit: "7 sites of 5, 3 databases of 1".
func Overruns(over []Overrun) string {
	texts := make([]string, len(over))
	for i, o := range over {
		texts[i] = fmt.Sprintf("%d %s of %d", o.Used, wording.Spaced(o.Limit), o.Most)
	}
	return strings.Join(texts, ", ")
}

// Tells are the fields that the change sets.
func (e PlanChanged) Tells() any {
	return struct {
		Plan          int64           `json:"plan"`
		PlanName      string          `json:"plan_name"`
		BillingPeriod string          `json:"billing_period"`
		Price         decimal.Decimal `json:"price"`
	}{e.Plan, e.PlanName, e.BillingPeriod, e.Price}
}

func (e ChangeInvoiced) evolve(s Subscription) Subscription {
	s.Change, s.NextAt = &PendingChange{
		PlanTerms: e.PlanTerms, Invoice: e.Invoice, DueAt: e.DueAt, StartsAt: e.StartsAt, PeriodEnd: e.PeriodEnd,
	}, e.NextAt
	return s
}

func (e ChangePlanned) evolve(s Subscription) Subscription {
	s.Change, s.NextAt = &PendingChange{PlanTerms: e.PlanTerms, StartsAt: e.StartsAt}, e.NextAt
	return s
}

func (e ChangeWithdrawn) evolve(s Subscription) Subscription {
	s.Change, s.NextAt = nil, e.NextAt
	return s
}

func (e ChangeDropped) evolve(s Subscription) Subscription {
	s.Change, s.NextAt = nil, e.NextAt
	return s
}

func (e PlanChanged) evolve(s Subscription) Subscription {
	s.Plan, s.PlanName, s.Cycle, s.Price, s.Change, s.NextAt = e.Plan, e.PlanName, e.BillingPeriod, e.Price, nil, e.NextAt
	s.Anchor, s.First, s.Period, s.PeriodStart, s.PeriodEnd = e.Anchor, e.First, e.Period, e.PeriodStart, e.PeriodEnd
	return s
}
