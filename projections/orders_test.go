package projections

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

func TestAnOrderIsShownAsItWasAgreed(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	p.do(t, placed)
	got, err := p.For(Caller{KeyOwner: 7}).Orders().OrderView(t.Context(), placed.ID)
	if err != nil {
		t.Fatal(err)
	}
	got.CreatedAt, got.StatusMessage = noon, "Waiting."
	want := `{"id":"` + placed.ID.String() + `","order_number":"ORD-20261121-000001","status":"pending","status_message":"Waiting.",` +
		`"plan_name":"Basic","price":"28.7040","setup_fee":"0.0000","tax_rate":"21.00","currency":"EUR","billing_period":"yearly",` +
		`"subtotal":"23.72","total":"28.70","payment_method":"test","created_at":"2026-11-21T12:00:00Z"}`
	if text := shown(t, &got); text != want {
		t.Fatalf("\n%s\n%s", text, want)
	}
}

func TestOnlyKeysOfTheSameOwnerShowAnOrder(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	p.do(t, placed)
	for _, c := range []struct {
		caller Caller
		sees   bool
	}{
		{Caller{KeyOwner: 7}, true},
		{Caller{Superuser: true, User: 1}, true},
		{System, true},
		{Caller{KeyOwner: 8}, false},
		{Caller{}, false},
		{Caller{User: 7}, false}, // the owner's own account, not the owner's key
		{Caller{User: 9, Tenant: 7}, false},
	} {
		_, err := p.For(c.caller).Orders().OrderView(t.Context(), placed.ID)
		if c.sees != (err == nil) || !c.sees && err.Error() != "No Order matches the given query." {
			t.Errorf("%+v: %v", c.caller, err)
		}
	}
}

func TestCustomersDataIsForOperatorsOnly(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	p.do(t, placed)
	for _, c := range []Caller{{}, {KeyOwner: 7}, {User: 7, Tenant: 1}} {
		scope := p.For(c)
		if _, err := scope.Orders().Order(t.Context(), placed.ID); domain.CodeOf(err) != domain.NotFound {
			t.Errorf("%+v: %v", c, err)
		}
		if all, err := scope.Orders().Orders(t.Context(), OrderFilter{}); err != nil || len(all) != 0 {
			t.Errorf("%+v lists %v: %v", c, all, err)
		}
		if counts, err := scope.Orders().OrdersByStatus(t.Context()); err != nil || len(counts) != 0 {
			t.Errorf("%+v counts %v: %v", c, counts, err)
		}
	}
	o, err := p.For(System).Orders().OrderByNumber(t.Context(), "ORD-20261121-000001")
	if err != nil || o.CustomerEmail != "ana@example.com" || o.Plan.Quotas["quota_sites"] != 5 || o.Minor != 2870 {
		t.Fatal(o, err)
	}
}

func TestAnOrderFollowsItsPaymentAndItsProvisioning(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	id := p.opened(t, placed)
	paid := order.Payment{ID: "pay_1", State: order.StatePaid}
	for _, step := range []struct {
		command domain.Command
		want    func(Order) bool
	}{
		{p.truth(placed, order.SessionOpen, order.Payment{ID: "pay_0", State: order.StateDeclined}), func(o Order) bool {
			return o.Status == order.StatusPaymentProcessing && o.PaymentID == "pay_0" && o.PaymentStatus == order.StateDeclined
		}},
		{p.truth(placed, order.SessionComplete), func(o Order) bool { return o.Settling }},
		{p.truth(placed, order.SessionComplete, paid), func(o Order) bool {
			return o.Status == order.StatusPaid && o.PaymentID == "pay_1" && !o.Settling && o.SessionID == session(id)
		}},
		{order.StartProvisioning{ID: id, At: noon}, func(o Order) bool { return o.Status == order.StatusProvisioning }},
		{order.Park{ID: id, Step: "site", Code: "name_taken", At: noon}, func(o Order) bool {
			return o.Status == order.StatusFailed && o.FailedStep == "site" && o.FailedCode == "name_taken"
		}},
		{order.Resume{ID: id, Step: "site", How: order.Retry, Reason: "freed", At: noon}, func(o Order) bool {
			return o.Status == order.StatusProvisioning && o.FailedStep == "" && o.FailedCode == ""
		}},
		{order.DelayMail{ID: id, At: noon}, func(o Order) bool { return slices.Equal(o.Warnings, []order.Warning{order.MailWarning}) }},
		{order.Activate{ID: id, At: noon}, func(o Order) bool { return o.Status == order.StatusActive && len(o.Warnings) == 1 }},
		{order.ConfirmMail{ID: id, At: noon}, func(o Order) bool { return len(o.Warnings) == 0 }},
		{p.truth(placed, order.SessionComplete, paid, order.Payment{ID: "pay_2", State: order.StatePaid}), func(o Order) bool {
			return o.Status == order.StatusActive && o.PaymentID == "pay_1" && slices.Equal(o.Holds, []order.Hold{order.DuplicateHold})
		}},
	} {
		p.do(t, step.command)
		o, err := p.For(System).Orders().Order(t.Context(), id)
		if err != nil || !step.want(o) {
			t.Fatalf("after %T: %+v, %v", step.command, o, err)
		}
		history, err := p.Read(t.Context(), order.Stream(id))
		if err != nil || o.Version != len(history) {
			t.Fatalf("after %T the row stands at version %d, the stream at %d", step.command, o.Version, len(history))
		}
	}
}

