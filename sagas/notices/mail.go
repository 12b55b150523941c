package notices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
)

// A mail with a one-time link is not lost, and brings the same link each time it
// is sent. The link's secret is made in the append that asks for it and waits,
// sealed, for the mail; the mail's identity follows from its key (docs/sagas.md,
// "Mail").

// The queues of mails. Notifications have their own, so that they delay no mail
// with a link.
const (
	MailQueue         = "mail"
	notificationQueue = "news"
)

// The inputs of runs that send one mail. The key names the mail's effect, and is
// where the secret of its link waits.
type (
	// A WelcomeMail welcomes the customer of an order.
	WelcomeMail struct {
		Order  uuid.UUID `json:"order"`
		User   int64     `json:"user"`
		Opened bool      `json:"opened,omitempty"` // the account was opened for this order
		Tenant int64     `json:"tenant"`
		Key    string    `json:"key"`
	}
	// A LinkMail brings a one-time link that an account was asked for.
	LinkMail struct {
		User int64        `json:"user"`
		Link account.Link `json:"link"` // what it is for
		Key  string       `json:"key"`
	}
	// An OrderMail tells the customer something about an order.
	OrderMail struct {
		Order uuid.UUID `json:"order"`
		Key   string    `json:"key"`
	}
	// A NewsMail brings a notification.
	NewsMail struct {
		Notice uuid.UUID `json:"notice"`
		Key    string    `json:"key"`
		Order  uuid.UUID `json:"order,omitzero"` // whose setup it tells of; zero: none
		User   int64     `json:"user,omitempty"` // who reads it; 0: it was asked for before this was noted
	}
)

// registerMails registers the sagas that send one mail each.
func (n *Notifier) registerMails() {
	n.welcomeMails = sagas.Register(n.runner, sagas.Saga[WelcomeMail]{
		Name: "mail", Definition: "mail/1",
		Steps: []sagas.Step[WelcomeMail]{{
			Name: "send", Says: "send the email", Queue: MailQueue, Policy: n.mailPolicy(),
			Effect: &sagas.Effect[WelcomeMail]{
				Key: func(m WelcomeMail) string { return m.Key }, Lasting: true,
				Prepare: func(ctx context.Context, m *WelcomeMail) (sagas.Call, error) { return n.WelcomeCall(ctx, *m) },
				Deferred: func(m WelcomeMail, failed sagas.FailedAttempt) sagas.Work {
					return n.refused(failed).And(n.giveUpMail(m))
				},
			},
		}},
	})
	n.linkMails = sagas.Register(n.runner, sagas.Saga[LinkMail]{Name: "mail", Definition: "mail/2", Steps: []sagas.Step[LinkMail]{{
		Name: "send", Says: "send the email", Queue: MailQueue, Policy: n.mailPolicy(),
		Effect: &sagas.Effect[LinkMail]{
			Key: func(m LinkMail) string { return m.Key }, Prepare: n.linkCall, Lasting: true,
			Deferred: func(m LinkMail, failed sagas.FailedAttempt) sagas.Work {
				return n.refused(failed).And(sagas.Work{Rows: []eventstore.TxStatement{credentials.Shred(m.Key)}})
			},
		},
	}}})
	n.approvalLostMails = sagas.Register(n.runner, sagas.Saga[OrderMail]{
		Name: "mail", Definition: "mail/3",
		Steps: []sagas.Step[OrderMail]{{
			Name: "lost", Says: "tell the customer that nothing was collected", Queue: MailQueue, Policy: n.mailPolicy(),
			Effect: &sagas.Effect[OrderMail]{
				Key: func(m OrderMail) string { return m.Key }, Prepare: n.approvalLostCall,
				Deferred: func(_ OrderMail, failed sagas.FailedAttempt) sagas.Work { return n.refused(failed) },
			},
		}},
	})
	n.notificationMails = sagas.Register(n.runner, sagas.Saga[NewsMail]{
		Name: "mail", Definition: "mail/4",
		Party: func(m NewsMail) int64 { return m.User },
		Steps: []sagas.Step[NewsMail]{{
			Name: "news", Says: "send the email about news", Queue: notificationQueue, Policy: n.mailPolicy(),
			Effect: &sagas.Effect[NewsMail]{
				Key: func(m NewsMail) string { return m.Key }, Prepare: n.notificationCall, Lasting: true,
				Deferred: n.giveUpNotification,
			},
		}},
	})
}

