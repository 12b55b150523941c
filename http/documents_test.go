package http_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestADocumentComesInTheFormatThatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	own, note := s.billed(t, 1)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, c := range []struct{ accept, query, media, name string }{
			{"", "", "text/html; charset=utf-8", `inline; filename="`},
			{"*/*", "", "text/html; charset=utf-8", `inline; filename="`},
			{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "", "text/html; charset=utf-8", `inline; filename="`},
			{"application/pdf", "", "application/pdf", `attachment; filename="`},
			{"text/html;q=0.5, application/*;q=0.8", "", "application/pdf", `attachment; filename="`},
			{"text/html", "?format=pdf", "application/pdf", `attachment; filename="`},
		} {
			w := s.call(http.MethodGet, billingAPI+path+"/document/"+c.query, "", append(bearer(s.known["ben"]), "Accept", c.accept)...)
			h := w.Header()
			if w.Code != http.StatusOK || h.Get("Content-Type") != c.media || !strings.HasPrefix(h.Get("Content-Disposition"), c.name) || h.Get("Cache-Control") != "private, no-store" {
				t.Errorf("%s %+v: %d %v", path, c, w.Code, h)
			}
			if strings.HasPrefix(c.media, "text/html") {
				has(t, h.Get("Content-Security-Policy"), "default-src 'none'", "sandbox", "frame-ancestors 'none'")
			} else if !strings.HasPrefix(w.Body.String(), "%PDF-") {
				t.Errorf("%s %+v is no PDF", path, c)
			}
		}
	}
	for query, want := range map[string]int{"": http.StatusNotAcceptable, "?format=docx": http.StatusNotFound} {
		w := s.call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/"+query, "", append(bearer(s.known["ben"]), "Accept", "image/png, text/html;q=0")...)
		if w.Code != want {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
}

// The XML of an invoice keeps the rules, or is refused with those that it would break: here
// the buyer of an old invoice has named no country.
func TestAnXMLKeepsTheRulesOrNamesThem(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	own, note := s.billed(t, 1)
	paths := []string{"invoices/" + own.String(), "credit-notes/" + note.String()}
	xml := func(path string) (int, string) {
		w := s.call(http.MethodGet, billingAPI+path+"/document/", "", append(bearer(s.known["ben"]), "Accept", "application/xml")...)
		return w.Code, w.Body.String()
	}
	for _, path := range paths {
		if code, text := xml(path); code != http.StatusOK || !strings.Contains(text, "urn:cen.eu:en16931:2017") || !strings.Contains(text, "<cbc:StreetName>Gran Vía 2</cbc:StreetName>") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if _, err := s.owner.Exec(t.Context(), `update invoices set customer_country = ''`); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if code, text := xml(path); code != http.StatusConflict || !strings.Contains(text, "BR-11: the buyer has no known country") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

func TestADocumentSaysWhetherItIsPaidInTheLanguageOfTheOrder(t *testing.T) {
	t.Parallel()
	s, service, own, other := indebted(t)
	shown := func(path string) string {
		t.Helper()
		w := s.call(http.MethodGet, billingAPI+path+"/document/", "", bearer(s.known["root"])...)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	lacks := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if strings.Contains(text, part) {
				t.Errorf("it has %q: %s", part, text)
			}
		}
	}
	has(t, shown("invoices/"+service.String()), `lang="es"`, "INV-2026-000001", "Pagado", "Por test")
	unpaid := shown("invoices/" + own.String())
	has(t, unpaid, "TEST-2026-000001", "Vencimiento", "28 feb 2026", hoster.IBAN, "Importe pendiente")
	s.bills("root", "invoices/"+own.String()+"/mark_paid/", `{"payment_method":"bank_transfer","reference":"Statement 12"}`)
	paid := shown("invoices/" + own.String())
	has(t, paid, "Pagado", "Transferencia bancaria")
	lacks(paid, hoster.IBAN, "Statement 12")

	s.bills("root", "invoices/"+other.String()+"/waive/", `{"reason":"A gift."}`)
	withdrawn := shown("invoices/" + other.String())
	has(t, withdrawn, "TESTCN-", "se anuló antes de pagarse")
	lacks(withdrawn, hoster.IBAN, "Pagado")
	var note uuid.UUID
	if err := s.owner.QueryRow(t.Context(), `select id from credit_notes where refund = 'waived'`).Scan(&note); err != nil {
		t.Fatal(err)
	}
	credit := shown("credit-notes/" + note.String())
	has(t, credit, "Factura rectificativa", "Compensado con la factura", "renunciado al pago")
	lacks(credit, "Reembolsado", "A gift.")
}

func TestADocumentOfAnotherTenantIsNotThere(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.billed(t, 1)
	other, note := s.billed(t, 2)
	for _, path := range []string{"invoices/" + other.String(), "credit-notes/" + note.String()} {
		for _, query := range []string{"", "?format=pdf", "?format=xml"} {
			w := s.call(http.MethodGet, billingAPI+path+"/document/"+query, "", bearer(s.known["ben"])...)
			if w.Code != http.StatusNotFound {
				t.Errorf("%s%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	}
}
