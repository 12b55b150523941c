package operations

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Orders as operators see them in a browser (docs/operations.md, "In the browser").
// The pages show what the API answers, in words.

const orderPagePath = web.OrdersPath + "{uuid:uuid}/"

func (s *orders) pageRoutes() []route.Route {
	one := web.ActRoutes(s.orderDesk(), orderPagePath, "order", "Order", "An order with all that came of it", "Do something with an order")
	one[0] = one[0].Taking(
		field.Int("version", new(int64)).Doc("Show the order as it stood after this event; the last one, if there is none such."),
	)
	return append([]route.Route{
		web.ViewList(s.list(), web.OrdersPath, "The orders").As("orders_page"),
		web.View(web.OrdersPath+"preview/", "What a new order would cost and do", s.showPreview).As("order_preview_page"),
	}, one...)
}

// list is the page of all orders.
func (s *orders) list() web.List[projections.Order] {
	return web.List[projections.Order]{
		Web: s.web, Name: "orders", Fields: (*projections.Order).Fields, Cards: orderCards, Read: s.listOrders, Search: "orders_search",
		Wide: true,
		Choices: []web.Choice{
			{Name: "status", Text: "order_", Values: projections.OrderStatuses}, {Name: "hold", Text: "hold_", Values: orderHolds},
		},
		Ways: func(c route.Call) []web.Aspect {
			return []web.Aspect{{Text: web.Texts[web.Readers(c)]["preview_title"], Path: web.OrdersPath + "preview/"}}
		},
	}
}

var orderCards = web.Cards{
	Page: web.OrdersPath, Title: "order_number", Badges: []string{"status", "holds"}, Lines: []string{"plan_name+total"},
	Note: []string{"customer_name+customer_email+created_at"},
}

// A stepRow is a step of the setup on the page of an order.
type stepRow struct {
	Name, Status, StatusText, Error, External, Attempts string
	At                                                  web.Aspect // when it ended, or is tried next
}

