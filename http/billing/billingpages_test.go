package billing_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/billing"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// Where several methods can be used, the form asks for one. In Spanish it says what went
// wrong in Spanish.
func TestThePayFormAsksForAMethodOnlyIfThereIsAChoice(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	page := web.InvoicesPath + own.String() + "/"
	b := s.Visiting(t, paneltest.Ana)
	b.Get(page)
	if _, sent := b.Fill("pay_invoice"); sent.Get("payment_method") != "test" ||
		strings.Contains(b.Get(page).Body.String(), `for="pay_invoice-payment_method"`) {
		t.Errorf("it asks for the only method: %v", sent)
	}
	all := slices.Clone(s.Server.Settings.Offers)
	for i := range all {
		all[i].Configured, all[i].Live = true, all[i].Name == "stripe"
	}
	s.Server.Settings.Offers = all
	s.Rewire(t)
	text := b.Get(page).Body.String()
	paneltest.Has(t, text, `<option value="paypal"`, `<option value="test"`)
	if strings.Contains(text, `<option value="stripe"`) {
		t.Error("real money is asked for what was bought with test money")
	}
	s.Do(t, paneltest.Speaks(paneltest.Ana, "es"))
	b.Get(page)
	paneltest.Refused(t, b.Send("pay_invoice", "payment_method", "paypal"), http.StatusBadRequest,
		"no es una opción válida")
	for i := range all {
		all[i].Configured = false
	}
	s.Rewire(t)
	if text := b.Get(page).Body.String(); strings.Contains(text, "pay_invoice") {
		t.Error("there is a button without a way to pay")
	}
}

// Members read, and operators settle with the words that they have to give.
func TestMembersReadInvoicesAndOperatorsSettleThemInTheBrowser(t *testing.T) {
	t.Parallel()
	s, _, own, other := indebted(t)
	page, foreign := web.InvoicesPath+own.String()+"/", web.InvoicesPath+other.String()+"/"
	member := s.Visiting(t, paneltest.Ben)
	text := member.Get(page).Body.String()
	for _, form := range []string{"pay_invoice", "mark_paid", "waive_invoice"} {
		if strings.Contains(text, form) {
			t.Errorf("a member is shown %s", form)
		}
		if w := member.Do("POST", page, "form="+form); w.Code != http.StatusForbidden {
			t.Errorf("a member sends %s: %d", form, w.Code)
		}
	}
	operator := s.Visiting(t, paneltest.Root)
	paneltest.Has(t, operator.Get(web.InvoicesPath).Body.String(), "TEST-2026-000001", "TEST-2026-000002",
		`href="/billing/subscriptions/"`)
	text = operator.Get(page).Body.String()
	operator.IsForEverybody(t, "en", text)
	_, sent := operator.Fill("mark_paid", "reference", "Statement 12", "payment_method", "bank_transfer")
	admin := s.Visiting(t, paneltest.Ana)
	if text := admin.Get(page).Body.String(); strings.Contains(text, "mark_paid") {
		t.Error("an administrator of the tenant is shown what operators do")
	}
	_, theirs := admin.Fill("pay_invoice")
	sent.Set("form_token", theirs.Get("form_token"))
	if w := admin.Do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("an administrator marks an invoice as paid: %d %s", w.Code, w.Body)
	}
	paneltest.Refused(t, operator.Send("mark_paid"), http.StatusBadRequest, "This field")
	operator.Get(page)
	paneltest.Goes(t, operator.Send("mark_paid", "reference", "Statement 12", "payment_method", "bank_transfer"), page)
	paneltest.Has(t, operator.Get(page).Body.String(), "The invoice is paid.", `<span class="badge paid">paid</span>`,
		"Bank transfer")
	operator.Get(foreign)
	paneltest.Refused(t, operator.Send("waive_invoice"), http.StatusBadRequest, "This field")
	operator.Get(foreign)
	paneltest.Goes(t, operator.Send("waive_invoice", "reason", "A gift."), foreign)
	paneltest.Has(t, operator.Get(foreign).Body.String(), "The invoice is withdrawn.",
		`<span class="badge withdrawn">withdrawn</span>`, "TESTCN-")
}