// mailStarts are the runs that send the mails that events ask for.
func (n *Notifier) mailStarts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(n.runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
		switch e := r.Event.(type) {
		case account.LinkRequested:
			run, begins = n.linkMail(r, e)
		case account.JoiningOffered:
			run, begins = joiningOffer{n}.joiningMail(r, e)
		case notice.MailRequested:
			run, begins = n.notificationMail(r, e)
		case order.Cancelled:
			run, begins = n.approvalLostMail(uuid.MustParse(r.Stream.ID), e)
		case order.WelcomeMailRequested:
			run, err = n.resentMail(ctx, r)
			begins = true
		case order.WelcomeMailDelayed:
			run, begins, err = n.delayedMail(ctx, uuid.MustParse(r.Stream.ID), events)
		}
		return run, begins, err
	})
}

// linkKey names the mail that a request for a link leads to.
func linkKey(user int64, request uuid.UUID) string { return fmt.Sprintf("u/%d/link/%s", user, request) }

// linkMail is the run that mails a link. Its key is the one under which the
// secret waits. A link that an operator hands over is not mailed.
func (n *Notifier) linkMail(r eventstore.RecordedEvent, e account.LinkRequested) (sagas.Start, bool) {
	user, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if _, mailed := occasions[e.Link]; err != nil || !mailed {
		return sagas.Start{}, false
	}
	key := linkKey(user, r.Metadata.ID)
	return n.linkMails.Start(key, LinkMail{User: user, Link: e.Link, Key: key}, uuid.Nil), true
}

// LinkRows store the one-time link that a command asks for, which ends earlier
// links of the user. The secret of a link that is mailed is handed to the mail,
// which a command with this id starts.
func (n *Notifier) LinkRows(link account.RequestLink, token string, command uuid.UUID) []eventstore.TxStatement {
	if _, mailed := occasions[link.Link]; mailed {
		return n.mailedLinkRows(token, link.User, linkKey(link.User, command))
	}
	return credentials.TokenRows(token, credentials.SetPassword, link.User, n.times.LinkLife)
}

// mailedLinkRows store a one-time link and hand its secret to the mail with a
// key. The link outlives all tries to send it.
func (n *Notifier) mailedLinkRows(token string, user int64, key string) []eventstore.TxStatement {
	rows := credentials.TokenRows(token, credentials.SetPassword, user, n.times.LateBudget+n.times.LinkLife)
	return append(rows, n.vault.HandOff(credentials.SetPassword, key, []byte(token), n.times.LateBudget))
}

// occasions are the templates of mails by the reason for their link. A link for
// another reason is not mailed.
var occasions = map[account.Link]notice.Occasion{account.Welcome: notice.Invitation, account.Reset: notice.Reset}

