package notices

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Operators read what the customer of an order was written to. Texts are not kept: they
// follow from the log, and are written anew, in the brand of today. The secret of a
// one-time link is gone once it was sent, and is left out (docs/notifications.md, "Mails
// of an order").

// mostOfOrder limits how much of a history is read.
const mostOfOrder = 2000

// OrderMails are the mails to the customer of an order, the oldest first. An erased
// customer has none.
func (n *Notifier) OrderMails(ctx context.Context, id uuid.UUID) ([]operations.SentMail, error) {
	o, err := n.order(ctx, id)
	if err != nil || o.CustomerEmail == "" {
		return nil, err
	}
	to, err := n.customer(ctx, id)
	if err := unlessMissing(err); err != nil {
		return nil, err
	}
	anew := mailHistory{n}
	own, err := anew.ownMails(ctx, o, to)
	if err != nil {
		return nil, err
	}
	news, err := anew.newsOf(ctx, o, to.User)
	all := append(own, news...)
	slices.SortStableFunc(all, func(a, b operations.SentMail) int { return a.At.Compare(b.At) })
	return all, err
}

// mailHistory composes the mails of an order again.
type mailHistory struct{ notifier *Notifier }

// A mailedEffect is a mail that a run of the order has sent, or is to send.
type mailedEffect struct {
	Key, Step, State string
	At               time.Time
}

// ownMails are those that runs of the order send: welcome mails, that nothing was
// collected, and which tenant the order joins.
func (n mailHistory) ownMails(ctx context.Context, o projections.Order, to Customer) (all []operations.SentMail, err error) {
	rows, _ := n.notifier.store.Pool().Query(ctx, `select e.key, e.step, e.state, e.updated_at as at from effect e
		join saga_run r on r.id = e.saga_id
		where r.order_id = $1 and e.step in ('welcome', 'send', 'lost', 'join') order by e.updated_at, e.key`, o.ID)
	effects, err := pgx.CollectRows(rows, pgx.RowToStructByPos[mailedEffect])
	if err != nil {
		return nil, sagas.SQLError(err, "look for the mails of order %s", o.ID)
	}
	for _, e := range effects {
		if e.State == string(sagas.EffectDeferred) {
			continue // another run sends it
		}
		l, err := n.ownLetter(ctx, o, to, e)
		if err != nil {
			return nil, err
		}
		mail, err := n.asSent(l, e.Key)
		if err != nil {
			return nil, err
		}
		mail.State, mail.At = stateOfMail(e.State == string(sagas.EffectConfirmed), e.State == string(sagas.EffectAbsent)), e.At
		all = append(all, mail)
	}
	return all, nil
}

// ownLetter is what such a mail says.
func (n mailHistory) ownLetter(ctx context.Context, o projections.Order, to Customer, e mailedEffect) (notice.Letter, error) {
	if e.Step == "lost" || e.Step == "join" {
		user, _, err := n.notifier.recipient(ctx, o.Subject)
		if err != nil {
			return notice.Letter{}, err
		}
		l := lostLetter(o)
		if e.Step == "join" {
			l = joiningLetter(o, user)
		}
		return n.notifier.branded(ctx, homeTenant(user), l)
	}
	had, err := n.hadPassword(ctx, to.User, e.At)
	if err != nil {
		return notice.Letter{}, err
	}
	return n.notifier.branded(ctx, to.Tenant, welcomeLetter(o, !had && (to.Opened || e.Step == "send")))
}

// hadPassword tells whether a user had a password at a time.
func (n mailHistory) hadPassword(ctx context.Context, user int64, at time.Time) (bool, error) {
	history, err := n.notifier.store.Read(ctx, account.Stream(user))
	var a account.User
	for _, r := range history {
		if e, is := r.Event.(account.Event); is && !r.RecordedAt.After(at) {
			a = account.Decider.Evolve(a, e)
		}
	}
	return a.HasPassword, err
}

// newsOf are the mails of notifications to the customer about the order. Their ids
// follow from the events that they tell of.
func (n mailHistory) newsOf(ctx context.Context, o projections.Order, user int64) (all []operations.SentMail, err error) {
	if user == 0 {
		return nil, nil
	}
	history, err := n.notifier.store.Reader().ReadStreams(ctx, mostOfOrder, order.Stream(o.ID), domain.Stream{
		Category: billing.InvoiceCategory, ID: o.ID.String(),
	},
		domain.Stream{Category: billing.SubscriptionCategory, ID: o.ID.String()})
	if err != nil || len(history) == 0 {
		return nil, err
	}
	streams := make([]domain.Stream, len(history))
	for i, r := range history {
		streams[i] = notice.ConfirmMail{ID: noticeOf(r, user)}.Stream()
	}
	told, err := n.notifier.store.Reader().ReadStreams(ctx, mostOfOrder, streams...)
	if err != nil {
		return nil, err
	}
	u, err := n.notifier.accountUser(ctx, user)
	if domain.ClassOf(err) == domain.Permanent {
		return nil, nil // the account has ended
	}
	if err != nil {
		return nil, err
	}
	return n.newsAsSent(ctx, u, told)
}

// newsAsSent are the mails that were asked for, and what became of each.
func (n mailHistory) newsAsSent(
	ctx context.Context, u projections.User, told []eventstore.RecordedEvent,
) (all []operations.SentMail, err error) {
	places := map[domain.Stream]int{}
	for _, r := range told {
		i, asked := places[r.Stream]
		switch e := r.Event.(type) {
		case notice.MailRequested:
			l, err := n.notifier.newsLetter(ctx, u, e)
			if err != nil {
				return nil, err
			}
			mail, err := n.asSent(l, newsKey(r.Stream.ID))
			if err != nil {
				return nil, err
			}
			mail.Template, mail.State, mail.At = e.Template, operations.MailWaits, r.RecordedAt
			places[r.Stream] = len(all)
			all = append(all, mail)
		case notice.Mailed:
			if asked {
				all[i].State, all[i].At = operations.MailSent, r.RecordedAt
			}
		case notice.MailGivenUp:
			switch {
			case asked && e.Code == notice.InWelcome:
				all[i].State = "" // there is no mail of its own
			case asked:
				all[i].State, all[i].At = operations.MailGivenUp, r.RecordedAt
			}
		}
	}
	return slices.DeleteFunc(all, func(m operations.SentMail) bool { return m.State == "" }), nil
}

// asSent is the mail of a letter, without the secrets of its links.
func (n mailHistory) asSent(l notice.Letter, key string) (operations.SentMail, error) {
	l = n.notifier.addressed(l, key)
	if l.Occasion == notice.FirstOrder {
		l.Link = n.notifier.publicURL() + "/set-password/?token=…"
	}
	if l.Unsubscribe != "" {
		l.Unsubscribe = n.notifier.publicURL() + "/notifications/unsubscribe/…/"
	}
	m, err := l.Write()
	if err != nil {
		return operations.SentMail{}, fmt.Errorf("write a mail anew: %w", err)
	}
	return operations.SentMail{Template: string(l.Occasion), MessageID: m.MessageID, To: m.To, Subject: m.Subject, Text: m.Text}, nil
}

func stateOfMail(confirmed, absent bool) string {
	switch {
	case confirmed:
		return operations.MailSent
	case absent:
		return operations.MailFailed
	}
	return operations.MailWaits
}
