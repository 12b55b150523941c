package billing_test

import (
	"net/http"
	"net/url"
	"testing"

	"hostpanel/http/web"
	"hostpanel/paneltest"
)

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

// A user reads what the active tenant is billed, and a superuser what all are.
func TestATenantReadsItsInvoicesAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, _ := s.Billed(t, 1)
	other, _ := s.Billed(t, 2)
	for _, list := range []string{"subscriptions/", "invoices/", "credit-notes/"} {
		for user, count := range map[string]int64{"ben": 1, "eve": 0, "root": 2} {
			var page struct{ Count int64 }
			paneltest.Decode(t, s.Call(http.MethodGet, "/billing/api/v1/"+list, "", paneltest.Bearer(s.Known[user])...),
				http.StatusOK, &page)
			if page.Count != count {
				t.Errorf("%s sees %d of %s instead of %d", user, page.Count, list, count)
			}
		}
	}
	for path, status := range map[string]int{
		"invoices/" + own.String(): http.StatusOK, "invoices/" + other.String(): http.StatusNotFound,
		"subscriptions/" + own.String(): http.StatusOK, "subscriptions/" + other.String(): http.StatusNotFound,
	} {
		if w := s.Call(http.MethodGet, "/billing/api/v1/"+path+"/", "",
			paneltest.Bearer(s.Known["ben"])...); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
