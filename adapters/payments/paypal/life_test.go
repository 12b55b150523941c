package paypal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var (
	_ order.Provider = (*paypal.Provider)(nil)
	_ order.Capturer = (*paypal.Provider)(nil)
)

// P-3, P-8.
func TestACustomerAgreesAndIsThenCharged(t *testing.T) {
	w := opened(t)
	if f := w.fetch(); f.State != order.SessionOpen || len(f.Payments) != 0 || !f.ByCapture || f.Live ||
		f.Provider != "paypal" || f.Order != w.checkout.Order {
		t.Errorf("before anything: %+v", f)
	}
	w.there.Approve(w.session)
	f := w.fetch()
	want := order.Payment{State: order.StateCreated, Minor: 2870, Currency: "EUR", Payee: paypaltest.Merchant}
	got := w.payment()
	if got.At.IsZero() || time.Since(got.At) > time.Minute {
		t.Errorf("agreed at %s", got.At)
	}
	if got.At = want.At; f.State != order.SessionApproved || got.ID != want.ID || got.State != want.State ||
		got.Minor != want.Minor || got.Currency != want.Currency || got.Payee != want.Payee {
		t.Errorf("agreed to: %s %+v", f.State, got)
	}
	if w.there.Done("capture", "") != 0 {
		t.Error("looking has captured")
	}
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	f, got = w.fetch(), w.payment()
	if f.State != order.SessionComplete || got.State != order.StatePaid || got.ID == "" || got.Minor != 2870 ||
		got.Payee != paypaltest.Merchant {
		t.Errorf("paid: %s %+v", f.State, got)
	}
	if o, _ := w.there.Order(w.session); o.Number != w.checkout.Number || o.Reference != w.checkout.Order.String()+".by."+panel ||
		o.Amount != (paypaltest.Money{
			Currency: "EUR", Value: "28.70",
		}) {
		t.Errorf("PayPal was told %+v", o)
	}
}

