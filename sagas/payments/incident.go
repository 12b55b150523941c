package payments

import (
	"strconv"

	"hostpanel/domain/operations"
)

// Incidents of payments: webhooks that could not be handled, and providers that
// do not answer (docs/operations.md, "Incidents").

// WebhookTrouble is a webhook that could not be handled.
func WebhookTrouble(kind string, id int64, provider string) operations.Trouble {
	webhook := strconv.FormatInt(id, 10)
	return operations.Trouble{Kind: kind, Subject: webhook, About: map[string]string{"webhook": webhook, "provider": provider}}
}

// ProviderTrouble is a provider that does not answer.
func ProviderTrouble(name string) operations.Trouble {
	return operations.Trouble{Kind: operations.ProviderDown, Subject: name, About: map[string]string{"provider": name}}
}
