package billing_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// A preview costs nothing and changes nothing, and what it has said is what the change
// then bills. Administrators change, members and strangers do not.
func TestAnAdministratorChangesThePlan(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).OffersPlans(t)
	path, foreign := "subscriptions/"+s.Running(t, 1).String()+"/", "subscriptions/"+s.Running(t, 2).String()+"/"
	const more, less = `{"plan":71,"billing_period":"monthly"}`, `{"plan":72,"billing_period":"monthly"}`
	const decided = `select count(*) from events where name like 'billing.%' or name like 'order.%' or name like 'hosting.%'`
	written := s.Count(t, decided)
	for _, c := range []struct {
		user, path, body string
		status           int
	}{
		{"ben", path + "preview/", more, http.StatusForbidden},
		{"ben", path + "change/", more, http.StatusForbidden},
		{"eve", path + "change/", more, http.StatusForbidden},
		{"ana", foreign + "preview/", more, http.StatusNotFound},
		{"ana", foreign + "change/", more, http.StatusNotFound},
		{"ana", path + "preview/", `{"plan":71}`, http.StatusBadRequest},
		{"ana", path + "preview/", `{"plan":71,"billing_period":"daily"}`, http.StatusBadRequest},
		{"ana", path + "change/", `{"plan":4711,"billing_period":"monthly"}`, http.StatusBadRequest},
		{"ana", path + "preview/", more, http.StatusOK},
		{"root", foreign + "preview/", less, http.StatusOK},
	} {
		if w := bills(s, c.user, c.path, c.body); w.Code != c.status {
			t.Errorf("%s %s as %s: %d %s, want %d", c.path, c.body, c.user, w.Code, w.Body, c.status)
		}
	}
	if n := s.Count(t, decided); n != written {
		t.Errorf("%d events", n-written)
	}
	var preview struct{ Effect, Total string }
	paneltest.Decode(t, bills(s, "ana", path+"preview/", more), http.StatusOK, &preview)
	if preview.Effect != "now" {
		t.Errorf("%+v", preview)
	}
	tag := s.Call(http.MethodGet, billingAPI+path, "", paneltest.Bearer(s.Known["ana"])...).Header().Get("ETag")
	first := bills(s, "ana", path+"change/", more, "If-Match", tag, "Idempotency-Key", "once")
	again := bills(s, "ana", path+"change/", more, "If-Match", tag, "Idempotency-Key", "once")
	if first.Code != http.StatusOK || again.Header().Get("Idempotent-Replayed") != "true" ||
		first.Body.String() != again.Body.String() {
		t.Fatalf("%d %s, and again %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if w := bills(s, "ana", path+"change/", less, "If-Match", tag); w.Code != http.StatusPreconditionFailed {
		t.Errorf("another version: %d %s", w.Code, w.Body)
	}
	var changed struct {
		Change struct{ Invoice, PlanName string }
	}
	paneltest.Decode(t, first, http.StatusOK, &changed)
	var bill struct {
		Total  string
		Status string
		Lines  []struct{ Text, Total string }
	}
	paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+"invoices/"+changed.Change.Invoice+"/", "",
		paneltest.Bearer(s.Known["ana"])...), http.StatusOK, &bill)
	if bill.Total != preview.Total || bill.Status != string(billing.Open) || len(bill.Lines) != 2 ||
		!strings.HasPrefix(bill.Lines[1].Total, "-") {
		t.Errorf("%+v, and the preview said %+v", bill, preview)
	}
	s.Documented(t)
	for _, format := range []string{"html", "pdf"} {
		if w := s.Call(http.MethodGet, billingAPI+"invoices/"+changed.Change.Invoice+"/document/?format="+format, "",
			paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", format, w.Code, w.Body)
		}
	}
}

