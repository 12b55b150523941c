package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	hypervisor "hostpanel/adapters/compute/sandbox"
	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// withNameServers gives new zones name servers.
func withNameServers(s *paneltest.Shop) *paneltest.Shop {
	s.Hosting.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."}
	return s
}

const exampleWebhook = `{"id":"evt_1","type":"checkout.session.expired","data":{"object":{"id":"cs_test_1","payment_status":"unpaid"}}}`

// signing signs a webhook as the provider does.
func signing(s *paneltest.Shop, body string) *paneltest.Shop {
	s.Known["signature"] = test.Sign([]byte(paneltest.Secret), []byte(body), time.Now())
	return s
}

// provable has an address of tenant 3 whose domain has the record that proves it.
func provable(t *testing.T, s *paneltest.Shop) *paneltest.Shop {
	t.Helper()
	look := hosting.WhiteLabel{
		BrandName: "Milk", EmailFromEmail: "hello@milk.example", SenderRecord: "hostpanel-verify=ABC", IsActive: true,
		PrimaryColor: "#111111", SecondaryColor: "#222222", SidebarBGColor: "#333333", SidebarColor: "#444444",
	}
	mail := hosting.MailDomain{Domain: "milk.example", DKIMSelector: "default", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 3}, Tenant: 3, Spec: look.Fields().Values()},
		hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 300}, Tenant: 3, Spec: mail.Fields().Values()})
	records := &paneltest.TxtRecords{}
	records.Publish("milk.example.", look.SenderRecord)
	s.Hosting.Resolver = records.Resolver(t)
	return s
}

// busyDesk is a desk with an order and a run for each thing that operators do.
// Its workers rest.
func busyDesk(t *testing.T) *paneltest.Shop {
	t.Helper()
	s := paneltest.Desk(t)
	odd := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"domain":"odd.example",`, 1)))
	if w := s.Webhook("/storefront/webhooks/test/",
		paneltest.Event("evt_odd", "checkout.session.completed", odd, 200, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	s.Until(t, "its payment is held", func() bool {
		return strings.Contains(s.Operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), odd.ID)
	})
	s.Known["odd"], s.Known["odd_number"] = odd.ID, odd.Number
	for _, name := range []string{"ended", "graced", "waiting"} {
		a := s.Bought(t, name+".example")
		s.Accepted(t, "orders/"+a.ID+"/cancel/", `{"reason":"Ended by agreement."}`)
		s.Stands(t, "deprovision:"+a.ID, "grace")
		s.Known[name+"_order"], s.Known[name] = a.ID, sagas.RunID("deprovision:"+a.ID).String()
	}
	s.Known["stuck"] = sagas.RunID(parkedAtTheEngine(t, s)).String()
	madeByHand(t, s)
	parked := seen.Trouble{
		Kind: seen.WebhookParked, Subject: "1",
		About: map[string]string{"webhook": "1", "provider": "test"},
	}
	s.Do(t, parked.Report(time.Now()))
	s.Known["incident"], s.Known["other_incident"] = parked.ID().String(), paneltest.Lonely.ID().String()
	differs(t, s)
	s.Until(t, "all mails about the running order have gone out", func() bool {
		text := s.Operate("GET", "orders/"+s.Known["running"]+"/mails/", "").Body.String()
		return strings.Count(text, `"state":`) == 1 && strings.Contains(text, `"state":"sent"`) // the welcome says it all
	})
	s.Close() // else workers change what the answers show
	s.Known["astray"] = strconv.Itoa(s.Count(t,
		`update webhook_inbox set state = 'unmatched', order_id = null where order_id = $1::uuid returning id`,
		s.Known["waiting_order"]))
	return s
}

// differs changes a site at the engine by hand, and reports it. A machine without a record is
// left at the hypervisor.
func differs(t *testing.T, s *paneltest.Shop) {
	t.Helper()
	const ofSite = ` from resources where kind = 'site' and spec ->> 'domain' = 'runs.example'`
	tenant, site := int64(s.Count(t, `select tenant`+ofSite)), int64(s.Count(t, `select id`+ofSite))
	if _, err := s.Owner.Exec(t.Context(), `update sandbox_engine.objects set sent = jsonb_set(sent::jsonb, '{ip_address}', '"192.0.2.9"')
		where kind = 'site' and name = 'runs.example'`); err != nil {
		t.Fatal(err)
	}
	for _, one := range [][2]string{{"adopted", "ip_address"}, {"remade", "is_active"}} {
		trouble := seen.ChangedTrouble(tenant, "site", site, one[1:])
		s.Do(t, trouble.Report(time.Now()))
		s.Known[one[0]] = trouble.ID().String()
	}
	orphan := compute.Machine{
		Name: "vm900", Service: "0198c7b2-5f0e-7cc1-9d55-3a0b7e2f1d46", Template: "debian-13", Cores: 1, MemoryMB: 1024, DiskGB: 10,
	}
	orphan.ID = compute.ID("", orphan.Service)
	external, err := hypervisor.New(s.Pool()).Create(t.Context(), orphan)
	if err == nil {
		err = s.Differences.CompareMachines(t.Context(), hypervisor.Name)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Known["removed"] = seen.OrphanedMachine(hypervisor.Name, orphan.Name, external, orphan.Service).ID().String()
}

// madeByHand is an order whose tenant the engine has refused. An operator has
// made it there since.
func madeByHand(t *testing.T, s *paneltest.Shop) {
	t.Helper()
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{
		Call: faults.Create, Kind: "tenant", What: faults.Refuse,
		Times: 100,
	}); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, strings.Replace(paneltest.HostingOrder, "ana@", "carla@", 1)))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusFailed)
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	number := hosting.CustomerNumber(int64(s.Count(t, `select max(id) from resources where kind = 'tenant'`)))
	id, err := engine.New(s.Pool()).Create(t.Context(), hosting.EngineObject{Kind: "tenant", Name: number, Ref: number})
	if err != nil {
		t.Fatal(err)
	}
	s.Known["by_hand"], s.Known["external"] = a.ID, strconv.FormatInt(id, 10)
}

// parkedAtTheEngine is the key of a run that the engine has refused, and would
// not refuse again.
func parkedAtTheEngine(t *testing.T, s *paneltest.Shop) (key string) {
	t.Helper()
	a := s.Bought(t, "stuck.example")
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{
		Call: faults.Change, Kind: "site", What: faults.Refuse,
		Times: 100,
	}); err != nil {
		t.Fatal(err)
	}
	s.Accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"A letter of the bank."}`) // suspends its site
	s.Until(t, "the engine has refused", func() bool {
		return s.Owner.QueryRow(
			t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`,
		).Scan(&key) == nil
	})
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Await(t, a, order.StatusActive)
	return key
}
