package operations

import (
	"context"
	"slices"

	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// acts are all of them, in the order of the page.
func (s *orders) acts() []act[*orderDetail] {
	return []act[*orderDetail]{
		{name: "retry", isOpen: hasFailed, inputs: optionalReason[*orderDetail], do: pressed(s.retryOrder)},
		{name: "skip_step", isOpen: hasFailed, inputs: skipInputs, do: pressed(s.skipStep)},
		{name: "accept", isOpen: isHeldFor(order.MismatchHold), inputs: reasonInput[*orderDetail], do: pressed(s.acceptPayment)},
		{name: "recheck", isOpen: always[*orderDetail], inputs: optionalReason[*orderDetail], do: pressed(s.recheckOrder)},
		{name: "resend_mail", isOpen: isIn(order.StatusActive), inputs: optionalReason[*orderDetail], do: pressed(s.resendMail)},
		{name: "refund", isOpen: hasPaid, grave: true, asks: true, inputs: refundInputs, do: pressed(s.refundOrder)},
		{name: "cancel", isOpen: isLive, grave: true, inputs: reasonInput[*orderDetail], do: pressed(s.cancelOrder)},
		{name: "end_grace", isOpen: isIn(order.StatusCancelled, order.StatusRefunded), grave: true, inputs: reasonInput[*orderDetail], do: pressed(s.endGrace)},
	}
}

func hasFailed(o *orderDetail) bool { return o.FailedStep != "" }

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
func (s *orders) orderDesk() actPage[*orderDetail] {
	return actPage[*orderDetail]{
		Deps: s.Deps, acts: s.acts(), show: s.showOrder,
		find: func(ctx context.Context, c route.Call) (*orderDetail, error) {
			return s.orderFile(ctx, c, c.UUID("uuid"))
		},
		path: func(o *orderDetail) string { return notice.OrderPage(o.ID) },
	}
}
