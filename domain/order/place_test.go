package order_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
)

// T1, M-4: everything that was agreed on is frozen.
func TestAnOrderFreezesWhatWasAgreed(t *testing.T) {
	facts, err := order.Decider.Decide(order.Order{}, place)
	if err != nil || len(facts) != 1 || !equal(facts[0], placed) {
		t.Errorf("%+v (%v)\nwant %+v", facts, err, placed)
	}
}

func TestTheSameOrderIsPlacedOnce(t *testing.T) {
	given(t, placed).When(place).Then()
	given(t, placed, opened, confirmed).When(place).Then()
}

// M-6, M-10: a provider that cannot charge the total is no choice.
func TestAnOrderNeedsAProviderThatCanChargeIt(t *testing.T) {
	bank := order.Method{Name: "bank", Currencies: map[string]int32{"EUR": 2, "HUF": 0}, Least: 1}
	for name, change := range map[string]func(*order.Place){
		"nothing at all":           func(c *order.Place) { c.Price = decimal.Zero },
		"parts of a forint":        func(c *order.Place) { c.Currency = "HUF" },
		"a currency not taken":     func(c *order.Place) { c.Currency = "JPY" },
		"more than can be charged": func(c *order.Place) { c.Price = decimal.New(1, 12) },
	} {
		c := place
		c.Method = bank
		change(&c)
		t.Log(name)
		given(t).When(c).ThenRefused(domain.Invalid, `payment_method: "bank" is not a valid choice.`)
	}
	whole := place
	whole.Method, whole.Currency, whole.Period, whole.Price = bank, "HUF", order.Monthly, decimal.New(1000, 0)
	facts, err := order.Decider.Decide(order.Order{}, whole)
	if err != nil || facts[0].(order.Placed).Minor != 100_000 || facts[0].(order.Placed).Decimals != 0 {
		t.Errorf("%+v (%v)", facts, err)
	}
}

// X-1: an order at a provider without real money is never taken for money.
func TestOrdersAtATestProviderAreMarked(t *testing.T) {
	for _, test := range []bool{true, false} {
		c := place
		c.Method.Test = test
		facts, err := order.Decider.Decide(order.Order{}, c)
		if err != nil || facts[0].(order.Placed).Test != test {
			t.Errorf("test %t: %+v (%v)", test, facts, err)
		}
	}
}

func TestAnOrderNumberSaysTheDayInUTC(t *testing.T) {
	evening := time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
	number, err := order.Number(evening, "7F3K9Q")
	if number != "ORD-20251231-7F3K9Q" || err != nil {
		t.Error(number, err)
	}
	for _, wrong := range []string{"", "7F3K9", "7F3K9QQ", "7f3k9q", "7F3KIO", "7F3K9-"} {
		if number, err := order.Number(evening, wrong); err == nil {
			t.Errorf("%q makes %s", wrong, number)
		}
	}
}

func TestASuffixHasOnlyUnambiguousLetters(t *testing.T) {
	all := map[rune]bool{}
	for b := range 256 {
		s := order.Suffix([6]byte{byte(b), byte(b), byte(b), byte(b), byte(b), byte(b)})
		if _, err := order.Number(noon, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		all[rune(s[0])] = true
	}
	if len(all) != 32 {
		t.Errorf("%d letters", len(all))
	}
	for _, r := range "ILOU" {
		if all[r] {
			t.Errorf("%c is one of them", r)
		}
	}
}

func ExampleNumber() {
	number, _ := order.Number(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), "7F3K9Q")
	fmt.Println(number)
	// Output: ORD-20261121-7F3K9Q
}

// T2: the customer is sent nowhere but to the provider's own page.
func TestOnlyAPageOfTheProviderIsAccepted(t *testing.T) {
	for url, accepted := range map[string]bool{
		"https://pay.example/cs_1":          true,
		"http://pay.example/cs_1":           false,
		"https://pay.example.evil.com/cs_1": false,
		"https://pay.example@evil.com/":     false,
		"https://user@pay.example/":         false,
		"https://pay.example:8443/":         false,
		"javascript:alert(1)":               false,
		"/cs_1":                             false,
		"":                                  false,
		"https://pay.example/\x7f":          false,
	} {
		story := given(t, placed).When(order.OpenSession{
			ID: id, Host: "pay.example", At: noon,
			Session: order.Session{ID: "cs_1", URL: url, ExpiresAt: opened.ExpiresAt},
		})
		if accepted {
			story.Then(opened)
		} else {
			story.ThenRefused(domain.Unavailable, "The payment provider is temporarily unavailable.")
		}
	}
}

