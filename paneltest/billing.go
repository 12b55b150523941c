package paneltest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

var (
	// BilledAt is when the invoices of [Shop.Billed] are issued.
	BilledAt = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	// Hoster sells what they bill.
	Hoster = billing.Seller{
		Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28013", Country: "ES", TaxID: "ESB12345678",
		IBAN: "ES9121000418450200051332", BIC: "CAIXESBBXXX",
	}

	ruiz = buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
)

// Billed sells a service to a tenant, with an invoice, and credits a part of it. Ids of the
// subscription and of the invoice are that of the order, which is returned with that of the
// credit note.
func (s *Shop) Billed(t testing.TB, tenant int64) (id, creditNote uuid.UUID) {
	t.Helper()
	id = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(tenant)})
	sum := decimal.RequireFromString
	testMoney, _ := Offers().Configured("test")
	s.Do(t, order.Place{
		ID: id, Suffix: order.Suffix([6]byte{byte(tenant)}), Subject: uuid.New(),
		Customer: order.Customer{Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL"},
		Plan:     order.Plan{ID: 1, Name: "Start", ResourceType: "saas"}, Period: order.Monthly, Price: sum("12.1"),
		SetupFee: sum("12.1"), TaxRate: sum("21"), Currency: "EUR",
		Method: testMoney.Method, Language: "es", At: BilledAt,
	})
	s.Do(t, billing.Subscribe{
		Order: id, Tenant: tenant, User: Ben, Plan: 1, PlanName: "Start", BillingPeriod: "monthly",
		Price: sum("12.1"), Currency: "EUR", At: BilledAt, Terms: billing.UsualTerms,
	},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz SL",
			Buyer: ruiz, Seller: Hoster,
			Lines: []billing.Line{
				{
					Text: "Start (monthly)", PeriodStart: BilledAt, PeriodEnd: billing.PeriodStart(BilledAt, "monthly", 1),
					Total: sum("12.10"),
				},
				{Text: "Setup fee", Total: sum("12.10")},
			},
			Total: sum("24.20"), Subtotal: sum("20.00"), Tax: sum("4.20"), TaxRate: sum("21"), Currency: "EUR", At: BilledAt,
		})
	s.Do(t, billing.Credit{
		Invoice: id, Order: id, Refund: "re_1", Amount: sum("12.10"),
		At: BilledAt,
	}) // its invoice has a number by then
	if err := s.Owner.QueryRow(t.Context(), `select id from credit_notes where order_id = $1`,
		id).Scan(&creditNote); err != nil {
		t.Fatal(err)
	}
	return id, creditNote
}

// Owes bills the next period of the service that a tenant has bought. The invoice is open,
// and test money pays it.
func (s *Shop) Owes(t testing.TB, tenant int64, service uuid.UUID) (invoice uuid.UUID) {
	t.Helper()
	sub, _, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, billing.Advance{Order: service}.Stream())
	if err != nil {
		t.Fatal(err)
	}
	sum, at := decimal.RequireFromString, sub.NextAt
	start, end := sub.NextPeriod()
	invoice = uuid.NewSHA1(service, []byte{byte(sub.Issued)})
	s.Do(t, billing.Advance{Order: service, Invoice: invoice, At: at, Terms: billing.UsualTerms}, billing.Issue{
		ID: invoice, Order: service, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com",
		Company: "Ruiz SL", Buyer: ruiz, Seller: Hoster,
		Lines: []billing.Line{{Text: "Start (monthly)", PeriodStart: start, PeriodEnd: end, Total: sum("12.10")}},
		Total: sum("12.10"), Subtotal: sum("10.00"), Tax: sum("2.10"), TaxRate: sum("21"), Currency: "EUR", At: at,
		DueAt: sub.NextDue(at, billing.UsualTerms), Test: true,
	})
	return invoice
}

// Running sells a hosting service to a tenant whose period has just begun, with an invoice.
func (s *Shop) Running(t testing.TB, tenant int64) uuid.UUID {
	t.Helper()
	id, sum, at := uuid.New(), decimal.RequireFromString, time.Now()
	testMoney, _ := Offers().Configured("test")
	s.Do(t, order.Place{
		ID: id, Suffix: order.Suffix([6]byte{7, byte(tenant)}), Subject: uuid.New(),
		Customer: order.Customer{Name: "Ana Ruiz", Email: "ana@example.com"},
		Plan:     order.Plan{ID: 1, Name: "Start", ResourceType: "hosting"}, Period: order.Monthly, Price: sum("2.99"),
		TaxRate: sum("21"), Currency: "EUR",
		Method: testMoney.Method, Language: "es", At: at,
	})
	s.Do(t, billing.Subscribe{
		Order: id, Tenant: tenant, User: Ben, Plan: 1, PlanName: "Start", BillingPeriod: "monthly",
		Price: sum("2.99"), Currency: "EUR", At: at, Terms: billing.UsualTerms,
	},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com", Buyer: ruiz,
			Seller: Hoster,
			Lines: []billing.Line{{
				Text: "Start (monthly)", PeriodStart: at, PeriodEnd: billing.PeriodStart(at, "monthly", 1),
				Total: sum("2.99"),
			}},
			Total: sum("2.99"), Subtotal: sum("2.47"), Tax: sum("0.52"), TaxRate: sum("21"), Currency: "EUR", Test: true, At: at,
		})
	return id
}

