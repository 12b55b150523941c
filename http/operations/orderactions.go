package operations

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// What operators do with orders. Each answers with the order's file; what it
// leads to happens afterwards (docs/operations.md).
func (s *orders) orderActions() []route.Route {
	return []route.Route{
		orderAction(s, "retry", "Let a failed order go on at the step where it stopped", s.retryOrder).Checking(route.Check(s.checkRetry)).
			Saying("Input changes what the step works with: domain at site, os_choice at vm."),
		orderAction(s, "skip_step", "Put the failed step behind an order, because it was done by hand", s.skipStep).
			Saying("What was made is looked up first. Local steps cannot be skipped."),
		orderAction(s, "cancel", "Give an order up, take it back, or end its service", s.cancelOrder).
			Saying(
				"One that is not paid is cancelled; what is being set up is taken back and its money returned; what " +
					"runs is suspended at once and removed after the grace, and the money stays.",
			),
		orderAction(s, "accept", "Accept a payment that differs from what was ordered, or whose service has ended", s.acceptPayment),
		orderAction(s, "recheck", "Ask the payment provider once more", s.recheckOrder),
		orderAction(s, "resend_mail", "Mail a new link to the customer", s.resendMail).Saying("The old link is void."),
		orderAction(s, "refund", "Give money back", s.refundOrder).For(s.callers.SuperuserConfirmed()),
		orderAction(s, "end_grace", "Remove what is left of a service that has ended, now", s.endGrace).
			Saying("Without it, it is kept for seven days after its end."),
		orderAction(s, "dispute", "Say how a dispute stands that only an operator can see", s.decideDispute).
			Saying("An open one suspends the service, one that is won brings it back, one that is lost ends it."),
	}
}

// orderAction declares what operators do with an order.
func orderAction[Q any, PQ interface {
	*Q
	field.Record
}](s *orders, verb, summary string, do func(context.Context, route.Call, *orderDetail, PQ) error) route.Route {
	show := func(ctx context.Context, c route.Call) (*orderDetail, error) {
		return record.Shown(c, func() (*orderDetail, error) { return s.orderFile(ctx, c, c.UUID("uuid")) })
	}
	return route.Post(orderPath+verb+"/", summary, func(ctx context.Context, c route.Call, q PQ) (*orderDetail, error) {
		if err := do(ctx, c, c.Subject.(*orderDetail), q); err != nil { //nolint:forcetypeassert // found by findOrderFile
			return nil, err
		}
		return show(ctx, c)
	}).As("operator_order_"+verb).Of("Order").With(http.StatusAccepted).Finding(s.findOrderFile).
		Failing(http.StatusConflict, "The order's state forbids it (invalid_state), or others were faster.").
		Resuming(func(ctx context.Context, c route.Call, _ string) (route.Answer, error) {
			o, err := show(ctx, c)
			if err != nil {
				return nil, err
			}
			return o.Fields(), nil
		})
}

// causeOf is who changes an order, in the version that they have seen.
func causeOf(c route.Call, o *orderDetail) domain.Metadata {
	return c.CauseOf(domain.Versions{order.Stream(o.ID): o.Version})
}

const reasonMost = 500

// An asking needs no reason, but may have one.
type asking struct{ Reason string }

// Fields are the asking.
func (w *asking) Fields() field.Set {
	return field.Set{field.Text("reason", &w.Reason).Max(reasonMost).Is(field.Plain).Default("").Doc("It stands in the log.")}
}

// A verdict is nothing without a reason.
type verdict struct{ Reason string }

// Fields are the verdict.
func (v *verdict) Fields() field.Set { return field.Set{reasonField(&v.Reason)} }

func reasonField(at *string) field.Field {
	return field.Text("reason", at).Required().Max(reasonMost).Is(field.Plain).Doc("It stands in the log.")
}

// A retry may change what the failed step works with.
type retry struct {
	asking
	Input   json.RawMessage
	changed map[string]string
}

// Fields are the retry.
func (r *retry) Fields() field.Set {
	return append(field.Set{
		field.Any("input", &r.Input).Default(map[string]string{}).Doc("Changed input of the step: an object with domain or os_choice."),
	}, r.asking.Fields()...)
}

// checkRetry holds changed input against the rules for orders.
func (s *orders) checkRetry(ctx context.Context, c route.Call, r *retry, wrong *field.Errors) error {
	if !c.Sent.Has("input") || record.IsWrong(*wrong, "input") {
		return nil
	}
	if err := json.Unmarshal(r.Input, &r.changed); err != nil || r.changed == nil {
		wrong.Add("input", "Expected a dictionary of texts.")
		return nil
	}
	return s.checkChanged(ctx, c, r, wrong)
}

