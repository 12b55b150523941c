package orders

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// Progress tells how far the provisioning of orders is, from the histories of
// their runs.
type Progress struct{ store *eventstore.Store }

// Progress is that of all orders.
func (p *Provisioner) Progress() Progress { return Progress{p.deps.Store} }

// Step returns the present step of an order's provisioning, such as "tenant.engine";
// empty: it has not begun. A finished run has its last step, which fits to a state
// of the order that was read shortly before.
func (p Progress) Step(ctx context.Context, order uuid.UUID) (string, error) {
	run, _, err := eventstore.Fold(ctx, p.store, sagas.Decider, p.Stream(order))
	if err != nil || run.Key == "" {
		return "", err
	}
	return run.At().Name, nil
}

// Stream is the stream of the run that provisions an order.
func (Progress) Stream(order uuid.UUID) domain.Stream {
	return sagas.StreamOf("provision:" + order.String())
}
