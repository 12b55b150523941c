package orders_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

const aVPS = `{"plan_id":2,"payment_method":"test"}`

func TestAnAdministratorOrdersIntoTheTenant(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	users := s.Count(t, `select count(*) from users`)
	a := paneltest.Read(t, s.OrdersInto(t, "ana", http.StatusCreated,
		`{"plan_id":2,"payment_method":"test","billing_period":"yearly","os_choice":"ubuntu-24","tenant":2,`+
			`"customer_email":"other@example.com","price":"0.01"}`))
	if a.Status != "payment_processing" || a.URL == "" || !strings.HasPrefix(a.Number, "ORD-") {
		t.Fatalf("%+v", a)
	}
	one := paneltest.TenantOrders + a.ID + "/"
	for who, status := range map[string]int{
		"ana": 200, "ben": 200, "eve": 404,
		"root": 200,
	} { // ben is a member, eve of no tenant
		w := s.Call("GET", one, "", paneltest.Bearer(s.Known[who])...)
		if w.Code != status {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
		if status == 200 {
			paneltest.Has(t, w.Body.String(), `"tenant":1`, `"status":"payment_processing"`, `"plan_name":"VPS M"`,
				`"payment_url":"http`, `"total":"484.04"`, `"subscription":null`, `"os_choice":"ubuntu-24"`)
		}
	}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	paneltest.Has(t, s.Call("GET", one, "", paneltest.Bearer(s.Known["ben"])...).Body.String(), `"status":"active"`,
		`"payment_url":null`, `"subscription":"`+a.ID, `"invoice":"`+a.ID)
	paneltest.Has(t, s.Call("GET", paneltest.TenantOrders+"?status=active", "",
		paneltest.Bearer(s.Known["ben"])...).Body.String(), `{"count":1,`)
	paneltest.Has(t, s.Call("GET", paneltest.TenantOrders, "", paneltest.Bearer(s.Known["eve"])...).Body.String(),
		`{"count":0,`)
	paneltest.Has(t, s.Call("GET", "/billing/api/v1/invoices/", "", paneltest.Bearer(s.Known["ben"])...).Body.String(),
		`"tenant":1`, `"customer_email":"ana@example.com"`)
	if n := s.Count(t, `select count(*) from resources where kind = 'tenant'`); n != 3 {
		t.Errorf("%d tenants", n)
	}
	if n := s.Count(t, `select count(*) from users`); n != users {
		t.Errorf("%d accounts more", n-users)
	}
	if n := s.Count(t, `select count(*) from resources where kind = 'vm' and tenant = 1 and active`); n != 1 {
		t.Errorf("%d machines", n)
	}
	if n := s.Count(t, `select count(*) from memberships where tenant = 1`); n != 2 {
		t.Errorf("%d members", n)
	}
}

func TestOrdersIntoATenantAreRefusedAsThoseOfTheStorefront(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	for body, want := range map[string]string{
		`{}`:                                    `{"plan_id":["This field is required."],"payment_method":["This field is required."]}`,
		`{"plan_id":4,"payment_method":"test"}`: `{"plan_id":["Invalid pk \"4\" - object does not exist."]}`,
		`{"plan_id":1,"payment_method":"test","os_choice":"beos"}`: `{"os_choice":["This field is only valid for VPS plans."]}`,
		`{"plan_id":1,"payment_method":"stripe"}`:                  `{"payment_method":["\"stripe\" is not a valid choice."]}`,
	} {
		if w := s.OrdersInto(t, "ana", http.StatusBadRequest, body); w.Body.String() != want {
			t.Errorf("%s: %s", body, w.Body)
		}
	}
	s.OrdersInto(t, "ben", http.StatusForbidden, aVPS) // a member
	s.OrdersInto(t, "eve", http.StatusForbidden, aVPS) // of no tenant
	if w := s.Call("POST", paneltest.TenantOrders, aVPS); w.Code != http.StatusUnauthorized {
		t.Error(w.Code)
	}
	if w := s.OrdersInto(t, "root", http.StatusBadRequest,
		aVPS); w.Body.String() != `{"tenant":["This field is required."]}` {
		t.Error(w.Body)
	}
	sub := &hosting.Tenant{
		Name: "Sub", Email: "s@example.com", Slug: "sub", Username: "t70", CustomerNumber: "t70",
		Status: "active", IsActive: true, Limits: hosting.NoLimits(),
	}
	parent := int64(3)
	sub.Parent = &parent
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 70}, Tenant: 70, Spec: sub.Fields().Values()})
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: 70, Role: account.Admin, At: time.Now()})
	if w := s.OrdersInto(t, "eve", http.StatusBadRequest,
		`{"plan_id":3,"payment_method":"test"}`); w.Body.String() != `{"plan_id":["A sub-tenant cannot have sub-tenants."]}` {
		t.Error(w.Body)
	}
	s.Do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: 1}, By: hosting.ByInvoice})
	if w := s.OrdersInto(t, "ana", http.StatusForbidden, aVPS); w.Header().Get("X-Error-Code") != "tenant_suspended" {
		t.Error(w.Header())
	}
	if n := s.Events(t, "order.placed"); n != 0 {
		t.Errorf("%d orders were placed", n)
	}
}

func TestAnOrderIntoATenantThatIsSentTwiceIsPlacedOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	answers := s.AtOnce(20, func(int) *httptest.ResponseRecorder {
		return s.Call("POST", paneltest.TenantOrders, aVPS,
			append(paneltest.Bearer(s.Known["ana"]), "Idempotency-Key", "once")...)
	})
	ids := map[string]bool{}
	for _, w := range answers {
		if w.Code == http.StatusCreated {
			ids[paneltest.Read(t, w).ID] = true
		} else if w.Code != http.StatusConflict {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Events(t, "order.placed"); n != 1 || len(ids) != 1 {
		t.Errorf("%d orders, %d answered", n, len(ids))
	}
}

// What users of one tenant have ordered, users of another do not see.
func TestOrdersOfAnotherTenantDoNotExist(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	mine := paneltest.Read(t, s.OrdersInto(t, "ana", http.StatusCreated, aVPS))
	theirs := paneltest.Read(t, s.OrdersInto(t, "eve", http.StatusCreated, aVPS))
	shops := paneltest.Read(t, s.Order(t, http.StatusCreated,
		paneltest.HostingOrder)) // of the storefront, without a tenant yet
	for who, found := range map[string][]string{"ana": {mine.ID}, "eve": {theirs.ID}} {
		for _, id := range []string{mine.ID, theirs.ID, shops.ID} {
			want := http.StatusNotFound
			if id == found[0] {
				want = http.StatusOK
			}
			s.Answers(t, "GET", paneltest.TenantOrders+id+"/", "", map[string]int{who: want})
		}
		var page struct {
			Count   int
			Results []struct{ ID string }
		}
		w := s.Call("GET", paneltest.TenantOrders, "", paneltest.Bearer(s.Known[who])...)
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Count != 1 || page.Results[0].ID != found[0] {
			t.Error(who, w.Body)
		}
	}
	if w := s.Call("GET", "/storefront/api/orders/"+mine.ID+"/", "", "X-API-Key",
		s.Known["key"]); w.Code != http.StatusNotFound {
		t.Error(fmt.Sprint(w.Code, w.Body))
	}
}
