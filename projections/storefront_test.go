package projections

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/storefront"
)

// offer is a plan of the sort, at a monthly price.
func offer(id int64, sort, name, price string) storefront.OfferPlan {
	p := storefront.Plan{
		Name: name, Price: amount(price), SetupFee: decimal.Zero, Currency: "EUR",
		BillingPeriod: "monthly", ResourceType: sort, IsActive: true,
	}
	return storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: noon}
}

func change(plan int64, field, value string) storefront.ChangePlan {
	return storefront.ChangePlan{Plan: plan, Spec: map[string]json.RawMessage{field: json.RawMessage(value)}, At: noon}
}

func form(id int64, name string, w storefront.Widget) storefront.MakeWidget {
	w.Name, w.Theme, w.Layout, w.Language, w.IsActive = "Shop", "auto", "cards", "es", true
	return storefront.MakeWidget{Widget: id, WidgetID: name, Spec: w.Fields().Values(), At: noon}
}

func TestAPlanShowsTheFieldsOfItsOwnSort(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, offer(1, "hosting", "Basic", "2.995"), offer(2, "vps", "Small VPS", "10"), offer(3, "saas", "Agency", "50"))
	for id, want := range map[int64]string{
		1: `{"id":1,"name":"Basic","slug":"basic","description":"","price":"2.9950","effective_price":"3.00",` +
			`"setup_fee":"0.00","currency":"EUR","billing_period":"monthly","resource_type":"hosting","quota_sites":1,` +
			`"quota_databases":1,"quota_storage_gb":10,"quota_mailboxes":10,"quota_domains":1,"quota_ftp_users":1}`,
		2: `{"id":2,"name":"Small VPS","slug":"small-vps","description":"","price":"10.00","effective_price":"10.00",` +
			`"setup_fee":"0.00","currency":"EUR","billing_period":"monthly","resource_type":"vps","vps_cpu_cores":1,` +
			`"vps_memory_mb":1024,"vps_disk_gb":20,"vps_bandwidth_tb":1,"vps_os_options":["debian-12"],"vps_default_os":"debian-12"}`,
		3: `{"id":3,"name":"Agency","slug":"agency","description":"","price":"50.00","effective_price":"50.00",` +
			`"setup_fee":"0.00","currency":"EUR","billing_period":"monthly","resource_type":"saas","saas_max_vms":0,` +
			`"saas_max_hosting_accounts":1,"saas_max_agents":1,"saas_whitelabel":false}`,
	} {
		plan, err := p.For(Caller{}).Orders().Plan(t.Context(), id)
		if err != nil || shown(t, &plan) != want {
			t.Errorf("\n%s\n%s\n%v", shown(t, &plan), want, err)
		}
	}
}

func TestPlansAreOfferedByPositionThenPrice(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(
		t, offer(1, "hosting", "Dear", "9"), offer(2, "hosting", "Cheap", "1"), offer(3, "vps", "First", "5"),
		offer(4, "saas", "Hidden", "1"),
	)
	p.do(t, change(1, "position", "0"), change(3, "position", "-1"), change(4, "is_active", "false"))
	for sort, want := range map[string]string{"": "First Cheap Dear", "hosting": "Cheap Dear", "saas": ""} {
		if got := planNames(t, p.For(Caller{}), sort); got != want {
			t.Errorf("%q: %s", sort, got)
		}
	}
	if all, err := p.For(Caller{Superuser: true}).Orders().AllPlans(t.Context(), Listing{}); err != nil || len(all.Rows) != 4 {
		t.Fatal(all, err)
	}
	if all, err := p.For(Caller{KeyOwner: 7}).Orders().AllPlans(t.Context(), Listing{}); err != nil || len(all.Rows) != 0 {
		t.Fatal(all, err)
	}
}

func planNames(t *testing.T, s Scope, sort string) string {
	t.Helper()
	found, err := s.Orders().Plans(t.Context(), sort)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, plan := range found {
		names = append(names, plan.Name)
	}
	return strings.Join(names, " ")
}

func TestAPlanThatIsNotActiveCannotBeOrdered(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, offer(1, "hosting", "Basic", "9"))
	p.do(t, change(1, "is_active", "false"))
	if _, err := p.For(Caller{KeyOwner: 7}).Orders().Plan(t.Context(), 1); domain.CodeOf(err) != domain.NotFound ||
		err.Error() != "No Plan matches the given query." {
		t.Fatal(err)
	}
	if plan, err := p.For(System).Orders().Plan(t.Context(), 1); err != nil || plan.IsActive {
		t.Fatal(plan, err)
	}
}

