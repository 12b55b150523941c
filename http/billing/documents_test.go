package billing_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/paneltest"
)

func TestADocumentComesInTheFormatThatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, note := s.Billed(t, 1)
	s.Documented(t)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, c := range []struct{ accept, query, media, name string }{
			{"", "", "text/html; charset=utf-8", `inline; filename="`},
			{"*/*", "", "text/html; charset=utf-8", `inline; filename="`},
			{
				"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "", "text/html; charset=utf-8",
				`inline; filename="`,
			},
			{"application/pdf", "", "application/pdf", `attachment; filename="`},
			{"text/html;q=0.5, application/*;q=0.8", "", "application/pdf", `attachment; filename="`},
			{"text/html", "?format=pdf", "application/pdf", `attachment; filename="`},
		} {
			w := s.Call(http.MethodGet, billingAPI+path+"/document/"+c.query, "",
				append(paneltest.Bearer(s.Known["ben"]), "Accept", c.accept)...)
			h := w.Header()
			if w.Code != http.StatusOK || h.Get("Content-Type") != c.media ||
				!strings.HasPrefix(h.Get("Content-Disposition"), c.name) || h.Get("Cache-Control") != "private, no-store" {
				t.Errorf("%s %+v: %d %v", path, c, w.Code, h)
			}
			if strings.HasPrefix(c.media, "text/html") {
				paneltest.Has(t, h.Get("Content-Security-Policy"), "default-src 'none'", "sandbox", "frame-ancestors 'none'")
			} else if !strings.HasPrefix(w.Body.String(), "%PDF-") {
				t.Errorf("%s %+v is no PDF", path, c)
			}
		}
	}
	for query, want := range map[string]int{"": http.StatusNotAcceptable, "?format=docx": http.StatusNotFound} {
		w := s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/"+query, "",
			append(paneltest.Bearer(s.Known["ben"]), "Accept", "image/png, text/html;q=0")...)
		if w.Code != want {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
}

// The XML of an invoice keeps the rules, or is refused with those that it would break: here
// the buyer of one has named no country.
func TestAnXMLKeepsTheRulesOrNamesThem(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, note := s.Billed(t, 1)
	nowhere := uuid.New()
	s.Do(t, billing.Issue{
		ID: nowhere, Order: own, Tenant: 1, SubjectID: uuid.New(), Name: "Ana Ruiz", Seller: paneltest.Hoster,
		Lines: []billing.Line{{Text: "Start", Total: paneltest.Price("12.10")}},
		Total: paneltest.Price("12.10"), Subtotal: paneltest.Price("10"), Tax: paneltest.Price("2.10"),
		TaxRate: paneltest.Price("21"), Currency: "EUR", At: paneltest.BilledAt,
	})
	s.Documented(t)
	paths := []string{"invoices/" + own.String(), "credit-notes/" + note.String()}
	xml := func(path string) (int, string) {
		w := s.Call(http.MethodGet, billingAPI+path+"/document/", "",
			append(paneltest.Bearer(s.Known["ben"]), "Accept", "application/xml")...)
		return w.Code, w.Body.String()
	}
	for _, path := range paths {
		if code, text := xml(path); code != http.StatusOK || !strings.Contains(text, "urn:cen.eu:en16931:2017") ||
			!strings.Contains(text, "<cbc:StreetName>Gran Vía 2</cbc:StreetName>") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, text := xml("invoices/" + nowhere.String()); code != http.StatusConflict ||
		!strings.Contains(text, "BR-11: the buyer has no known country") {
		t.Errorf("%d %s", code, text)
	}
	if w := s.Call(http.MethodGet, billingAPI+"invoices/"+nowhere.String()+"/document/", "",
		paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusOK {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	}
}

func TestADocumentOfAnotherTenantIsNotThere(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Billed(t, 1)
	other, note := s.Billed(t, 2)
	s.Documented(t)
	for _, path := range []string{"invoices/" + other.String(), "credit-notes/" + note.String()} {
		for _, query := range []string{"", "?format=pdf", "?format=xml"} {
			w := s.Call(http.MethodGet, billingAPI+path+"/document/"+query, "", paneltest.Bearer(s.Known["ben"])...)
			if w.Code != http.StatusNotFound {
				t.Errorf("%s%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	}
}
