package operations

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// acts are all of them, in the order of the page.
func (s *orders) acts() []web.Act[*orderDetail] {
	return []web.Act[*orderDetail]{
		{Name: "retry", IsOpen: hasFailed, Inputs: optionalReason[*orderDetail], Do: web.Pressed(s.retryOrder)},
		{Name: "retry_with", IsOpen: takesInput, Inputs: changedInputs, Do: s.retryWith},
		{Name: "skip_step", IsOpen: hasFailed, Inputs: skipInputs, Do: web.Pressed(s.skipStep)},
		{Name: "accept", IsOpen: isHeldFor(order.MismatchHold), Inputs: reasonInput[*orderDetail], Do: web.Pressed(s.acceptPayment)},
		{Name: "dispute", IsOpen: takesDispute, Grave: true, Inputs: disputeInputs, Do: web.Pressed(s.decideDispute)},
		{Name: "recheck", IsOpen: web.Always[*orderDetail], Inputs: optionalReason[*orderDetail], Do: web.Pressed(s.recheckOrder)},
		{Name: "resend_mail", IsOpen: isIn(order.StatusActive), Inputs: optionalReason[*orderDetail], Do: web.Pressed(s.resendMail)},
		{Name: "refund", IsOpen: hasPaid, Grave: true, Asks: true, Inputs: refundInputs, Do: web.Pressed(s.refundOrder)},
		{Name: "evidence", IsOpen: web.Always[*orderDetail], Do: s.askForPack},
		{Name: "cancel", IsOpen: isLive, Grave: true, Inputs: reasonInput[*orderDetail], Do: web.Pressed(s.cancelOrder)},
		{
			Name: "end_grace", IsOpen: isIn(order.StatusCancelled, order.StatusRefunded), Grave: true,
			Inputs: reasonInput[*orderDetail], Do: web.Pressed(s.endGrace),
		},
	}
}

// askForPack has an evidence pack of an order made.
func (s *orders) askForPack(ctx context.Context, c route.Call, o *orderDetail, _ url.Values) error {
	return s.packs.QueuePack(ctx, c.Cause(), caller.Of(c).Reader(), uuid.New(), audit.PackOf{Order: o.ID})
}

func hasFailed(o *orderDetail) bool { return o.FailedStep != "" }

// changeable are the inputs that a step may be retried with.
var changeable = map[string]string{"site": "domain", "vm": "os_choice"}

func takesInput(o *orderDetail) bool { return changeable[o.FailedStep] != "" }

// changedInputs ask for what the failed step works with, as it is now.
func changedInputs(o *orderDetail) []web.Input {
	name := changeable[o.FailedStep]
	now := map[string]string{"domain": o.Domain, "os_choice": o.OSChoice}[name]
	return append(
		[]web.Input{{Name: "input", Key: name, Value: now, Autocomplete: "off", Long: 253, Plain: true, Required: true}},
		optionalReason(o)...,
	)
}

// retryWith lets an order go on with changed input.
func (s *orders) retryWith(ctx context.Context, c route.Call, o *orderDetail, sent url.Values) error {
	if err := web.Needed(sent, "input"); err != nil {
		return err
	}
	r := retry{changed: map[string]string{changeable[o.FailedStep]: strings.TrimSpace(sent.Get("input"))}}
	if err := web.DecodeForm(&r.asking, sent); err != nil {
		return err
	}
	var wrong field.Errors
	if err := s.checkChanged(ctx, c, &r, &wrong); err != nil {
		return err
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	return s.retryOrder(ctx, c, o, &r)
}

func hasPaid(o *orderDetail) bool { return o.PaymentID != "" && o.PaymentStatus == "paid" }

func isLive(o *orderDetail) bool {
	return !isIn(order.StatusCancelled, order.StatusRefunded)(o)
}

func isIn(statuses ...order.Status) func(*orderDetail) bool {
	return func(o *orderDetail) bool { return slices.Contains(statuses, o.Status) }
}

func isHeldFor(hold order.Hold) func(*orderDetail) bool {
	return func(o *orderDetail) bool { return slices.Contains(o.Holds, hold) }
}

func skipInputs(o *orderDetail) []web.Input {
	return append([]web.Input{
		{Name: "step", Value: o.FailedStep, Type: "hidden"},
		{Name: "external_id", Autocomplete: "off", Long: 200, Plain: true},
	}, reasonInput(o)...)
}

func refundInputs(o *orderDetail) []web.Input {
	return append([]web.Input{{Name: "amount", Autocomplete: "off", Long: 20, Plain: true}}, reasonInput(o)...)
}

// orderDesk is the page of an order with its forms.
func (s *orders) orderDesk() web.ActPage[*orderDetail] {
	return web.ActPage[*orderDetail]{
		Web: s.web, Acts: s.acts(), Show: s.showOrder,
		Find: func(ctx context.Context, c route.Call) (*orderDetail, error) {
			return s.orderFile(ctx, c, c.UUID("uuid"))
		},
	}
}

func reasonInput[S any](S) []web.Input {
	return []web.Input{{Name: "reason", Required: true, Autocomplete: "off", Long: reasonMost}}
}

func optionalReason[S any](S) []web.Input {
	return []web.Input{{Name: "reason", Autocomplete: "off", Long: reasonMost}}
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
