package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// sessions tells how far a session is, in our words.
var sessions = map[sdk.CheckoutSessionStatus]order.SessionState{
	sdk.CheckoutSessionStatusOpen:     order.SessionOpen,
	sdk.CheckoutSessionStatusComplete: order.SessionComplete,
	sdk.CheckoutSessionStatusExpired:  order.SessionExpired,
}

// Fetch reads what Stripe holds for true about a session: its payment, every
// refund and every dispute of it, and whose money it is (rule S-5). A session
// that Stripe does not know is a permanent failure, "resource_missing".
func (p *Provider) Fetch(ctx context.Context, id string) (order.Fetched, error) {
	if isCharge(id) {
		return p.fetchCharge(ctx, id)
	}
	q := &sdk.CheckoutSessionRetrieveParams{}
	q.AddExpand("payment_intent.latest_charge.refunds")
	s, err := p.client.V1CheckoutSessions.Retrieve(ctx, id, q)
	if err != nil {
		return order.Fetched{}, failure("fetch a session", err)
	}
	state, known := sessions[s.Status]
	if s.ID != id || !known {
		return order.Fetched{}, domain.Fail(
			domain.Unknown, "garbage",
			errors.New("stripe, fetch a session: the answer is another, or in an unknown state"),
		)
	}
	f := order.Fetched{
		Provider: p.Name(), Session: s.ID, Order: orderOf(s.ClientReferenceID, s.Metadata), State: state,
		Live: s.Livemode, ExpiresAt: moment(s.ExpiresAt),
	}
	if s.Mode == sdk.CheckoutSessionModeSetup {
		f.Saved, err = p.added(ctx, s)
		return f, err
	}
	f.Payments, err = p.payments(ctx, s)
	return f, err
}

// orderOf is the order that something at Stripe says it belongs to; what is no
// order's id is no order.
func orderOf(client string, metadata map[string]string) uuid.UUID {
	id, err := uuid.Parse(cmp.Or(client, metadata[reference]))
	if err != nil {
		return uuid.Nil
	}
	return id
}

func (p *Provider) payments(ctx context.Context, s *sdk.CheckoutSession) ([]order.Payment, error) {
	if s.PaymentIntent == nil || s.PaymentIntent.ID == "" {
		return free(s), nil
	}
	intent := s.PaymentIntent
	pay := paymentOf(intent, stateOf(s))
	if pay.State != order.StatePaid {
		if last := intent.LastPaymentError; last != nil && pay.State != order.StatePending {
			pay.Code = declined(last)
		}
		return []order.Payment{pay}, nil
	}
	err := p.since(ctx, intent, &pay)
	if err == nil {
		pay.Saved, err = p.kept(ctx, intent)
	}
	if err != nil {
		return nil, err
	}
	return []order.Payment{pay}, nil
}

func paymentOf(intent *sdk.PaymentIntent, state order.PaymentState) order.Payment {
	return order.Payment{
		ID: intent.ID, State: state, Minor: intent.Amount, Currency: strings.ToUpper(string(intent.Currency)), At: moment(intent.Created),
	}
}

// since completes a payment that was paid: what was received, and what has become of it
// since.
func (p *Provider) since(ctx context.Context, intent *sdk.PaymentIntent, pay *order.Payment) (err error) {
	pay.Minor = intent.AmountReceived
	if charge := intent.LatestCharge; charge != nil && charge.Created != 0 {
		pay.At = moment(charge.Created)
	}
	if pay.Refunds, err = p.refunds(ctx, intent); err != nil {
		return err
	}
	pay.Disputes, err = p.disputes(ctx, intent)
	return err
}

// free is the payment of a session that costs nothing: there is no other
// trace of it than the session.
func free(s *sdk.CheckoutSession) []order.Payment {
	nothing := s.PaymentStatus == sdk.CheckoutSessionPaymentStatusNoPaymentRequired && s.AmountTotal == 0
	if !nothing || s.Status != sdk.CheckoutSessionStatusComplete {
		return nil
	}
	return []order.Payment{{ID: s.ID, State: order.StatePaid, Currency: strings.ToUpper(string(s.Currency)), At: moment(s.Created)}}
}

