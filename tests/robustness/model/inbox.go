package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
	"hostpanel/sagas/payments"
	"hostpanel/tests/robustness/trips"
)

// Provider is the payment provider that sends webhooks.
const Provider = "bank"

// PaymentTimes are those of the inbox. Without a base a failure is tried again at once.
var PaymentTimes = payments.Times{InboxCap: 10 * time.Minute, InboxMatch: 10 * time.Minute, PendingTTL: 30 * time.Minute}

// News is a webhook as it is sent.
type News struct {
	Event, Transmission, Body string
	Order                     uuid.UUID
	Handled, Forged           bool
}

// A Webhook is a row of the inbox.
type Webhook struct {
	News
	Number         int
	State          string
	Attempts       int
	Received, Next time.Time
	Flagged        bool // it came again with another body
	waited         bool // for its order
}

// A Watch is the row of an order whose payment is checked.
type Watch struct {
	Reason, Cause string
	Next          time.Time
	Wakes         int
}

// ErrForged refuses a webhook whose signature is wrong.
var ErrForged = domain.Refuse(domain.Invalid, "Invalid signature.")

// An Inbox is what providers have sent, and the orders that are watched.
type Inbox struct {
	Webhooks []*Webhook
	Watches  map[uuid.UUID]*Watch

	m       *Model
	numbers int // of webhooks
}

// Place begins to watch an order.
func (i *Inbox) Place(order uuid.UUID) {
	if i.Watches[order] == nil {
		i.Watches[order] = &Watch{Reason: "placed", Next: i.m.Business().Add(PaymentTimes.PendingTTL)}
	}
}

// Receive stores a webhook, once for ever.
func (i *Inbox) Receive(n News) error {
	if n.Forged {
		return ErrForged
	}
	i.numbers++ // which are drawn before a repeat is noticed
	known := slices.IndexFunc(i.Webhooks, func(w *Webhook) bool { return w.Event == n.Event })
	switch {
	case known >= 0 && i.Webhooks[known].Body == n.Body:
		i.saw("webhook: repeated")
	case known >= 0:
		i.saw("webhook: another body")
		i.Webhooks[known].Flagged = true
	case slices.ContainsFunc(i.Webhooks, func(w *Webhook) bool { return w.Transmission == n.Transmission }):
		i.saw("webhook: another event")
		return ErrForged
	default:
		w := &Webhook{News: n, Number: i.numbers, State: "stored", Received: i.m.Business(), Next: i.m.Business()}
		if !n.Handled {
			w.State = "ignored"
		}
		i.saw("webhook: " + w.State)
		i.Webhooks = append(i.Webhooks, w)
	}
	return nil
}

// Handle matches the webhooks that are due with their orders: together, or each by
// itself if that fails. So many attempts fail.
func (i *Inbox) Handle(failures int) {
	group := i.due(200)
	if i.match(group, &failures) {
		return
	}
	if len(group) == 1 {
		i.postpone(group[0])
		return
	}
	for range group {
		if one := i.due(1); !i.match(one, &failures) {
			i.postpone(one[0])
		}
	}
}

func (i *Inbox) due(most int) (found []*Webhook) {
	for _, w := range i.Webhooks {
		if w.State == "stored" && !w.Next.After(i.m.Business()) {
			found = append(found, w)
		}
	}
	slices.SortFunc(found, func(a, b *Webhook) int { return cmp.Or(a.Next.Compare(b.Next), a.Number-b.Number) })
	return found[:min(most, len(found))]
}

// match gives webhooks to the checks of their orders. One that waits too long for its order
// is set aside. It returns false if it fails.
func (i *Inbox) match(group []*Webhook, failures *int) bool {
	for range group {
		if *failures > 0 {
			*failures--
			return false
		}
	}
	hinted := map[uuid.UUID]bool{}
	for _, w := range group {
		w.Next = i.m.Business().Add(min(i.age(w), PaymentTimes.InboxCap).Truncate(time.Microsecond))
		watch := i.Watches[w.Order]
		if watch == nil {
			i.saw("inbox: waits")
			w.Attempts, w.waited = 0, true
			continue
		}
		i.saw(map[bool]string{false: "inbox: matched", true: "inbox: matched late"}[w.waited])
		w.State, w.Attempts = "done", w.Attempts+1
		if !hinted[w.Order] {
			hinted[w.Order], watch.Reason, watch.Wakes = true, "webhook", watch.Wakes+1
			watch.Cause = cmp.Or(watch.Cause, domain.WebhookCause(Provider, w.Event).String())
			if watch.Next.After(i.m.Business()) {
				watch.Next = i.m.Business()
			}
		}
	}
	for _, w := range group {
		if w.State == "stored" && i.age(w) > PaymentTimes.InboxMatch {
			i.setAside(w, operations.WebhookUnmatched, "unmatched", w.Flagged)
		}
	}
	return true
}

func (i *Inbox) saw(what string) { i.m.Seen = append(i.m.Seen, what) }

func (i *Inbox) age(w *Webhook) time.Duration { return asRead(i.m.Business().Sub(w.Received)) }

// mostTries is how often in a row a webhook may fail before an operator has to look.
const mostTries = 10

func (i *Inbox) postpone(w *Webhook) {
	if w.Attempts+1 >= mostTries {
		i.setAside(w, operations.WebhookParked, "parked", false)
		return
	}
	i.saw("inbox: postponed")
	w.Attempts, w.Next, w.Flagged = w.Attempts+1, i.m.Business().Add(trips.Times.Floor), false
}

func (i *Inbox) setAside(w *Webhook, kind, state string, flagged bool) {
	i.saw("inbox: " + state)
	meta := domain.Metadata{ID: chance, Actor: sagas.IncidentReporter, Cause: domain.WebhookCause(Provider, w.Event), Correlation: w.Order}
	report := operations.WebhookTrouble(kind, int64(w.Number), Provider).Report(i.m.Business())
	aside := row{make: func() { w.State, w.Attempts, w.Flagged = state, w.Attempts+1, flagged }}
	if _, err := i.m.executeWith(meta, []row{aside}, report); err != nil {
		panic(err)
	}
}
