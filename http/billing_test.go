package http_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/http/web"
)

// billed starts a subscription of a tenant with an invoice, and credits a part of it. Ids
// of the subscription and of the invoice are that of the order, which is returned with that
// of the credit note.
func (s *shop) billed(t testing.TB, tenant int64) (order, creditNote uuid.UUID) {
	t.Helper()
	order = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(tenant)})
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	sum := decimal.RequireFromString
	s.do(t, billing.Subscribe{Order: order, Tenant: tenant, User: ben, Plan: 1, PlanName: "Start", BillingPeriod: "monthly", Price: sum("12.1"), Currency: "EUR", At: at},
		billing.Issue{
			Order: order, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL",
			Buyer:  buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"},
			Seller: billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28013", Country: "ES", TaxID: "ESB12345678"},
			Lines: []billing.Line{
				{Text: "Start (monthly)", PeriodStart: at, PeriodEnd: billing.PeriodStart(at, "monthly", 1), Total: sum("12.10")},
				{Text: "Setup fee", Total: sum("12.10")},
			},
			Total: sum("24.20"), Subtotal: sum("20.00"), Tax: sum("4.20"), TaxRate: sum("21"), Currency: "EUR", At: at,
		})
	s.do(t, billing.Credit{Invoice: order, Order: order, Refund: "re_1", Amount: sum("12.10"), At: at}) // its invoice has a number by then
	if err := s.owner.QueryRow(t.Context(), `select id from credit_notes where order_id = $1`, order).Scan(&creditNote); err != nil {
		t.Fatal(err)
	}
	return order, creditNote
}

// billedForExamples has tenant 1 billed.
func (s *shop) billedForExamples(t testing.TB) *shop {
	t.Helper()
	invoice, note := s.billed(t, 1)
	s.known["invoice"], s.known["credit_note"] = invoice.String(), note.String()
	return s
}

// Users see in the browser what their tenant was billed, with the seller, in their own
// language, and nothing of another tenant's.
func TestATenantSeesItsInvoicesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	none := s.visiting(t, ben)
	has(t, none.get(web.InvoicesPath).Body.String(), "There is no invoice yet.")
	own, _ := s.billed(t, 1)
	other, _ := s.billed(t, 2)
	page := web.InvoicesPath + own.String() + "/"
	for language, texts := range map[string][2][]string{
		"en": {{"Invoices", "INV-2026-000001", "€24.20", "31 Jan 2026", `<a href="` + page + `">`, `<span class="count">1</span>`}, {
			"Invoice INV-2026-000001", "Start (monthly)", "31 Jan 2026 – 28 Feb 2026", "Setup fee", "€20.00", "Tax (21 %)", "€4.20", "Given back", "CN-2026-000001", "€12.10",
			"Hoster SL", "Calle Mayor 1, 28013 Madrid, ES", "ESB12345678", "Ana Ruiz", "paid",
		}},
		"es": {{"Facturas", "24,20", "31 ene 2026", "pagada"}, {"Factura INV-2026-000001", "Impuestos (21 %)", "Vendedor", "Devuelto"}},
	} {
		s.do(t, speaks(ben, language))
		b := s.visiting(t, ben)
		for i, path := range []string{web.InvoicesPath, page} {
			text := b.get(path).Body.String()
			has(t, text, texts[i]...)
			b.isForEverybody(t, language, text)
		}
		if w := b.get(web.InvoicesPath + other.String() + "/"); w.Code != http.StatusNotFound {
			t.Errorf("another tenant's invoice: %d %s", w.Code, w.Body)
		}
	}
	goes(t, s.visiting(t, eve).get(web.InvoicesPath), web.TenantsPath)
	goes(t, s.browser(t).get(page), "/login/?next="+url.QueryEscape(page))
}

// A user reads what the active tenant is billed, and a superuser what all are.
func TestATenantReadsItsInvoicesAlone(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	own, _ := s.billed(t, 1)
	other, _ := s.billed(t, 2)
	for _, list := range []string{"subscriptions/", "invoices/", "credit-notes/"} {
		for user, count := range map[string]int64{"ben": 1, "eve": 0, "root": 2} {
			var page struct{ Count int64 }
			decode(t, s.call(http.MethodGet, "/billing/api/v1/"+list, "", bearer(s.known[user])...), http.StatusOK, &page)
			if page.Count != count {
				t.Errorf("%s sees %d of %s instead of %d", user, page.Count, list, count)
			}
		}
	}
	for path, status := range map[string]int{
		"invoices/" + own.String(): http.StatusOK, "invoices/" + other.String(): http.StatusNotFound,
		"subscriptions/" + own.String(): http.StatusOK, "subscriptions/" + other.String(): http.StatusNotFound,
	} {
		if w := s.call(http.MethodGet, "/billing/api/v1/"+path+"/", "", bearer(s.known["ben"])...); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