// T2: on this machine the page may be plain http, as the test provider's is.
func TestAPageOnThisMachineMayBePlain(t *testing.T) {
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"} {
		c := order.OpenSession{
			ID: id, Host: host, At: noon,
			Session: order.Session{ID: "cs_1", URL: "http://" + host + "/cs_1", ExpiresAt: opened.ExpiresAt},
		}
		facts, err := order.Decider.Decide(order.Decider.Replay(placed), c)
		if err != nil || len(facts) != 1 || !strings.Contains(facts[0].(order.PaymentSessionOpened).URL, host) {
			t.Errorf("%s: %v (%v)", host, facts, err)
		}
	}
}

func TestASessionNeedsAnIDAndTime(t *testing.T) {
	for _, s := range []order.Session{
		{URL: opened.URL, ExpiresAt: opened.ExpiresAt},
		{ID: "cs_1", URL: opened.URL, ExpiresAt: noon},
		{ID: "cs_1", URL: opened.URL},
	} {
		given(t, placed).When(order.OpenSession{ID: id, Session: s, Host: "pay.example", At: noon}).
			ThenRefused(domain.Unavailable, "The payment provider is temporarily unavailable.")
	}
}

func TestASessionIsOpenedOnce(t *testing.T) {
	same := order.OpenSession{
		ID: id, Session: order.Session{ID: "cs_1", URL: opened.URL, ExpiresAt: opened.ExpiresAt}, Host: "pay.example",
		At: later,
	}
	given(t, placed, opened).When(same).Then()
	other := same
	other.Session.ID = "cs_2"
	given(t, placed, opened).When(other).
		ThenRefused(domain.Conflict, "The order is payment_processing and cannot be paid in another session.")
	given(t, placed, expired).When(other).
		ThenRefused(domain.Conflict, "The order is cancelled and cannot be paid in another session.")
	given(t).When(other).ThenRefused(domain.NotFound, "No Order matches the given query.")
}

// T3.
func TestAProviderThatIsAwayLeavesTheOrderPending(t *testing.T) {
	failed := order.PaymentSessionFailed{Code: "timeout", At: later}
	given(t, placed).When(order.FailSession{ID: id, Code: "timeout", At: later}).Then(failed)
	given(t, placed, opened).When(order.FailSession{ID: id, Code: "timeout", At: later}).Then()
	if o := order.Decider.Replay(placed, failed); o.Status != order.StatusPending {
		t.Error(o.Status)
	}
}

// T4.
func TestAnOrderThatCouldNotBePaidIsGivenUp(t *testing.T) {
	given(t, placed).When(order.Expire{ID: id, At: later}).Then(order.Cancelled{Reason: order.NoSession, At: later})
	given(t, placed, opened).When(order.Expire{ID: id, At: later}).Then()
	given(t, placed).When(order.Cancel{ID: id, By: order.ByAdmin, Reason: "typo", At: later}).
		Then(order.Cancelled{Reason: order.NoSession, Note: "typo", At: later})
	given(t, placed, expired).When(order.Cancel{ID: id, By: order.ByAdmin, At: later}).
		ThenRefused(domain.Conflict, "The order is cancelled and cannot be cancelled.")
}

// Under reverse charge the order is over the price without the seller's tax, and so is what
// the provider is told. The event says how that came about.
func TestAnOrderUnderReverseChargeIsOverThePriceWithoutTax(t *testing.T) {
	reversed := place
	reversed.TaxRate = decimal.Zero
	reversed.Tax = tax.Treatment{
		TaxKind: tax.ReverseCharge, TaxCountry: "FR", TaxRemoved: decimal.RequireFromString("21"),
		TaxIDAcceptedBy: "system:storefront",
	}
	want := placed
	want.Treatment, want.TaxRate, want.Minor = reversed.Tax, decimal.Zero, 2372
	want.Total, want.Subtotal, want.Tax = decimal.RequireFromString("23.72"), decimal.RequireFromString("23.72"), decimal.Zero
	given(t).When(reversed).Then(want)
}
