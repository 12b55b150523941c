// Package payments takes the webhooks of payment providers (docs/storefront.md, "Payments
// and webhooks").
package payments

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// An Area is the webhooks, with what they need of the rest of the program.
type Area struct {
	Callers *caller.Callers
	Inbox   Inbox
	Offers  order.Offers
}

// An Inbox stores what providers send.
type Inbox interface {
	// Receive verifies a webhook and stores it; it is acted on later. A bad
	// signature is refused with domain.Invalid, one that cannot be checked
	// with domain.Unavailable.
	Receive(ctx context.Context, provider string, raw []byte, header map[string][]string) error
}

const (
	webhooksPrefix = "/storefront/webhooks/"
	forgedWebhooks = 60 // per minute and address; those with a good signature are not counted
)

// Routes are where payment providers tell what has happened. Their news are
// stored before they are answered, and acted on after that.
func (s *Area) Routes() route.Area {
	return route.Area{
		Name: "Webhooks", Prefix: webhooksPrefix, Access: route.Open,
		About: "News from payment providers. They only make the panel look: what is true it asks the provider.",
		Routes: []route.Route{
			route.Raw(webhooksPrefix+"{provider:"+s.providers()+"}/", "Take news from a payment provider", s.receive).
				As("webhook_receive").Caching("no-store").
				Sending(
					"application/json",
					map[string]any{"type": "object", "properties": map[string]any{"received": map[string]any{"type": "boolean"}}},
				).
				Saying("The signature is checked over the raw body. Events that were sent before, or are of no known kind, are taken too.").
				Failing(http.StatusBadRequest, "The signature is missing, wrong or too old.").
				Failing(http.StatusRequestEntityTooLarge, "The body has more than 256 KiB.").
				Failing(http.StatusTooManyRequests, "Too many bad signatures came from this address.").
				Failing(
					http.StatusServiceUnavailable,
					"The provider is not configured, or the news cannot be stored now: send them again.",
				),
		},
	}
}

// providers are those that can have webhooks at all. A provider without real
// money does not exist while it is switched off.
func (s *Area) providers() string {
	var names []string
	for _, o := range s.Offers {
		if o.Configured || !o.Test {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, "|")
}

var notConfigured = &domain.Error{
	Code: domain.Unavailable, Reason: "provider_not_configured",
	Message: "The payment provider is not configured.",
}

func (s *Area) receive(ctx context.Context, c route.Call) (*route.Document, error) {
	provider := c.Var("provider")
	if _, configured := s.Offers.Configured(provider); !configured {
		return nil, notConfigured
	}
	err := s.Inbox.Receive(ctx, provider, c.Body, c.Header)
	if domain.CodeOf(err) == domain.Invalid {
		err = errors.Join(s.Callers.Limiter.Spend(ctx, "forged_webhook", c.IP.String(), forgedWebhooks, time.Minute), err)
	}
	if err != nil {
		return nil, err
	}
	return &route.Document{Type: "application/json", Body: []byte(`{"received":true}`)}, nil
}
