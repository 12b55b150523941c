package notices

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
)

// Endpoints opens, rotates and removes endpoints of tenants together with their
// secrets, each in one transaction (docs/webhooks.md, "Signatures").
type Endpoints struct {
	store *eventstore.Store
	vault *credentials.Vault
}

// Endpoints are those of all tenants.
func (n *Notifier) Endpoints() Endpoints { return Endpoints{n.store, n.vault} }

// Open makes an endpoint, whose number and URL the caller has checked, and
// answers with its secret, which is shown once: "whsec_…".
func (e Endpoints) Open(ctx context.Context, cause domain.Metadata, c webhook.Create) (string, error) {
	return e.secure(ctx, cause, c.ID, c)
}

// Rotate gives an endpoint another secret and answers with it. Messages are
// signed with the former secret too for a day. An endpoint that does not exist
// is refused with domain.NotFound.
func (e Endpoints) Rotate(ctx context.Context, cause domain.Metadata, id int64) (string, error) {
	return e.secure(ctx, cause, id, webhook.Rotate{ID: id})
}

func (e Endpoints) secure(ctx context.Context, cause domain.Metadata, id int64, c domain.Command) (string, error) {
	secret := credentials.NewEndpointSecret()
	if _, err := e.store.ExecuteWith(ctx, cause, e.vault.EndpointSecretRows(id, secret), c); err != nil {
		return "", err
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(secret), nil
}

// Remove ends an endpoint for good, and destroys its secrets and the key of its
// address in the log. Removing it again changes nothing.
func (e Endpoints) Remove(ctx context.Context, cause domain.Metadata, id int64) error {
	rows := append(eventstore.EraseRows(webhook.Subject(id)), credentials.ShredEndpointSecrets(id))
	_, err := e.store.ExecuteWith(ctx, cause, rows, webhook.Remove{ID: id})
	return err
}

// removeEndpoints removes the endpoints of a tenant that was removed.
func (p *publisher) removeEndpoints(ctx context.Context, r eventstore.RecordedEvent) error {
	if kind, _ := hosting.KindOf(r.Stream); !kind.Owner {
		return nil
	}
	left, err := p.tables.For(projections.Caller{Tenant: r.Tenant}).Notices().WebhookEndpoints(ctx, projections.Listing{})
	for _, e := range left.Rows {
		cause := reactionTo(r, uuid.NewSHA1(r.ID, fmt.Appendf(nil, "forget/%d", e.ID)))
		err = errors.Join(err, Endpoints{p.store, p.vault}.Remove(ctx, cause, e.ID))
	}
	return err
}
