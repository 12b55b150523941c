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
)

// Provider is the payment provider that sends webhooks.
const Provider = "test"

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

// Place begins to watch an order.
func (m *Model) Place(order uuid.UUID) {
	if m.Watches[order] == nil {
		m.Watches[order] = &Watch{Reason: "placed", Next: m.Business().Add(PaymentTimes.PendingTTL)}
	}
}

// Receive stores a webhook, once for ever.
func (m *Model) Receive(n News) error {
	if n.Forged {
		return ErrForged
	}
	m.numbers++ // which are drawn before a repeat is noticed
	known := slices.IndexFunc(m.Inbox, func(w *Webhook) bool { return w.Event == n.Event })
	switch {
	case known >= 0 && m.Inbox[known].Body == n.Body:
		m.Seen = append(m.Seen, "webhook: repeated")
	case known >= 0:
		m.Seen = append(m.Seen, "webhook: another body")
		m.Inbox[known].Flagged = true
	case slices.ContainsFunc(m.Inbox, func(w *Webhook) bool { return w.Transmission == n.Transmission }):
		m.Seen = append(m.Seen, "webhook: another event")
		return ErrForged
	default:
		w := &Webhook{News: n, Number: m.numbers, State: "stored", Received: m.Business(), Next: m.Business()}
		if !n.Handled {
			w.State = "ignored"
		}
		m.Seen = append(m.Seen, "webhook: "+w.State)
		m.Inbox = append(m.Inbox, w)
	}
	return nil
}

// HandleWebhooks matches the webhooks that are due with their orders: together, or each by
// itself if that fails. So many attempts fail.
func (m *Model) HandleWebhooks(failures int) {
	group := m.dueWebhooks(200)
	if m.match(group, &failures) {
		return
	}
	if len(group) == 1 {
		m.postpone(group[0])
		return
	}
	for range group {
		if one := m.dueWebhooks(1); !m.match(one, &failures) {
			m.postpone(one[0])
		}
	}
}

func (m *Model) dueWebhooks(most int) (due []*Webhook) {
	for _, w := range m.Inbox {
		if w.State == "stored" && !w.Next.After(m.Business()) {
			due = append(due, w)
		}
	}
	slices.SortFunc(due, func(a, b *Webhook) int { return cmp.Or(a.Next.Compare(b.Next), a.Number-b.Number) })
	return due[:min(most, len(due))]
}

// match gives webhooks to the checks of their orders. One that waits too long for its order
// is set aside. It returns false if it fails.
func (m *Model) match(group []*Webhook, failures *int) bool {
	for range group {
		if *failures > 0 {
			*failures--
			return false
		}
	}
	hinted := map[uuid.UUID]bool{}
	for _, w := range group {
		w.Next = m.Business().Add(min(m.age(w), PaymentTimes.InboxCap).Truncate(time.Microsecond))
		watch := m.Watches[w.Order]
		if watch == nil {
			m.Seen = append(m.Seen, "inbox: waits")
			w.Attempts, w.waited = 0, true
			continue
		}
		m.Seen = append(m.Seen, map[bool]string{false: "inbox: matched", true: "inbox: matched late"}[w.waited])
		w.State, w.Attempts = "done", w.Attempts+1
		if !hinted[w.Order] {
			hinted[w.Order], watch.Reason, watch.Wakes = true, "webhook", watch.Wakes+1
			watch.Cause = cmp.Or(watch.Cause, domain.WebhookCause(Provider, w.Event).String())
			if watch.Next.After(m.Business()) {
				watch.Next = m.Business()
			}
		}
	}
	for _, w := range group {
		if w.State == "stored" && m.age(w) > PaymentTimes.InboxMatch {
			m.setAside(w, operations.WebhookUnmatched, "unmatched", w.Flagged)
		}
	}
	return true
}

func (m *Model) age(w *Webhook) time.Duration { return asRead(m.Business().Sub(w.Received)) }

// mostTries is how often in a row a webhook may fail before an operator has to look.
const mostTries = 10

func (m *Model) postpone(w *Webhook) {
	if w.Attempts+1 >= mostTries {
		m.setAside(w, operations.WebhookParked, "parked", false)
		return
	}
	m.Seen = append(m.Seen, "inbox: postponed")
	w.Attempts, w.Next, w.Flagged = w.Attempts+1, m.Business().Add(Times.Floor), false
}

func (m *Model) setAside(w *Webhook, kind, state string, flagged bool) {
	m.Seen = append(m.Seen, "inbox: "+state)
	meta := domain.Metadata{ID: chance, Actor: sagas.IncidentReporter, Cause: domain.WebhookCause(Provider, w.Event), Correlation: w.Order}
	report := operations.WebhookTrouble(kind, int64(w.Number), Provider).Report(m.Business())
	aside := row{make: func() { w.State, w.Attempts, w.Flagged = state, w.Attempts+1, flagged }}
	if _, err := m.executeWith(meta, []row{aside}, report); err != nil {
		panic(err)
	}
}
