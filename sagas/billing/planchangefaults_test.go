package billing_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// An engine that refuses the limits parks the run, where operators see it. The plan stays
// changed, because it is paid for, and the run goes on when they say so.
func TestARefusedLimitWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	client := w.Client(id)
	var refuses sync.Map
	refuses.Store("now", true)
	w.Engine.Tell(func(call, name string) error {
		if _, now := refuses.Load("now"); now && call == "change" && name == client {
			return domain.Fail(domain.Permanent, "invalid", errors.New("no"))
		}
		return nil
	}, nil)
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), w.Subscription(id).Change.Invoice, "cash", "till"))
	var parked string
	w.Eventually("the run is parked", func() bool {
		parked = w.Text(
			`select coalesce(max(id::text), '') from saga_run where key like 'change-plan:%' and status = $1`,
			sagas.StatusParked,
		)
		return parked != ""
	})
	w.Equal("plan", w.Subscription(id).PlanName, "Large")
	refuses.Delete("now")
	w.Does(hosting.Push{Ref: hosting.Ref{Kind: "tenant", ID: w.Subscription(id).Tenant}})
	w.Eventually("the engine has the limits", func() bool { return w.SitesAtEngine(id) == "10" })
	w.Must(w.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, uuid.MustParse(parked), "it takes them now"))
	w.Planned(id, "Large", "10")
}