// A subscription says what comes next, and administrators cancel it and take that back.
func TestAnAdministratorCancelsASubscriptionInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	paneltest.Has(t, s.Visiting(t, paneltest.Ben).Get(web.SubscriptionsPath).Body.String(),
		"There is no subscription yet.")
	due, _ := s.Billed(t, 1)
	s.Owes(t, 1, due)
	id := s.Subscribed(t, 1)
	page := web.SubscriptionsPath + id.String() + "/"
	for language, texts := range map[string][]string{
		"en": {"Grande", "€99.00", "active", "The next invoice comes on", "An invoice is open. It is due on 28 Feb 2026."},
		"es": {"Grande", "activa", "La próxima factura llega el", "Hay una factura pendiente. Vence el 28 feb 2026."},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := s.Visiting(t, paneltest.Ben)
		text := b.Get(web.SubscriptionsPath).Body.String()
		paneltest.Has(t, text, texts...)
		b.IsForEverybody(t, language, text)
		text = b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		if strings.Contains(text, "cancel_subscription") {
			t.Error("a member is shown how to cancel")
		}
		if w := b.Do("POST", page, "form=cancel_subscription"); w.Code != http.StatusForbidden {
			t.Errorf("a member cancels: %d", w.Code)
		}
		paneltest.Has(t, b.Get(web.SubscriptionsPath+due.String()+"/").Body.String(), "INV-2026-000001", "TEST-2026-000001")
	}
	b := s.Visiting(t, paneltest.Ana)
	b.Get(page)
	paneltest.Goes(t, b.Send("cancel_subscription"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The subscription is cancelled.", "It was cancelled and ends on",
		"Take the cancellation back")
	paneltest.Goes(t, b.Send("resume_subscription"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The subscription goes on.", "The next invoice comes on")
	paneltest.Goes(t, s.Visiting(t, paneltest.Eve).Get(web.SubscriptionsPath), web.TenantsPath)
	b.Get(page)
	path, sent := b.Fill("cancel_subscription")
	s.Do(t, billing.End{Order: id, Reason: "ended"})
	paneltest.Refused(t, b.Do("POST", path, sent.Encode()), http.StatusConflict, "The subscription has ended.")
	paneltest.Has(t, b.Get(page).Body.String(), "It ended on")
}

// Operators see of each invoice whom it bills and for what, search them, and have the sums
// and the file of each month.
func TestOperatorsFindInvoicesAndTheBooksOfAMonth(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	b := s.Visiting(t, paneltest.Root)
	text := b.Get(web.InvoicesPath).Body.String()
	paneltest.Has(t, text, `<a href="/storefront/tenants/1/">Bread &amp; Co</a>`, `<a href="/storefront/tenants/2/">Cheese</a>`,
		"Ruiz SL · ", "Due: ", `<a href="/storefront/books/">Books</a>`)
	b.IsForEverybody(t, "en", text)
	found := b.Get(web.InvoicesPath + "?search=test-2026-000001").Body.String()
	paneltest.Has(t, found, `<span class="count">1</span>`, own.String())
	paneltest.Has(t, b.Get(web.InvoicesPath+"?search=ruiz").Body.String(), own.String())
	paneltest.Has(t, b.Get(web.InvoicesPath+"?search=nobody").Body.String(), `<span class="count">0</span>`)
	for _, page := range []string{web.SubscriptionsPath, web.ServicesPath, web.TenantOrdersPath} {
		paneltest.Has(t, b.Get(page).Body.String(), `<a href="/storefront/tenants/1/">Bread &amp; Co</a>`)
	}
	text = b.Get(web.BooksPath).Body.String()
	paneltest.Has(t, text, "2026-01", "€48.40", "test money", `href="/billing/api/v1/books/?month=2026-01"`)
	b.IsForEverybody(t, "en", text)
	if w := b.Get("/billing/api/v1/books/?month=2026-01"); w.Code != http.StatusOK {
		t.Errorf("the file of the month is %d", w.Code)
	}
	member := s.Visiting(t, paneltest.Ana)
	text = member.Get(web.InvoicesPath).Body.String()
	if strings.Contains(text, "Books") || strings.Contains(text, "/storefront/tenants/") {
		t.Error("a member is led to the books")
	}
	if w := member.Get(web.BooksPath); w.Code != http.StatusForbidden {
		t.Errorf("a member reads the books: %d", w.Code)
	}
}

// The status of an order is said in the language of its reader, whatever that of the order is.
func TestTheStatusOfAnOrderIsSaidToItsReader(t *testing.T) {
	t.Parallel()
	s, _, _, _ := indebted(t) // whose orders are Spanish
	for language, says := range map[string]string{"en": "Waiting for the payment provider.", "es": "Esperando al proveedor de pago."} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		paneltest.Has(t, s.Visiting(t, paneltest.Ana).Get(web.TenantOrdersPath).Body.String(), says)
	}
}
