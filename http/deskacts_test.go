package http_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// bought is an order for a site of this name, paid and active.
func (s *shop) bought(t *testing.T, site string) answer {
	t.Helper()
	a := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"domain":"`+site+`",`, 1)))
	s.press(a, "action", "pay")
	s.await(t, a, order.StatusActive)
	return a
}

// accepted is a call that has to be taken: the record, as it is answered.
func (s *shop) accepted(t *testing.T, path, body string, headers ...string) string {
	t.Helper()
	w := s.operate("POST", path, body, headers...)
	if w.Code != http.StatusAccepted {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// notNow fails the test unless the state of the record forbids the call.
func notNow(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"code":"invalid_state"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// stands waits until a run waits for its time at a step, and answers with its
// path.
func (s *shop) stands(t *testing.T, key, step string) string {
	t.Helper()
	s.until(t, key+" waits at "+step, func() bool {
		return s.count(t, `select count(*) from saga_run where key = $1 and status = 'waiting' and steps -> step ->> 'name' = $2`, key, step) == 1
	})
	return "sagas/" + sagas.RunID(key).String() + "/"
}

func TestAnOperatorAcceptsWhatWasPaidOtherwiseAndLooksAfterTheOrder(t *testing.T) { // T11, T23, C-2, M-9
	t.Parallel()
	s := office(t).open(t)
	a := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"domain":"odd.example",`, 1)))
	path := "orders/" + a.ID + "/"
	if w := s.tell("/storefront/webhooks/test/", event("evt_odd", "checkout.session.completed", a, 200, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	s.until(t, "it is held", func() bool {
		return strings.Contains(s.operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), a.ID)
	})
	has(t, s.accepted(t, path+"accept/", `{"reason":"agreed by mail"}`), `"type":"order.payment_accepted","actor":"operator:1"`)
	s.await(t, a, order.StatusActive)
	notNow(t, s.operate("POST", path+"accept/", `{"reason":"once more"}`))

	has(t, s.accepted(t, path+"dispute/", `{"outcome":"open","reason":"a letter of the bank"}`), `"holds":["dispute"]`, `"disputes":[{`, `"status":"open"`)
	has(t, s.accepted(t, path+"dispute/", `{"outcome":"won","reason":"the bank gives in"}`), `"holds":[]`, `"status":"won"`)

	s.accepted(t, path+"resend_mail/", `{"reason":"it was lost"}`)
	s.until(t, "the mail is sent once more", func() bool {
		return s.count(t, `select count(*) from saga_run where key like 'mail:%' and order_id = $1 and status = 'done'`, a.ID) == 1
	})

	s.accepted(t, path+"refund/", `{"amount":"1.00","reason":"it was slow"}`)
	s.until(t, "it is credited", func() bool { return s.events(t, "billing.credit_note_issued") == 1 })
	has(t, s.operate("GET", path, "").Body.String(), `"refunded":"1.00"`, `"credit_notes":[{"number":"TESTCN-`, `"total":"1.00"}]}`)
}

func TestADisputeThatIsLostLeavesARunThatOperatorsMayDirect(t *testing.T) { // T23, V3
	t.Parallel()
	s := office(t).open(t)
	a := s.bought(t, "lost.example")
	path, key := "orders/"+a.ID+"/", "deprovision:"+a.ID
	s.accepted(t, path+"dispute/", `{"outcome":"open","reason":"a letter of the bank"}`)
	notNow(t, s.operate("POST", path+"end_grace/", `{"reason":"too early"}`))
	has(t, s.accepted(t, path+"dispute/", `{"outcome":"lost","reason":"the bank has decided"}`), `"status":"refunded"`, `"status":"lost"`)

	run := s.stands(t, key, "grace")
	has(t, s.accepted(t, run+"pause/", `{"reason":"the customer calls"}`), `"status":"paused"`)
	notNow(t, s.operate("POST", path+"end_grace/", `{"reason":"while it is paused"}`))
	s.accepted(t, run+"resume/", `{"reason":"they have called"}`)
	s.stands(t, key, "grace")
	s.accepted(t, run+"release/", `{"reason":"look again"}`)
	s.stands(t, key, "grace")

	has(t, s.accepted(t, path+"end_grace/", `{"reason":"nothing is needed any more"}`), `"status":"refunded"`)
	s.until(t, "it is removed", func() bool {
		return s.count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
	notNow(t, s.operate("POST", path+"end_grace/", `{"reason":"once more"}`))
	if n := s.count(t, `select count(*) from events where name = 'saga.step_skipped' and actor = 'operator:1'`); n != 1 {
		t.Errorf("%d facts of the operator", n)
	}
}

func TestAParkedRunGoesOnAtTheDesk(t *testing.T) {
	t.Parallel()
	s := office(t).open(t)
	a := s.bought(t, "stuck.example")
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{Call: faults.Change, Kind: "site", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	s.accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"a letter of the bank"}`) // its site has to rest
	var key string
	s.until(t, "the engine has refused", func() bool {
		return s.owner.QueryRow(t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`).Scan(&key) == nil
	})
	run := "sagas/" + sagas.RunID(key).String() + "/"
	notNow(t, s.operate("POST", run+"resume/", `{"reason":"it is parked, not paused"}`))
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.accepted(t, run+"retry/", `{"reason":"the engine is well again"}`)
	s.until(t, "it is done", func() bool {
		return s.count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
}

// What a cancellation brings to light stands for itself: the promise is kept
// with the cancellation, and who has seen an unpaid order cancels no paid one.
func TestACancellationThatFindsMoneyIsCarriedOutOnce(t *testing.T) { // T10, T16
	t.Parallel()
	s := office(t)
	a := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	path, body := "orders/"+a.ID+"/", `{"reason":"asked for by mail"}`
	tag := s.operate("GET", path, "").Header().Get("ETag")
	if err := s.provider.Apply(t.Context(), []byte(event("evt_1", "checkout.session.completed", a, 299, "paid"))); err != nil {
		t.Fatal(err)
	}
	if w := s.operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match", tag); w.Code != http.StatusPreconditionFailed {
		t.Fatal(w.Code, w.Body)
	}
	if n := s.events(t, "order.cancel_requested"); n != 0 {
		t.Fatal("an order that no operator has seen was cancelled")
	}
	tag = s.operate("GET", path, "").Header().Get("ETag")
	first := s.operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match", tag)
	again := s.operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match", tag)
	if first.Code != http.StatusAccepted || again.Code != http.StatusAccepted || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s, then %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if n := s.events(t, "order.cancel_requested"); n != 1 {
		t.Errorf("cancelled %d times", n)
	}

	b := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	if err := s.provider.Apply(t.Context(), []byte(strings.Replace(event("evt_2", "checkout.session.completed", b, 299, "paid"), "pay_1", "pay_2", 1))); err != nil {
		t.Fatal(err)
	}
	path = "orders/" + b.ID + "/"
	s.accepted(t, path+"cancel/", body, "Idempotency-Key", "both-in-one")
	if w := s.operate("POST", path+"cancel/", body, "Idempotency-Key", "both-in-one"); w.Code != http.StatusAccepted || w.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := s.events(t, "order.cancel_requested"); n != 2 {
		t.Errorf("cancelled %d times", n)
	}
}

