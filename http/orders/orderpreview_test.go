package orders_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/engine/sandbox"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
	"hostpanel/paneltest"
)

const previewOrder = "orders/preview/"

// A foreseen is what the tests read of a preview.
type foreseen struct {
	Total string `json:"total"`
	Lines []struct{ Text, Total string }
	Steps []struct{ Name, Description string }
	Calls []struct {
		Call, Record string
		Changes      []struct{ Field, From, To string }
	} `json:"engine_calls"`
	Conflicts  []struct{ Field, Code, Message string }
	Unanswered []string
}

func (p foreseen) calls() string {
	var all []string
	for _, c := range p.Calls {
		all = append(all, c.Call+" "+c.Record)
	}
	return strings.Join(all, ", ")
}

func (p foreseen) codes() string {
	var all []string
	for _, c := range p.Conflicts {
		all = append(all, c.Field+" "+c.Code)
	}
	return strings.Join(all, ", ")
}

func foresee(t *testing.T, s *paneltest.Shop, body string) (p foreseen) {
	t.Helper()
	w := s.Operate("POST", previewOrder, body)
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s: %d %s %v", body, w.Code, w.Body, w.Header())
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// A preview tells what the order then does, and does none of it.
func TestAPreviewTellsWhatAnOrderThenDoes(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	engine := sandbox.New(s.Pool())
	const written = `select count(*) from events where actor = 'user:1'` // others go on meanwhile
	events := s.Count(t, written)
	p := foresee(t, s, `{"plan_id":1,"domain":"new.example","language":"en"}`)
	if again := foresee(t, s, `{"plan_id":1,"domain":"new.example","language":"en"}`); again.calls() != p.calls() {
		t.Errorf("the second one tells %s, the first %s", again.calls(), p.calls())
	}
	if n := s.Count(t, written); n != events {
		t.Errorf("%d events", n-events)
	}
	if p.codes() != "" || p.Total != "2.99" || len(p.Lines) != 1 || len(p.Unanswered) != 0 {
		t.Errorf("%+v", p)
	}
	if len(p.Steps) != 9 || p.Steps[4].Name != "site" ||
		p.Steps[4].Description != "create the website of the ordered domain" {
		t.Errorf("%+v", p.Steps)
	}
	number, isSite := strings.CutSuffix(strings.TrimPrefix(p.calls(), "create tenant "), ", create site new.example")
	if !isSite {
		t.Fatal(p.calls())
	}
	if _, is, err := engine.Find(t.Context(), "tenant", number, number); is || err != nil {
		t.Fatalf("the engine has %s (%v)", number, err)
	}
	s.Bought(t, "new.example")
	for kind, name := range map[string]string{"tenant": number, "site": "new.example"} {
		if _, is, err := engine.Find(t.Context(), kind, name, ""); !is || err != nil {
			t.Errorf("the order has not made the %s %s (%v)", kind, name, err)
		}
	}
	vps := foresee(t, s, `{"plan_id":2,"os_choice":"ubuntu-24","tenant":1}`)
	if want := "create vm vm1"; vps.calls() != want || vps.codes() != "" || len(vps.Steps) != 6 {
		t.Errorf("%+v", vps)
	}
}

func TestAPreviewForeseesWhatWouldStopTheSetup(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	none := int64(0)
	s.Offer(t, 21, &storefront.Plan{
		Name: "No sites", Price: paneltest.Price("1"), Currency: "EUR",
		ResourceType: "hosting", BillingPeriod: "monthly", IsActive: true, Quotas: storefront.Quotas{Sites: &none},
	})
	huge := int64(512 << 10)
	s.Offer(t, 22, &storefront.Plan{
		Name: "Huge", Price: paneltest.Price("1"), Currency: "EUR", ResourceType: "vps",
		BillingPeriod: "monthly", IsActive: true, VPS: storefront.VPS{OSOptions: []string{"debian-12"}, MemoryMB: &huge},
	})
	s.Bought(t, "taken.example")
	engine := sandbox.New(s.Pool())
	client, err := engine.Create(t.Context(), hosting.EngineObject{Kind: "tenant", Name: "stranger", Ref: "stranger"})
	if err != nil {
		t.Fatal(err)
	}
	site := &hosting.Site{Domain: "outside.example", IPAddress: "*", IsActive: true}
	if _, err := engine.Create(t.Context(),
		hosting.EngineObject{
			Kind: "site", Owner: client, Name: "outside.example",
			Values: site.Fields().Values(),
		}); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"plan_id":1,"domain":"taken.example"}`:              "domain domain_taken, domain engine_taken",
		`{"plan_id":1,"domain":"outside.example"}`:            "domain engine_taken",
		`{"plan_id":1,"domain":"outside.example","tenant":1}`: "domain engine_taken",
		`{"plan_id":21,"domain":"new.example"}`:               "domain quota_exceeded",
		`{"plan_id":21}`:                                      "",
		`{"plan_id":22}`:                                      "plan_id node_full",
	} {
		if p := foresee(t, s, body); p.codes() != want || len(p.Unanswered) != 0 {
			t.Errorf("%s: %q instead of %q (%v)", body, p.codes(), want, p.Unanswered)
		}
	}
	s.Do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: 1}, By: hosting.ByInvoice})
	if p := foresee(t, s, `{"plan_id":2,"tenant":1}`); p.codes() != "tenant tenant_closed" {
		t.Error(p.codes())
	}
}

func TestAPreviewRefusesWhatAnOrderRefuses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	for body, want := range map[string]string{
		`{}`:                            `{"plan_id":["This field is required."]}`,
		`{"plan_id":4}`:                 `{"plan_id":["Invalid pk \"4\" - object does not exist."]}`,
		`{"plan_id":1,"tenant":99}`:     `{"tenant":["Invalid pk \"99\" - object does not exist."]}`,
		`{"plan_id":1,"domain":"a b"}`:  `{"domain":["Enter a valid domain name."]}`,
		`{"plan_id":2,"os_choice":"x"}`: `{"os_choice":["\"x\" is not a valid choice."]}`,
	} {
		if w := s.Operate("POST", previewOrder, body); w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := s.Call("POST", "/operations/api/v1/"+previewOrder, `{"plan_id":1}`,
		paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusForbidden {
		t.Errorf("an administrator of a tenant: %d", w.Code)
	}
	if n := s.Events(t, "order.placed"); n != 0 {
		t.Errorf("%d orders were placed", n)
	}
}

// The page shows the same, and what is wrong with what was asked.
func TestThePageOfAPreview(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	b := s.Visiting(t, paneltest.Root)
	text := b.Get("/storefront/orders/preview/").Body.String()
	paneltest.Has(t, text, "Hosting S", "VPS M")
	text = b.Get("/storefront/orders/preview/?plan_id=1&billing_period=yearly&domain=new.example&tenant=").Body.String()
	paneltest.Has(t, text, "site new.example", "28.70", "<li>Account of the customer</li>")
	w := b.Get("/storefront/orders/preview/?plan_id=2&tenant=99")
	paneltest.Has(t, w.Body.String(), `role="alert"`, "99")
	if w.Code != http.StatusOK || s.Events(t, "order.placed") != 0 {
		t.Errorf("%d, %d orders", w.Code, s.Events(t, "order.placed"))
	}
}
