//go:build system

package billing_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/sagas/sagastest"
)

// Many bookings, marks, payouts and reversals at once, in any order and repeated.
func TestNoMoneyIsLostHoweverMuchHappensAtOnce(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("seed %d", seed)
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	a, invoice := w.Account(id), w.Subscription(id).Open
	chance := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // of a test
	acts := make([]func() error, 100)
	for n := range acts {
		amount := decimal.New(1+chance.Int64N(400), -2)
		reference := fmt.Sprint("ST-", n/2)
		payment := w.Transfer(id, amount.String(), reference)
		switch n % 10 {
		case 8:
			acts[n] = func() error {
				return w.Billing.PayCreditOut(
					t.Context(), sagastest.Cause(),
					billing.PayOut{CreditAccount: a, Amount: amount, Reference: reference, Reason: "asked for"},
				)
			}
		case 9:
			acts[n] = func() error {
				booked, err := w.Billing.Book(t.Context(), sagastest.Cause(), payment)
				if err != nil {
					return err
				}
				return w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), a, booked, "wrong")
			}
		case 5:
			acts[n] = func() error { return w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "cash", reference) }
		default:
			acts[n] = func() error { _, err := w.Billing.Book(t.Context(), sagastest.Cause(), payment); return err }
		}
	}
	var all sync.WaitGroup
	for _, n := range chance.Perm(len(acts)) {
		all.Go(func() {
			if err := acts[n](); err != nil && domain.CodeOf(err) != domain.Conflict {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	all.Wait()
	addsUp(w, a)
	w.Equal("renewals", w.Subscription(id).Period, 1)
	w.Equal("payments of the invoice", w.Often(billing.Pay{ID: invoice}.Stream(), "billing.invoice_paid"), 1)
}