// linkCall prepares a mail with a one-time link. A link that has ended is not
// sent: the user has a newer link or a password, or the account has ended.
func (n *Notifier) linkCall(ctx context.Context, job *LinkMail) (sagas.Call, error) {
	user, err := n.accountUser(ctx, job.User)
	if err != nil {
		return sagas.Call{}, err
	}
	token, err := n.liveLink(ctx, job.Key)
	if errors.Is(err, credentials.ErrLink) || errors.Is(err, credentials.ErrShredded) {
		err = domain.Fail(domain.Permanent, "link_over", err)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	l := notice.Letter{Occasion: occasions[job.Link], To: user.Email, Name: user.Name, Language: user.Language, Username: user.Email}
	if l, err = n.branded(ctx, homeTenant(user), l); err != nil {
		return sagas.Call{}, err
	}
	return n.mailCall(envelope{
		key: job.Key, letter: l, token: token, to: recipientOf(user), request: map[string]any{"user": job.User, "link": job.Link},
	})
}

// liveLink is the secret that waits under a key, if its link still works. It
// answers [credentials.ErrShredded] if there is none, [credentials.ErrLink] if
// the link has ended.
func (n *Notifier) liveLink(ctx context.Context, key string) (string, error) {
	secret, err := n.vault.OpenHandOff(ctx, credentials.SetPassword, key)
	if err == nil {
		_, err = n.vault.TokenUser(ctx, string(secret), credentials.SetPassword)
	}
	return string(secret), err
}

// An envelope is a letter with what is needed to send it.
type envelope struct {
	key     string // names the mail: its message id, and where the secret of its link waits
	letter  notice.Letter
	token   string // of the one-time link that it brings; blank: it leads where the letter says
	to      recipient
	request map[string]any // what is asked for; no personal data
	then    []domain.Command
	frees   sagas.Work // who waits for the mail
}

// mailCall sends one letter. Every try has the same key, so the message and its
// link are the same.
func (n *Notifier) mailCall(e envelope) (sagas.Call, error) {
	l := n.addressed(e.letter, e.key)
	rows := []eventstore.TxStatement{credentials.Shred(e.key)}
	if e.token != "" {
		l.Link = n.publicURL() + "/set-password/?token=" + e.token
		rows = append(rows, credentials.ExtendToken(e.token, n.times.LinkLife))
	}
	message, err := l.Write()
	if err != nil {
		return sagas.Call{}, domain.Fail(domain.Permanent, "malformed", err)
	}
	e.request["message"] = l.MessageID
	return sagas.Call{
		Request: e.request,
		Do: func(ctx context.Context) (sagas.Result, error) {
			return sagas.Result{External: l.MessageID}, e.to.of(n.mail.Send(ctx, message))
		},
		Confirmed: func(sagas.Result) sagas.Work {
			return sagas.Work{Commands: append(e.then, n.reached(e.to)...), Rows: rows}.And(e.frees)
		},
	}, nil
}

// addressed is a letter with its message id, its sender, and where it leads: to a path
// within the panel, or to where customers begin.
func (n *Notifier) addressed(l notice.Letter, key string) notice.Letter {
	l.MessageID, l.From = messageID(key, n.mailFrom, n.runner.Installation), cmp.Or(l.From, n.mailFrom)
	l.PanelURL, l.Link = n.publicURL()+"/", n.publicURL()+cmp.Or(l.Link, domain.PanelPath)
	return l
}

// messageID follows from the key, so mail programs recognise a mail that is sent twice. Another
// panel with the same sender has other ones.
func messageID(key, from, by string) string {
	host := "localhost"
	if a, err := mail.ParseAddress(from); err == nil {
		_, host, _ = strings.Cut(a.Address, "@")
	}
	if by != "" {
		by = "." + by
	}
	return sagas.RunID(key).String() + by + "@" + host
}

// WelcomePolicy is how long and how often a provisioning tries to send the
// welcome mail before it goes on without.
func (n *Notifier) WelcomePolicy() sagas.Policy {
	return sagas.Policy{
		Timeout: n.runner.Times().Call, Attempts: 5, Budget: n.times.MailBudget, Base: n.times.MailBase,
		Cap: n.times.MailCap, Sends: 1, Defer: true,
	}
}

// mailPolicy is that of runs which send one mail.
func (n *Notifier) mailPolicy() sagas.Policy {
	t := n.times
	return sagas.Policy{
		Timeout: n.runner.Times().Call, Budget: t.LateBudget - t.MailBudget, Least: t.LateBase, Base: t.LateBase, Cap: t.LateCap,
		Quarantine: t.MailUnanswered, Sends: 2, Defer: true,
	}
}
