package http_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hostpanel/domain/order"
)

// orderForm is the form of the page that orders a service, with these values.
func orderFormOf(b *browser, fields ...string) url.Values {
	sent := url.Values{"form": {"order_service"}}
	for _, hidden := range elements(b.page, "input") {
		if name := attribute(hidden, "name"); name == "form_token" || name == "number" {
			sent.Set(name, attribute(hidden, "value"))
		}
	}
	for i := 0; i < len(fields); i += 2 {
		sent.Set(fields[i], fields[i+1])
	}
	return sent
}

func TestAnAdministratorOrdersInTheBrowser(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).stock(t).open(t)
	const page = "/billing/orders/"
	b := s.visiting(t, ana)
	has(t, b.get(page).Body.String(), "VPS M", "49.90", "Setup fee", `name="plan_id"`, "Order and pay")
	wrong := orderFormOf(b, "plan_id", "1", "billing_period", "monthly", "payment_method", "test", "os_choice", "beos")
	if w := b.do("POST", page, wrong.Encode()); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	b.get(page)
	sent := orderFormOf(b, "plan_id", "2", "billing_period", "monthly", "payment_method", "test")
	first := b.do("POST", page, sent.Encode())
	again := b.do("POST", page, sent.Encode())
	if to := first.Header().Get("Location"); first.Code != http.StatusSeeOther || !strings.Contains(to, "/storefront/checkout/") || again.Header().Get("Location") != to {
		t.Fatalf("%d %v, then %d %v", first.Code, first.Header(), again.Code, again.Header())
	}
	if n := s.events(t, "order.placed"); n != 1 {
		t.Errorf("%d orders", n)
	}
	member := s.visiting(t, ben)
	shown := member.get(page).Body.String()
	has(t, shown, "VPS M", "unpaid", first.Header().Get("Location"))
	if strings.Contains(shown, "Order and pay") {
		t.Error("a member may order")
	}
	if w := member.do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("a member orders: %d", w.Code)
	}
	var id string
	if err := s.owner.QueryRow(t.Context(), `select id::text from orders`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	a := answer{ID: id, URL: first.Header().Get("Location")}
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	has(t, member.get(page).Body.String(), "VPS M", "active")
}
