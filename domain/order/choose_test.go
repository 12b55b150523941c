package order_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

var chosen = order.TenantChosen{Tenant: 7, User: 3, At: later}

func TestAnUnpaidOrderJoinsTheTenantThatIsChosen(t *testing.T) {
	choose := order.ChooseTenant{ID: id, Joins: order.Joining{Tenant: 7, User: 3}, At: later}
	given(t, placed).When(choose).Then(chosen)
	given(t, placed, opened).When(choose).Then(chosen)
	given(t, placed, opened, chosen).When(choose).Then() // the same once more

	other, none := choose, choose
	other.Joins.Tenant, none.Joins = 8, order.Joining{}
	given(t, placed, opened, chosen).When(other).Then(order.TenantChosen{Tenant: 8, User: 3, At: later})
	given(t, placed, opened, chosen).When(none).Then(order.TenantChosen{At: later})
	given(t, placed, opened).When(none).Then()
	given(t, placed, opened, chosen, order.TenantChosen{At: later}).When(choose).Then(chosen)
	if o := order.Decider.Replay(placed, opened, chosen); o.Joins != 7 {
		t.Errorf("it joins %d", o.Joins)
	}
}

func TestAPaidOrEndedOrderJoinsNoOtherTenant(t *testing.T) {
	choose := order.ChooseTenant{ID: id, Joins: order.Joining{Tenant: 7, User: 3}, At: later}
	for status, history := range map[string][]order.Event{
		"paid":         {placed, opened, confirmed},
		"provisioning": {placed, opened, confirmed, started},
		"failed":       {placed, opened, confirmed, started, parked},
		"active":       {placed, opened, confirmed, started, order.Activated{At: later}},
		"cancelled":    {placed, opened, expired},
	} {
		given(t, history...).When(choose).ThenRefused(domain.Conflict, "The order is "+status+" and joins no other tenant.")
	}
	given(t).When(choose).ThenRefused(domain.NotFound, "No Order matches the given query.")

	ordered, billed := placed, placed
	ordered.Tenant, ordered.User, billed.Invoice = 5, 2, uuid.MustParse("1b000000-0000-4000-8000-000000000001")
	given(t, ordered, opened).When(choose).ThenRefused(domain.Conflict, "The order is payment_processing and joins no other tenant.")
	given(t, billed, opened).When(choose).ThenRefused(domain.Conflict, "The order is payment_processing and joins no other tenant.")
}

func TestAPaidOrderGetsANewTenantInsteadOfTheChosenOne(t *testing.T) {
	instead := order.MakeTenant{ID: id, At: later}
	made := order.TenantChosen{Instead: 7, At: later}
	given(t, placed, opened, chosen, confirmed, started).When(instead).Then(made)
	given(t, placed, opened, chosen, confirmed, started, made).When(instead).Then()
	given(t, placed, opened, confirmed, started).When(instead).Then()
	given(t, placed, opened, chosen).When(instead).ThenRefused(domain.Conflict, "The order is payment_processing and gets no other tenant.")
	ordered := placed
	ordered.Tenant, ordered.User = 5, 2
	given(t, ordered, opened, confirmed, started).When(instead).ThenRefused(
		domain.Conflict, "The order is provisioning and gets no other tenant.",
	)
}
