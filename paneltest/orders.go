package paneltest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"golang.org/x/net/html"

	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
)

// Stock fills the shop with three plans, a widget for each of them, one for
// all, and some keys.
func (s *Shop) Stock(t testing.TB) *Shop {
	t.Helper()
	if s.isNew(t) {
		return stock.give(t, s)
	}
	return s.makeStock(t)
}

var stock = fixture{make: func(t testing.TB) *Shop { return Open(t).makeStock(t) }}

func (s *Shop) makeStock(t testing.TB) *Shop {
	t.Helper()
	s.Offer(t, 1, &storefront.Plan{
		Name: "Hosting S", Price: Price("2.99"), Currency: "EUR", ResourceType: "hosting",
		BillingPeriod: "monthly", IsActive: true, Description: "For <small> sites & shops",
	})
	s.Offer(t, 2, &storefront.Plan{
		Name: "VPS M", Price: Price("49.9"), SetupFee: Price("5"), Currency: "EUR", ResourceType: "vps",
		BillingPeriod: "monthly", IsActive: true, Position: 1,
		VPS: storefront.VPS{OSOptions: []string{"debian-12", "ubuntu-24"}},
	})
	s.Offer(t, 3, &storefront.Plan{
		Name: "Reseller", Price: Price("10.005"), Currency: "EUR", ResourceType: "saas",
		BillingPeriod: "monthly", IsActive: true, Position: 2,
	})
	s.Offer(t, 4, &storefront.Plan{
		Name: "Old", Price: Price("1"), Currency: "EUR", ResourceType: "hosting",
		BillingPeriod: "monthly", Position: 3,
	})
	s.Offer(t, 5, &storefront.Plan{
		Name: "Yen", Price: Price("1"), Currency: "JPY", ResourceType: "hosting",
		BillingPeriod: "monthly", IsActive: true, Position: 4,
	})
	s.Offer(t, 6, &storefront.Plan{
		Name: "Free", Price: Price("0"), Currency: "EUR", ResourceType: "hosting",
		BillingPeriod: "monthly", IsActive: true, Position: 5,
	})
	s.widget(t, 1, "allplansallplans", &storefront.Widget{
		Name: "All", Plans: []int64{1, 2, 3, 4}, ShowHosting: true,
		ShowVPS: true, SuccessURL: "https://shop.example/thanks?from=panel", CancelURL: "https://shop.example/cart",
	})
	s.widget(t, 2, "strictstrict0000", &storefront.Widget{
		Name: "Strict", Plans: []int64{1}, ShowHosting: true,
		RequirePhone: true, RequireCompany: true,
	})
	s.widget(t, 3, "inactiveinactive", &storefront.Widget{
		Name: "Off", Plans: []int64{1}, ShowHosting: true,
		IsActive: false,
	})
	s.widget(t, 4, "strangerstranger", &storefront.Widget{
		Name: "Stranger", Plans: []int64{1}, ShowHosting: true,
		SuccessURL: "https://evil.example/", CancelURL: "https://evil.example/",
	})
	s.Known["key"] = s.Issue(t, storefront.Test, "OpenKey1", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["sister"] = s.Issue(t, storefront.Test, "Sister01", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["stranger"] = s.Issue(t, storefront.Test, "Strange1", 8, &storefront.APIKey{RateLimit: 6000})
	s.Known["live"] = s.Issue(t, storefront.Live, "LiveKey1", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["bound"] = s.Issue(t, storefront.Test, "BoundKey", 7,
		&storefront.APIKey{RateLimit: 6000, AllowedDomains: []string{
			"shop.example", "*.sub.example",
			"https://full.example:8443", "localhost",
		}})
	s.Known["scarce"] = s.Issue(t, storefront.Test, "Scarce01", 7, &storefront.APIKey{RateLimit: 60})
	yesterday := time.Now().Add(-24 * time.Hour)
	s.Known["expired"] = s.Issue(t, storefront.Test, "Expired1", 7,
		&storefront.APIKey{RateLimit: 60, ExpiresAt: &yesterday})
	s.Known["revoked"] = s.Issue(t, storefront.Test, "Revoked1", 7, &storefront.APIKey{RateLimit: 60})
	s.Do(t, storefront.RevokeKey{ID: "Revoked1", At: time.Now()})
	s.Known["unknown"] = storefront.ComposeKey(storefront.Test, "Nobody01", strings.Repeat("x", 32))
	s.Known["wrong_secret"] = storefront.ComposeKey(storefront.Test, "OpenKey1", strings.Repeat("x", 32))
	s.Known["mistyped"] = s.Known["key"][:len(s.Known["key"])-1] + "!"
	s.Known["base"] = s.Public
	return s
}

// Price reads an amount.
func Price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// Do executes commands.
func (s *Shop) Do(t testing.TB, commands ...domain.Command) {
	t.Helper()
	if _, err := s.Execute(t.Context(), domain.Metadata{Actor: "test"}, commands...); err != nil {
		t.Fatal(err)
	}
}

// Offer makes a plan.
func (s *Shop) Offer(t testing.TB, id int64, p *storefront.Plan) {
	t.Helper()
	s.Do(t, storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: time.Now()})
}

// widget makes an order form.
func (s *Shop) widget(t testing.TB, id int64, name string, w *storefront.Widget) {
	t.Helper()
	if w.Name != "Off" {
		w.IsActive = true
	}
	w.Theme, w.Layout, w.PrimaryColor, w.AccentColor, w.BorderRadius = "auto", "cards", "#4F46E5", "#10B981", 12
	w.ShowFeatures, w.CTAText, w.Language = true, "Contratar", "es"
	s.Do(t, storefront.MakeWidget{Widget: id, WidgetID: name, Spec: w.Fields().Values(), At: time.Now()})
}

// Issue makes an API key, which it returns.
func (s *Shop) Issue(t testing.TB, mode storefront.Mode, id string, owner int64, spec *storefront.APIKey) string {
	t.Helper()
	spec.Name = id
	key := storefront.ComposeKey(mode, id, fmt.Sprintf("%032d", len(id)*int(owner)))
	s.Do(t, storefront.IssueKey{
		ID: id, Mode: mode, Hash: storefront.HashKey(key), Spec: spec.Fields().Values(),
		CreatedBy: owner, Owner: owner, At: time.Now(),
	})
	return key
}

// Revoke revokes an API key.
func Revoke(id string) domain.Command { return storefront.RevokeKey{ID: id, At: time.Now()} }

// HostingOrder is the body of an order for hosting.
const HostingOrder = `{"plan_id":1,"customer_email":"ana@example.com","customer_name":"Ana Canary","payment_method":"test"}`

// An Answer is one to an order.
type Answer struct {
	ID     string `json:"order_id"`
	Number string `json:"order_number"`
	URL    string `json:"payment_url"`
	Status string `json:"status"`
	Code   string `json:"code"`
}

// Read reads the answer to an order.
func Read(t testing.TB, w *httptest.ResponseRecorder) (a Answer) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return a
}

// Order places an order and fails the test unless the answer has this status.
func (s *Shop) Order(t testing.TB, status int, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.Call("POST", "/storefront/api/orders/", body, append([]string{"X-API-Key", s.Known["key"]}, headers...)...)
	if w.Code != status {
		t.Fatalf("got %d %s, want %d", w.Code, w.Body, status)
	}
	return w
}

// AtOnce makes many calls together.
func (s *Shop) AtOnce(n int, call func(int) *httptest.ResponseRecorder) []*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = call(i) })
	}
	all.Wait()
	return answers
}

