package main

import (
	"strings"

	"hostpanel/adapters/payments/paypal"
)

// payPal checks which account at PayPal is paid, if any. The demo takes no
// real money.
func (c *config) payPal(s Settings) error {
	if s.PayPalClientID+s.PayPalClientSecret+s.PayPalWebhookID+s.PayPalAPIURL == "" {
		return nil
	}
	if s.PayPalClientID == "" || s.PayPalClientSecret == "" {
		return misused("PAYPAL_CLIENT_ID and PAYPAL_CLIENT_SECRET are needed for PayPal, both of them")
	}
	account := paypal.Config{ClientID: s.PayPalClientID, ClientSecret: s.PayPalClientSecret, URL: s.PayPalAPIURL}
	for id := range strings.SplitSeq(s.PayPalWebhookID, ",") {
		if id = strings.TrimSpace(id); id != "" {
			account.WebhookIDs = append(account.WebhookIDs, id)
		}
	}
	provider, err := paypal.New(account)
	switch {
	case err != nil:
		return misused("PAYPAL_API_URL: %w", err)
	case c.demo && provider.Live():
		return misused("PAYPAL_API_URL: the demo takes no real money; PayPal's sandbox is %s", paypal.Sandbox)
	case account.WebhookIDs == nil:
		c.warn("PAYPAL_WEBHOOK_ID is not set: PayPal's webhooks are refused, and payments are noticed late")
	}
	c.paypal = &account
	return nil
}

// payPal is the provider that is configured, or nil.
func (p *program) payPal() (*paypal.Provider, error) {
	if p.config.paypal == nil {
		return nil, nil
	}
	account := *p.config.paypal
	account.Log = p.log
	return paypal.New(account)
}
