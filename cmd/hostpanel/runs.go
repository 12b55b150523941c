package main

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// runs tells how far the provisioning of an order is, from its own history.
type runs struct{ store *eventstore.Store }

// Step names the step at which it is.
func (r runs) Step(ctx context.Context, order uuid.UUID) (string, error) {
	run, _, err := eventstore.Fold(ctx, r.store, sagas.Decider, sagas.StreamOf("provision:"+order.String()))
	if err != nil || run.Key == "" || run.Over() {
		return "", err
	}
	return run.Place().Name, nil
}
