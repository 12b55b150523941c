package orders_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// orderForm is the form of the page that orders a service, with these values.
func orderFormOf(b *paneltest.Browser, fields ...string) url.Values {
	sent := url.Values{"form": {"order_service"}}
	for _, hidden := range paneltest.Elements(b.Page, "input") {
		if name := paneltest.Attribute(hidden, "name"); name == "form_token" || name == "number" {
			sent.Set(name, paneltest.Attribute(hidden, "value"))
		}
	}
	for i := 0; i < len(fields); i += 2 {
		sent.Set(fields[i], fields[i+1])
	}
	return sent
}

func TestAnAdministratorOrdersInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	const page = "/billing/orders/"
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(page).Body.String(), "VPS M", "49.90", "Setup fee", `name="plan_id"`, "Order and pay")
	wrong := orderFormOf(b, "plan_id", "1", "billing_period", "monthly", "payment_method", "test", "os_choice", "beos")
	if w := b.Do("POST", page, wrong.Encode()); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	b.Get(page)
	sent := orderFormOf(b, "plan_id", "2", "billing_period", "monthly", "payment_method", "test")
	first := b.Do("POST", page, sent.Encode())
	again := b.Do("POST", page, sent.Encode())
	if to := first.Header().Get("Location"); first.Code != http.StatusSeeOther ||
		!strings.Contains(to, "/storefront/checkout/") || again.Header().Get("Location") != to {
		t.Fatalf("%d %v, then %d %v", first.Code, first.Header(), again.Code, again.Header())
	}
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Errorf("%d orders", n)
	}
	member := s.Visiting(t, paneltest.Ben)
	shown := member.Get(page).Body.String()
	paneltest.Has(t, shown, "VPS M", "unpaid", first.Header().Get("Location"))
	if strings.Contains(shown, "Order and pay") {
		t.Error("a member may order")
	}
	if w := member.Do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("a member orders: %d", w.Code)
	}
	var id string
	if err := s.Owner.QueryRow(t.Context(), `select id::text from orders`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Answer{ID: id, URL: first.Header().Get("Location")}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	paneltest.Has(t, member.Get(page).Body.String(), "VPS M", "active")
}
