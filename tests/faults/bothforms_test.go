//go:build system

package faults_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Each statement that writes for an order fails once before it is executed, and once
// after it was committed. The order becomes active, and nothing is there twice. What tells
// of it comes after: each order waits for that, as it may fail as well.
func TestEveryWriteOfAnOrderMayFailInBothForms(t *testing.T) {
	t.Parallel()
	cutter := eventstoretest.NewCutter(t, sagastest.Database(t), "")
	w := sagastest.WorldOn(t, cutter.URL(), func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond }).Goes()
	n := 0
	orders := func() {
		n++
		endures(w, sagastest.OrderForm{Domain: fmt.Sprintf("forms%d.example.com", n), Email: fmt.Sprintf("forms%d@example.com", n)})
		w.Heard()
	}
	var failed []string
	orders()
	first := cutter.Seen()
	orders()
	seen := cutter.Seen()
	for _, text := range slices.Sorted(maps.Keys(seen)) {
		if !writes.MatchString(text) || seen[text] == first[text] {
			continue
		}
		cutter.CutStatement(text, false)
		cutter.CutStatement(text, true)
		for tries := 0; cutter.Pending() && tries < 3; tries++ {
			orders()
		}
		if cutter.Pending() { // some are executed only when two things meet
			cutter.Withdraw()
			continue
		}
		failed = append(failed, text)
		t.Logf("failed in both forms: %s", told(text))
	}
	for _, always := range []string{
		"insert into events ", "insert into orders ", "insert into webhook_inbox ", "insert into payment_watch ", "insert into saga_run ",
		"insert into effect ", "update effect set state = 'confirmed'", "update saga_run set step", "insert into users ",
		"insert into one_time_tokens ",
		"insert into series ", "update readers set position", "commit",
	} {
		if !slices.ContainsFunc(failed, func(text string) bool { return strings.Contains(text, always) }) {
			t.Errorf("no statement with %q failed in both forms", always)
		}
	}
	w.Eventually("nothing is left to do", func() bool { return w.Count(`select count(*) from saga_run where status <> 'done'`) == 0 })
	w.Equal("invoices", w.Count(`select count(*) from events where name = 'billing.invoice_issued'`), n)
	if verdict, err := w.Store.Reader().Verify(t.Context(), nil); err != nil || !verdict.Intact {
		t.Errorf("the log: %+v, %v", verdict, err)
	}
}

var writes = regexp.MustCompile(`(?is)^commit|^(insert|update|delete)\b|^with\b.*\b(insert into|update|delete from)\b`)

// told is the beginning of a statement.
func told(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), 12)], " ")
}

// endures places and pays an order as a customer does who repeats what fails, and sees it
// become active once.
func endures(w *sagastest.World, o sagastest.OrderForm) uuid.UUID {
	w.T.Helper()
	id := uuid.New()
	insists(w, func() error { return w.TryPut(id, o) })
	insists(w, func() error { _, err := w.Payments.Pages.OpenSession(w.T.Context(), id); return err })
	w.Pay.Pay(id, nil)
	insists(w, func() error { return w.Webhook("evt_"+id.String(), id) })
	w.Becomes(id, order.StatusActive)
	w.Eventually(
		"the customer is welcomed",
		func() bool { return len(w.Mail.To(o.Email)) > 0 && w.Provision(id).Status == sagas.StatusDone },
	)
	w.Settled(id)
	w.OnlyOnce(id)
	if o.Domain != "" {
		w.Equal("sites made", w.Engine.Creations("site/"+o.Domain), 1)
	}
	if mails := len(w.Mail.To(o.Email)); mails > 2 {
		w.T.Errorf("%d mails", mails)
	}
	return id
}

// insists repeats what fails, as a browser's user and a provider do.
func insists(w *sagastest.World, do func() error) {
	w.T.Helper()
	var err error
	for range 5 {
		if err = do(); err == nil {
			return
		}
	}
	w.T.Fatal(err)
}

// Each call to a system outside fails in both forms. The caller gets the same error.
func TestEveryCallOfAnOrderMayFailInBothForms(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	n := 0
	for _, c := range []struct {
		kind       string
		there      *sagastest.Lies
		call, name string
	}{
		{"hosting", &w.Pay.Lies, "open", ""},
		{"hosting", &w.Pay.Lies, "fetch", ""},
		{"hosting", &w.Engine.Lies, "create", "tenant/"},
		{"hosting", &w.Engine.Lies, "create", "site/"},
		{"vps", &w.Compute.Lies, "create", ""},
		{"hosting", &w.Mail.Lies, "send", ""},
		{"saas", &w.Pay.Lies, "refund", ""},
	} {
		for _, done := range []bool{false, true} {
			n++
			o := sagastest.OrderForm{Kind: c.kind, Email: fmt.Sprintf("calls%d@example.com", n)}
			if c.kind == "hosting" {
				o.Domain = fmt.Sprintf("calls%d.example.com", n)
			}
			var failed atomic.Bool
			about := c.name
			if c.call == "send" { // letters of orders before may still be on their way
				about = o.Email
			}
			fails := func(call, name string) error {
				if call == c.call && strings.HasPrefix(name, about) && failed.CompareAndSwap(false, true) {
					return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
				}
				return nil
			}
			if done {
				c.there.Tell(nil, fails)
			} else {
				c.there.Tell(fails, nil)
			}
			id := endures(w, o)
			w.Equal("sessions opened", w.Pay.Openings(id), 1)
			if c.call == "refund" {
				w.Must(w.Back(id, ""))
				w.Becomes(id, order.StatusRefunded)
				w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
				sagastest.Balance(w, id, 0)
			}
			mails := 1
			if c.call == "send" && done {
				mails = 2
			}
			w.Eventually("all mails are sent", func() bool { return len(w.Mail.To(o.Email)) >= mails })
			sent := w.Mail.To(o.Email)
			w.Equal("mails", len(sent), mails)
			w.Equal("their id", sent[mails-1].MessageID, sent[0].MessageID)
			if !failed.Load() {
				t.Errorf("%s, done %t: the call was not made", c.call, done)
			}
			c.there.Tell(nil, nil)
		}
	}
}
