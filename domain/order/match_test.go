package order_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// fetched are the provider's books of a session with a payment.
func fetched(change func(*order.Fetched)) order.Fetched {
	f := order.Fetched{
		Provider: "test", Session: "cs_2", State: order.SessionComplete,
		Payments: []order.Payment{{ID: "pay_2", State: order.StatePaid, Minor: 2870, Currency: "eur", At: later}},
	}
	if change != nil {
		change(&f)
	}
	return f
}

// An operator's word matches a webhook with an order, unless the books speak against it.
func TestAWebhookIsMatchedWithTheOrderThatItCanBeAbout(t *testing.T) {
	match := order.MatchWebhook{
		ID: id, Webhook: 7, News: "evt_1", Type: "checkout.session.completed", Payment: "pay_2", Fetched: fetched(nil),
		Reason: "paid by link", At: later,
	}
	matched := order.WebhookMatched{
		Webhook: 7, Provider: "test", News: "evt_1", Type: "checkout.session.completed", Session: "cs_2",
		Payment: "pay_2", Reason: "paid by link", At: later,
	}
	given(t, placed, opened).When(match).Then(matched)
	given(t, placed, opened, expired).When(match).Then(matched)

	own := match
	own.Fetched = fetched(func(f *order.Fetched) { f.Session, f.Order, f.Payments = "cs_1", id, nil })
	matched.Session = "cs_1"
	given(t, placed, opened).When(own).Then(matched)

	about := match
	about.Payment, about.Fetched = "pay_1", order.Fetched{Provider: "test"}
	matched.Session, matched.Payment = "", "pay_1"
	given(t, placed, opened, confirmed).When(about).Then(matched)
}

func TestAWebhookThatCannotBeAboutAnOrderIsNotMatchedWithIt(t *testing.T) {
	const begin = "order: The webhook cannot be about this order: "
	for why, change := range map[string]func(*order.Fetched){
		"it is of another payment provider.":           func(f *order.Fetched) { f.Provider = "other" },
		"its amount differs.":                          func(f *order.Fetched) { f.Payments[0].Minor-- },
		"its currency differs.":                        func(f *order.Fetched) { f.Payments[0].Currency = "usd" },
		"its session is that of another order.":        func(f *order.Fetched) { f.Order = uuid.New() },
		"one of them is a test and the other is not.":  func(f *order.Fetched) { f.Live = true },
		"it names no payment that could be compared.":  func(f *order.Fetched) { f.Payments = nil },
		"it names no payment that could be compared. ": func(f *order.Fetched) { f.Session, f.Payments = "", nil },
		"its amount differs. ": func(f *order.Fetched) {
			f.Payments = append(f.Payments, order.Payment{ID: "pay_3", State: order.StatePaid, Minor: 1, Currency: "eur"})
		},
	} {
		match := order.MatchWebhook{ID: id, Webhook: 7, Payment: "pay_9", Fetched: fetched(change), Reason: "paid by link", At: later}
		text := begin + why
		if text[len(text)-1] == ' ' {
			text = text[:len(text)-1]
		}
		given(t, placed, opened).When(match).ThenRefused(domain.Invalid, text)
	}
	match := order.MatchWebhook{ID: id, Webhook: 7, Fetched: fetched(nil), At: later}
	given(t, placed, opened).When(match).ThenRefused(domain.Invalid, "reason: This field is required.")
	match.Reason = "paid by link"
	given(t).When(match).ThenRefused(domain.NotFound, "No Order matches the given query.")
}
