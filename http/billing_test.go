package http_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
	"hostpanel/http/web"
	"hostpanel/projections"
)

var (
	billedAt = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	hoster   = billing.Seller{
		Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28013", Country: "ES", TaxID: "ESB12345678",
		IBAN: "ES9121000418450200051332", BIC: "CAIXESBBXXX",
	}
	ruiz = buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
)

// billed sells a service to a tenant, with an invoice, and credits a part of it. Ids of the
// subscription and of the invoice are that of the order, which is returned with that of the
// credit note.
func (s *shop) billed(t testing.TB, tenant int64) (id, creditNote uuid.UUID) {
	t.Helper()
	id = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(tenant)})
	sum := decimal.RequireFromString
	testMoney, _ := offers().Configured("test")
	s.do(t, order.Place{
		ID: id, Suffix: order.Suffix([6]byte{byte(tenant)}), Subject: uuid.New(), Customer: order.Customer{Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL"},
		Plan: order.Plan{ID: 1, Name: "Start", ResourceType: "saas"}, Period: order.Monthly, Price: sum("12.1"), SetupFee: sum("12.1"), TaxRate: sum("21"), Currency: "EUR",
		Method: testMoney.Method, Language: "es", At: billedAt,
	})
	s.do(t, billing.Subscribe{Order: id, Tenant: tenant, User: ben, Plan: 1, PlanName: "Start", BillingPeriod: "monthly", Price: sum("12.1"), Currency: "EUR", At: billedAt, Terms: billing.UsualTerms},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL", Buyer: ruiz, Seller: hoster,
			Lines: []billing.Line{
				{Text: "Start (monthly)", PeriodStart: billedAt, PeriodEnd: billing.PeriodStart(billedAt, "monthly", 1), Total: sum("12.10")},
				{Text: "Setup fee", Total: sum("12.10")},
			},
			Total: sum("24.20"), Subtotal: sum("20.00"), Tax: sum("4.20"), TaxRate: sum("21"), Currency: "EUR", At: billedAt,
		})
	s.do(t, billing.Credit{Invoice: id, Order: id, Refund: "re_1", Amount: sum("12.10"), At: billedAt}) // its invoice has a number by then
	if err := s.owner.QueryRow(t.Context(), `select id from credit_notes where order_id = $1`, id).Scan(&creditNote); err != nil {
		t.Fatal(err)
	}
	return id, creditNote
}

// owes bills the next period of the service that a tenant has bought. The invoice is open,
// and test money pays it.
func (s *shop) owes(t testing.TB, tenant int64, service uuid.UUID) (invoice uuid.UUID) {
	t.Helper()
	sub, _, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, billing.Advance{Order: service}.Stream())
	if err != nil {
		t.Fatal(err)
	}
	sum, at := decimal.RequireFromString, sub.NextAt
	start, end := sub.NextPeriod()
	invoice = uuid.NewSHA1(service, []byte{byte(sub.Issued)})
	s.do(t, billing.Advance{Order: service, Invoice: invoice, At: at, Terms: billing.UsualTerms}, billing.Issue{
		ID: invoice, Order: service, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL", Buyer: ruiz, Seller: hoster,
		Lines: []billing.Line{{Text: "Start (monthly)", PeriodStart: start, PeriodEnd: end, Total: sum("12.10")}},
		Total: sum("12.10"), Subtotal: sum("10.00"), Tax: sum("2.10"), TaxRate: sum("21"), Currency: "EUR", At: at, DueAt: sub.NextDue(at, billing.UsualTerms), Test: true,
	})
	return invoice
}