// showOrder is the page of an order.
func (s *orders) showOrder(
	ctx context.Context, c route.Call, o *orderDetail, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	mails, err := s.mails.OrderMails(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	then, err := s.stoodThen(ctx, c, w, o)
	if err != nil {
		return nil, err
	}
	packs, err := s.packs.PacksOf(ctx, caller.Of(c).Reader(), o.ID)
	if err != nil {
		return nil, err
	}
	return s.web.Sheet(c, back.StatusOf(), "order", "order_title", map[string]any{
		"Packs": packCards(w, packs),
		"Order": w.Card(orderCards, o.Order.Fields()), "Stream": orderStreamOf(o.ID), "Message": o.status.StatusMessage,
		"Facts": orderFacts(w, o), "Payment": paymentFacts(w, o), "Steps": stepRows(w, o.Steps), "Mails": mailRows(w, mails),
		"History": history(w, o.Timeline), "Entries": web.CardsOf(c, entryList, o.detail.Webhooks),
		"Acts": acts, "Wide": true, "Then": then, "Disputes": o.toldDisputes(web.Readers(c)),
	})
}

// orderFacts are who ordered what.
func orderFacts(w web.Words, o *orderDetail) []web.Aspect {
	return append([]web.Aspect{{Name: w["order_customer"], Text: o.CustomerName + " <" + o.CustomerEmail + ">"}}, w.Values(o.Columns(),
		"plan_name", "billing_period", "total", "created_at", "updated_at", "domain", "customer_company", "customer_address",
		"customer_tax_id",
		"customer_phone", "os_choice")...)
}

// paymentFacts are what came in and what went back.
func paymentFacts(w web.Words, o *orderDetail) []web.Aspect {
	facts := w.Values(o.Columns(), "payment_method", "payment_id", "payment_status")
	for _, r := range o.Refunds {
		facts = append(
			facts,
			web.Aspect{Name: w["order_refund"], Text: w.Money(r.amount, r.Currency) + " · " + wordOf(w, "refund_is_", string(r.State))},
		)
	}
	for _, d := range o.Disputes {
		facts = append(
			facts,
			web.Aspect{Name: w["order_dispute"], Text: w.Money(d.amount, d.Currency) + " · " + wordOf(w, "dispute_is_", string(d.State))},
		)
	}
	if o.file.Invoice != nil {
		facts = append(
			facts,
			web.Aspect{Name: w["order_invoice"], Text: o.file.Invoice.Number, Path: web.InvoicesPath + o.file.Invoice.ID.String() + "/"},
		)
	}
	return facts
}

func stepRows(w web.Words, steps []stepEntry) []stepRow {
	rows := make([]stepRow, len(steps))
	for i, e := range steps {
		rows[i] = stepRow{
			Name: wordOf(w, "part_", e.step), Status: e.status, StatusText: w["step_"+e.status], Error: e.lastError,
			External: e.externalID,
		}
		if e.attempts > 0 {
			rows[i].Attempts = strconv.FormatInt(e.attempts, 10)
		}
		at := e.finishedAt
		if at == nil {
			at = e.nextAt
		}
		rows[i].At = w.Moment("", at, "")
	}
	return rows
}

// history is what has happened, the latest first.
func history(w web.Words, all []operations.Happening) []web.Move {
	rows := make([]web.Move, len(all))
	for i, h := range all {
		rows[len(all)-1-i] = web.Move{
			At: w.Instant(h.At), Text: h.Text, Kind: wordOf(w, "kind_", h.Sort), Actor: h.Actor,
		}
	}
	return rows
}

// A stood is the order as it stood after one of its events, and how that event is proven.
type stood struct {
	Path           string
	Version, Count int
	Ways           []web.Aspect // to other versions
	Event          web.Move
	Fields         []stoodField
	Proof          []web.Aspect
	Seen           []web.Aspect // who has looked at it
}

// A stoodField is a field of an order as it stood.
type stoodField struct {
	web.Aspect
	IsChanged bool // by the event
}

// stoodThen is the order as it stood after the event that is asked for, or the last one.
func (s *orders) stoodThen(ctx context.Context, c route.Call, w web.Words, o *orderDetail) (*stood, error) {
	stream, who := order.Stream(o.ID), caller.Of(c).Reader()
	version, _ := strconv.Atoi(c.Param("version"))
	if version < 1 {
		version = o.Version
	}
	found, err := s.lookback.StreamEvents(ctx, who, stream, version-1, 1)
	if err == nil && len(found.Events) == 0 {
		version = int(found.Count)
		found, err = s.lookback.StreamEvents(ctx, who, stream, version-1, 1)
	}
	if err != nil || len(found.Events) == 0 {
		return nil, err
	}
	e := &found.Events[0]
	then := &stood{
		Path: c.Path, Version: version, Count: int(found.Count), Ways: waysFrom(w, version, int(found.Count)),
		Event: w.Moved(c, e),
	}
	if then.Fields, err = s.fieldsThen(ctx, w, who, stream, version); err != nil {
		return nil, err
	}
	seal, err := s.lookback.Sealed(ctx, e.Position)
	if err != nil {
		return nil, err
	}
	then.Proof = proofFacts(w, e.Position, seal)
	then.Seen, err = s.web.SeenBy(ctx, c, s.lookback, stream)
	return then, err
}

// waysFrom lead from a version to others.
func waysFrom(w web.Words, version, count int) (ways []web.Aspect) {
	way := func(text string, to int) {
		ways = append(ways, web.Aspect{Text: w[text], Path: "?version=" + strconv.Itoa(to) + "#then"})
	}
	if version > 1 {
		way("then_first", 1)
		way("then_back", version-1)
	}
	if version < count {
		way("then_on", version+1)
		way("then_last", count)
	}
	return ways
}

// fieldsThen are the fields of an order after one of its events. Empty ones are left out,
// erased ones say so.
func (s *orders) fieldsThen(
	ctx context.Context, w web.Words, who projections.Caller, stream domain.Stream, version int,
) (all []stoodField, err error) {
	at := audit.Moment{Version: version}
	state, err := s.lookback.State(ctx, who, stream, at)
	if err != nil {
		return nil, err
	}
	told, err := s.lookback.Diff(ctx, who, stream, audit.Moment{}, at)
	for _, f := range told {
		one := web.Aspect{Name: f.Field}
		if one.Text, one.At = valueThen(w, f.To); one.Text != "" {
			all = append(all, stoodField{one, f.Version == version})
		}
	}
	for _, name := range state.Erased {
		all = append(all, stoodField{Aspect: web.Aspect{Name: name, Text: w["then_erased"]}})
	}
	return all, err
}

// valueThen is a value of a record in words, with the moment if it is one.
func valueThen(w web.Words, value json.RawMessage) (text, at string) {
	if json.Unmarshal(value, &text) != nil {
		return cmp.Or(w["is_"+string(value)], string(value)), ""
	}
	if moment, is := field.ParseTime(text); is {
		shown := w.Instant(moment)
		return shown.Text, shown.At
	}
	return text, ""
}

// proofFacts tell how the event at a position is proven.
func proofFacts(w web.Words, position int64, seal audit.Seal) []web.Aspect {
	number := strconv.FormatInt(position, 10)
	facts := []web.Aspect{{Name: w["then_position"], Text: number}}
	if seal.Size == 0 {
		return append(facts, web.Aspect{Name: w["then_seal"], Text: w["then_not_sealed"]})
	}
	witnessed := "then_unwitnessed"
	switch {
	case !seal.HasWitnesses:
		witnessed = "then_no_witnesses"
	case seal.IsWitnessed:
		witnessed = "then_witnessed"
	}
	return append(facts, w.Moment(w["then_seal"], &seal.At, ""),
		web.Aspect{Name: w["then_checkpoint"], Text: strconv.FormatInt(seal.Size, 10)},
		web.Aspect{Name: w["then_witnesses"], Text: w[witnessed]},
		web.Aspect{Name: w["then_proof_of_it"], Text: w["then_fetch"], Path: "/audit/api/v1/events/" + number + "/proof/"})
}

// operationLooks are how the states of operations look.
var operationLooks = map[string]string{"queued": "pending", "running": "provisioning", "succeeded": "active", "failed": "failed"}

func packCards(w web.Words, packs []audit.Pack) (cards []web.Card) {
	for _, p := range packs {
		card := web.Card{
			Title: w["packs_title"], Badges: []web.Badge{{Class: operationLooks[p.Status], Text: w["pack_is_"+p.Status]}},
			Note: []web.Aspect{w.Moment("", &p.AskedAt, "")},
		}
		switch p.Status {
		case string(hosting.OperationDone):
			card.Path, card.Title = audit.PackPath(p.ID), w["pack_fetch"]
			card.Note = append(card.Note, web.Aspect{Text: strconv.FormatInt((p.Size+1023)/1024, 10) + " kB"})
		case string(hosting.OperationBroken):
			card.Badges[0].Text += ": " + p.Code
		}
		cards = append(cards, card)
	}
	return cards
}
