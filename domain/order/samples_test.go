package order_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/compute"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/order"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id   = uuid.MustParse("6f1c0d6e-0000-4000-8000-000000000001")
	ana  = uuid.MustParse("0a7a0d6e-0000-4000-8000-00000000000a")

	// method is a payment method as most are.
	method = order.Method{Name: "test", Test: true, Currencies: map[string]int32{"EUR": 2}}

	place = order.Place{
		ID: id, Suffix: "7F3K9Q", Subject: ana,
		Customer: order.Customer{Name: "Ana Ruiz", Email: "ana@example.com", Phone: "+34 600 000 000", Company: "Ruiz SL"},
		Plan: order.Plan{
			ID: 7, Name: "Básico", Slug: "basico", ResourceType: "hosting",
			Quotas: map[string]int64{"quota_sites": 5, "quota_storage_gb": 10},
		},
		Period: order.Yearly, Price: decimal.RequireFromString("2.99"), SetupFee: decimal.Zero,
		TaxRate: decimal.RequireFromString("21"), Currency: "EUR", Method: method,
		Domain: "example.com", Language: "es", Widget: "abcdefghij012345", APIKey: "ab12CD34", Owner: 1, At: noon,
	}

	placed = order.Placed{
		Order: id, Number: "ORD-20261121-7F3K9Q", SubjectID: ana,
		Name: "Ana Ruiz", Email: "ana@example.com", Phone: "+34 600 000 000", Company: "Ruiz SL",
		Plan: place.Plan, BillingPeriod: "yearly",
		Price: decimal.RequireFromString("2.99"), PeriodPrice: decimal.RequireFromString("28.704"), SetupFee: decimal.Zero,
		TaxRate: decimal.RequireFromString("21"),
		Total:   decimal.RequireFromString("28.70"), Subtotal: decimal.RequireFromString("23.72"), Tax: decimal.RequireFromString("4.98"),
		Currency: "EUR", Provider: "test", Minor: 2870, Decimals: 2, Test: true,
		Domain: "example.com", Language: "es", Widget: "abcdefghij012345", APIKey: "ab12CD34", Owner: 1, At: noon,
	}
	opened = order.PaymentSessionOpened{
		Session: "cs_1", URL: "https://pay.example/cs_1", ExpiresAt: noon.Add(24 * time.Hour), At: noon,
	}
	seen      = order.Seen{Session: "cs_1", ID: "pay_1", State: order.StatePaid, Minor: 2870, Currency: "eur", At: noon.Add(time.Minute)}
	confirmed = order.PaymentConfirmed{Payment: seen, At: later}
	started   = order.ProvisioningStarted{At: later}
	parked    = order.ProvisioningParked{Step: "tenant.engine", Code: "name_taken", At: later}
	expired   = order.Cancelled{Reason: order.Expired, At: later}

	later = noon.Add(time.Hour)

	// placement is the place of a machine.
	placement = compute.Placement{
		Node: "alpha", Why: "the only one with room: 50 % stay free", Template: "debian-12.qcow2",
		Size: compute.Size{Cores: 2, MemoryMB: 2048, DiskGB: 40}, Bridge: "br0", VLAN: 7,
		Addresses: []compute.Address{{
			Pool: "blue", Block: netip.MustParsePrefix("192.0.2.7/32"), Address: netip.MustParsePrefix("192.0.2.7/24"),
		}},
		Gateways: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
	}

	// details are those of a customer who wants an invoice with an address.
	details = buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
)

func given(t *testing.T, history ...order.Event) *domaintest.Story[order.Order, order.Command, order.Event] {
	return domaintest.Given(t, order.Decider, history)
}

// truth is what the provider holds for true about the session of [opened].
func truth(state order.SessionState, payments ...order.Payment) order.Observe {
	return order.Observe{
		ID: id, At: later, PlanStillOffered: true, NamesFree: true,
		Fetched: order.Fetched{Provider: "test", Session: "cs_1", Order: id, State: state, Payments: payments},
	}
}

func payment(id string, state order.PaymentState) order.Payment {
	return order.Payment{ID: id, State: state, Minor: 2870, Currency: "eur", At: noon.Add(time.Minute)}
}

func of(p order.Payment) order.Seen {
	return order.Seen{Session: "cs_1", ID: p.ID, State: p.State, Minor: p.Minor, Currency: p.Currency, Payee: p.Payee, At: p.At}
}

func events(list ...order.Event) []order.Event { return list }