// running sells a hosting service to a tenant whose period has just begun, with an invoice.
func (s *shop) running(t testing.TB, tenant int64) uuid.UUID {
	t.Helper()
	id, sum, at := uuid.New(), decimal.RequireFromString, time.Now()
	testMoney, _ := offers().Configured("test")
	s.do(t, order.Place{
		ID: id, Suffix: order.Suffix([6]byte{7, byte(tenant)}), Subject: uuid.New(), Customer: order.Customer{Name: "Ana Ruiz", Email: "ana@example.com"},
		Plan: order.Plan{ID: 1, Name: "Start", ResourceType: "hosting"}, Period: order.Monthly, Price: sum("2.99"), TaxRate: sum("21"), Currency: "EUR",
		Method: testMoney.Method, Language: "es", At: at,
	})
	s.do(t, billing.Subscribe{Order: id, Tenant: tenant, User: ben, Plan: 1, PlanName: "Start", BillingPeriod: "monthly", Price: sum("2.99"), Currency: "EUR", At: at, Terms: billing.UsualTerms},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Buyer: ruiz, Seller: hoster,
			Lines: []billing.Line{{Text: "Start (monthly)", PeriodStart: at, PeriodEnd: billing.PeriodStart(at, "monthly", 1), Total: sum("2.99")}},
			Total: sum("2.99"), Subtotal: sum("2.47"), Tax: sum("0.52"), TaxRate: sum("21"), Currency: "EUR", Test: true, At: at,
		})
	return id
}

// offersPlans has a plan that costs more than that of a running service, and one that
// costs less.
func (s *shop) offersPlans(t testing.TB) *shop {
	t.Helper()
	for id, p := range map[int64]*storefront.Plan{
		1: {Name: "Start", Price: price("2.99")}, 71: {Name: "More", Price: price("9.99")}, 72: {Name: "Less", Price: price("1.00")},
	} {
		if _, err := s.Tables.For(projections.System).Plan(t.Context(), id); err == nil {
			continue // a stock has it
		}
		p.Slug, p.Currency, p.BillingPeriod, p.ResourceType, p.IsActive = strings.ToLower(p.Name), "EUR", "monthly", storefront.HostingPlan, true
		s.offer(t, id, p)
	}
	return s
}

// credited books 20.00 EUR for a tenant, in the way of a process that dies before it applies
// them.
func (s *shop) credited(t testing.TB, tenant int64) (balance, movement string) {
	t.Helper()
	a := billing.CreditAccount{Tenant: tenant, Currency: "EUR"}
	id := projections.CreditBalanceID(a)
	payment := uuid.NewSHA1(id, []byte("Statement 11"))
	s.do(t, billing.BookPayment{CreditAccount: a, ID: payment, Amount: price("20"), Method: "bank_transfer", Reference: "Statement 11", Received: billedAt, At: billedAt})
	return id.String(), payment.String()
}

// billedForExamples has tenants 1 and 2 billed.
func (s *shop) billedForExamples(t testing.TB) *shop {
	t.Helper()
	invoice, note := s.billed(t, 1)
	s.known["invoice"], s.known["credit_note"], s.known["open_invoice"] = invoice.String(), note.String(), s.owes(t, 1, invoice).String()
	s.documented(t)
	s.machined(t, 1, invoice)
	other, _ := s.billed(t, 2)
	s.known["card"] = s.keepsCard(t, 1, s.buyerOf(t, invoice), invoice).String()
	s.known["waived_invoice"], s.known["subscription"] = s.owes(t, 2, other).String(), s.subscribed(t, 2).String()
	s.known["balance"], s.known["movement"] = s.credited(t, 1)
	s.known["changing"] = s.offersPlans(t).running(t, 2).String()
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
			"Invoice INV-2026-000001", "Start (monthly)", "31 Jan 2026 – 27 Feb 2026", "Setup fee", "€20.00", "Tax (21%)", "€4.20", "Given back", "CN-2026-000001", "€12.10",
			"Hoster SL", "Calle Mayor 1, 28013 Madrid, ES", "ESB12345678", "Ana Ruiz", "paid",
		}},
		"es": {{"Facturas", "24,20", "31 ene 2026", "pagada"}, {"Factura INV-2026-000001", "Impuestos (21\u00a0%)", "Vendedor", "Devuelto"}},
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
