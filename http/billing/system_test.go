//go:build system

package billing_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/http/web"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// Until a document is stored callers are told to come back. Then it is there, the same for
// ever.
func TestADocumentIsThereOnceItIsStored(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, note := s.Billed(t, 1)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, format := range []string{"html", "pdf", "xml"} {
			call := func() *httptest.ResponseRecorder {
				return s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			}
			w := call()
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
				!strings.Contains(w.Body.String(), `"code":"document_not_made"`) {
				t.Errorf("%s, %s: %d %s %v", path, format, w.Code, w.Body, w.Header())
			}
		}
	}
	s.Documented(t)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, format := range []string{"html", "pdf", "xml"} {
			first := s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			again := s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			if first.Code != http.StatusOK || first.Body.Len() < 1000 || !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) {
				t.Errorf("%s, %s: %d %d", path, format, first.Code, again.Code)
			}
		}
	}
	if _, err := s.Owner.Exec(t.Context(), `update subject_keys set key_id = '', wrapped = '' where year is not null`); err != nil {
		t.Fatal(err)
	}
	for w := s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/", "",
		paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusGone ||
		!strings.Contains(w.Body.String(), `"code":"document_erased"`); {
		if w.Code != http.StatusOK { // keys are remembered for some seconds
			t.Fatalf("after the erasure: %d %s", w.Code, w.Body)
		}
		time.Sleep(50 * time.Millisecond)
		w = s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/", "", paneltest.Bearer(s.Known["ben"])...)
	}
}

// An administrator pays an open invoice in the browser, and comes back to it.
func TestAnAdministratorPaysAnInvoiceInTheBrowser(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	s.Documented(t)
	s.Start(t).Rewire(t)
	page := web.InvoicesPath + own.String() + "/"
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(web.InvoicesPath+"?status=open").Body.String(), "TEST-2026-000001", ">open<", "Due: ",
		"28 Feb 2026", `<span class="count">1</span>`)
	w := b.Get(page)
	paneltest.Has(t, w.Body.String(), "28 Feb 2026", `<span class="badge open">open</span>`, "/document/?format=pdf")
	paneltest.Has(t, w.Header().Get("Content-Security-Policy"), "form-action 'self' "+s.Public)
	b.IsForEverybody(t, "en", w.Body.String())
	if w := b.Get(b.LinkCalled("XML (EN 16931)")); w.Code != http.StatusOK ||
		w.Header().Get("Content-Type") != "application/xml" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	b.Get(page)
	if w := b.Get(b.LinkCalled("PDF")); w.Header().Get("Content-Type") != "application/pdf" {
		t.Errorf("%d %v", w.Code, w.Header())
	}

	b.Get(page)
	path, sent := b.Fill("pay_invoice")
	w = b.Do("POST", path, sent.Encode())
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, s.Public+"/storefront/checkout/test/") {
		t.Fatalf("%d to %q: %s", w.Code, to, w.Body)
	}
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), to) // pressed once more
	var paying string
	if err := s.Owner.QueryRow(t.Context(), `select id::text from orders where invoice = $1`,
		own).Scan(&paying); err != nil {
		t.Fatal(err)
	}
	a := paneltest.Answer{ID: paying, URL: to}
	back := "/storefront/return/" + paying + "/?outcome=success"
	paneltest.Has(t, s.Call("GET", back, "").Body.String(), "Su pago", "Esperando el pago.", "Volver a la factura")
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	text := b.Get(back).Body.String()
	paneltest.Has(t, text, "La factura está pagada.", "Su servicio continúa")
	if b.LinkCalled("Volver a la factura") != page || b.LinkCalled("Al panel de control") != "" {
		t.Errorf("it leads elsewhere: %s", text)
	}
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, `<span class="badge paid">paid</span>`, "By test")
	paneltest.Refused(t, b.Do("POST", path, sent.Encode()), http.StatusConflict, "The invoice is not open.")
}