// OffersPlans has a plan that costs more than that of a running service, and one that
// costs less.
func (s *Shop) OffersPlans(t testing.TB) *Shop {
	t.Helper()
	for id, p := range map[int64]*storefront.Plan{
		1: {Name: "Start", Price: Price("2.99")}, 71: {Name: "More", Price: Price("9.99")},
		72: {Name: "Less", Price: Price("1.00")},
	} {
		if _, err := s.Tables.For(projections.System).Orders().Plan(t.Context(), id); err == nil {
			continue // a stock has it
		}
		p.Slug, p.Currency, p.BillingPeriod, p.ResourceType, p.IsActive = strings.ToLower(p.Name), "EUR", "monthly",
			storefront.HostingPlan, true
		s.Offer(t, id, p)
	}
	return s
}

// Credited books 20.00 EUR for a tenant, in the way of a process that dies before it applies
// them.
func (s *Shop) Credited(t testing.TB, tenant int64) (balance, movement string) {
	t.Helper()
	a := billing.CreditAccount{Tenant: tenant, Currency: "EUR"}
	id := projections.CreditBalanceID(a)
	payment := uuid.NewSHA1(id, []byte("Statement 11"))
	s.Do(t, billing.BookPayment{
		CreditAccount: a, ID: payment, Amount: Price("20"), Method: "bank_transfer",
		Reference: "Statement 11", Received: BilledAt, At: BilledAt,
	})
	return id.String(), payment.String()
}

// Subscribed starts a subscription whose period is not over.
func (s *Shop) Subscribed(t testing.TB, tenant int64) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.Do(t, billing.Subscribe{
		Order: id, Tenant: tenant, User: Ben, Plan: 2, PlanName: "Grande", BillingPeriod: "yearly", Price: Price("99"),
		Currency: "EUR", At: time.Now(), Terms: billing.UsualTerms,
	})
	return id
}

// KeepsCard saves a card of a person in a tenant, with the order that was paid by it.
func (s *Shop) KeepsCard(t testing.TB, tenant int64, person, with uuid.UUID) (card uuid.UUID) {
	t.Helper()
	card = uuid.NewSHA1(with, person[:])
	s.Do(t, billing.SaveMethod{ID: card, Tenant: tenant, At: BilledAt, Kept: billing.KeptMethod{
		SubjectID: person, Order: with, Provider: "test", Customer: "cus_1", Token: "pm_" + card.String(), Kind: "card",
		Brand: "visa", Last4: "4242", Expires: "2029-03",
	}})
	return card
}

// BuyerOf is the person who has placed an order.
func (s *Shop) BuyerOf(t testing.TB, id uuid.UUID) uuid.UUID {
	t.Helper()
	o, err := s.Tables.For(projections.System).Orders().Order(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return o.Subject
}

// Documented makes the documents of all that was issued.
func (s *Shop) Documented(t testing.TB) {
	t.Helper()
	if _, err := s.Billing.MakeDocuments(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TaxedBy lets a shop of a seller in Spain tax by a mode.
func (s *Shop) TaxedBy(mode tax.Mode) *Shop {
	s.Orders.Tax = tax.Policy{Mode: mode, Home: "ES", Rates: tax.European()}
	return s
}

// Machined lets a tenant have a virtual server and a snapshot of it, both with this id, of a
// service or, with [uuid.Nil], of none. No hypervisor knows them.
func (s *Shop) Machined(t testing.TB, id, tenant int64, service uuid.UUID) {
	t.Helper()
	vm := hosting.NewMachine(id, service.String())
	vm.Cores, vm.MemoryMB, vm.DiskGB, vm.TrafficTB, vm.OS, vm.MaxSnapshots = 2, 2048, 40, 1, "debian-12", 2
	request := hosting.Request{Ref: hosting.Ref{Kind: "vm", ID: id}, Tenant: tenant, Spec: vm.Fields().Values()}
	if service != uuid.Nil {
		request.For = "order:" + service.String()
	}
	s.Do(t, request)
	kept := &hosting.MachineSnapshot{Machine: id, Name: "first"}
	of := hosting.Ref{Kind: "vm_snapshot", ID: id}
	s.Do(t, hosting.Request{Ref: of, Tenant: tenant, Spec: kept.Fields().Values()},
		hosting.Confirm{Ref: of, External: hosting.SnapshotName(id)}) // in one append, so that no run begins
}
