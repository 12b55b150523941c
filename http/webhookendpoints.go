package http

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
)

// Hooks carries out what changes an endpoint of a tenant's together with the
// secret that its messages are signed with, all or none (docs/webhooks.md).
type Hooks interface {
	// Open makes an endpoint and answers with its secret: "whsec_…".
	Open(context.Context, domain.Cause, webhook.Create) (secret string, err error)
	// Rotate gives an endpoint another secret and answers with it. The one
	// before signs along for a day.
	Rotate(ctx context.Context, cause domain.Cause, id int64) (secret string, err error)
	// Remove ends an endpoint and destroys its secrets, and what opens its
	// address in the log ([webhook.Subject]).
	Remove(ctx context.Context, cause domain.Cause, id int64) error
}
