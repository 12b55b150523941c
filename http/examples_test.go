package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain/hosting"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/route/routetest"
	"hostpanel/sagas"
)

// The conversations in testdata/examples are those that the API document shows.
func TestConversationsOfTheExamples(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) *shop{
		"accounts":      func(t *testing.T) *shop { return openShop(t).people(t).inABrowser(t, root) },
		"audit":         func(t *testing.T) *shop { s := openShop(t).people(t); s.indexed(t); return s },
		"billing":       func(t *testing.T) *shop { return openShop(t).people(t).stock(t).billedForExamples(t) },
		"hosting":       func(t *testing.T) *shop { return withNameServers(house(t).told(t).hooked(t)).provable(t) },
		"notifications": func(t *testing.T) *shop { return openShop(t).people(t).told(t) },
		"operations":    func(t *testing.T) *shop { s := office(t); s.enrolled(t, eve); return s },
		"orders":        busyDesk,
		"storefront":    func(t *testing.T) *shop { return openShop(t).stock(t).people(t).signing(exampleWebhook) },
	} {
		routetest.Run(t, "testdata/examples/"+name+".http", func(t *testing.T) (http.Handler, routetest.Known) {
			s := begin(t)
			return s.handler, s.known
		})
	}
}

// withNameServers gives new zones name servers.
func withNameServers(s *shop) *shop {
	s.hosting.NameServers = []string{"ns1.panel.example.", "ns2.panel.example."}
	return s
}

const exampleWebhook = `{"id":"evt_1","type":"checkout.session.expired","data":{"object":{"id":"cs_test_1","payment_status":"unpaid"}}}`

// signing signs a webhook as the provider does.
func (s *shop) signing(body string) *shop {
	s.known["signature"] = test.Sign([]byte(secret), []byte(body), time.Now())
	return s
}

// provable has an address of tenant 3 whose domain has the record that proves it.
func (s *shop) provable(t *testing.T) *shop {
	t.Helper()
	look := hosting.WhiteLabel{
		BrandName: "Milk", EmailFromEmail: "hello@milk.example", SenderRecord: "hostpanel-verify=ABC", IsActive: true,
		PrimaryColor: "#111111", SecondaryColor: "#222222", SidebarBGColor: "#333333", SidebarColor: "#444444",
	}
	mail := hosting.MailDomain{Domain: "milk.example", DKIMSelector: "default", IsActive: true}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 3}, Tenant: 3, Spec: look.Fields().Values()},
		hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 300}, Tenant: 3, Spec: mail.Fields().Values()})
	records := &txtRecords{}
	records.publish("milk.example.", look.SenderRecord)
	s.hosting.Resolver = records.resolver(t)
	return s
}

// inABrowser signs a user in at a browser.
func (s *shop) inABrowser(t *testing.T, user int64) *shop {
	t.Helper()
	id, err := s.vault().OpenSession(t.Context(), user, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.cookies["__Host-session"] = id
	b.get("/account/")
	s.known["session"], s.known["csrf_token"] = id, b.csrf()
	return s
}

// busyDesk is a desk with an order and a run for each thing that operators do.
// Its workers rest.
func busyDesk(t *testing.T) *shop {
	t.Helper()
	s := desk(t)
	odd := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"domain":"odd.example",`, 1)))
	if w := s.tell("/storefront/webhooks/test/", event("evt_odd", "checkout.session.completed", odd, 200, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	s.until(t, "its payment is held", func() bool {
		return strings.Contains(s.operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), odd.ID)
	})
	s.known["odd"], s.known["odd_number"] = odd.ID, odd.Number
	for _, name := range []string{"ended", "graced", "waiting"} {
		a := s.bought(t, name+".example")
		s.accepted(t, "orders/"+a.ID+"/cancel/", `{"reason":"Ended by agreement."}`)
		s.stands(t, "deprovision:"+a.ID, "grace")
		s.known[name+"_order"], s.known[name] = a.ID, sagas.RunID("deprovision:"+a.ID).String()
	}
	s.known["stuck"] = sagas.RunID(s.parkedAtTheEngine(t)).String()
	s.madeByHand(t)
	parked := seen.Trouble{Kind: seen.WebhookParked, Subject: "1", About: map[string]string{"webhook": "1", "provider": "test"}}
	s.do(t, parked.Report(time.Now()))
	s.known["incident"], s.known["other_incident"] = parked.ID().String(), lonely.ID().String()
	s.differs(t)
	s.until(t, "all mails about the running order have gone out", func() bool {
		text := s.operate("GET", "orders/"+s.known["running"]+"/mails/", "").Body.String()
		return strings.Count(text, `"state":`) == 1 && strings.Contains(text, `"state":"sent"`) // the welcome says it all
	})
	s.close() // else workers change what the answers show
	s.known["astray"] = strconv.Itoa(s.count(t, `update webhook_inbox set state = 'unmatched', order_id = null where order_id = $1::uuid returning id`, s.known["waiting_order"]))
	return s
}

// differs changes a site at the engine by hand, and reports it.
func (s *shop) differs(t *testing.T) {
	t.Helper()
	const ofSite = ` from resources where kind = 'site' and spec ->> 'domain' = 'runs.example'`
	tenant, site := int64(s.count(t, `select tenant`+ofSite)), int64(s.count(t, `select id`+ofSite))
	if _, err := s.owner.Exec(t.Context(), `update sandbox_engine.objects set sent = jsonb_set(sent::jsonb, '{ip_address}', '"192.0.2.9"')
		where kind = 'site' and name = 'runs.example'`); err != nil {
		t.Fatal(err)
	}
	for _, one := range [][2]string{{"adopted", "ip_address"}, {"remade", "is_active"}} {
		trouble := seen.ChangedTrouble(tenant, "site", site, one[1:])
		s.do(t, trouble.Report(time.Now()))
		s.known[one[0]] = trouble.ID().String()
	}
}

// madeByHand is an order whose tenant the engine has refused. An operator has
// made it there since.
func (s *shop) madeByHand(t *testing.T) {
	t.Helper()
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "tenant", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	a := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "ana@", "carla@", 1)))
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusFailed)
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	number := hosting.CustomerNumber(int64(s.count(t, `select max(id) from resources where kind = 'tenant'`)))
	id, err := engine.New(s.Pool()).Create(t.Context(), hosting.EngineObject{Kind: "tenant", Name: number, Ref: number})
	if err != nil {
		t.Fatal(err)
	}
	s.known["by_hand"], s.known["external"] = a.ID, strconv.FormatInt(id, 10)
}

// parkedAtTheEngine is the key of a run that the engine has refused, and would
// not refuse again.
func (s *shop) parkedAtTheEngine(t *testing.T) (key string) {
	t.Helper()
	a := s.bought(t, "stuck.example")
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{Call: faults.Change, Kind: "site", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	s.accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"A letter of the bank."}`) // suspends its site
	s.until(t, "the engine has refused", func() bool {
		return s.owner.QueryRow(t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`).Scan(&key) == nil
	})
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.await(t, a, order.StatusActive)
	return key
}
