package paneltest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/storefront"
)

// Stock fills the shop with three plans, a widget for each of them, one for
// all, and some keys.
func (s *Shop) Stock(t testing.TB) *Shop {
	t.Helper()
	s.Offer(t, 1, &storefront.Plan{Name: "Hosting S", Price: Price("2.99"), Currency: "EUR", ResourceType: "hosting", BillingPeriod: "monthly", IsActive: true, Description: "For <small> sites & shops"})
	s.Offer(t, 2, &storefront.Plan{
		Name: "VPS M", Price: Price("49.9"), SetupFee: Price("5"), Currency: "EUR", ResourceType: "vps", BillingPeriod: "monthly", IsActive: true, Position: 1,
		VPS: storefront.VPS{OSOptions: []string{"debian-12", "ubuntu-24"}},
	})
	s.Offer(t, 3, &storefront.Plan{Name: "Reseller", Price: Price("10.005"), Currency: "EUR", ResourceType: "saas", BillingPeriod: "monthly", IsActive: true, Position: 2})
	s.Offer(t, 4, &storefront.Plan{Name: "Old", Price: Price("1"), Currency: "EUR", ResourceType: "hosting", BillingPeriod: "monthly", Position: 3})
	s.Offer(t, 5, &storefront.Plan{Name: "Yen", Price: Price("1"), Currency: "JPY", ResourceType: "hosting", BillingPeriod: "monthly", IsActive: true, Position: 4})
	s.Offer(t, 6, &storefront.Plan{Name: "Free", Price: Price("0"), Currency: "EUR", ResourceType: "hosting", BillingPeriod: "monthly", IsActive: true, Position: 5})
	s.widget(t, 1, "allplansallplans", &storefront.Widget{Name: "All", Plans: []int64{1, 2, 3, 4}, ShowHosting: true, ShowVPS: true, SuccessURL: "https://shop.example/thanks?from=panel", CancelURL: "https://shop.example/cart"})
	s.widget(t, 2, "strictstrict0000", &storefront.Widget{Name: "Strict", Plans: []int64{1}, ShowHosting: true, RequirePhone: true, RequireCompany: true})
	s.widget(t, 3, "inactiveinactive", &storefront.Widget{Name: "Off", Plans: []int64{1}, ShowHosting: true, IsActive: false})
	s.widget(t, 4, "strangerstranger", &storefront.Widget{Name: "Stranger", Plans: []int64{1}, ShowHosting: true, SuccessURL: "https://evil.example/", CancelURL: "https://evil.example/"})
	s.Known["key"] = s.Issue(t, storefront.Test, "OpenKey1", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["sister"] = s.Issue(t, storefront.Test, "Sister01", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["stranger"] = s.Issue(t, storefront.Test, "Strange1", 8, &storefront.APIKey{RateLimit: 6000})
	s.Known["live"] = s.Issue(t, storefront.Live, "LiveKey1", 7, &storefront.APIKey{RateLimit: 6000})
	s.Known["bound"] = s.Issue(t, storefront.Test, "BoundKey", 7, &storefront.APIKey{RateLimit: 6000, AllowedDomains: []string{"shop.example", "*.sub.example", "https://full.example:8443", "localhost"}})
	s.Known["scarce"] = s.Issue(t, storefront.Test, "Scarce01", 7, &storefront.APIKey{RateLimit: 60})
	yesterday := time.Now().Add(-24 * time.Hour)
	s.Known["expired"] = s.Issue(t, storefront.Test, "Expired1", 7, &storefront.APIKey{RateLimit: 60, ExpiresAt: &yesterday})
	s.Known["revoked"] = s.Issue(t, storefront.Test, "Revoked1", 7, &storefront.APIKey{RateLimit: 60})
	s.Do(t, storefront.RevokeKey{ID: "Revoked1", At: time.Now()})
	s.Known["unknown"] = storefront.ComposeKey(storefront.Test, "Nobody01", strings.Repeat("x", 32))
	s.Known["wrong_secret"] = storefront.ComposeKey(storefront.Test, "OpenKey1", strings.Repeat("x", 32))
	s.Known["mistyped"] = s.Known["key"][:len(s.Known["key"])-1] + "!"
	s.Known["base"] = s.Public
	return s
}

func Price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func (s *Shop) Do(t testing.TB, commands ...domain.Command) {
	t.Helper()
	if _, err := s.Execute(t.Context(), domain.Metadata{Actor: "test"}, commands...); err != nil {
		t.Fatal(err)
	}
}

func (s *Shop) Offer(t testing.TB, id int64, p *storefront.Plan) {
	t.Helper()
	s.Do(t, storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: time.Now()})
}

func (s *Shop) widget(t testing.TB, id int64, name string, w *storefront.Widget) {
	t.Helper()
	if w.Name != "Off" {
		w.IsActive = true
	}
	w.Theme, w.Layout, w.PrimaryColor, w.AccentColor, w.BorderRadius = "auto", "cards", "#4F46E5", "#10B981", 12
	w.ShowFeatures, w.CTAText, w.Language = true, "Contratar", "es"
	s.Do(t, storefront.MakeWidget{Widget: id, WidgetID: name, Spec: w.Fields().Values(), At: time.Now()})
}

func (s *Shop) Issue(t testing.TB, mode storefront.Mode, id string, owner int64, spec *storefront.APIKey) string {
	t.Helper()
	spec.Name = id
	key := storefront.ComposeKey(mode, id, fmt.Sprintf("%032d", len(id)*int(owner)))
	s.Do(t, storefront.IssueKey{ID: id, Mode: mode, Hash: storefront.HashKey(key), Spec: spec.Fields().Values(), CreatedBy: owner, Owner: owner, At: time.Now()})
	return key
}

func Revoke(id string) domain.Command { return storefront.RevokeKey{ID: id, At: time.Now()} }
