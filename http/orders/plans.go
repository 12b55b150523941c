package orders

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	storefrontPrefix = "/storefront/api/"
	ordersPath       = storefrontPrefix + "orders/"
	forAMinute       = "private, max-age=60"
)

// shopArea is what order forms on other sites use (docs/storefront.md).
func (s *Area) shopArea() route.Area {
	return route.Area{
		Name: "Storefront", Prefix: storefrontPrefix,
		About:  "Plans and orders for other websites. Every call needs the header X-API-Key.",
		Access: s.Callers.Keys.Access(),
		CORS:   &route.CORS{PerKey: true},
		Routes: []route.Route{
			route.List(storefrontPrefix+"plans/", "Plans on offer", s.plans).
				As("plan_list").Caching(forAMinute).
				Taking(field.Text("type", new(string)).Among(storefront.PlanTypes...).Doc("Only plans of this sort."), languageParam()).
				Failing(http.StatusBadRequest, "There is no such sort of plan.").
				Failing(http.StatusNotFound, "The answer is asked for in another format."),
			route.Get(storefrontPrefix+"widget/{widget_id:[a-z0-9]{16}}/", "An order form and its plans", s.widget).
				As("widget_read").Of("Widget").Caching(forAMinute).Hashed().Taking(languageParam()).
				Failing(http.StatusNotFound, "There is no such widget, or it is not active."),
			s.orderCreate(),
			route.Get(ordersPath+"{order_id:uuid}/", "How an order stands", s.orderView).
				As("order_read").Of("Order").Caching("no-store").Hashed().
				Saying("Shows orders that were placed with a key of the same owner, without anything about their customers.").
				Failing(http.StatusNotFound, "There is no such order for this key."),
			s.orderStream(),
		},
	}
}

// languageParam is the language in which a customer reads what is on offer.
func languageParam() field.Field {
	return field.Text("language", new(string)).Doc(
		"In which customers read names, descriptions and the button, such as es; absent: that of the form, or of each plan itself.",
	)
}

func (s *Area) plans(ctx context.Context, c route.Call) ([]offeredPlan, error) {
	kind := c.Param("type")
	switch kind {
	case "", storefront.HostingPlan, storefront.VPSPlan, storefront.SaaSPlan:
		plans, err := s.Callers.Keys.Scope(c).Orders().Plans(ctx, kind)
		if err != nil {
			return nil, err
		}
		return s.offered(ctx, plans, c.Param("language"))
	}
	return nil, domain.RefuseField("type", "Select a valid choice. "+kind+" is not one of the available choices.")
}

func (s *Area) widget(ctx context.Context, c route.Call) (*offeredWidget, error) {
	widget, err := s.Callers.Keys.Scope(c).Orders().Widget(ctx, c.Var("widget_id"))
	if err != nil {
		return nil, err
	}
	offers := s.Offers.For(caller.KeyOf(c).Mode == storefront.Test)
	return s.offeredWidget(ctx, widget, offers, c.Param("language"))
}

func (s *Area) orderView(ctx context.Context, c route.Call) (*projections.OrderView, error) {
	return s.explained(ctx, s.Callers.Keys.Scope(c), c.UUID("order_id"))
}

// explained is an order with the message that tells its customer how it
// stands. At which step provisioning is, only its run knows.
func (s *Area) explained(ctx context.Context, scope projections.Scope, id uuid.UUID) (*projections.OrderView, error) {
	view, err := scope.Orders().OrderView(ctx, id)
	if err != nil || view.Status != order.StatusProvisioning {
		return &view, err
	}
	step, err := s.Runs.Step(ctx, id)
	view.Explain(step)
	return &view, err
}
