package assembly_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
)

func TestACancelledServiceEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.revokes(id)
	w.until(id, "billing.period_invoiced", 2)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, withdrawn 12.10, open 12.10")
	w.must(w.Billing.Cancel(t.Context(), caused(), id))
	w.until(id, "billing.subscription_ended", 1)
	w.becomes(id, order.StatusCancelled)
	w.equal("it ended", !w.Now().Before(w.subscription(id).PeriodEnd), true)
}

// The panel looks each hour here. The next invoice comes with the revocation all the same.
func TestARevokedCancellationIsBilledAtOnce(t *testing.T) {
	t.Parallel()
	w := lookingHourly(t)
	id := w.serves(ordering{kind: "saas"})
	w.revokes(id)
	w.eventually("the next one is issued", func() bool {
		return slices.Equal(w.told(id), []string{"paid 12.10", "withdrawn 12.10", "open 12.10"})
	})
}

// revokes cancels a service whose next period was invoiced, and keeps it on.
func (w *renewing) revokes(id uuid.UUID) {
	w.t.Helper()
	w.until(id, "billing.period_invoiced", 1)
	w.must(w.Billing.Cancel(w.t.Context(), caused(), id))
	w.eventually("its invoice is withdrawn", func() bool { return slices.Equal(w.told(id), []string{"paid 12.10", "withdrawn 12.10"}) })
	w.must(w.Billing.KeepOn(w.t.Context(), caused(), id))
}

func lookingHourly(t *testing.T) *renewing {
	t.Helper()
	return renewingOn(newWorld(t, func(o *assembly.Options) { o.Times.BillingLook = time.Hour }))
}

// The clock is advanced while the panel looks which subscriptions are due: it looks again.
func TestAnAdvanceOfTheClockDuringALookIsNotMissed(t *testing.T) {
	t.Parallel()
	w := lookingHourly(t)
	id := w.serves(ordering{kind: "saas"})
	due := w.subscription(id).NextAt.Sub(w.Now())
	w.whileLocked("subscriptions", func() {
		w.must(w.store.Clock().Advance(t.Context(), due/2))
	}, func() { w.must(w.store.Clock().Advance(t.Context(), due/2+time.Minute)) })
	w.eventually("the next invoice is issued", func() bool { return slices.Equal(w.told(id), []string{"paid 12.10", "open 12.10"}) })
}

// What is cancelled at once ends at once, and its unused time is refunded and credited.
func TestUnusedTimeIsRefundedWhenAServiceIsCancelledAtOnce(t *testing.T) {
	t.Parallel()
	w := renewingOn(newWorld(t, func(o *assembly.Options) { o.Policy.RefundUnused = true }))
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	renewal := w.pays(id)
	w.becomes(renewal, order.StatusActive)
	s := w.subscription(id)
	w.must(w.store.Clock().Advance(t.Context(), s.PeriodStart.Add(s.PeriodEnd.Sub(s.PeriodStart)/4).Sub(w.Now())))
	w.must(w.Billing.CancelNow(t.Context(), caused(), id))
	w.becomes(id, order.StatusCancelled)
	history, err := w.store.Read(t.Context(), billing.Advance{Order: id}.Stream())
	w.must(err)
	ended := history[len(history)-1].Event.(billing.SubscriptionEnded)
	unused := decimal.RequireFromString("9.08")
	if ended.Refund.Sub(unused).Abs().GreaterThan(decimal.RequireFromString("0.01")) {
		t.Errorf("Three quarters of the period are worth %s.", ended.Refund)
	}
	w.eventually("the refund is credited on the invoice of the renewal", func() bool {
		return w.invoice(w.invoices(id)[1].ID).Credited.Total.Equal(ended.Refund)
	})
	w.again(id, "billing.subscription_ended")
	w.equal("kept after it happens again", money.Major(w.pay.kept(renewal), "EUR").Add(ended.Refund).StringFixed(2), "12.10")
	w.equal("refunds that were asked for", w.count(`select count(*) from saga_run where key like 'refund:%'`), 1)
	w.equal("kept of the first payment", money.Major(w.pay.kept(id), "EUR").StringFixed(2), "12.10")
	w.equal("a second time", domain.CodeOf(w.Billing.CancelNow(t.Context(), caused(), id)), domain.Conflict)
}

// A cancellation that comes while the next invoice is being written leaves none open.
func TestACancellationOvertakesTheInvoiceOfTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.whileLocked("invoices", func() {
		w.must(w.store.Clock().Advance(t.Context(), w.subscription(id).NextAt.Sub(w.Now())))
	}, func() { w.must(w.Billing.Cancel(t.Context(), caused(), id)) })
	w.until(id, "billing.subscription_ended", 1)
	w.equal("invoices", w.told(id), []string{"paid 12.10"})
}

// whileLocked does something while a process waits for a table that cannot be read. What it
// waits for begins once the table is locked.
func (w *world) whileLocked(table string, begins, meanwhile func()) {
	w.t.Helper()
	held, err := w.owner().Begin(w.t.Context())
	w.must(err)
	defer func() { _ = held.Rollback(context.WithoutCancel(w.t.Context())) }()
	_, err = held.Exec(w.t.Context(), `lock table `+table)
	w.must(err)
	begins()
	w.eventually("a process waits for "+table, func() bool {
		return w.count(`select count(*) from pg_locks where relation = $1::regclass and not granted`, table) > 0
	})
	meanwhile()
}
