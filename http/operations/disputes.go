package operations

import (
	"slices"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/texts"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A dispute is told on the page of its order in words: how it stands, and what happens next
// (docs/orders.md, "Disputes").

// toldDisputes are all disputes of the order, and one that the provider only names.
func (o *orderDetail) toldDisputes(language string) (all []web.Card) {
	w := web.Texts[language]
	if o.money.HasReportedDispute() {
		all = append(
			all,
			web.Card{
				Badges: []web.Badge{{Class: "open", Text: w["dispute_is_reported"]}},
				Lines:  []string{w["dispute_reported"], w["dispute_say"]},
			},
		)
	}
	for _, d := range o.Disputes {
		card := web.Card{
			Title:  w.Money(d.amount, d.Currency),
			Badges: []web.Badge{{Class: disputeClasses[d.State], Text: wordOf(w, "dispute_is_", string(d.State))}},
		}
		if d.At != (time.Time{}) {
			card.Note = []web.Aspect{w.Moment("", &d.At, "")}
		}
		for _, id := range o.money.DisputeMessage(d.SeenDispute, o.isOff()) {
			card.Lines = append(card.Lines, texts.Say(language, "page."+id, "amount", card.Title))
		}
		all = append(all, card)
	}
	return all
}

var disputeClasses = map[order.DisputeState]string{order.DisputeOpen: "open", order.DisputeWon: "done", order.DisputeLost: "failed"}

// isOff tells whether the service of the order is suspended for its sake.
func (o *orderDetail) isOff() bool {
	return slices.ContainsFunc(o.file.Resources, func(r projections.Resource) bool {
		return slices.Contains(r.DisabledBy, hosting.ByOrder)
	})
}

func disputeInputs(o *orderDetail) []web.Input {
	outcomes := []web.Option{{Value: string(order.DisputeOpen)}, {Value: string(order.DisputeWon)}, {Value: string(order.DisputeLost)}}
	if !o.money.HasReportedDispute() {
		outcomes = outcomes[1:]
	}
	return append(
		[]web.Input{{Name: "outcome", Type: "select", Value: outcomes[0].Value, Options: outcomes, Required: true}},
		reasonInput(o)...,
	)
}
