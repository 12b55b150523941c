package paypal_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// moment bounds a call that gets no answer.
const moment = 400 * time.Millisecond

// F-12, F-21: what went wrong says whether money may have moved, and the same
// call made again moves none a second time.
func TestEveryFailureSaysWhetherSomethingMayHaveHappened(t *testing.T) {
	for _, c := range []struct {
		call, fault, code string
		class             domain.Class
	}{
		{"capture", paypaltest.FailBefore, "no_answer", domain.Unknown},
		{"capture", paypaltest.FailAfter, "no_answer", domain.Unknown},
		{"capture", paypaltest.HangBefore, "no_answer", domain.Unknown},
		{"capture", paypaltest.HangAfter, "no_answer", domain.Unknown},
		{"capture", paypaltest.ResetBefore, "no_answer", domain.Unknown},
		{"capture", paypaltest.ResetAfter, "no_answer", domain.Unknown},
		{"capture", paypaltest.Garbage, "no_answer", domain.Unknown},
		{"capture", paypaltest.Redirect, "no_answer", domain.Unknown},
		{"capture", paypaltest.Busy, "too_many_calls", domain.Transient},
		{"refund", paypaltest.HangAfter, "no_answer", domain.Unknown},
		{"refund", paypaltest.FailAfter, "no_answer", domain.Unknown},
		{"create", paypaltest.ResetAfter, "no_answer", domain.Unknown},
		{"get", paypaltest.FailBefore, "no_answer", domain.Transient},
		{"get", paypaltest.HangBefore, "no_answer", domain.Transient},
		{"get", paypaltest.Garbage, "no_answer", domain.Transient},
		{"get", paypaltest.Busy, "too_many_calls", domain.Transient},
		{"token", paypaltest.FailBefore, "no_token", domain.Transient},
		{"token", paypaltest.HangBefore, "no_token", domain.Transient},
		{"token", paypaltest.ResetBefore, "no_token", domain.Transient},
		{"token", paypaltest.Garbage, "no_token", domain.Transient},
		{"token", paypaltest.Busy, "no_token", domain.Transient},
		{"token", paypaltest.Redirect, "no_token", domain.Transient},
	} {
		t.Run(c.call+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			w, do := aboutTo(t, c.call)
			w.there.Break(paypaltest.Fault{Call: c.call, What: c.fault, To: w.there.URL + "/elsewhere"})
			before := w.there.Calls(c.call)
			ctx, cancel := context.WithTimeout(t.Context(), patienceOf(c.fault))
			defer cancel()
			err := do(ctx)
			if class, code := failure(t, err); class != c.class || code != c.code {
				t.Errorf("%s %s: %v", class, code, err)
			}
			if f := err.(*domain.Failure); c.fault == paypaltest.Busy && f.RetryAfter != 7*time.Second { //nolint:errorlint // see failure
				t.Errorf("asked to wait for %s", f.RetryAfter)
			}
			if n := w.there.Calls(c.call) - before; n != 1 {
				t.Errorf("%d calls were made of one", n)
			}
			if err := do(t.Context()); err != nil {
				t.Errorf("the same once more: %v", err)
			}
			if n := w.there.Done(c.call, ""); n > 1 {
				t.Errorf("it was done %d times", n)
			}
			silent(t, w, err)
		})
	}
}

func patienceOf(fault string) time.Duration {
	if strings.HasPrefix(fault, "hang") {
		return moment
	}
	return time.Minute
}

// aboutTo is a world in which a call is next, and the call.
func aboutTo(t *testing.T, call string) (*world, func(context.Context) error) {
	t.Helper()
	switch call {
	case "refund":
		w := paid(t)
		payment, reference := w.payment().ID, "order/"+w.checkout.Order.String()+"/refund/1"
		return w, func(ctx context.Context) error {
			_, err := w.Refund(ctx, order.RefundCall{
				Order: w.checkout.Order, Number: w.checkout.Number, Session: w.session, Payment: payment,
				Reference: reference, Key: reference, Minor: 100, Currency: "EUR",
			})
			return err
		}
	case "capture":
		w := opened(t)
		w.there.Approve(w.session)
		return w, func(ctx context.Context) error {
			return w.Capture(ctx, order.CaptureCall{Session: w.session, Key: "order/" + w.checkout.Order.String() + "/capture"})
		}
	case "get":
		w := opened(t)
		return w, func(ctx context.Context) error { _, err := w.Fetch(ctx, w.session); return err }
	}
	w := newWorld(t) // its first call fetches a token
	return w, func(ctx context.Context) error { _, err := w.OpenSession(ctx, w.checkout); return err }
}

// silent fails if a secret or a person's name stands in an error or the log.
func silent(t *testing.T, w *world, errs ...error) {
	t.Helper()
	text := w.log.String()
	for _, err := range errs {
		text += err.Error()
	}
	for _, secret := range []string{"anary", "A21AATOKEN", "Bearer", "Basic", "Somebody Private"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is told:\n%s", secret, text)
		}
	}
}

