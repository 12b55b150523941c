package assembly

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// Hooks changes what endpoints of tenants need a secret for (docs/webhooks.md,
// "Signatures"). Each method is one transaction: an endpoint is never without
// its secret, and a secret never without its endpoint.
type Hooks struct{ s *Panel }

// Hooks are the endpoints of all tenants.
func (s *Panel) Hooks() Hooks { return Hooks{s} }

// Open makes an endpoint, whose number and URL the caller has checked, and
// answers with its secret, which is shown once: "whsec_…".
func (h Hooks) Open(ctx context.Context, cause domain.Metadata, c webhook.Create) (string, error) {
	return h.secure(ctx, cause, c.ID, c)
}

// Rotate gives an endpoint another secret and answers with it; the one before
// signs along for a day. An endpoint that there is not is refused with
// domain.NotFound.
func (h Hooks) Rotate(ctx context.Context, cause domain.Metadata, id int64) (string, error) {
	return h.secure(ctx, cause, id, webhook.Rotate{ID: id})
}

func (h Hooks) secure(ctx context.Context, cause domain.Metadata, id int64, c domain.Command) (string, error) {
	secret := credentials.NewEndpointSecret()
	if _, err := h.s.store.ExecuteWith(ctx, cause, h.s.vault.EndpointSecretRows(id, secret), c); err != nil {
		return "", err
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), nil
}

// Remove ends an endpoint for good, and destroys its secrets and the key that
// its address is sealed with in the log. A second time changes nothing.
func (h Hooks) Remove(ctx context.Context, cause domain.Metadata, id int64) error {
	rows := append(eventstore.EraseRows(webhook.Subject(id)), credentials.ShredEndpointSecrets(id))
	_, err := h.s.store.ExecuteWith(ctx, cause, rows, webhook.Remove{ID: id})
	return err
}

// forgetEndpoints removes those of a tenant that is gone for good, with what
// opens their addresses.
func (s *Panel) forgetEndpoints(ctx context.Context, r eventstore.RecordedEvent) error {
	if kind, _ := hosting.KindOf(r.Stream); !kind.Owner {
		return nil
	}
	left, err := s.tables.For(projections.Caller{Tenant: r.Tenant}).WebhookEndpoints(ctx, projections.Listing{})
	for _, e := range left.Rows {
		cause := domain.Metadata{
			ID: uuid.NewSHA1(r.ID, fmt.Appendf(nil, "forget/%d", e.ID)), Actor: "system:reactions", Correlation: r.Metadata.Correlation, Causation: r.ID, Saga: r.Metadata.Saga,
		}
		err = errors.Join(err, s.Hooks().Remove(ctx, cause, e.ID))
	}
	return err
}
