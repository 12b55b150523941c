package orders_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// A plan whose machines have no place is shown as sold out, and refused before it is paid.
func TestAPlanWithoutAPlaceIsSoldOut(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	s.Do(t, paneltest.Node(1, "alpha", func(n *hosting.Node) { n.MemoryMB = 1024 }), paneltest.AddressPool(1, "blue", "192.0.2.0/29"))
	offer := func(want string) {
		t.Helper()
		widget := s.Call("GET", "/storefront/api/widget/allplansallplans/", "", "X-API-Key", s.Known["key"])
		plans := s.Call("GET", "/storefront/api/plans/?type=vps", "", "X-API-Key", s.Known["key"])
		for _, a := range []string{widget.Body.String(), plans.Body.String()} {
			if strings.Count(a, `"sold_out":`) != 1 || !strings.Contains(a, `"sold_out":`+want) {
				t.Error(a)
			}
		}
	}
	offer("false")
	s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com"))
	offer("true")
	refused := s.Order(t, http.StatusBadRequest, paneltest.VPSOrder("ben@example.com"))
	if refused.Body.String() != `{"plan_id":["This plan is sold out."]}` || refused.Header().Get("X-Error-Code") != "sold_out" {
		t.Error(refused.Header(), refused.Body)
	}
	// What else is wrong with it is said first.
	both := s.Order(t, http.StatusBadRequest, strings.Replace(paneltest.VPSOrder("ben@example.com"), `"test"`, `"none"`, 1))
	if both.Body.String() != `{"payment_method":["\"none\" is not a valid choice."]}` {
		t.Error(both.Body)
	}
	if p := foresee(t, s, `{"plan_id":2}`); p.codes() != "plan_id node_full" {
		t.Error(p.codes())
	}
	s.Order(t, http.StatusCreated, paneltest.HostingOrder)
	s.Do(t, paneltest.Node(2, "beta"))
	offer("false")
	placed := s.Order(t, http.StatusCreated, paneltest.VPSOrder("ben@example.com"))
	history := s.Operate("GET", "orders/"+paneltest.Read(t, placed).ID+"/", "").Body.String()
	if !strings.Contains(history, "on node beta (the only one with room: 96 % stay free)") {
		t.Error(history)
	}
}
