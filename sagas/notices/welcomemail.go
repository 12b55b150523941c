package notices

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The welcome mail of an order brings a new account its one-time link, and an
// existing one the way to sign in. It does not hold up an order: a mail that is
// not accepted in time is left to a run of its own (docs/sagas.md, "Mail").

// WelcomeOf is the welcome mail of an order.
func WelcomeOf(order uuid.UUID, c Customer) WelcomeMail {
	return WelcomeMail{Order: order, User: c.User, Opened: c.Opened, Tenant: c.Tenant, Key: welcomeKey(order)}
}

func welcomeKey(order uuid.UUID) string { return sagas.EffectKey(order, "welcome") }

// WelcomeLinkRows store the one-time link of an account that an order opens, and
// hand its secret to the welcome mail.
func (n *Notifier) WelcomeLinkRows(order uuid.UUID, user int64) []eventstore.TxStatement {
	return n.mailedLinkRows(credentials.NewToken(), user, welcomeKey(order))
}

// ShredWelcomeLink destroys the secret that waits for the welcome mail.
func ShredWelcomeLink(order uuid.UUID) eventstore.TxStatement {
	return credentials.Shred(welcomeKey(order))
}

// WelcomeCall prepares a welcome mail. It is refused for good when the order has
// ended ("order_over") or the customer's data was erased ("no_address").
func (n *Notifier) WelcomeCall(ctx context.Context, job WelcomeMail) (sagas.Call, error) {
	o, err := n.order(ctx, job.Order)
	if err == nil {
		err = n.stillWelcome(ctx, job.Order)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	if o.CustomerEmail == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	key := job.Key
	token, err := n.welcomeLink(ctx, job, key)
	if err != nil {
		return sagas.Call{}, err
	}
	l, err := n.branded(ctx, job.Tenant, welcomeLetter(o, token != ""))
	if err != nil {
		return sagas.Call{}, err
	}
	_, to, err := n.recipient(ctx, o.Subject)
	if err != nil {
		return sagas.Call{}, err
	}
	return n.mailCall(envelope{
		key: key, letter: l, token: token, to: to, request: map[string]any{"subject": o.Subject, "link": job.Opened},
		then:  []domain.Command{order.ConfirmMail{ID: job.Order, At: n.runner.Now()}},
		frees: freesNews(job.Order),
	})
}

// freesNews lets notifications go on that have waited for the welcome mail of an order.
func freesNews(id uuid.UUID) sagas.Work {
	return sagas.Work{Releases: order.Stream(id), Wakes: notificationQueue}
}

// welcomeLetter tells the customer that the order runs, with a link to choose a password
// or without.
func welcomeLetter(o projections.Order, withLink bool) notice.Letter {
	l := notice.Letter{
		Occasion: notice.NextOrder, To: o.CustomerEmail, Name: o.CustomerName, Language: o.Language,
		Username: account.PlainAddress(o.CustomerEmail), Order: o.OrderNumber, Plan: o.PlanName, Invoiced: o.Total.IsPositive(),
	}
	if withLink {
		l.Occasion = notice.FirstOrder
	}
	return l
}

// stillWelcome refuses the welcome mail of an order that is being taken back, or
// has ended.
func (n *Notifier) stillWelcome(ctx context.Context, id uuid.UUID) error {
	o, _, err := eventstore.Fold(ctx, n.store, order.Decider, order.Stream(id))
	if err == nil && (o.TurnsBack() || o.Compensated || o.Service() == order.ServiceEnds) {
		return domain.Fail(domain.Permanent, "order_over", errors.New("the order has ended"))
	}
	return err
}

// welcomeLink is the secret of the mail's link. It is empty for an account that
// existed before, or that has a newer link or a password by now. A secret that
// has expired meanwhile is replaced.
func (n *Notifier) welcomeLink(ctx context.Context, job WelcomeMail, key string) (string, error) {
	if !job.Opened {
		return "", nil
	}
	token, err := n.liveLink(ctx, key)
	switch {
	case errors.Is(err, credentials.ErrLink):
		return "", nil
	case errors.Is(err, credentials.ErrShredded):
		return n.renewLink(ctx, job, key)
	}
	return token, err
}

// renewLink makes another link, unless the user has a password.
func (n *Notifier) renewLink(ctx context.Context, job WelcomeMail, key string) (string, error) {
	user, _, err := eventstore.Fold(ctx, n.store, account.Decider, account.Stream(job.User))
	if err != nil || user.HasPassword {
		return "", err
	}
	rows := append([]eventstore.TxStatement{credentials.Shred(key)}, n.mailedLinkRows(credentials.NewToken(), job.User, key)...)
	rows[0].Key = "secret_handoff/" + key + "/0" // before the new one
	rows[len(rows)-1].Key += "/1"
	if _, err := n.store.ExecuteWith(ctx, domain.Metadata{Actor: "system:mail"}, rows); err != nil {
		return "", err
	}
	return n.liveLink(ctx, key)
}

// DelayWelcome lets the order go on without its mail. One that was refused for
// good is not tried again.
func (n *Notifier) DelayWelcome(job WelcomeMail, l sagas.FailedAttempt) sagas.Work {
	work := freesNews(job.Order)
	work.Commands = []domain.Command{order.DelayMail{ID: job.Order, At: n.runner.Now()}}
	if l.Final {
		work = work.And(n.giveUpMail(job))
	}
	return work.And(n.refused(l))
}

// giveUpMail leaves the mail to an operator. Its link stays valid.
func (n *Notifier) giveUpMail(job WelcomeMail) sagas.Work {
	return sagas.Work{
		Commands: []domain.Command{order.GiveUpMail{ID: job.Order, At: n.runner.Now()}},
		Rows:     []eventstore.TxStatement{credentials.Shred(job.Key)},
	}
}

// delayedMail is the run that goes on with a delayed mail. There is none if the
// mail is given up in the same append.
func (n *Notifier) delayedMail(ctx context.Context, id uuid.UUID, events []eventstore.RecordedEvent) (sagas.Start, bool, error) {
	for _, e := range events {
		if _, over := e.Event.(order.WelcomeMailGivenUp); over && e.Stream == order.Stream(id) {
			return sagas.Start{}, false, nil
		}
	}
	to, err := n.customer(ctx, id)
	mail := WelcomeOf(id, to)
	return n.welcomeMails.Start(mail.Key, mail, id), true, err
}
