package main

import (
	"errors"
	"strings"

	"hostpanel/adapters/payments/stripe"
)

// stripeAccount checks the account at Stripe. Without a key Stripe is not
// offered.
func (c *config) stripeAccount(s Settings) (err error) {
	if s.StripeSecretKey == "" {
		if s.StripeWebhookSecret != "" || s.StripeAPIURL != "" {
			c.warn("STRIPE_SECRET_KEY is not set: Stripe is not offered")
		}
		return nil
	}
	o := stripe.Options{Key: s.StripeSecretKey, Secrets: listed(s.StripeWebhookSecret), URL: s.StripeAPIURL}
	if c.stripe, err = stripe.New(o); err != nil {
		return misused("%s: %w", stripeSetting(err), err)
	}
	switch {
	case c.demo && c.stripe.Live():
		return misused("STRIPE_SECRET_KEY: the demo takes no real money, so no key but sk_test_…")
	case !c.demo && !c.stripe.Live():
		c.warn("STRIPE_SECRET_KEY is one for tests: payments at Stripe are without money")
	}
	if len(o.Secrets) == 0 {
		c.warn("STRIPE_WEBHOOK_SECRET is not set: Stripe's webhooks are turned away, and payments are noticed minutes later")
	}
	return nil
}

// stripeSetting is the one that err is about.
func stripeSetting(err error) string {
	switch {
	case errors.Is(err, stripe.ErrKey):
		return "STRIPE_SECRET_KEY"
	case errors.Is(err, stripe.ErrSecret):
		return "STRIPE_WEBHOOK_SECRET"
	}
	return "STRIPE_API_URL"
}

// listed are the parts of a list with commas.
func listed(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
