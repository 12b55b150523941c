package assembly_test

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
)

// Each statement that writes for an order fails once before it is executed, and once
// after it was committed. The order becomes active, and nothing is there twice. What tells
// of it comes after: each order waits for that, as it may fail as well.
func TestEveryWriteOfAnOrderMayFailInBothForms(t *testing.T) {
	t.Parallel()
	cutter := eventstoretest.NewCutter(t, database(t), "")
	w := worldOn(t, cutter.URL(), func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond }).goes()
	n := 0
	orders := func() {
		n++
		w.endures(ordering{domain: fmt.Sprintf("forms%d.example.com", n), email: fmt.Sprintf("forms%d@example.com", n)})
		w.heard()
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
		"insert into effect ", "update effect set state = 'confirmed'", "update saga_run set step", "insert into users ", "insert into one_time_tokens ",
		"insert into series ", "update readers set position", "commit",
	} {
		if !slices.ContainsFunc(failed, func(text string) bool { return strings.Contains(text, always) }) {
			t.Errorf("no statement with %q failed in both forms", always)
		}
	}
	w.eventually("nothing is left to do", func() bool { return w.count(`select count(*) from saga_run where status <> 'done'`) == 0 })
	w.equal("invoices", w.count(`select count(*) from events where name = 'billing.invoice_issued'`), n)
	if verdict, err := w.store.Verify(t.Context(), nil); err != nil || !verdict.Intact {
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
func (w *world) endures(o ordering) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.insists(func() error { return w.tryPut(id, o) })
	w.insists(func() error { _, err := w.Payments.OpenSession(w.t.Context(), id); return err })
	w.pay.pay(id, nil)
	w.insists(func() error { return w.webhook("evt_"+id.String(), id) })
	w.becomes(id, order.StatusActive)
	w.eventually("the customer is welcomed", func() bool { return len(w.mail.to(o.email)) > 0 && w.provision(id).Status == sagas.StatusDone })
	w.settled(id)
	w.onlyOnce(id)
	if o.domain != "" {
		w.equal("sites made", w.engine.creations("site/"+o.domain), 1)
	}
	if mails := len(w.mail.to(o.email)); mails > 2 {
		w.t.Errorf("%d mails", mails)
	}
	return id
}

// insists repeats what fails, as a browser's user and a provider do.
func (w *world) insists(do func() error) {
	w.t.Helper()
	var err error
	for range 5 {
		if err = do(); err == nil {
			return
		}
	}
	w.t.Fatal(err)
}

// Each call to a system outside fails in both forms. The caller gets the same error.
func TestEveryCallOfAnOrderMayFailInBothForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	n := 0
	for _, c := range []struct {
		kind       string
		there      *lies
		call, name string
	}{
		{"hosting", &w.pay.lies, "open", ""},
		{"hosting", &w.pay.lies, "fetch", ""},
		{"hosting", &w.engine.lies, "create", "tenant/"},
		{"hosting", &w.engine.lies, "create", "site/"},
		{"vps", &w.compute.lies, "create", ""},
		{"hosting", &w.mail.lies, "send", ""},
		{"saas", &w.pay.lies, "refund", ""},
	} {
		for _, done := range []bool{false, true} {
			n++
			o := ordering{kind: c.kind, email: fmt.Sprintf("calls%d@example.com", n)}
			if c.kind == "hosting" {
				o.domain = fmt.Sprintf("calls%d.example.com", n)
			}
			var failed atomic.Bool
			about := c.name
			if c.call == "send" { // letters of orders before may still be on their way
				about = o.email
			}
			fails := func(call, name string) error {
				if call == c.call && strings.HasPrefix(name, about) && failed.CompareAndSwap(false, true) {
					return domain.Fail(domain.Unknown, "timeout", errLie)
				}
				return nil
			}
			if done {
				c.there.tell(nil, fails)
			} else {
				c.there.tell(fails, nil)
			}
			id := w.endures(o)
			w.equal("sessions opened", w.pay.openings(id), 1)
			if c.call == "refund" {
				w.must(w.back(id, ""))
				w.becomes(id, order.StatusRefunded)
				w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
				w.balance(id, 0)
			}
			mails := 1
			if c.call == "send" && done {
				mails = 2
			}
			w.eventually("all mails are sent", func() bool { return len(w.mail.to(o.email)) >= mails })
			sent := w.mail.to(o.email)
			w.equal("mails", len(sent), mails)
			w.equal("their id", sent[mails-1].MessageID, sent[0].MessageID)
			if !failed.Load() {
				t.Errorf("%s, done %t: the call was not made", c.call, done)
			}
			c.there.tell(nil, nil)
		}
	}
}
