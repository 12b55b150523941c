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
	if o.isReported() {
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
		for _, id := range o.sentences(d) {
			card.Lines = append(card.Lines, texts.Say(language, "page."+id, "amount", card.Title))
		}
		all = append(all, card)
	}
	return all
}

var disputeClasses = map[order.DisputeState]string{order.DisputeOpen: "open", order.DisputeWon: "done", order.DisputeLost: "failed"}

// isReported tells whether an operator has to confirm a dispute.
func (o *orderDetail) isReported() bool {
	return o.money.Reported && !slices.ContainsFunc(o.Disputes, isOpenDispute)
}

func isOpenDispute(d disputeEntry) bool { return d.State == order.DisputeOpen }

// sentences are what there is to say of a dispute.
func (o *orderDetail) sentences(d disputeEntry) []string {
	switch {
	case d.State == order.DisputeWon:
		return []string{"dispute_won"}
	case d.State == order.DisputeLost && o.Status == order.StatusRefunded:
		return []string{"dispute_lost", "dispute_lost_all"}
	case d.State == order.DisputeLost:
		return []string{"dispute_lost", "dispute_lost_part"}
	}
	decides := "dispute_by_provider"
	if d.ByOperator() {
		decides = "dispute_say"
	}
	return append([]string{"dispute_open"}, o.serviceNow(), decides, "dispute_if_won", o.ifLost(d))
}

// serviceNow is what an open dispute does to the service.
func (o *orderDetail) serviceNow() string {
	switch {
	case slices.ContainsFunc(o.file.Resources, isOffByOrder):
		return "dispute_service_off"
	case o.Status == order.StatusActive:
		return "dispute_service_on"
	}
	return "dispute_service_none"
}

func isOffByOrder(r projections.Resource) bool { return slices.Contains(r.DisabledBy, hosting.ByOrder) }

// ifLost is what becomes of the order when the bank decides for the customer.
func (o *orderDetail) ifLost(d disputeEntry) string {
	if paid, known := o.money.Payments[d.Payment]; known && d.Minor+o.money.Returned(d.Payment) < paid.Minor {
		return "dispute_if_lost_part"
	}
	return "dispute_if_lost"
}

// takesDispute tells whether only an operator can say how a dispute stands.
func takesDispute(o *orderDetail) bool {
	byOperator := func(d disputeEntry) bool { return isOpenDispute(d) && d.ByOperator() }
	return o.isReported() || slices.ContainsFunc(o.Disputes, byOperator)
}

func disputeInputs(o *orderDetail) []web.Input {
	outcomes := []web.Option{{Value: string(order.DisputeOpen)}, {Value: string(order.DisputeWon)}, {Value: string(order.DisputeLost)}}
	if !o.isReported() {
		outcomes = outcomes[1:]
	}
	return append(
		[]web.Input{{Name: "outcome", Type: "select", Value: outcomes[0].Value, Options: outcomes, Required: true}},
		reasonInput(o)...,
	)
}
