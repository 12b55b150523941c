package billing_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/domaintest"
)

var (
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	order = uuid.MustParse("6f1c0d6e-0000-4000-8000-000000000001")
	ana   = uuid.MustParse("0a7a0d6e-0000-4000-8000-00000000000a")

	subscribe = billing.Subscribe{
		Order: order, Tenant: 17, User: 12, Plan: 7, PlanName: "Básico", BillingPeriod: "yearly",
		Price: amount("28.704"), Currency: "EUR", At: noon, Terms: billing.UsualTerms,
	}
	started = billing.SubscriptionStarted{
		Order: order, Tenant: 17, User: 12, Plan: 7, PlanName: "Básico", BillingPeriod: "yearly",
		Price: amount("28.704"), Currency: "EUR", PeriodStart: noon, PeriodEnd: noon.AddDate(1, 0, 0), NextAt: noon.AddDate(1, 0, -7),
	}
	ended = billing.SubscriptionEnded{Reason: "undone", At: noon}

	seller = billing.Seller{
		Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28001", Country: "ES",
		TaxID: "ESB12345678", Register: "Madrid, T 1, F 2",
		IBAN: "ES9121000418450200051332", BIC: "CAIXESBB",
	}
	lines = []billing.Line{{Text: "Básico (yearly)", PeriodStart: noon, PeriodEnd: noon.AddDate(1, 0, 0), Total: amount("28.70")}}

	issue = billing.Issue{
		Order: order, Tenant: 17, SubjectID: ana, Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL",
		Seller: seller, Lines: lines,
		Total: amount("28.70"), Subtotal: amount("23.72"), Tax: amount("4.98"), TaxRate: amount("21"), Currency: "EUR", At: noon,
	}
	issued = billing.InvoiceIssued{
		Order: order, Tenant: 17, SubjectID: ana, Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL",
		Seller: seller, Lines: lines,
		Total: amount("28.70"), Subtotal: amount("23.72"), Tax: amount("4.98"), TaxRate: amount("21"), Currency: "EUR",
		Status: "paid", Ledger: "INV-2026", At: noon,
	}
)

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func TestASubscriptionStartsOnce(t *testing.T) {
	domaintest.Given(t, billing.Subscriptions, nil).When(subscribe).Then(started)
	domaintest.Given(t, billing.Subscriptions, []billing.SubscriptionEvent{started}).When(subscribe).Then()
	domaintest.Given(t, billing.Subscriptions, []billing.SubscriptionEvent{started, ended}).When(subscribe).Then()
	if s := billing.Subscriptions.Replay(started); s.TenantID() != 17 || s.Status != billing.Running ||
		!s.PeriodEnd.Equal(started.PeriodEnd) {
		t.Errorf("%+v", s)
	}
}

func TestASubscriptionEndsOnce(t *testing.T) {
	end := billing.End{Order: order, Reason: "undone", At: noon}
	domaintest.Given(t, billing.Subscriptions, []billing.SubscriptionEvent{started}).When(end).Then(ended)
	domaintest.Given(t, billing.Subscriptions, []billing.SubscriptionEvent{started, ended}).When(end).Then()
	domaintest.Given(t, billing.Subscriptions, nil).When(end).Then()
}

// An invoice has the order's totals and is written once.
func TestAnInvoiceIsIssuedOnce(t *testing.T) {
	domaintest.Given(t, billing.Invoices, nil).When(issue).Then(issued)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{issued}).When(issue).Then()
}

// An invoice names the address of its buyer. Events that are older name none.
func TestAnInvoiceNamesTheAddressOfItsBuyer(t *testing.T) {
	addressed, named := issue, issued
	addressed.Buyer = buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
	named.Details = addressed.Buyer
	domaintest.Given(t, billing.Invoices, nil).When(addressed).Then(named)
	written, err := json.Marshal(named)
	if err != nil {
		t.Fatal(err)
	}
	read, err := domain.NewCatalogue(billing.EventTypes).Decode(named.EventName(), 2, written)
	if got, is := read.(billing.InvoiceIssued); err != nil || !is || got.Details != addressed.Buyer {
		t.Errorf("%s reads as %+v, %v", written, read, err)
	}
}

// The log gives the number in the moment of writing.
func TestAnInvoiceIsNumberedInItsSeries(t *testing.T) {
	var numbered domain.Numbered = issued
	invoice := numbered.WithNumber(1).(billing.InvoiceIssued)
	if numbered.Series() != "INV-2026" || invoice.Number() != "INV-2026-000001" || issued.Sequence != 0 {
		t.Error(numbered.Series(), invoice.Number(), issued.Sequence)
	}
	if i := billing.Invoices.Replay(invoice); i.Number != "INV-2026-000001" || i.TenantID() != 17 {
		t.Errorf("%+v", i)
	}
}

func TestASeriesIsOfTheYearInUTCAndOfItsMoney(t *testing.T) {
	newYear := time.Date(2027, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
	if got := billing.SeriesOf(newYear, false); got != "INV-2026" {
		t.Error(got)
	}
	if got := billing.SeriesOf(newYear.Add(time.Hour), true); got != "TEST-2027" {
		t.Error(got)
	}
}

func TestEventsAreReadForever(t *testing.T) {
	domaintest.Golden(t, billing.EventTypes, append([]domain.Event{
		started, ended, issued.WithNumber(1),
		billing.InvoicePaid{By: ana, Method: "stripe", Reference: "pi_1", At: noon},
		note("re_1", "10", "8.26", "1.74").WithNumber(1),
		made,
		billing.FiscalKeysDestroyed{Year: 2026, Keys: 3, At: noon},
	}, append(everyMovement(), everyStep()...)...)...)
	personal := domain.NewCatalogue(billing.EventTypes).Personal("billing.invoice_issued")
	for _, name := range append([]string{"customer_name", "customer_email", "customer_company"}, buyer.Names...) {
		if personal[name] != domain.Fiscal {
			t.Errorf("%s is not sealed until the legal period ends", name)
		}
	}
	if issued.SubjectID != ana {
		t.Error(issued.SubjectID)
	}
}
