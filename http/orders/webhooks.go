package orders

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/http/route"
)

const (
	webhooksPrefix = "/storefront/webhooks/"
	forgedWebhooks = 60 // per minute and address; those with a good signature are not counted
)

// webhookArea is where payment providers tell what has happened. Their news are
// stored before they are answered, and acted on after that (docs/storefront.md,
// "Payments and webhooks").
func (s *Area) webhookArea() route.Area {
	return route.Area{
		Name: "Webhooks", Prefix: webhooksPrefix, Access: route.Open,
		About: "News from payment providers. They only make the panel look: what is true it asks the provider.",
		Routes: []route.Route{
			route.Raw(webhooksPrefix+"{provider:"+s.providers()+"}/", "Take news from a payment provider", s.receive).
				As("webhook_receive").Caching("no-store").
				Sending("application/json", map[string]any{"type": "object", "properties": map[string]any{"received": map[string]any{"type": "boolean"}}}).
				Saying("The signature is checked over the raw body. Events that were sent before, or are of no known kind, are taken too.").
				Failing(http.StatusBadRequest, "The signature is missing, wrong or too old.").
				Failing(http.StatusRequestEntityTooLarge, "The body has more than 256 KiB.").
				Failing(http.StatusTooManyRequests, "Too many bad signatures came from this address.").
				Failing(http.StatusServiceUnavailable, "The provider is not configured, or the news cannot be stored now: send them again."),
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
	err := s.Payments.Receive(ctx, provider, c.Body, c.Header)
	if domain.CodeOf(err) == domain.Invalid {
		err = errors.Join(s.Callers.Limiter.Spend(ctx, "forged_webhook", c.IP.String(), forgedWebhooks, time.Minute), err)
	}
	if err != nil {
		return nil, err
	}
	return &route.Document{Type: "application/json", Body: []byte(`{"received":true}`)}, nil
}