// stateOf tells how far the payment of a session is. Paid is what the session
// says is paid, and nothing else.
func stateOf(s *sdk.CheckoutSession) order.PaymentState {
	intent := s.PaymentIntent
	over := s.Status == sdk.CheckoutSessionStatusComplete
	switch {
	case s.PaymentStatus == sdk.CheckoutSessionPaymentStatusPaid:
		return order.StatePaid
	case intent.Status == sdk.PaymentIntentStatusProcessing, over && intent.Status == sdk.PaymentIntentStatusSucceeded:
		return order.StatePending
	case over && (intent.Status == sdk.PaymentIntentStatusRequiresPaymentMethod || intent.Status == sdk.PaymentIntentStatusCanceled):
		return order.StateFailed
	case intent.LastPaymentError != nil:
		return order.StateDeclined
	case over:
		return order.StatePending
	}
	return order.StateCreated
}

// refunds are all refunds of a payment, made here or at the dashboard. What was
// asked for along with the session has the latest ten.
func (p *Provider) refunds(ctx context.Context, intent *sdk.PaymentIntent) (all []order.Refund, err error) {
	if charge := intent.LatestCharge; charge != nil && charge.Refunds != nil && !charge.Refunds.HasMore {
		for _, r := range charge.Refunds.Data {
			all = append(all, refundOf(r))
		}
		return all, nil
	}
	q := &sdk.RefundListParams{PaymentIntent: sdk.String(intent.ID)}
	q.Limit = sdk.Int64(100)
	for r, err := range p.client.V1Refunds.List(ctx, q).All(ctx) {
		if err != nil {
			return nil, failure("list refunds", err)
		}
		all = append(all, refundOf(r))
	}
	return all, nil
}

// refunded tells how far a refund is, in our words. What Stripe may call it
// one day is not over.
var refunded = map[sdk.RefundStatus]order.RefundState{
	sdk.RefundStatusSucceeded: order.RefundSucceeded,
	sdk.RefundStatusFailed:    order.RefundStopped,
	sdk.RefundStatusCanceled:  order.RefundStopped,
}

func refundOf(r *sdk.Refund) order.Refund {
	return order.Refund{
		ID: r.ID, State: cmp.Or(refunded[r.Status], order.RefundPending), Minor: r.Amount, Currency: strings.ToUpper(string(r.Currency)),
		Reference: r.Metadata["reference"], At: moment(r.Created),
	}
}

func (p *Provider) disputes(ctx context.Context, intent *sdk.PaymentIntent) (all []order.Dispute, err error) {
	q := &sdk.DisputeListParams{PaymentIntent: sdk.String(intent.ID)}
	q.Limit = sdk.Int64(100)
	for d, err := range p.client.V1Disputes.List(ctx, q).All(ctx) {
		if err != nil {
			return nil, failure("list disputes", err)
		}
		if d.ID == "" {
			return nil, domain.Fail(domain.Unknown, "garbage", fmt.Errorf("stripe, list disputes: one has no id"))
		}
		all = append(all, order.Dispute{
			ID: d.ID, State: outcome(d), Minor: d.Amount, Currency: strings.ToUpper(string(d.Currency)), At: moment(d.Created),
		})
	}
	return all, nil
}

// outcome tells whose the money is. A bank's inquiry is open like a dispute
// and ends without one. What was settled before it became a dispute is lost if
// the money has been taken.
func outcome(d *sdk.Dispute) order.DisputeState {
	switch d.Status {
	case sdk.DisputeStatusWon, sdk.DisputeStatusWarningClosed:
		return order.DisputeWon
	case sdk.DisputeStatusLost:
		return order.DisputeLost
	case sdk.DisputeStatusPrevented:
		if taken(d) {
			return order.DisputeLost
		}
		return order.DisputeWon
	default:
		return order.DisputeOpen
	}
}

func taken(d *sdk.Dispute) bool {
	var moved int64
	for _, t := range d.BalanceTransactions {
		moved += t.Amount
	}
	return moved < 0
}
