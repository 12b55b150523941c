package operations_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// notNow fails the test unless the state of the record forbids the call.
func notNow(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"code":"invalid_state"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnOperatorAcceptsWhatWasPaidOtherwiseAndLooksAfterTheOrder(t *testing.T) { // T11, T23, C-2, M-9
	t.Parallel()
	s := paneltest.Office(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"domain":"odd.example",`, 1)))
	path := "orders/" + a.ID + "/"
	if w := s.Webhook("/storefront/webhooks/test/",
		paneltest.Event("evt_odd", "checkout.session.completed", a, 200, "paid")); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	s.Until(t, "it is held", func() bool {
		return strings.Contains(s.Operate("GET", "orders/?hold=payment_mismatch", "").Body.String(), a.ID)
	})
	paneltest.Has(t, s.Accepted(t, path+"accept/", `{"reason":"agreed by mail"}`),
		`"type":"order.payment_accepted","actor":"operator:1"`)
	s.Await(t, a, order.StatusActive)
	notNow(t, s.Operate("POST", path+"accept/", `{"reason":"once more"}`))

	paneltest.Has(t, s.Accepted(t, path+"dispute/", `{"outcome":"open","reason":"a letter of the bank"}`),
		`"holds":["dispute"]`, `"disputes":[{`, `"status":"open"`)
	paneltest.Has(t, s.Accepted(t, path+"dispute/", `{"outcome":"won","reason":"the bank gives in"}`), `"holds":[]`,
		`"status":"won"`)

	s.Accepted(t, path+"resend_mail/", `{"reason":"it was lost"}`)
	s.Until(t, "the mail is sent once more", func() bool {
		return s.Count(t, `select count(*) from saga_run where key like 'mail:%' and order_id = $1 and status = 'done'`,
			a.ID) == 1
	})

	s.Accepted(t, path+"refund/", `{"amount":"1.00","reason":"it was slow"}`)
	s.Until(t, "it is credited", func() bool { return s.Events(t, "billing.credit_note_issued") == 1 })
	paneltest.Has(t, s.Operate("GET", path, "").Body.String(), `"refunded":"1.00"`, `"credit_notes":[{"number":"TESTCN-`,
		`"total":"1.00"}]}`)
}

// parkedRun has the engine refuse what a dispute asks of a site, so that the run is parked. It
// returns what orders faults of the engine, and the key of the run.
func parkedRun(t *testing.T, s *paneltest.Shop) (broken *faults.Ordered, key string) {
	t.Helper()
	a := s.Bought(t, "stuck.example")
	broken = faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{
		Call: faults.Change, Kind: "site", What: faults.Refuse,
		Times: 100,
	}); err != nil {
		t.Fatal(err)
	}
	s.Accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"a letter of the bank"}`) // its site has to rest
	s.Until(t, "the engine has refused", func() bool {
		return s.Owner.QueryRow(
			t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`,
		).Scan(&key) == nil
	})
	return broken, key
}

