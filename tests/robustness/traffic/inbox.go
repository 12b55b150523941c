package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/sagas/payments"
	"hostpanel/tests/robustness/model"
)

// A bank sends webhooks, and nothing more is asked of it.
type bank struct{ order.Provider }

func (bank) Live() bool { return false }

// Verify reads what an operation has put into the header.
func (bank) Verify(_ []byte, header map[string][]string, _ time.Time) (order.News, error) {
	if header["Forged"] != nil {
		return order.News{}, model.ErrForged
	}
	return order.News{
		EventID: header["Event"][0], TransmissionID: header["Transmission"][0], Type: "paid", Order: uuid.MustParse(header["Order"][0]),
		VerifiedBy: "key", Handled: header["Handled"] != nil,
	}, nil
}

// ofOrder is the order that an operation is about.
func (o Operation) ofOrder() uuid.UUID {
	return uuid.NewSHA1(uuid.Nil, fmt.Append(nil, "order ", o.Gate))
}

// news is the webhook of an operation.
func (o Operation) news() model.News {
	n := model.News{
		Event: o.Name, Transmission: "t-" + o.Name, Body: o.Name, Order: o.ofOrder(), Handled: o.Text != "ignored",
		Forged: o.Text == "forged",
	}
	switch o.Text {
	case "another body":
		n.Body += " changed"
	case "another event":
		n.Event += "-again"
	}
	return n
}

func (o Operation) header() map[string][]string {
	n := o.news()
	header := map[string][]string{"Event": {n.Event}, "Transmission": {n.Transmission}, "Order": {n.Order.String()}}
	if n.Handled {
		header["Handled"] = []string{"yes"}
	}
	if n.Forged {
		header["Forged"] = []string{"yes"}
	}
	return header
}

var errHandling = errors.New("it is not handled")

// inboxKinds are the kinds of operations on the inbox.
var inboxKinds = map[string]kind{
	"order": simple(
		func(m *model.Model, o Operation) error { m.Inbox.Place(o.ofOrder()); return nil },
		func(ctx context.Context, e *Engine, p *Process, o Operation) error {
			placed := order.Placed{Order: o.ofOrder(), Provider: model.Provider, At: e.business()}
			return p.Runner.Reactions.React(ctx, eventstore.RecordedEvent{Name: placed.EventName(), Event: placed})
		}),
	"webhook": simple(
		func(m *model.Model, o Operation) error { return m.Inbox.Receive(o.news()) },
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			return p.Payments.Receive(ctx, model.Provider, []byte(o.news().Body), o.header())
		}),
	"inbox": simple(
		func(m *model.Model, o Operation) error { m.Inbox.Handle(o.Most); return nil },
		func(ctx context.Context, e *Engine, p *Process, o Operation) error {
			failures := o.Most
			e.Fault = func(at sagas.Point, _ sagas.Run) error {
				if at == payments.HandlingWebhook && failures > 0 {
					failures--
					return errHandling
				}
				return nil
			}
			_, err := p.Payments.ProcessDue(ctx)
			e.Fault = nil
			return err
		}),
}

func (g *Generator) order(o *Operation) { o.Gate = g.IntN(40) }

func (g *Generator) webhook(o *Operation) {
	g.webhooks++
	o.Gate, o.Name, o.Text = g.IntN(40), fmt.Sprintf("evt%d", g.webhooks), pick(g, "", "", "", "", "forged", "ignored")
	if len(g.m.Inbox.Webhooks) > 0 && g.IntN(4) == 0 {
		o.Name, o.Text = pick(g, g.m.Inbox.Webhooks...).Event, pick(g, "", "", "another body", "another event")
	}
}

func (g *Generator) inbox(o *Operation) {
	switch {
	case g.failing > 0: // for so long that webhooks are parked
		g.failing--
		o.Most = 1000
	case g.IntN(4) == 0:
		o.Most = 1 + g.IntN(4)
	case g.IntN(30) == 0:
		g.failing = 12
	}
}
