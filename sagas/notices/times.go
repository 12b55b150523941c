package notices

import (
	"time"

	"hostpanel/sagas"
)

const day = 24 * time.Hour

// Times are the durations of mails, and of messages to endpoints of tenants.
type Times struct {
	MailBase, MailCap time.Duration
	MailBudget        time.Duration // before the order goes on without
	LateBase, LateCap time.Duration // between later tries
	LateBudget        time.Duration // until the mail is given up
	MailUnanswered    time.Duration // before a mail that may have gone out is sent again
	LinkLife          time.Duration // of a one-time link, after its mail was accepted
	WebhookBase       time.Duration
	WebhookCap        time.Duration
	WebhookBudget     time.Duration // until a message to an endpoint is given up
	KeepDeliveries    time.Duration // in the list of messages, once they are over
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	MailBase: 2 * time.Second, MailCap: 30 * time.Second, MailBudget: 5 * time.Minute,
	LateBase: time.Minute, LateCap: time.Hour, LateBudget: 72 * time.Hour, MailUnanswered: 15 * time.Minute, LinkLife: 72 * time.Hour,
	WebhookBase: 5 * time.Second, WebhookCap: 10 * time.Hour, WebhookBudget: 72 * time.Hour,
	KeepDeliveries: 30 * 24 * time.Hour,
}

// deliveryPolicy is that of messages to endpoints.
func deliveryPolicy(runner sagas.Times, t Times) sagas.Policy {
	return sagas.Policy{Timeout: runner.Call, Budget: t.WebhookBudget, Base: t.WebhookBase, Cap: t.WebhookCap, Defer: true}
}
