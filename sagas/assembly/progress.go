package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Progress tells how far the provisioning of orders is, from the histories of
// their runs.
type Progress struct{ store *eventstore.Store }

// Progress is that of all orders.
func (s *Panel) Progress() Progress { return Progress{s.store} }

// Step names the step at which the provisioning of an order stands, such as
// "tenant.engine"; empty: it has not begun. When it is over it stands at the
// last one: whoever looked at the order a moment earlier asks for no other.
func (p Progress) Step(ctx context.Context, order uuid.UUID) (string, error) {
	run, _, err := eventstore.Fold(ctx, p.store, sagas.Decider, p.Stream(order))
	if err != nil || run.Key == "" {
		return "", err
	}
	return run.At().Name, nil
}

// Stream is the history of the provisioning of an order.
func (Progress) Stream(order uuid.UUID) domain.Stream {
	return sagas.StreamOf("provision:" + order.String())
}