// What is used too much of is named, and nothing changes.
func TestAPlanThatIsTooSmallIsRefusedWithWhatHasToGo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).OffersPlans(t)
	path := "subscriptions/" + s.Running(t, 1).String() + "/"
	for id, name := range map[int64]string{801: "one.example", 802: "two.example"} {
		spec := &hosting.Site{Domain: name, IPAddress: "*", IsActive: true}
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: 1, Spec: spec.Fields().Values()})
	}
	const less = `{"plan":72,"billing_period":"monthly"}`
	paneltest.Has(t, bills(s, "ana", path+"preview/", less).Body.String(),
		`"exceeded":[{"limit":"sites","used":2,"most":1}]`, `"effect":"period_end"`)
	if w := bills(s, "ana", path+"change/", less); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "2 sites of 1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// In the browser an administrator chooses a plan, sees what it costs, and is led to the
// invoice, or back to the subscription that tells of the change.
func TestAnAdministratorChangesThePlanInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).OffersPlans(t)
	id := s.Running(t, 1)
	page := web.SubscriptionsPath + id.String() + "/"
	member := s.Visiting(t, paneltest.Ben)
	if text := member.Get(page).Body.String(); strings.Contains(text, page+"change/") {
		t.Error("a member is shown the way to change the plan")
	}
	if w := member.Get(page + "change/"); w.Code != http.StatusForbidden {
		t.Errorf("a member sees the page: %d", w.Code)
	}
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(page).Body.String(), `href="`+page+`change/"`)
	for language, texts := range map[string][]string{
		"en": {"Change the plan", "More · €9.99 / month", "Show what it costs"}, "es": {"Cambiar el plan", "Ver qué cuesta"},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		text := b.Get(page + "change/").Body.String()
		paneltest.Has(t, text, texts...)
		b.IsForEverybody(t, language, text)
		b.IsForEverybody(t, language, b.Get(page+"change/?plan=71&billing_period=yearly").Body.String())
	}
	s.Do(t, paneltest.Speaks(paneltest.Ana, "en"))
	paneltest.Has(t, b.Get(page+"change/?plan=4711&billing_period=monthly").Body.String(),
		"There is no such plan on offer.")
	paneltest.Has(t, b.Get(page+"change/?plan=72&billing_period=monthly").Body.String(), "Nothing is to be paid now.",
		"Less (mensual)", "€1.00")
	paneltest.Goes(t, b.Send("change_subscription"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The change is noted.", "The plan changes to Less, monthly, on ")
	paneltest.Has(t, b.Get(page+"change/?plan=1&billing_period=monthly").Body.String(),
		"A change that is pending is taken back.")
	paneltest.Goes(t, b.Send("change_subscription"), page)
	text := b.Get(page).Body.String()
	if strings.Contains(text, "The plan changes to") {
		t.Error("the change is not taken back")
	}
	paneltest.Has(t, b.Get(page+"change/?plan=71&billing_period=monthly").Body.String(), "is issued, to be paid until",
		"More, resto del periodo")
	w := b.Send("change_subscription")
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(to, web.InvoicesPath) {
		t.Fatalf("%d to %q", w.Code, to)
	}
	paneltest.Has(t, b.Get(w.Header().Get("Location")).Body.String(), "The plan changes as soon as this invoice is paid.",
		"pay_invoice")
	paneltest.Has(t, b.Get(page).Body.String(), "as soon as its invoice is paid")
}

// Who changes the plan of a virtual server is told from when its parts count.
func TestTheChangeOfAServersPlanSaysWhenItsSizeCounts(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	s.Offer(t, 20, &storefront.Plan{
		Name: "VPS L", Price: paneltest.Price("99.8"), Currency: "EUR", ResourceType: "vps", BillingPeriod: "monthly", IsActive: true,
		VPS: storefront.VPS{OSOptions: []string{"debian-12"}},
	})
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.VPSOrder("eve@example.com")))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	page := web.SubscriptionsPath + a.ID + "/change/?billing_period=monthly&plan=20"
	for language, says := range map[string]string{"en": "with the next start of the server", "es": "con el próximo arranque del servidor"} {
		s.Do(t, paneltest.Speaks(paneltest.Root, language))
		text := s.Visiting(t, paneltest.Root).Get(page).Body.String()
		paneltest.Has(t, text, says, "VPS L")
		if strings.Contains(text, `id="calls"`) {
			t.Errorf("%s: a machine is nothing of the hosting engine's", language)
		}
	}
}