// A document says what held when it was issued, in the language of the order. A payment or a
// withdrawal does not change it: the page of the invoice tells of them.
func TestADocumentSaysWhatHeldWhenItWasIssued(t *testing.T) {
	t.Parallel()
	s, service, own, other := indebted(t)
	s.Documented(t)
	shown := func(path string) string {
		t.Helper()
		w := s.Call(http.MethodGet, billingAPI+path+"/document/", "", paneltest.Bearer(s.Known["root"])...)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	paneltest.Has(t, shown("invoices/"+service.String()), `lang="es"`, "INV-2026-000001", "Pagado", "Por test")
	unpaid := shown("invoices/" + own.String())
	paneltest.Has(t, unpaid, "TEST-2026-000001", "Vencimiento", "28 feb 2026", paneltest.Hoster.IBAN, "Importe pendiente")
	bills(s, "root", "invoices/"+own.String()+"/mark_paid/",
		`{"payment_method":"bank_transfer","reference":"Statement 12"}`)
	due := shown("invoices/" + other.String())
	bills(s, "root", "invoices/"+other.String()+"/waive/", `{"reason":"A gift."}`)
	s.Documented(t)
	if shown("invoices/"+own.String()) != unpaid || shown("invoices/"+other.String()) != due {
		t.Error("a document has changed")
	}
	var note uuid.UUID
	if err := s.Owner.QueryRow(t.Context(),
		`select id from credit_notes where refund = 'waived'`).Scan(&note); err != nil {
		t.Fatal(err)
	}
	credit := shown("credit-notes/" + note.String())
	paneltest.Has(t, credit, "Factura rectificativa", "Compensado con la factura", "renunciado al pago")
	for _, part := range []string{"Reembolsado", "A gift."} {
		if strings.Contains(credit, part) {
			t.Errorf("it has %q: %s", part, credit)
		}
	}
}

// Users see in the browser what their tenant was billed, with the seller, in their own
// language, and nothing of another tenant's.
func TestATenantSeesItsInvoicesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	none := s.Visiting(t, paneltest.Ben)
	paneltest.Has(t, none.Get(web.InvoicesPath).Body.String(), "There is no invoice yet.")
	own, _ := s.Billed(t, 1)
	other, _ := s.Billed(t, 2)
	page := web.InvoicesPath + own.String() + "/"
	for language, texts := range map[string][2][]string{
		"en": {{
			"Invoices", "INV-2026-000001", "€24.20", "31 Jan 2026", `<a href="` + page + `">`,
			`<span class="count">1</span>`,
		}, {
			"Invoice INV-2026-000001", "Start (monthly)", "31 Jan 2026 – 27 Feb 2026", "Setup fee", "€20.00", "Tax (21%)",
			"€4.20", "Given back", "CN-2026-000001", "€12.10",
			"Hoster SL", "Calle Mayor 1, 28013 Madrid, ES", "ESB12345678", "Ana Ruiz", "paid",
		}},
		"es": {
			{"Facturas", "24,20", "31 ene 2026", "pagada"},
			{"Factura INV-2026-000001", "Impuestos (21\u00a0%)", "Vendedor", "Devuelto"},
		},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := s.Visiting(t, paneltest.Ben)
		for i, path := range []string{web.InvoicesPath, page} {
			text := b.Get(path).Body.String()
			paneltest.Has(t, text, texts[i]...)
			b.IsForEverybody(t, language, text)
		}
		if w := b.Get(web.InvoicesPath + other.String() + "/"); w.Code != http.StatusNotFound {
			t.Errorf("another tenant's invoice: %d %s", w.Code, w.Body)
		}
	}
	paneltest.Goes(t, s.Visiting(t, paneltest.Eve).Get(web.InvoicesPath), web.TenantsPath)
	paneltest.Goes(t, s.Browser(t).Get(page), "/login/?next="+url.QueryEscape(page))
}

// What was bought through a storefront has made its tenant, and is a service of that.
func TestAServiceOfAStorefrontNamesItsTenantAndItsSite(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, `{`, `{"domain":"served.example.org",`, 1)))
	one := servicesAPI + a.ID + "/"
	if w := s.Call("GET", one, "", paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("before it is paid: %d %s", w.Code, w.Body)
	}
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	text := s.Call("GET", one, "", paneltest.Bearer(s.Known["root"])...).Body.String()
	paneltest.Has(t, text, `"kind":"hosting"`, `"status":"active"`, `"made_tenant":true`, `{"kind":"tenant","id":`,
		`"url":"/hosting/api/rest/tenants/`, `"url":"/hosting/api/rest/sites/`, `{"limit":"sites","most":`)
	if w := s.Call("GET", one+"vm/", "", paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("it has no machine: %d %s", w.Code, w.Body)
	}
	if w := s.Call("GET", one, "", paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusNotFound {
		t.Errorf("another tenant's: %d %s", w.Code, w.Body)
	}
}

// An administrator adds a card in the browser, and reads that it is saved.
func TestACardIsAddedInTheBrowserWithoutAPayment(t *testing.T) {
	t.Parallel()
	s, _, _, _ := indebted(t)
	s.Start(t)
	s.KnowsPassword(t, paneltest.Ana)
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(web.PaymentMethodsPath).Body.String(), "Add a payment method",
		"The payment provider may keep my payment method", "Nothing is charged now.")
	if w := b.Send(`add_method`, "payment_method", "test", "password", paneltest.Password); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "only if you agree") {
		t.Errorf("without consent: %d %s", w.Code, w.Body)
	}
	if w := b.Twin().Send("add_method", "payment_method", "test", "consent", "true"); w.Code != http.StatusBadRequest {
		t.Errorf("without the password: %d %s", w.Code, w.Body)
	}
	page := b.Send("add_method", "payment_method", "test", "consent", "true", "password", paneltest.Password).Header().Get("Location")
	session := path.Base(page)
	if !strings.HasPrefix(session, "cs_test_") {
		t.Fatalf("the reader is sent to %q", page)
	}
	done, err := s.Provider.Act(t.Context(), order.HostedAction{Session: session, Action: "pay"})
	if err != nil || !done.Setup {
		t.Fatal(done, err)
	}
	back := strings.TrimPrefix(done.ReturnURL, s.Public)
	paneltest.Has(t, b.Get(back).Body.String(), "The payment method is saved.", "visa …4242")
	all, err := s.Tables.For(projections.System).Billing().PaymentMethodsOf(t.Context(), 1, subjectOf(t, s, paneltest.Ana))
	if err != nil || len(all) != 1 || all[0].OrderID != nil ||
		*all[0].SetupID != uuid.MustParse(back[len(web.PaymentMethodsPath)+len("?setup="):]) {
		t.Errorf("saved: %+v %v", all, err)
	}
	if readers := s.Visiting(t, paneltest.Ben).Get(web.PaymentMethodsPath).Body.String(); strings.Contains(readers,
		"Add a payment method") {
		t.Error("A member who does not administer the tenant may add one.")
	}
}
