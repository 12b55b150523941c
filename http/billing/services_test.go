package billing_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

const servicesAPI = "/billing/api/v1/services/"

// rents orders a virtual server into tenant 1, pays it and waits until it runs.
func rents(t *testing.T, s *paneltest.Shop) paneltest.Answer {
	t.Helper()
	s.PastPeople(t)
	a := paneltest.Read(t, s.OrdersInto(t, "ana", http.StatusCreated,
		`{"plan_id":2,"payment_method":"test","os_choice":"ubuntu-24"}`))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	return a
}

func TestATenantReadsWhatItHasBought(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	a := rents(t, s)
	one := servicesAPI + a.ID + "/"
	for who, status := range map[string]int{
		"ana": 200, "ben": 200, "eve": 404,
		"root": 200,
	} { // ben is a member, eve of no tenant
		w := s.Call("GET", one, "", paneltest.Bearer(s.Known[who])...)
		if w.Code != status {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
		if status == 200 {
			paneltest.Has(t, w.Body.String(), `"tenant":1`, `"kind":"vps"`, `"status":"active"`, `"plan_name":"VPS M"`,
				`"made_tenant":false`, `"subscription":{"id":"`+a.ID,
				`"resources":[{"kind":"vm"`, `"url":"`+one+`vm/"`, `{"limit":"cores","most":`)
		}
		if w := s.Call("GET", one+"vm/", "", paneltest.Bearer(s.Known[who])...); w.Code != status {
			t.Errorf("%s reads the machine: %d %s", who, w.Code, w.Body)
		}
	}
	for query, count := range map[string]string{
		"": "1", "?status=active&kind=vps": "1", "?kind=hosting": "0",
		"?status=suspended": "0", "?id__in=" + a.ID + "&ordering=-updated_at": "1", "?tenant=2": "0",
	} {
		paneltest.Has(t, s.Call("GET", servicesAPI+query, "", paneltest.Bearer(s.Known["ben"])...).Body.String(),
			`{"count":`+count+`,`)
	}
	paneltest.Has(t, s.Call("GET", servicesAPI, "", paneltest.Bearer(s.Known["eve"])...).Body.String(), `{"count":0,`)
	tag := s.Call("GET", one, "", paneltest.Bearer(s.Known["ben"])...).Header().Get("ETag")
	if w := s.Call("GET", one, "", append(paneltest.Bearer(s.Known["ben"]), "If-None-Match", tag)...); tag == "" ||
		w.Code != http.StatusNotModified {
		t.Errorf("%q: %d", tag, w.Code)
	}
	cancelled := s.Call("POST", "/billing/api/v1/subscriptions/"+a.ID+"/cancel/", `{}`,
		paneltest.Bearer(s.Known["ana"])...)
	if cancelled.Code != http.StatusOK {
		t.Fatal(cancelled.Code, cancelled.Body)
	}
	w := s.Call("GET", one, "", append(paneltest.Bearer(s.Known["ben"]), "If-None-Match", tag)...)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"cancelling"`) {
		t.Errorf("after it was cancelled: %d %s", w.Code, w.Body)
	}
	paneltest.Has(t, s.Call("GET", servicesAPI+"?status=cancelling", "",
		paneltest.Bearer(s.Known["ben"])...).Body.String(), `{"count":1,`)
}

// The state of a machine is what the hypervisor says now. Without an answer it is unknown.
func TestTheStateOfAMachineIsThatOfTheHypervisor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	a := rents(t, s)
	vm := servicesAPI + a.ID + "/vm/"
	look := func() string { return s.Call("GET", vm, "", paneltest.Bearer(s.Known["ben"])...).Body.String() }
	paneltest.Has(t, look(), `"state":"running"`, `"address":"192.0.2.1"`, `"hostname":"vm`, `"os":"ubuntu-24"`,
		`"seen_at":"`)
	b := s.Visiting(t, paneltest.Ben)
	for _, at := range []string{"/panel/", web.ServicesPath} {
		paneltest.Has(t, b.Get(at).Body.String(), `href="`+web.ServicesPath)
	}
	page := web.ServicesPath + a.ID + "/"
	for language, texts := range map[string][]string{
		"en": {"VPS M", "running, seen", "Virtual server", "192.0.2.1"},
		"es": {"en marcha, visto", "Servidor virtual"},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := s.Visiting(t, paneltest.Ben)
		text := b.Get(page).Body.String()
		paneltest.Has(t, text, append(texts, web.SubscriptionsPath+a.ID+"/", web.InvoicesPath+a.ID+"/",
			web.TenantOrdersPath)...)
		b.IsForEverybody(t, language, text)
		list := b.Get(web.ServicesPath).Body.String()
		paneltest.Has(t, list, page)
		b.IsForEverybody(t, language, list)
	}
	if w := s.Visiting(t, paneltest.Eve).Get(page); w.Code != http.StatusNotFound {
		t.Errorf("a foreign page: %d", w.Code)
	}

	if _, err := faults.For(s.Owner, "compute").Order(t.Context(),
		faults.Fault{Call: faults.Find, Kind: "vm", What: faults.TimeoutBefore, Times: 100}); err != nil {
		t.Fatal(err)
	}
	paneltest.Has(t, look(), `"state":"unknown"`, `"seen_at":null`, `"address":"192.0.2.1"`)
}
