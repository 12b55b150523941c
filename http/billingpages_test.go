package http_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/http/web"
)

// An administrator pays an open invoice in the browser, and comes back to it.
func TestAnAdministratorPaysAnInvoiceInTheBrowser(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	s.documented(t)
	s.open(t).rewire(t)
	page := web.InvoicesPath + own.String() + "/"
	b := s.visiting(t, ana)
	has(t, b.get(web.InvoicesPath+"?status=open").Body.String(), "TEST-2026-000001", ">open<", "Due: ", "28 Feb 2026", `<span class="count">1</span>`)
	w := b.get(page)
	has(t, w.Body.String(), "28 Feb 2026", `<span class="badge open">open</span>`, "/document/?format=pdf")
	has(t, w.Header().Get("Content-Security-Policy"), "form-action 'self' "+s.public)
	b.isForEverybody(t, "en", w.Body.String())
	if w := b.get(b.linkCalled("XML (EN 16931)")); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/xml" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	b.get(page)
	if w := b.get(b.linkCalled("PDF")); w.Header().Get("Content-Type") != "application/pdf" {
		t.Errorf("%d %v", w.Code, w.Header())
	}

	b.get(page)
	path, sent := b.fill("pay_invoice")
	w = b.do("POST", path, sent.Encode())
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, s.public+"/storefront/checkout/test/") {
		t.Fatalf("%d to %q: %s", w.Code, to, w.Body)
	}
	goes(t, b.do("POST", path, sent.Encode()), to) // pressed once more
	var paying string
	if err := s.owner.QueryRow(t.Context(), `select id::text from orders where invoice = $1`, own).Scan(&paying); err != nil {
		t.Fatal(err)
	}
	a := answer{ID: paying, URL: to}
	back := "/storefront/return/" + paying + "/?outcome=success"
	has(t, s.call("GET", back, "").Body.String(), "Su pago", "Esperando el pago.", "Volver a la factura")
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	text := b.get(back).Body.String()
	has(t, text, "La factura está pagada.", "Su servicio continúa")
	if b.linkCalled("Volver a la factura") != page || b.linkCalled("Al panel de control") != "" {
		t.Errorf("it leads elsewhere: %s", text)
	}
	text = b.get(page).Body.String()
	has(t, text, `<span class="badge paid">paid</span>`, "By test")
	refused(t, b.do("POST", path, sent.Encode()), http.StatusConflict, "The invoice is not open.")
}

// Where several methods can be used, the form asks for one. In Spanish it says what went
// wrong in Spanish.
func TestThePayFormAsksForAMethodOnlyIfThereIsAChoice(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	page := web.InvoicesPath + own.String() + "/"
	b := s.visiting(t, ana)
	b.get(page)
	if _, sent := b.fill("pay_invoice"); sent.Get("payment_method") != "test" || strings.Contains(b.get(page).Body.String(), `for="pay_invoice-payment_method"`) {
		t.Errorf("it asks for the only method: %v", sent)
	}
	all := slices.Clone(s.server.Settings.Offers)
	for i := range all {
		all[i].Configured, all[i].Live = true, all[i].Name == "stripe"
	}
	s.server.Settings.Offers = all
	s.rewire(t)
	text := b.get(page).Body.String()
	has(t, text, `<option value="paypal"`, `<option value="test"`)
	if strings.Contains(text, `<option value="stripe"`) {
		t.Error("real money is asked for what was bought with test money")
	}
	s.do(t, speaks(ana, "es"))
	b.get(page)
	refused(t, b.send("pay_invoice", "payment_method", "paypal"), http.StatusBadRequest, "no es una opción válida")
	for i := range all {
		all[i].Configured = false
	}
	s.rewire(t)
	if text := b.get(page).Body.String(); strings.Contains(text, "pay_invoice") {
		t.Error("there is a button without a way to pay")
	}
}

