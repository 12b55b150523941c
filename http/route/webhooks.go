package route

import "strings"

// A Webhook is a message that the panel posts to programs of others, for the API
// document.
type Webhook struct{ Name, When string }

// webhooks are the messages to programs of others. All have the same form.
func (t *Table) webhooks() map[string]any {
	all := map[string]any{}
	for _, w := range t.options.Webhooks {
		all[w.Name] = map[string]any{"post": map[string]any{
			// the signature is the credential
			"operationId": "message_" + strings.ReplaceAll(w.Name, ".", "_"), "summary": w.When,
			"parameters": messageHeaders, "security": []any{},
			"requestBody": map[string]any{"content": jsonOf(webhookMessage)},
			"responses": map[string]any{
				"2XX": map[string]any{"description": "It was taken. Every other answer, and none within 15 seconds, is tried again."},
			},
		}}
	}
	return all
}

// messageHeaders are those of Standard Webhooks.
var messageHeaders = []any{
	parameter("header", "webhook-id", "string", "The same for each attempt."),
	parameter("header", "webhook-timestamp", "string", "When it was sent, in seconds since 1970."),
	parameter(
		"header", "webhook-signature", "string",
		"\"v1,\" and the signature with the secret of the endpoint; several are separated by spaces.",
	),
}

// webhookMessage stands in each of them: generators that leave parts of the document out
// forget schemas which messages alone refer to.
var webhookMessage = map[string]any{
	"type": "object", "required": []string{"type", "timestamp", "data"},
	"description": "What an endpoint is told. It has no personal data and no secrets: the record is read by the API.",
	"properties": map[string]any{
		"type":      map[string]any{"type": "string", "description": "What has happened."},
		"timestamp": map[string]any{"type": "string", "format": "date-time", "description": "When it has happened."},
		"data": map[string]any{
			"type":        "object",
			"description": "The record that it is about: kind, id, tenant, and url, its path in the API.",
		},
	},
}