func TestAParkedRunGoesOnAtTheDesk(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t).Start(t)
	broken, key := parkedRun(t, s)
	run := "sagas/" + sagas.RunID(key).String() + "/"
	notNow(t, s.Operate("POST", run+"resume/", `{"reason":"it is parked, not paused"}`))
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Accepted(t, run+"retry/", `{"reason":"the engine is well again"}`)
	s.Until(t, "it is done", func() bool {
		return s.Count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
}

// What a cancellation brings to light stands for itself: the promise is kept
// with the cancellation, and who has seen an unpaid order cancels no paid one.
func TestACancellationThatFindsMoneyIsCarriedOutOnce(t *testing.T) { // T10, T16
	t.Parallel()
	s := paneltest.Office(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	path, body := "orders/"+a.ID+"/", `{"reason":"asked for by mail"}`
	tag := s.Operate("GET", path, "").Header().Get("ETag")
	if err := s.Provider.Apply(t.Context(),
		[]byte(paneltest.Event("evt_1", "checkout.session.completed", a, 299, "paid"))); err != nil {
		t.Fatal(err)
	}
	if w := s.Operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match",
		tag); w.Code != http.StatusPreconditionFailed {
		t.Fatal(w.Code, w.Body)
	}
	if n := s.Events(t, "order.cancel_requested"); n != 0 {
		t.Fatal("an order that no operator has seen was cancelled")
	}
	tag = s.Operate("GET", path, "").Header().Get("ETag")
	first := s.Operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match", tag)
	again := s.Operate("POST", path+"cancel/", body, "Idempotency-Key", "once", "If-Match", tag)
	if first.Code != http.StatusAccepted || again.Code != http.StatusAccepted ||
		again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s, then %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if n := s.Events(t, "order.cancel_requested"); n != 1 {
		t.Errorf("cancelled %d times", n)
	}

	b := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	if err := s.Provider.Apply(t.Context(),
		[]byte(strings.Replace(paneltest.Event("evt_2", "checkout.session.completed", b, 299, "paid"), "pay_1", "pay_2",
			1))); err != nil {
		t.Fatal(err)
	}
	path = "orders/" + b.ID + "/"
	s.Accepted(t, path+"cancel/", body, "Idempotency-Key", "both-in-one")
	if w := s.Operate("POST", path+"cancel/", body, "Idempotency-Key", "both-in-one"); w.Code != http.StatusAccepted ||
		w.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := s.Events(t, "order.cancel_requested"); n != 2 {
		t.Errorf("cancelled %d times", n)
	}
}

// findings are what does not fit, by sorts: "order action".
func findings(t *testing.T, s *paneltest.Shop) map[string][]string {
	t.Helper()
	var sorts map[string]json.RawMessage
	if err := json.Unmarshal(s.Operate("GET", "reconciliation/", "").Body.Bytes(), &sorts); err != nil {
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
	s := paneltest.Office(t).Start(t)
	a, b := s.Bought(t, "a.example"), s.Bought(t, "b.example")
	c := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	s.Accepted(t, "orders/"+b.ID+"/cancel/", `{"reason":"ended by agreement"}`)
	s.Accepted(t, "orders/"+c.ID+"/cancel/", `{"reason":"asked for by mail"}`)
	s.Stands(t, "deprovision:"+b.ID, "grace")
	if got := findings(t, s); len(got) != 0 {
		t.Fatalf("%v does not fit, in the grace of one and with another that is not paid", got)
	}
	if _, err := s.Provider.Faults().Order(t.Context(),
		faults.Fault{Call: faults.Create, Kind: "refund", What: faults.ErrorBefore, Times: 1000}); err != nil {
		t.Fatal(err)
	}
	s.Accepted(t, "orders/"+a.ID+"/refund/", `{"amount":"1.00","reason":"unhappy"}`)
	for _, damage := range []struct {
		sql, id          string
		sort, order, act string
	}{
		{``, a.ID, "refunds_open", a.ID, "recheck"},
		{`with run as (update saga_run set status = 'parked' where key = 'refund:' || $1 || '/1')
			update orders set holds = '{refund_failed}' where id = $1::uuid`, a.ID, "refunds_open", a.ID, "refund"},
		{`update orders set payment_status = 'failed' where id = $1::uuid`, a.ID, "provisioned_not_paid", a.ID, "cancel"},
		{
			`update orders set status = 'provisioning', updated_at = now() - interval '1 hour' where id = $1::uuid`, a.ID,
			"paid_not_provisioned", a.ID, "release",
		},
		{
			`update saga_run set status = 'paused' where key = 'provision:' || $1`, a.ID, "paid_not_provisioned", a.ID,
			"resume",
		},
		{`update orders set payment_status = 'paid' where id = $1::uuid`, c.ID, "captured_after_cancel", c.ID, "refund"},
		{
			`update saga_run set status = 'parked' where key = 'deprovision:' || $1`, b.ID, "refunded_still_live", b.ID,
			"retry the run",
		},
		{
			`update saga_run set status = 'paused' where key = 'deprovision:' || $1`, b.ID, "refunded_still_live", b.ID,
			"resume",
		},
	} {
		if damage.sql != "" {
			if _, err := s.Owner.Exec(t.Context(), damage.sql, damage.id); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(findings(t, s)[damage.sort], ", "); got != damage.order+" "+damage.act {
			t.Errorf("%s: %q after %q", damage.sort, got, damage.sql)
		}
	}
}