// Press sends the form of the test provider's page.
func (s *Shop) Press(a Answer, fields ...string) *httptest.ResponseRecorder {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.Call("POST", PathOf(a.URL), form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// PathOf is the path and the query of a URL.
func PathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u.RequestURI()
}

// Has demands that a text has these parts.
func Has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// Await waits until an order has a status.
func (s *Shop) Await(t testing.TB, a Answer, status order.Status) projections.OrderView {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		changed := s.Changed()
		o, err := s.For(projections.System).Orders().OrderView(t.Context(), uuid.MustParse(a.ID))
		if err == nil && o.Status == status {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("the order is %s (%v), want %s\n%s", o.Status, err, status, s.Logged)
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Joining is the token in the mail to a user about an order.
func (s *Shop) Joining(user int64, id uuid.UUID) string {
	return notice.Joining{User: user, Order: id}.Token(s.Server.UnsubscribeKeys[0])
}

// VPSOrder is the body of an order for a virtual server.
func VPSOrder(email string) string {
	return fmt.Sprintf(`{"plan_id":2,"customer_name":"Ana","customer_email":%q,"payment_method":"test"}`, email)
}

// Event is a signed event of the test provider about an order that was placed.
func Event(id, kind string, a Answer, minor int64, status string) string {
	session := a.URL[strings.LastIndex(a.URL[:len(a.URL)-1], "/")+1 : len(a.URL)-1]
	return fmt.Sprintf(`{"id":%q,"type":%q,"data":{"object":{"id":%q,"client_reference_id":%q,"amount_total":%d,`+
		`"currency":"eur","payment_status":%q,"payment_id":"pay_1"}}}`,
		id, kind, session, a.ID, minor, status)
}

// Webhook sends a signed webhook of the test provider.
func (s *Shop) Webhook(path, body string) *httptest.ResponseRecorder {
	return s.Call("POST", path, body, test.Header, test.Sign([]byte(Secret), []byte(body), time.Now()))
}

// TenantOrders is where a tenant orders.
const TenantOrders = "/billing/api/v1/orders/"

// OrdersInto asks for a service as a user does.
func (s *Shop) OrdersInto(t *testing.T, who string, status int, body string,
	headers ...string,
) *httptest.ResponseRecorder {
	t.Helper()
	w := s.Call("POST", TenantOrders, body, append(Bearer(s.Known[who]), headers...)...)
	if w.Code != status {
		t.Fatalf("%s as %s: %d %s, not %d", body, who, w.Code, w.Body, status)
	}
	return w
}

// WidgetOne and WidgetTwo are order forms on pages of other sites.
const WidgetOne, WidgetTwo = "browserbrowser01", "browserbrowser02"

// GuidePath is the page of the integration guide.
const GuidePath = "/storefront/integration/"

// Samples are the programs that a page shows in one language.
func (b *Browser) Samples(language string) (all []string) {
	for _, code := range Elements(b.Page, "code") {
		if Attribute(code, "data-sample") == language {
			all = append(all, RawText(code))
		}
	}
	return all
}

// RawText is the text of a node with all its white space.
func RawText(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

// Snippet is what the guide tells websites to put into their pages.
func (b *Browser) Snippet() string {
	for _, code := range Elements(b.Page, "code") {
		if Attribute(code, "id") == "snippet" {
			return RawText(code)
		}
	}
	return ""
}
