package http_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/web"
)

const servicesAPI = "/billing/api/v1/services/"

// machined lets a tenant have a virtual server of a service. No hypervisor knows it.
func (s *shop) machined(t testing.TB, tenant int64, service uuid.UUID) {
	t.Helper()
	id := 990 + tenant
	vm := hosting.Machine{Name: hosting.MachineName(id), Tag: service.String(), Cores: 2, MemoryMB: 2048, DiskGB: 40, TrafficTB: 1, OS: "debian-12"}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "vm", ID: id}, Tenant: tenant, Spec: vm.Fields().Values(), For: "order:" + service.String()})
}

// rents orders a virtual server into tenant 1, pays it and waits until it runs.
func (s *shop) rents(t *testing.T) answer {
	t.Helper()
	s.pastPeople(t)
	a := read(t, s.ordersInto(t, "ana", http.StatusCreated, `{"plan_id":2,"payment_method":"test","os_choice":"ubuntu-24"}`))
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	return a
}

func TestATenantReadsWhatItHasBought(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).stock(t).open(t)
	a := s.rents(t)
	one := servicesAPI + a.ID + "/"
	for who, status := range map[string]int{"ana": 200, "ben": 200, "eve": 404, "root": 200} { // ben is a member, eve of no tenant
		w := s.call("GET", one, "", bearer(s.known[who])...)
		if w.Code != status {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
		if status == 200 {
			has(t, w.Body.String(), `"tenant":1`, `"kind":"vps"`, `"status":"active"`, `"plan_name":"VPS M"`, `"made_tenant":false`, `"subscription":{"id":"`+a.ID,
				`"resources":[{"kind":"vm"`, `"url":"`+one+`vm/"`, `{"limit":"cores","most":`)
		}
		if w := s.call("GET", one+"vm/", "", bearer(s.known[who])...); w.Code != status {
			t.Errorf("%s reads the machine: %d %s", who, w.Code, w.Body)
		}
	}
	for query, count := range map[string]string{"": "1", "?status=active&kind=vps": "1", "?kind=hosting": "0", "?status=suspended": "0", "?id__in=" + a.ID + "&ordering=-updated_at": "1", "?tenant=2": "0"} {
		has(t, s.call("GET", servicesAPI+query, "", bearer(s.known["ben"])...).Body.String(), `{"count":`+count+`,`)
	}
	has(t, s.call("GET", servicesAPI, "", bearer(s.known["eve"])...).Body.String(), `{"count":0,`)
	tag := s.call("GET", one, "", bearer(s.known["ben"])...).Header().Get("ETag")
	if w := s.call("GET", one, "", append(bearer(s.known["ben"]), "If-None-Match", tag)...); tag == "" || w.Code != http.StatusNotModified {
		t.Errorf("%q: %d", tag, w.Code)
	}
	cancelled := s.call("POST", "/billing/api/v1/subscriptions/"+a.ID+"/cancel/", `{}`, bearer(s.known["ana"])...)
	if cancelled.Code != http.StatusOK {
		t.Fatal(cancelled.Code, cancelled.Body)
	}
	w := s.call("GET", one, "", append(bearer(s.known["ben"]), "If-None-Match", tag)...)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"cancelling"`) {
		t.Errorf("after it was cancelled: %d %s", w.Code, w.Body)
	}
	has(t, s.call("GET", servicesAPI+"?status=cancelling", "", bearer(s.known["ben"])...).Body.String(), `{"count":1,`)
}

// What was bought through a storefront has made its tenant, and is a service of that.
func TestAServiceOfAStorefrontNamesItsTenantAndItsSite(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).stock(t).open(t)
	s.pastPeople(t)
	a := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, `{`, `{"domain":"served.example.org",`, 1)))
	one := servicesAPI + a.ID + "/"
	if w := s.call("GET", one, "", bearer(s.known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("before it is paid: %d %s", w.Code, w.Body)
	}
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	text := s.call("GET", one, "", bearer(s.known["root"])...).Body.String()
	has(t, text, `"kind":"hosting"`, `"status":"active"`, `"made_tenant":true`, `{"kind":"tenant","id":`, `"url":"/hosting/api/rest/tenants/`, `"url":"/hosting/api/rest/sites/`, `{"limit":"sites","most":`)
	if w := s.call("GET", one+"vm/", "", bearer(s.known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("it has no machine: %d %s", w.Code, w.Body)
	}
	if w := s.call("GET", one, "", bearer(s.known["ben"])...); w.Code != http.StatusNotFound {
		t.Errorf("another tenant's: %d %s", w.Code, w.Body)
	}
}

// The state of a machine is what the hypervisor says now. Without an answer it is unknown.
func TestTheStateOfAMachineIsThatOfTheHypervisor(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).stock(t).open(t)
	a := s.rents(t)
	vm := servicesAPI + a.ID + "/vm/"
	look := func() string { return s.call("GET", vm, "", bearer(s.known["ben"])...).Body.String() }
	has(t, look(), `"state":"running"`, `"address":"192.0.2.1"`, `"hostname":"vm`, `"os":"ubuntu-24"`, `"seen_at":"`)
	b := s.visiting(t, ben)
	for _, at := range []string{"/panel/", web.ServicesPath} {
		has(t, b.get(at).Body.String(), `href="`+web.ServicesPath)
	}
	page := web.ServicesPath + a.ID + "/"
	for language, texts := range map[string][]string{"en": {"VPS M", "running, seen", "Virtual server", "192.0.2.1"}, "es": {"en marcha, visto", "Servidor virtual"}} {
		s.do(t, speaks(ben, language))
		b := s.visiting(t, ben)
		text := b.get(page).Body.String()
		has(t, text, append(texts, web.SubscriptionsPath+a.ID+"/", web.InvoicesPath+a.ID+"/", web.TenantOrdersPath)...)
		b.isForEverybody(t, language, text)
		list := b.get(web.ServicesPath).Body.String()
		has(t, list, page)
		b.isForEverybody(t, language, list)
	}
	if w := s.visiting(t, eve).get(page); w.Code != http.StatusNotFound {
		t.Errorf("a foreign page: %d", w.Code)
	}

	if _, err := faults.For(s.owner, "compute").Order(t.Context(), faults.Fault{Call: faults.Find, Kind: "vm", What: faults.TimeoutBefore, Times: 100}); err != nil {
		t.Fatal(err)
	}
	has(t, look(), `"state":"unknown"`, `"seen_at":null`, `"address":"192.0.2.1"`)
}