func TestAWrongAmountHoldsTheOrder(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	id := p.opened(t, placed)
	p.do(t, p.truth(placed, order.SessionComplete, order.Payment{ID: "pay_1", State: order.StatePaid, Minor: 1}))
	held, err := p.For(System).Orders().Orders(t.Context(), OrderFilter{Hold: order.MismatchHold})
	if err != nil || len(held) != 1 || held[0].ID != id || held[0].Status != order.StatusPaymentProcessing || held[0].PaymentID != "pay_1" {
		t.Fatal(held, err)
	}
}

// A payment of another session may be lost in a dispute before the order is
// paid. The money of the payment that the order runs on has not gone back.
func TestWhatWentBackOfAnotherPaymentIsNotTheOrders(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	c := p.place("")
	id := c.ID
	row := func() Order {
		o, err := p.For(System).Orders().Order(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	stray := order.Payment{
		ID: "stray", State: order.StatePaid,
		Disputes: []order.Dispute{{ID: "d", State: order.DisputeLost, Minor: 2870, Currency: "EUR"}},
	}
	p.do(t, c, p.truth(c, order.SessionOpen, stray))
	if row().Refunded == 0 {
		t.Fatal("the stray payment was not lost")
	}
	p.do(t, order.OpenSession{
		ID: id, At: noon, Host: "127.0.0.1",
		Session: order.Session{ID: session(id), URL: "http://127.0.0.1/pay", ExpiresAt: noon.Add(time.Hour)},
	},
		p.truth(c, order.SessionComplete, order.Payment{ID: "paid", State: order.StatePaid}))
	if o := row(); o.PaymentID != "paid" || o.Refunded != 0 {
		t.Errorf("the order runs on %s, of which %d went back", o.PaymentID, o.Refunded)
	}
}

// Refunds and disputes of one payment may add up to more than it had, and a
// refund that comes back may bring another amount than it took. The row follows
// the history in each case.
func TestWhatWentBackOfAPaymentIsWhatItsHistorySays(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	id := p.opened(t, placed)
	refund := func(state order.RefundState, minor int64) []order.Refund {
		return []order.Refund{{ID: "re_1", State: state, Minor: minor, Currency: "EUR"}}
	}
	lost := []order.Dispute{{ID: "dp_1", State: order.DisputeLost, Minor: 2870, Currency: "EUR"}}
	for _, step := range []struct {
		payment order.Payment
		back    int64
	}{
		{order.Payment{ID: "pay_1", State: order.StatePaid, Refunds: refund(order.RefundSucceeded, 1000)}, 1000},
		{order.Payment{ID: "pay_1", State: order.StatePaid, Refunds: refund(order.RefundStopped, 900)}, 0},
		{
			order.Payment{
				ID: "pay_1", State: order.StatePaid,
				Refunds: []order.Refund{{ID: "re_2", State: order.RefundSucceeded, Minor: 1435, Currency: "EUR"}},
			},
			1435,
		},
		{order.Payment{ID: "pay_1", State: order.StatePaid, Disputes: lost}, 2870},
	} {
		p.do(t, p.truth(placed, order.SessionComplete, step.payment))
		if o, err := p.For(System).Orders().Order(t.Context(), id); err != nil || o.Refunded != step.back {
			t.Errorf("after %+v the row says %d (%v)", step.payment, o.Refunded, err)
		}
	}
}

func TestOperatorsListOrdersByStatusNewestFirst(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	var ids []uuid.UUID
	for range 5 {
		c := p.place("")
		p.do(t, c)
		ids = append(ids, c.ID)
	}
	p.do(t, order.Cancel{ID: ids[1], By: order.ByAdmin, At: noon})
	found, err := p.For(Caller{Superuser: true}).Orders().Orders(t.Context(), OrderFilter{Status: order.StatusPending, Limit: 3})
	if err != nil || len(found) != 3 || found[0].ID != ids[4] || found[2].ID != ids[2] {
		t.Fatal(found, err)
	}
	counts, err := p.For(System).Orders().OrdersByStatus(t.Context())
	if err != nil || counts[order.StatusPending] != 4 || counts[order.StatusCancelled] != 1 {
		t.Fatal(counts, err)
	}
}

func TestAnOrderNumberIsDrawnAgainWhenItExists(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	one, other := p.place(""), p.place("")
	other.Suffix = one.Suffix
	p.do(t, one)
	var refusal *domain.Error
	if err := p.try(t, other); !errors.As(err, &refusal) || refusal.Reason != "order_number_taken" {
		t.Fatal(err)
	}
}
