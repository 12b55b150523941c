package stripe

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/stripe/stripe-go/v85"
)

// Reach asks for a session that does not exist. Stripe's answer shows that it
// is reached, and that the key is accepted and may read sessions.
func (p *Provider) Reach(ctx context.Context) error {
	_, err := p.client.V1CheckoutSessions.Retrieve(ctx, "cs_none", &sdk.CheckoutSessionRetrieveParams{})
	if answer, answered := errors.AsType[*sdk.Error](err); err == nil || answered && answer.HTTPStatusCode == http.StatusNotFound {
		return nil
	}
	return failure("ask for a session", err)
}