// findings are what does not fit, by sorts: "order action".
func (s *shop) findings(t *testing.T) map[string][]string {
	t.Helper()
	var sorts map[string]json.RawMessage
	if err := json.Unmarshal(s.operate("GET", "reconciliation/", "").Body.Bytes(), &sorts); err != nil {
		t.Fatal(err)
	}
	delete(sorts, "generated_at")
	found := map[string][]string{}
	for name, list := range sorts {
		var all []struct{ Order, Action string }
		if err := json.Unmarshal(list, &all); err != nil {
			t.Fatal(name, err)
		}
		for _, f := range all {
			found[name] = append(found[name], f.Order+" "+f.Action)
		}
	}
	return found
}

func TestWhateverDoesNotFitIsFoundWithWhatRepairsIt(t *testing.T) { // J-4
	t.Parallel()
	s := office(t).open(t)
	a, b := s.bought(t, "a.example"), s.bought(t, "b.example")
	c := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	s.accepted(t, "orders/"+b.ID+"/cancel/", `{"reason":"ended by agreement"}`)
	s.accepted(t, "orders/"+c.ID+"/cancel/", `{"reason":"asked for by mail"}`)
	s.stands(t, "deprovision:"+b.ID, "grace")
	if got := s.findings(t); len(got) != 0 {
		t.Fatalf("%v does not fit, in the grace of one and with another that is not paid", got)
	}
	if _, err := s.provider.Faults().Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "refund", What: faults.ErrorBefore, Times: 1000}); err != nil {
		t.Fatal(err)
	}
	s.accepted(t, "orders/"+a.ID+"/refund/", `{"amount":"1.00","reason":"unhappy"}`)
	for _, damage := range []struct {
		sql, id          string
		sort, order, act string
	}{
		{``, a.ID, "refunds_open", a.ID, "recheck"},
		{`with run as (update saga_run set status = 'parked' where key = 'refund:' || $1 || '/1')
			update orders set holds = '{refund_failed}' where id = $1::uuid`, a.ID, "refunds_open", a.ID, "refund"},
		{`update orders set payment_status = 'failed' where id = $1::uuid`, a.ID, "provisioned_not_paid", a.ID, "cancel"},
		{`update orders set status = 'provisioning', updated_at = now() - interval '1 hour' where id = $1::uuid`, a.ID, "paid_not_provisioned", a.ID, "release"},
		{`update saga_run set status = 'paused' where key = 'provision:' || $1`, a.ID, "paid_not_provisioned", a.ID, "resume"},
		{`update orders set payment_status = 'paid' where id = $1::uuid`, c.ID, "captured_after_cancel", c.ID, "refund"},
		{`update saga_run set status = 'parked' where key = 'deprovision:' || $1`, b.ID, "refunded_still_live", b.ID, "retry the run"},
		{`update saga_run set status = 'paused' where key = 'deprovision:' || $1`, b.ID, "refunded_still_live", b.ID, "resume"},
	} {
		if damage.sql != "" {
			if _, err := s.owner.Exec(t.Context(), damage.sql, damage.id); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(s.findings(t)[damage.sort], ", "); got != damage.order+" "+damage.act {
			t.Errorf("%s: %q after %q", damage.sort, got, damage.sql)
		}
	}
}