func TestASlugBelongsToOnePlan(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, offer(1, "hosting", "Basic", "9"), offer(2, "hosting", "Other", "9"))
	p.refused(t, "slug", "plan with this slug already exists.", offer(3, "hosting", "Basic", "9"))
	p.refused(t, "slug", "plan with this slug already exists.", change(2, "slug", `"basic"`))
	p.do(t, storefront.WithdrawPlan{Plan: 1, At: noon})
	p.do(t, offer(3, "hosting", "Basic", "9"))
}

func TestAPlanThatWasOrderedIsInUse(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, offer(1, "hosting", "Basic", "2.99"), offer(2, "hosting", "Other", "2.99"), p.place(""))
	err := p.try(t, storefront.WithdrawPlan{Plan: 1, At: noon})
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Code != domain.Conflict || refusal.Reason != "in_use" ||
		refusal.Message != "The plan is in use." {
		t.Fatal(err)
	}
	p.do(t, storefront.WithdrawPlan{Plan: 2, At: noon})
	if all := planNames(t, p.For(System), ""); all != "Basic" {
		t.Fatal(all)
	}
}

// Whatever comes first: what was ordered stays, and what is gone takes nothing
// from its orders.
func TestAPlanIsNotWithdrawnDuringAnOrder(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for plan := int64(1); plan <= 10; plan++ {
		p.do(t, offer(plan, "hosting", fmt.Sprint("Basic ", plan), "2.99"))
		head, _, err := p.Reader().Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		orders := make(chan error, 8)
		for range cap(orders) {
			c := p.place("")
			c.Plan.ID = plan
			go func() { orders <- p.try(t, c) }()
		}
		withdrawn := p.try(t, storefront.WithdrawPlan{Plan: plan, At: noon})
		for range cap(orders) {
			if err := <-orders; err != nil {
				t.Fatal(err)
			}
		}
		var before bool
		if err := p.owner.QueryRow(t.Context(), `select min(position) filter (where name = 'order.placed')
			< coalesce(min(position) filter (where name = 'storefront.plan_withdrawn'), 1 << 30) from events
				where position > $1`, head).Scan(&before); err != nil {
			t.Fatal(err)
		}
		if before != (withdrawn != nil) {
			t.Fatalf("ordered before: %v, withdrawn: %v", before, withdrawn)
		}
	}
}

func TestAWidgetShowsItsActivePlansOfTheSortsItWants(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(
		t, offer(1, "hosting", "A", "1"), offer(2, "vps", "B", "2"), offer(3, "saas", "C", "3"),
		offer(4, "hosting", "D", "4"), offer(5, "hosting", "E", "5"),
	)
	p.do(t, change(4, "is_active", "false"))
	all := []int64{3, 2, 1, 4}
	p.do(t, form(1, "aaaaaaaaaaaaaaaa", storefront.Widget{Plans: all, ShowHosting: true, ShowVPS: true}),
		form(2, "bbbbbbbbbbbbbbbb", storefront.Widget{Plans: all, ShowHosting: true}),
		form(3, "cccccccccccccccc", storefront.Widget{Plans: all}))
	for id, want := range map[string]string{"aaaaaaaaaaaaaaaa": "ABC", "bbbbbbbbbbbbbbbb": "AC", "cccccccccccccccc": "C"} {
		w, err := p.For(Caller{KeyOwner: 7}).Orders().Widget(t.Context(), id)
		got := ""
		for _, plan := range w.Offered {
			got += plan.Name
		}
		if err != nil || got != want || !w.Offers(4) || w.Offers(5) {
			t.Error(id, got, err)
		}
	}
}