func TestNoSecretAndNoNameIsInErrorsOrTheLog(t *testing.T) {
	w := paid(t)
	_, err := w.refund("1", 5000)
	if class, code := failure(t, err); class != domain.Permanent || code != "refund_amount_exceeded" ||
		!strings.Contains(err.Error(), "f0e1d2c3b4a59") {
		t.Errorf("%s %s: %v", class, code, err)
	}
	if !strings.Contains(w.log.String(), "REFUND_AMOUNT_EXCEEDED") {
		t.Errorf("the log says %s", w.log)
	}
	silent(t, w, err)
}

// P-2.
func TestTheSecondOfTwoEqualCallsMayFailAndMovesNoMoney(t *testing.T) {
	w, capture := aboutTo(t, "capture")
	w.there.Break(paypaltest.Fault{Call: "capture", What: paypaltest.SlowInside, For: moment})
	var first error
	var both sync.WaitGroup
	both.Go(func() { first = capture(t.Context()) })
	for deadline := time.Now().Add(time.Minute); w.there.Calls("capture") == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the first call has not arrived")
		}
	}
	err := capture(t.Context())
	both.Wait()
	if first != nil || w.there.Done("capture", "") != 1 {
		t.Errorf("captured %d times, %v", w.there.Done("capture", ""), first)
	}
	if err != nil { // unless the machine was so slow that the first was over
		if class, code := failure(t, err); class != domain.Unknown || code != "in_progress" {
			t.Errorf("%s %s", class, code)
		}
	}
}

// P-1.
func TestATokenThatIsRefusedIsReplacedOnce(t *testing.T) {
	w := opened(t)
	w.fetch()
	if n := w.there.Calls("token"); n != 1 {
		t.Errorf("%d tokens for two calls", n)
	}
	w.there.Revoke()
	w.fetch()
	if n := w.there.Calls("token"); n != 2 {
		t.Errorf("%d tokens after one was revoked", n)
	}
	var all sync.WaitGroup
	w.there.Revoke()
	for range 10 {
		all.Go(func() {
			if _, err := w.Fetch(t.Context(), w.session); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.there.Calls("token"); n != 3 {
		t.Errorf("%d tokens for ten calls at once", n)
	}
}

func TestCredentialsThatAreRefusedAreNotTriedOverAndOver(t *testing.T) {
	w := newWorld(t, func(c *paypal.Config) { c.ClientSecret = "not-the-canary" })
	_, err := w.OpenSession(t.Context(), w.checkout)
	if class, code := failure(t, err); class != domain.Permanent || code != "credentials_refused" {
		t.Errorf("%s %s", class, code)
	}
	if n := w.there.Calls("token"); n != 1 {
		t.Errorf("%d tries", n)
	}
	silent(t, w, err)
}

func TestNoRedirectIsFollowed(t *testing.T) {
	var elsewhere atomic.Int64
	decoy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer decoy.Close()
	for _, call := range []string{"token", "create", "get", "capture", "refund"} {
		w, do := aboutTo(t, call)
		w.there.Break(paypaltest.Fault{Call: call, What: paypaltest.Redirect, To: decoy.URL})
		if err := do(t.Context()); err == nil {
			t.Errorf("%s was redirected and worked", call)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d calls went elsewhere", n)
	}
}

func TestWithoutAnAnswerNothingHasHappened(t *testing.T) {
	w := opened(t)
	w.there.Close()
	w.there.Break(paypaltest.Fault{Call: "get"})
	_, err := w.Fetch(t.Context(), w.session)
	if class, _ := failure(t, err); class != domain.Transient {
		t.Errorf("read: %v", err)
	}
	if class, code := failure(t, w.capture()); class != domain.Transient || code != "unreachable" {
		t.Errorf("write: %s %s", class, code)
	}
}

// Ids come from webhooks too, whose bodies may be forged.
func TestAnIDThatIsNoneIsNeverPartOfAnAddress(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"", "..", "../../v1/oauth2/token", "A/capture", "A?x=1", "A%2Fcapture", "A B", strings.Repeat("A", 65)} {
		_, fetched := w.Fetch(t.Context(), id)
		captured := w.Capture(t.Context(), order.CaptureCall{Session: id, Key: "k"})
		_, refunded := w.Refund(t.Context(), order.RefundCall{Payment: id, Key: "k", Minor: 1, Currency: "EUR"})
		for _, err := range []error{fetched, captured, refunded} {
			if class, code := failure(t, err); class != domain.Permanent || code != "no_such_session" {
				t.Errorf("%q: %s %s", id, class, code)
			}
		}
	}
	if n := w.there.Calls("token"); n != 0 {
		t.Errorf("PayPal was asked %d times", n)
	}
}
