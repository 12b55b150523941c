package main

import (
	"fmt"
	"net/url"
	"strings"

	"hostpanel/domain/webhook"
)

// webhookSentences are about what tenants' own programs are told. Of an
// address they name the host alone: the rest may be a token.
var webhookSentences = []said{
	says(func(e webhook.EndpointCreated) string {
		return "endpoint" + in(" at ", hostOf(e.URL), "") + " for " + strings.Join(e.Events, ", ") + isOff(&e.IsActive)
	}),
	says(func(e webhook.EndpointChanged) string {
		return strings.TrimSuffix("changed: "+in("now at ", hostOf(e.URL), "; ")+in("for ", strings.Join(e.Events, ", "), "; ")+strings.TrimPrefix(isOff(e.IsActive), ", "), "; ")
	}),
	says(func(e webhook.SecretRotated) string {
		return fmt.Sprintf("secret %d, in place of the one before", e.Secret)
	}),
	says(func(webhook.EndpointRemoved) string { return "removed" }),
	says(func(e webhook.EndpointDisabled) string {
		return "switched off by the panel: " + words(string(e.Reason))
	}),
	says(func(e webhook.DeliveryRequested) string {
		return fmt.Sprintf("%s for endpoint %d", e.Message.Type, e.Endpoint)
	}),
	says(func(e webhook.DeliveryAttempted) string {
		return fmt.Sprintf("not delivered: %s, after %d ms", words(e.Code), e.Took)
	}),
	says(func(e webhook.Delivered) string { return fmt.Sprintf("delivered, answered with %d", e.Status) }),
	says(func(e webhook.DeliveryFailed) string { return "given up: " + words(e.Code) }),
	says(func(e webhook.RedeliveryRequested) string {
		return fmt.Sprintf("to be delivered again, round %d", e.Round)
	}),
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func isOff(on *bool) string {
	switch {
	case on == nil:
		return ""
	case *on:
		return ", switched on"
	}
	return ", switched off"
}