// Every event, as it is written to the log.
func TestEventsAreReadForever(t *testing.T) {
	packageID := int64(3)
	vps, saas := placed, placed
	vps.Plan = order.Plan{
		ID: 8, Name: "VPS 1", Slug: "vps-1", ResourceType: "vps",
		VPS: &order.VPS{Cores: 2, MemoryMB: 2048, DiskGB: 40, TrafficTB: 2, DefaultOS: "debian-12"},
	}
	saas.Plan = order.Plan{
		ID: 9, Name: "SaaS", Slug: "saas", ResourceType: "saas", Package: &packageID,
		SaaS: &order.SaaS{MaxVMs: 1, MaxHostingAccounts: 2, MaxAgents: 3, WhiteLabel: true},
	}

	domaintest.Golden(t, order.EventTypes,
		placed, opened, order.PaymentSessionFailed{Code: "timeout", At: noon},
		order.PaymentApproved{
			Payment: order.Seen{Session: "cs_1", ID: "o_1", State: order.StateCreated, Minor: 2870, Currency: "EUR", Payee: "M1"},
			At:      later,
		},
		order.AwaitingSettlement{Payment: of(payment("pay_1", order.StatePending)), At: later},
		confirmed, order.PaymentDeclined{Payment: of(payment("pay_1", order.StateDeclined)), At: later},
		order.PaymentMismatchFound{Payment: seen, Differs: []string{"amount"}, At: later},
		order.LatePaymentFound{Payment: seen, Refund: []string{"reason"}, At: later},
		order.Reopened{Payment: "pay_1", At: later},
		order.DuplicatePaymentFound{Payment: seen, At: later},
		order.Cancelled{Reason: order.ByAdmin, Note: "asked for by mail", At: later},
		started, parked,
		order.ProvisioningResumed{Step: "tenant.engine", How: order.Skip, Reason: "made by hand", Proof: "14", At: later},
		order.Activated{At: later}, order.WelcomeMailDelayed{At: later},
		order.WelcomeMailSent{At: later}, order.WelcomeMailGivenUp{At: later},
		order.WelcomeMailRequested{Reason: "lost", At: later},
		order.PaymentAccepted{Payment: "pay_1", Reason: "rounded by the bank", Holds: []order.Hold{}, At: later},
		order.PaymentHeld{Service: id, Why: "refunded", Holds: []order.Hold{order.OperatorHold}, At: later},
		requested, order.RefundStarted{Refund: gone(order.RefundPending, 1000), At: later},
		order.PartiallyRefunded{Refund: gone(order.RefundSucceeded, 1000), Returned: 1000, Holds: []order.Hold{}, At: later},
		order.RefundCompleted{
			Refund: gone(order.RefundSucceeded, 2870), Returned: 2870, Before: order.StatusActive,
			Holds: []order.Hold{}, At: later,
		},
		order.RefundFailed{
			N: 1, ID: "re_1", Payment: "pay_1", Returned: 1000, Code: "returned",
			Holds: []order.Hold{order.RefundHold}, At: later,
		},
		order.DisputeReported{At: later}, order.DisputeOpened{Dispute: disputed(order.DisputeOpen), Note: "seen at PayPal", At: later},
		order.DisputeClosed{
			Dispute: disputed(order.DisputeLost), Returned: 2870, Chargeback: true, Before: order.StatusActive,
			Note: "told by mail", Holds: []order.Hold{}, At: later,
		},
		order.CancelRequested{By: order.ByAdmin, Reason: "asked for by mail", At: later}, order.CompensationStarted{At: later},
		order.CompensationParked{Step: "tenant.engine", Code: "not_empty", Holds: []order.Hold{order.OperatorHold}, At: later},
		order.CompensationCompleted{Holds: []order.Hold{}, At: later},
		order.ProviderEventIgnored{News: "session_expired", Session: "cs_1", Status: order.StatusPaid, At: later},
		order.PaymentMethodKept{
			SubjectID: ana, Customer: "cus_1", Token: "pm_1", Kind: "card", Brand: "visa", Last4: "4242",
			Expires: "2029-03", At: later,
		},
		order.PlaceResized{Size: compute.Size{Cores: 4, MemoryMB: 8192, DiskGB: 80}, At: later},
		order.TenantChosen{Tenant: 7, User: 3, At: later},
		order.WebhookMatched{
			Webhook: 7, Provider: "test", News: "evt_1", Type: "checkout.session.completed", Session: "cs_1",
			Payment: "pay_1", Reason: "paid by telephone", At: later,
		},
	)
	returning, billed := placed, placed
	returning.SuccessURL, returning.CancelURL = "https://shop.example/thanks", "https://shop.example/cart"
	billed.Details = details
	onNode := vps
	onNode.Hostname, onNode.SSHKey, onNode.Placement = "web.example.com", "ssh-ed25519 AAAA", &placement
	again := order.Reopened{Payment: "pay_1", Placement: &placement, At: later}
	for _, e := range events(vps, saas, returning, billed, onNode, again) {
		if got := reread(t, e); !equal(got, e) {
			t.Errorf("%+v reads as %+v", e, got)
		}
	}
}

// C-6: what tells of the customer is sealed, and nothing else is.
func TestTheCustomersDataIsPersonal(t *testing.T) {
	personal := domain.NewCatalogue(order.EventTypes).Personal("order.placed")
	for _, name := range append(
		[]string{"customer_name", "customer_email", "customer_phone", "customer_company", "success_url", "cancel_url", "ssh_key"},
		buyer.Names...,
	) {
		if personal[name] != domain.Contact {
			t.Errorf("%s is not sealed", name)
		}
	}
	if len(personal) != 12 {
		t.Errorf("sealed: %v", personal)
	}
}