// Members read, and operators settle with the words that they have to give.
func TestMembersReadInvoicesAndOperatorsSettleThemInTheBrowser(t *testing.T) {
	t.Parallel()
	s, _, own, other := indebted(t)
	page, foreign := web.InvoicesPath+own.String()+"/", web.InvoicesPath+other.String()+"/"
	member := s.visiting(t, ben)
	text := member.get(page).Body.String()
	for _, form := range []string{"pay_invoice", "mark_paid", "waive_invoice"} {
		if strings.Contains(text, form) {
			t.Errorf("a member is shown %s", form)
		}
		if w := member.do("POST", page, "form="+form); w.Code != http.StatusForbidden {
			t.Errorf("a member sends %s: %d", form, w.Code)
		}
	}
	operator := s.visiting(t, root)
	has(t, operator.get(web.InvoicesPath).Body.String(), "TEST-2026-000001", "TEST-2026-000002", `href="/billing/subscriptions/"`)
	text = operator.get(page).Body.String()
	operator.isForEverybody(t, "en", text)
	_, sent := operator.fill("mark_paid", "reference", "Statement 12", "payment_method", "bank_transfer")
	admin := s.visiting(t, ana)
	if text := admin.get(page).Body.String(); strings.Contains(text, "mark_paid") {
		t.Error("an administrator of the tenant is shown what operators do")
	}
	_, theirs := admin.fill("pay_invoice")
	sent.Set("form_token", theirs.Get("form_token"))
	if w := admin.do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("an administrator marks an invoice as paid: %d %s", w.Code, w.Body)
	}
	refused(t, operator.send("mark_paid"), http.StatusBadRequest, "This field")
	operator.get(page)
	goes(t, operator.send("mark_paid", "reference", "Statement 12", "payment_method", "bank_transfer"), page)
	has(t, operator.get(page).Body.String(), "The invoice is paid.", `<span class="badge paid">paid</span>`, "Bank transfer")
	operator.get(foreign)
	refused(t, operator.send("waive_invoice"), http.StatusBadRequest, "This field")
	operator.get(foreign)
	goes(t, operator.send("waive_invoice", "reason", "A gift."), foreign)
	has(t, operator.get(foreign).Body.String(), "The invoice is withdrawn.", `<span class="badge withdrawn">withdrawn</span>`, "TESTCN-")
}

// A subscription says what comes next, and administrators cancel it and take that back.
func TestAnAdministratorCancelsASubscriptionInTheBrowser(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	has(t, s.visiting(t, ben).get(web.SubscriptionsPath).Body.String(), "There is no subscription yet.")
	due, _ := s.billed(t, 1)
	s.owes(t, 1, due)
	id := s.subscribed(t, 1)
	page := web.SubscriptionsPath + id.String() + "/"
	for language, texts := range map[string][]string{
		"en": {"Grande", "€99.00", "active", "The next invoice comes on", "An invoice is open. It is due on 28 Feb 2026."},
		"es": {"Grande", "activa", "La próxima factura llega el", "Hay una factura pendiente. Vence el 28 feb 2026."},
	} {
		s.do(t, speaks(ben, language))
		b := s.visiting(t, ben)
		text := b.get(web.SubscriptionsPath).Body.String()
		has(t, text, texts...)
		b.isForEverybody(t, language, text)
		text = b.get(page).Body.String()
		b.isForEverybody(t, language, text)
		if strings.Contains(text, "cancel_subscription") {
			t.Error("a member is shown how to cancel")
		}
		if w := b.do("POST", page, "form=cancel_subscription"); w.Code != http.StatusForbidden {
			t.Errorf("a member cancels: %d", w.Code)
		}
		has(t, b.get(web.SubscriptionsPath+due.String()+"/").Body.String(), "INV-2026-000001", "TEST-2026-000001")
	}
	b := s.visiting(t, ana)
	b.get(page)
	goes(t, b.send("cancel_subscription"), page)
	has(t, b.get(page).Body.String(), "The subscription is cancelled.", "It was cancelled and ends on", "Take the cancellation back")
	goes(t, b.send("resume_subscription"), page)
	has(t, b.get(page).Body.String(), "The subscription goes on.", "The next invoice comes on")
	goes(t, s.visiting(t, eve).get(web.SubscriptionsPath), web.TenantsPath)
	b.get(page)
	path, sent := b.fill("cancel_subscription")
	s.do(t, billing.End{Order: id, Reason: "ended"})
	refused(t, b.do("POST", path, sent.Encode()), http.StatusConflict, "The subscription has ended.")
	has(t, b.get(page).Body.String(), "It ended on")
}
