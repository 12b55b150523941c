package http

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/http/route"
)

const (
	webhooksPrefix = "/storefront/webhooks/"
	forgedWebhooks = 60 // per minute and address; those with a good signature are not counted
)

// webhooks is where payment providers tell what has happened. Their news are
// stored before they are answered, and acted on after that (docs/storefront.md,
// "Payments and webhooks").
func (s *Server) webhooks() route.Area {
	return route.Area{
		Name: "Webhooks", Prefix: webhooksPrefix, Access: route.Open,
		About: "News from payment providers. They only make the panel look: what is true it asks the provider.",
		Routes: []route.Route{
			route.Raw(webhooksPrefix+"{provider:"+s.providers()+"}/", "Take news from a payment provider", s.receive).
				As("webhook_receive").Caching("no-store").
				Saying("The signature is checked over the raw body. News that were sent before, or that nobody knows what to do with, are taken too.").
				Failing(http.StatusBadRequest, "The signature is missing, wrong or too old.").
				Failing(http.StatusRequestEntityTooLarge, "The body has more than 256 KiB.").
				Failing(http.StatusTooManyRequests, "Too many bad signatures came from this address.").
				Failing(http.StatusServiceUnavailable, "The provider is not configured, or the news cannot be stored now: send them again."),
		},
	}
}

// providers that can have webhooks at all. The test provider does not exist
// while test payments are off.
func (s *Server) providers() string {
	if s.Test == nil {
		return "stripe|paypal"
	}
	return "stripe|paypal|test"
}

var notConfigured = &domain.Error{
	Code: domain.Unavailable, Reason: "provider_not_configured",
	Message: "The payment provider is not configured.",
}

func (s *Server) receive(ctx context.Context, c route.Call) (*route.Document, error) {
	provider := c.Var("provider")
	if _, configured := s.offer(provider); !configured {
		return nil, notConfigured
	}
	err := s.Payments.Receive(ctx, provider, c.Body, c.Header)
	if domain.CodeOf(err) == domain.Invalid && s.Settings.Abuse {
		err = errors.Join(s.limit(ctx, "forged_webhook", c.IP.String(), forgedWebhooks, time.Minute), err)
	}
	if err != nil {
		return nil, err
	}
	return &route.Document{Type: "application/json", Body: []byte(`{"received":true}`)}, nil
}

// offer is the payment method of that name, if it is configured.
func (s *Server) offer(name string) (Offer, bool) {
	i := slices.IndexFunc(s.Settings.Offers, func(o Offer) bool { return o.Name == name })
	if i < 0 {
		return Offer{}, false
	}
	return s.Settings.Offers[i], true
}