func TestAWidgetIsShownAsItsWebsiteNeedsIt(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(
		t, offer(1, "hosting", "A", "1"),
		form(1, "aaaaaaaaaaaaaaaa", storefront.Widget{Plans: []int64{1}, ShowHosting: true, CTAText: "Buy"}),
	)
	w, err := p.For(Caller{}).Orders().Widget(t.Context(), "aaaaaaaaaaaaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"widget_id":"aaaaaaaaaaaaaaaa","name":"Shop","theme":"auto","layout":"cards","primary_color":"",` +
		`"accent_color":"","border_radius":0,"show_features":false,"cta_text":"Buy","show_hosting":true,` +
		`"show_vps":false,"require_phone":false,"require_company":false,"language":"es","success_url":"",` +
		`"cancel_url":"","plans":[{"id":1,"name":"A",`
	if got := shown(t, &w); !strings.HasPrefix(got, want) {
		t.Fatalf("\n%s\n%s", got, want)
	}
}

func TestAWidgetThatIsNotActiveIsNotThere(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, form(1, "aaaaaaaaaaaaaaaa", storefront.Widget{}))
	p.do(t, storefront.ChangeWidget{Widget: 1, Spec: map[string]json.RawMessage{"is_active": json.RawMessage("false")}, At: noon})
	for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
		if _, err := p.For(Caller{KeyOwner: 7}).Orders().Widget(t.Context(), id); err == nil ||
			err.Error() != "No Widget matches the given query." {
			t.Fatal(err)
		}
	}
	if all, err := p.For(Caller{Superuser: true}).Orders().Widgets(t.Context(), Listing{}); err != nil || len(all.Rows) != 1 {
		t.Fatal(all, err)
	}
	if all, err := p.For(Caller{}).Orders().Widgets(t.Context(), Listing{}); err != nil || len(all.Rows) != 0 {
		t.Fatal(all, err)
	}
}

func issue(id string) storefront.IssueKey {
	k := storefront.APIKey{Name: "Shop", AllowedDomains: []string{"example.com"}, RateLimit: 60}
	return storefront.IssueKey{
		ID: id, Mode: storefront.Test, Hash: sha256.Sum256([]byte(id)), Spec: k.Fields().Values(), CreatedBy: 1,
		Owner: 7, At: noon,
	}
}

func TestAnAPIKeyIsFoundByItsPublicID(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, issue("ab12CD34"))
	expires := noon.Add(time.Hour)
	later := storefront.APIKey{Name: "Shop", RateLimit: 5, ExpiresAt: &expires}
	p.do(t, storefront.ChangeKey{ID: "ab12CD34", Spec: later.Fields().Only("rate_limit_per_minute", "expires_at").Values(), At: noon})
	k, found, err := p.For(System).Orders().APIKey(t.Context(), "ab12CD34")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if sum := sha256.Sum256([]byte("ab12CD34")); string(k.Hash) != string(sum[:]) || k.Owner != 7 || k.RateLimit != 5 ||
		!k.ExpiresAt.Equal(expires) || k.AllowedDomains[0] != "example.com" || k.RevokedAt != nil ||
		k.LastUsedAt != nil || k.Prefix() != "sfk_test_ab12CD34" {
		t.Fatalf("%+v", k)
	}
	p.do(t, storefront.RevokeKey{ID: "ab12CD34", At: noon})
	if k, _, _ := p.For(System).Orders().APIKey(t.Context(), "ab12CD34"); k.RevokedAt == nil {
		t.Fatal("a revoked key must say so")
	}
	if _, found, err := p.For(System).Orders().APIKey(t.Context(), "00000000"); found || err != nil {
		t.Fatal(found, err)
	}
}

func TestAPIKeysAreForOperatorsOnly(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, issue("ab12CD34"))
	for _, c := range []Caller{{}, {KeyOwner: 7}, {User: 7, Tenant: 1}} {
		_, found, err := p.For(c).Orders().APIKey(t.Context(), "ab12CD34")
		if all, listed := p.For(c).Orders().APIKeys(t.Context(), Listing{}); found || err != nil || len(all.Rows) != 0 || listed != nil {
			t.Errorf("%+v: %v %v", c, found, err)
		}
	}
	if all, err := p.For(Caller{Superuser: true}).Orders().APIKeys(t.Context(), Listing{}); err != nil || len(all.Rows) != 1 {
		t.Fatal(all, err)
	}
}

func TestTheUseOfAKeyIsNotedByTheHourAndSurvivesARebuild(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, issue("ab12CD34"))
	for _, at := range []time.Time{noon.Add(time.Minute), noon.Add(2 * time.Hour), noon.Add(time.Hour)} {
		if err := p.TouchKey(t.Context(), "ab12CD34", at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Rebuild(t.Context(), p.owner, p.Reader(), []string{"api_keys"}, Options{}); err != nil {
		t.Fatal(err)
	}
	if k, _, err := p.For(System).Orders().APIKey(t.Context(), "ab12CD34"); err != nil || !k.LastUsedAt.Equal(noon.Add(2*time.Hour)) {
		t.Fatal(k.LastUsedAt, err)
	}
}
