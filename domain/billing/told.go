package billing

import (
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// Tells are the fields of a subscription that never change.
func (e SubscriptionStarted) Tells() any {
	return struct {
		Order         uuid.UUID       `json:"order"`
		User          int64           `json:"user"`
		Plan          int64           `json:"plan"`
		PlanName      string          `json:"plan_name"`
		BillingPeriod string          `json:"billing_period"`
		Price         decimal.Decimal `json:"price"`
		Currency      string          `json:"currency"`
	}{e.Order, e.User, e.Plan, e.PlanName, e.BillingPeriod, e.Price, e.Currency}
}

// Tells are the fields of an invoice.
func (e InvoiceIssued) Tells() any { return e }
