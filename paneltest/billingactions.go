package paneltest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
)

// Subscribed starts a subscription whose period is not over.
func (s *Shop) Subscribed(t testing.TB, tenant int64) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.Do(t, billing.Subscribe{
		Order: id, Tenant: tenant, User: Ben, Plan: 2, PlanName: "Grande", BillingPeriod: "yearly", Price: Price("99"), Currency: "EUR", At: time.Now(), Terms: billing.UsualTerms,
	})
	return id
}