// checkChanged holds what is changed against the rules for orders.
func (s *orders) checkChanged(ctx context.Context, c route.Call, r *retry, wrong *field.Errors) error {
	if name, sent := r.changed["domain"]; sent {
		sent := field.Value{
			Kind: field.ObjectValue, Items: []field.Value{{Kind: field.TextValue, Name: "domain", Text: name}},
		}
		_, err := field.Set{field.Text("domain", &name).Is(field.Domain)}.Decode(sent, field.Create)
		for _, w := range field.ErrorsOf(err) {
			wrong.Add("input", w.Messages[0])
		}
		r.changed["domain"] = name
	}
	os, sent := r.changed["os_choice"]
	if !sent {
		return nil
	}
	o := c.Subject.(*orderDetail) //nolint:forcetypeassert // found by findOrderFile
	plan, err := s.callers.Scope(c).Orders().Plan(ctx, o.PlanID)
	if err == nil && !slices.Contains(plan.VPS.OSOptions, os) {
		wrong.Add("input", field.NotAChoice(os))
	}
	return err
}

func (s *orders) retryOrder(ctx context.Context, c route.Call, o *orderDetail, r *retry) error {
	return s.orders.Retry(ctx, causeOf(c, o), o.ID, r.changed, cmp.Or(r.Reason, "retried"))
}

// A skipping says what was done by hand.
type skipping struct{ Step, External, Reason string }

// Fields are the skipping.
func (k *skipping) Fields() field.Set {
	return field.Set{
		field.Text("step", &k.Step).Required().Max(64).Doc("The one that failed."),
		reasonField(&k.Reason),
		field.Text("external_id", &k.External).Max(200).Default("").Doc("Of what was made; required except for welcome."),
	}
}

func (s *orders) skipStep(ctx context.Context, c route.Call, o *orderDetail, k *skipping) error {
	return s.orders.Skip(ctx, causeOf(c, o), o.ID, k.Step, k.External, k.Reason)
}

func (s *orders) cancelOrder(ctx context.Context, c route.Call, o *orderDetail, v *verdict) error {
	return s.orders.Cancel(ctx, causeOf(c, o), o.ID, v.Reason)
}

func (s *orders) endGrace(ctx context.Context, c route.Call, o *orderDetail, v *verdict) error {
	return s.orders.EndGrace(ctx, causeOf(c, o), o.ID, v.Reason)
}

func (s *orders) acceptPayment(ctx context.Context, c route.Call, o *orderDetail, v *verdict) error {
	return s.payments.Accept(ctx, causeOf(c, o), o.ID, v.Reason)
}

func (s *orders) recheckOrder(ctx context.Context, c route.Call, o *orderDetail, w *asking) error {
	return s.payments.Recheck(ctx, c.Cause(), o.ID, w.Reason)
}

func (s *orders) resendMail(ctx context.Context, c route.Call, o *orderDetail, w *asking) error {
	return s.mails.ResendMail(ctx, causeOf(c, o), o.ID, cmp.Or(w.Reason, "asked for"))
}

// A moneyBack says how much goes back, and why.
type moneyBack struct {
	Amount *decimal.Decimal
	Reason string
}

// Fields are the refund as it is asked for.
func (m *moneyBack) Fields() field.Set {
	return field.Set{
		reasonField(&m.Reason),
		field.NullAmount("amount", &m.Amount, 14, 4).Default(nil).Doc("In the order's currency; null: all that is left."),
	}
}

func (s *orders) refundOrder(ctx context.Context, c route.Call, o *orderDetail, m *moneyBack) error {
	return s.payments.Refund(ctx, causeOf(c, o), o.ID, m.Amount, m.Reason)
}

// A disputeWord is an operator's word on a dispute.
type disputeWord struct{ Outcome, Reason string }

// Fields are the word.
func (d *disputeWord) Fields() field.Set {
	return field.Set{
		field.Text("outcome", &d.Outcome).Required().Among("open", "won", "lost"),
		reasonField(&d.Reason),
	}
}

func (s *orders) decideDispute(ctx context.Context, c route.Call, o *orderDetail, d *disputeWord) error {
	return s.payments.Dispute(ctx, causeOf(c, o), o.ID, order.DisputeState(d.Outcome), d.Reason)
}

// acts are the buttons of the page of an order, in its order.
func (s *orders) acts() []web.Act[*orderDetail] {
	return []web.Act[*orderDetail]{
		{Name: "retry", IsOpen: hasFailed, Inputs: optionalReason[*orderDetail], Do: web.Pressed(s.retryOrder)},
		{Name: "retry_with", IsOpen: takesInput, Inputs: changedInputs, Do: s.retryWith},
		{Name: "skip_step", IsOpen: hasFailed, Inputs: skipInputs, Do: web.Pressed(s.skipStep)},
		{Name: "accept", IsOpen: asksToAccept, Inputs: reasonInput[*orderDetail], Do: web.Pressed(s.acceptPayment)},
		{
			Name: "dispute", IsOpen: func(o *orderDetail) bool { return o.money.AsksForDispute() }, Grave: true, Inputs: disputeInputs,
			Do: web.Pressed(s.decideDispute),
		},
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

// asksToAccept tells whether an operator may keep money that differs from the order, or whose
// service has ended.
func asksToAccept(o *orderDetail) bool {
	return slices.Contains(o.Holds, order.MismatchHold) || o.money.Unserved
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