// P-2.
func TestTheSameKeyOpensCapturesAndRefundsOnce(t *testing.T) {
	w := opened(t)
	again, err := w.OpenSession(t.Context(), w.checkout)
	if err != nil || again.ID != w.session {
		t.Errorf("opened again: %+v, %v", again, err)
	}
	w.there.Approve(w.session)
	var refunds []order.Refund
	for range 3 {
		if err := w.capture(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		r, err := w.refund("1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		refunds = append(refunds, r)
	}
	if refunds[0] != refunds[1] || refunds[1] != refunds[2] {
		t.Errorf("refunds differ: %+v", refunds)
	}
	for _, call := range []string{"create", "capture", "refund"} {
		if n := w.there.Done(call, ""); n != 1 {
			t.Errorf("%s was done %d times", call, n)
		}
	}
}

func TestWhatHasBeenCapturedAlreadyIsASuccess(t *testing.T) {
	w := paid(t)
	err := w.Capture(t.Context(), order.CaptureCall{Session: w.session, Key: "order/" + w.checkout.Order.String() + "/capture/g2"})
	if err != nil || w.there.Done("capture", "") != 1 {
		t.Errorf("captured %d times, %v", w.there.Done("capture", ""), err)
	}
}

// P-8: only a capture that is COMPLETED is money.
func TestACaptureMayTakeItsTimeOrComeToNothing(t *testing.T) {
	for _, c := range []struct {
		status, later string
		first, then   order.PaymentState
	}{
		{"PENDING", "COMPLETED", order.StatePending, order.StatePaid},
		{"PENDING", "DECLINED", order.StatePending, order.StateFailed},
		{"DECLINED", "DECLINED", order.StateFailed, order.StateFailed},
	} {
		w := opened(t)
		w.there.CaptureAs(c.status)
		w.there.Approve(w.session)
		if err := w.capture(); err != nil {
			t.Fatal(err)
		}
		if p := w.payment(); p.State != c.first {
			t.Errorf("%s is %s", c.status, p.State)
		}
		w.there.Settle(w.session, c.later)
		if p := w.payment(); p.State != c.then {
			t.Errorf("%s, then %s, is %s", c.status, c.later, p.State)
		}
	}
}

func TestACustomerWhoseCardIsDeclinedMayAgreeAgain(t *testing.T) {
	w := opened(t)
	if class, code := failure(t, w.capture()); class != domain.Transient || code != "order_not_approved" {
		t.Errorf("captured before the customer agreed: %s %s", class, code)
	}
	w.there.CaptureAs("INSTRUMENT_DECLINED")
	w.there.Approve(w.session)
	if class, code := failure(t, w.capture()); class != domain.Transient || code != "instrument_declined" {
		t.Errorf("declined: %s %s", class, code)
	}
	if f := w.fetch(); f.State != order.SessionOpen {
		t.Errorf("the session is %s", f.State)
	}
	w.there.CaptureAs("COMPLETED")
	w.there.Approve(w.session)
	if err := w.capture(); err != nil || w.payment().State != order.StatePaid {
		t.Errorf("agreed again: %v, %+v", err, w.fetch())
	}
}

func TestARefundIsFoundByOurReference(t *testing.T) {
	w := paid(t)
	first, err := w.refund("1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := order.Refund{
		State: order.RefundSucceeded, Minor: 1000, Currency: "EUR",
		Reference: "order/" + w.checkout.Order.String() + "/refund/1",
	}
	if first.ID == "" || first.State != want.State || first.Minor != want.Minor || first.Currency != want.Currency ||
		first.Reference != want.Reference {
		t.Errorf("refunded %+v", first)
	}
	if _, err := w.refund("2", 1870); err != nil {
		t.Fatal(err)
	}
	p := w.payment()
	if p.State != order.StatePaid || len(p.Refunds) != 2 || p.Refunds[0] != first || !strings.HasSuffix(
		p.Refunds[1].Reference, "/refund/2",
	) {
		t.Errorf("what was refunded is %+v", p)
	}
	if class, code := failure(t, second(w.refund("3", 1))); class != domain.Permanent || code != "capture_fully_refunded" {
		t.Errorf("more than all: %s %s", class, code)
	}
	w.there.Change(w.session, func(o *paypaltest.Order) {
		if o.Refunds[0].Number != w.checkout.Number+"-R1" {
			t.Errorf("the customer reads %s", o.Refunds[0].Number)
		}
		o.Refunds[0].Reference, o.Refunds[1].Number = "", "" // PayPal shows it, or does not
	})
	if p := w.payment(); p.Refunds[0].Reference != want.Reference || !strings.HasSuffix(p.Refunds[1].Reference, "/refund/2") {
		t.Errorf("without a reference it is %+v", p.Refunds[0])
	}
}

func second(_ order.Refund, err error) error { return err }

func TestMoneyThatOthersGiveOrTakeBackIsFoundToo(t *testing.T) {
	w := paid(t)
	w.there.GiveBack(w.session, "8.70")
	w.there.Reverse(w.session, "20.00")
	p := w.payment()
	if p.State != order.StatePaid || len(p.Refunds) != 2 {
		t.Fatalf("%+v", p)
	}
	for i, minor := range []int64{870, 2000} {
		if r := p.Refunds[i]; r.Minor != minor || r.Reference != "" || r.State != order.RefundSucceeded || r.ID == "" {
			t.Errorf("refund %d is %+v", i, r)
		}
	}
	w.there.FailRefund(w.session)
	if p := w.payment(); p.Refunds[1].State != order.RefundStopped {
		t.Errorf("a refund that came back is %+v", p.Refunds[1])
	}
}

func TestARefundBelongsToThePaymentThatItNames(t *testing.T) {
	w := paid(t)
	w.there.Change(w.session, func(o *paypaltest.Order) {
		o.Captures = append(o.Captures, paypaltest.Capture{ID: "CAPOTHER", Status: "COMPLETED", Amount: o.Amount, Created: time.Now()})
		o.Refunds = []paypaltest.Refund{{ID: "REF1", Capture: o.Captures[0].ID, Status: "PENDING", Amount: o.Amount, Created: time.Now()}}
	})
	f := w.fetch()
	if len(f.Payments) != 2 || len(f.Payments[0].Refunds) != 1 || len(f.Payments[1].Refunds) != 0 ||
		f.Payments[0].Refunds[0].State != order.RefundPending {
		t.Errorf("%+v", f.Payments)
	}
}

func TestAnOrderThatPayPalGaveUpIsExpired(t *testing.T) {
	w := opened(t)
	w.there.Approve(w.session)
	w.there.ReverseApproval(w.session)
	if f := w.fetch(); f.State != order.SessionExpired || f.Order != w.checkout.Order || len(f.Payments) != 0 {
		t.Errorf("voided: %+v", f)
	}
	w.there.Forget(w.session)
	if f := w.fetch(); f.State != order.SessionExpired || f.Session != w.session || !f.ByCapture {
		t.Errorf("forgotten: %+v", f)
	}
}

// T10: there is nothing to expire at PayPal, and nothing is captured by it.
func TestExpiringASessionTakesNoMoney(t *testing.T) {
	w := opened(t)
	w.there.Approve(w.session)
	calls := w.there.Calls("get") + w.there.Calls("capture")
	if err := w.ExpireSession(t.Context(), w.session); err != nil {
		t.Error(err)
	}
	if w.there.Calls("get")+w.there.Calls("capture") != calls || w.there.Done("capture", "") != 0 {
		t.Error("something was asked")
	}
}

// I-13: what PayPal shows is told as it is; the order compares.
func TestWhatDiffersIsToldAsItIs(t *testing.T) {
	w := paid(t)
	other := uuid.New()
	w.there.Change(w.session, func(o *paypaltest.Order) {
		o.Reference, o.Payee, o.Captures[0].Amount = other.String(), "SOMEBODYELSE", paypaltest.Money{Currency: "USD", Value: "28.71"}
	})
	f, p := w.fetch(), w.payment()
	if f.Order != other || p.Payee != "SOMEBODYELSE" || p.Minor != 2871 || p.Currency != "USD" {
		t.Errorf("%+v", f)
	}
}

// M-6, M-7, M-8.
func TestAmountsHaveThePlacesThatPayPalGivesTheCurrency(t *testing.T) {
	for _, c := range []struct {
		currency string
		minor    int64
		want     string
	}{
		{"EUR", 5, "0.05"},
		{"EUR", 100, "1.00"},
		{"HUF", 123_400, "1234"},
		{"JPY", 500, "500"},
		{"TWD", 700, "7"},
		{"USD", 99_999_999_999, "999999999.99"},
	} {
		w := newWorld(t)
		w.checkout.Minor, w.checkout.Currency = c.minor, c.currency
		s, err := w.OpenSession(t.Context(), w.checkout)
		if err != nil {
			t.Fatal(err)
		}
		w.session = s.ID
		w.there.Approve(s.ID)
		if o, _ := w.there.Order(s.ID); o.Amount.Value != c.want || w.payment().Minor != c.minor {
			t.Errorf("%d of %s is written %s and read %d", c.minor, c.currency, o.Amount.Value, w.payment().Minor)
		}
	}
}

func TestAnAmountThatPayPalCannotChargeIsNeverAskedFor(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		minor    int64
		currency string
	}{{0, "EUR"}, {-1, "EUR"}, {100, "KWD"}, {150, "HUF"}, {100, "ISK"}, {100, "eur"}} {
		w.checkout.Minor, w.checkout.Currency = c.minor, c.currency
		_, err := w.OpenSession(t.Context(), w.checkout)
		if class, code := failure(t, err); class != domain.Permanent || code != "amount" {
			t.Errorf("%d %s: %s %s", c.minor, c.currency, class, code)
		}
	}
	if w.there.Calls("token")+w.there.Calls("create") != 0 {
		t.Error("PayPal was asked")
	}
}

func TestAnAmountThatMakesNoSenseIsNoAnswer(t *testing.T) {
	w := paid(t)
	for _, text := range []string{"28.705", "-1.00", "", "x", "1e400", "99999999999999999999", strings.Repeat("9", 40)} {
		w.there.Change(w.session, func(o *paypaltest.Order) { o.Captures[0].Amount.Value = text })
		_, err := w.Fetch(t.Context(), w.session)
		if class, _ := failure(t, err); class != domain.Transient {
			t.Errorf("%q: %s", text, class)
		}
	}
}

func TestOnlyPayPalOrThisMachineIsAsked(t *testing.T) {
	for _, c := range []struct {
		url, host string
		live      bool
	}{
		{"", "www.paypal.com", true},
		{paypal.Live, "www.paypal.com", true},
		{paypal.Sandbox + "/", "www.sandbox.paypal.com", false},
		{"https://api.sandbox.paypal.com", "www.sandbox.paypal.com", false},
		{"http://127.0.0.1:4000", "127.0.0.1:4000", false},
		{"http://localhost:4000", "localhost:4000", false},
	} {
		p, err := paypal.New(paypal.Config{ClientID: "a", ClientSecret: "b", URL: c.url})
		if err != nil || p.Host() != c.host || p.Live() != c.live {
			t.Errorf("%q: %v", c.url, err)
		}
	}
	for _, url := range []string{
		"http://api-m.paypal.com", "https://api-m.paypal.com.example.com", "https://paypal.example.com",
		"https://api-m.paypal.com:8443", "ftp://127.0.0.1",
		"https://user@api-m.paypal.com", "https://api-m.paypal.com/v2", "127.0.0.1:4000", "http://10.0.0.1",
	} {
		if _, err := paypal.New(paypal.Config{ClientID: "a", ClientSecret: "b", URL: url}); err == nil {
			t.Errorf("%s is taken for PayPal's", url)
		}
	}
	if _, err := paypal.New(paypal.Config{ClientID: "a"}); err == nil {
		t.Error("a secret is not asked for")
	}
}
