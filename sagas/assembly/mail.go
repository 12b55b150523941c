package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Mails with a one-time link must neither get lost nor come with another link
// each time. So the link's secret is made with the fact that asks for it, and
// waits sealed for the mail; the mail's identity follows from its key
// (docs/sagas.md, "Mail").

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
	}
)

// registerMails registers the sagas that send one mail each.
func (s *Panel) registerMails() {
	s.lateWelcome = sagas.Register(s.Runner, sagas.Saga[WelcomeMail]{Name: "mail", Definition: "mail/1", Steps: []sagas.Step[WelcomeMail]{{
		Name: "send", Says: "send the email", Queue: mailQueue, Policy: s.policies.late,
		Effect: &sagas.Effect[WelcomeMail]{
			Key: func(m WelcomeMail) string { return m.Key }, Lasting: true,
			Prepare: func(ctx context.Context, m *WelcomeMail) (sagas.Call, error) { return s.welcomeCall(ctx, *m) },
			Deferred: func(m WelcomeMail, failed sagas.FailedAttempt) sagas.Work {
				return s.blame(failed).And(s.giveUpMail(m))
			},
		},
	}}})
	s.linkMails = sagas.Register(s.Runner, sagas.Saga[LinkMail]{Name: "mail", Definition: "mail/2", Steps: []sagas.Step[LinkMail]{{
		Name: "send", Says: "send the email", Queue: mailQueue, Policy: s.policies.late,
		Effect: &sagas.Effect[LinkMail]{
			Key: func(m LinkMail) string { return m.Key }, Prepare: s.linkCall, Lasting: true,
			Deferred: func(m LinkMail, failed sagas.FailedAttempt) sagas.Work {
				return s.blame(failed).And(sagas.Work{Rows: []eventstore.TxStatement{credentials.Shred(m.Key)}})
			},
		},
	}}})
	s.approvalLost = sagas.Register(s.Runner, sagas.Saga[OrderMail]{Name: "mail", Definition: "mail/3", Steps: []sagas.Step[OrderMail]{{
		Name: "lost", Says: "tell the customer that nothing was collected", Queue: mailQueue, Policy: s.policies.late,
		Effect: &sagas.Effect[OrderMail]{
			Key: func(m OrderMail) string { return m.Key }, Prepare: s.lostCall,
			Deferred: func(_ OrderMail, failed sagas.FailedAttempt) sagas.Work { return s.blame(failed) },
		},
	}}})
	s.newsMails = sagas.Register(s.Runner, sagas.Saga[NewsMail]{Name: "mail", Definition: "mail/4", Steps: []sagas.Step[NewsMail]{{
		Name: "news", Says: "send the email about news", Queue: newsQueue, Policy: s.policies.late,
		Effect: &sagas.Effect[NewsMail]{Key: func(m NewsMail) string { return m.Key }, Prepare: s.noticeCall, Lasting: true, Deferred: s.giveUpNews},
	}}})
}

// mailStarts are the runs that send the mails that events ask for.
func (s *Panel) mailStarts(_ context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(s.Runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
		switch e := r.Event.(type) {
		case account.LinkRequested:
			run, begins = s.linkMail(r, e)
		case notice.MailRequested:
			run, begins = s.noticeMail(r)
		case order.Cancelled:
			run, begins = s.lostMail(uuid.MustParse(r.Stream.ID), e)
		}
		return run, begins, nil
	})
}

// linkKey names the mail that a request for a link leads to.
func linkKey(user int64, request uuid.UUID) string { return fmt.Sprintf("u/%d/link/%s", user, request) }

// linkMail is the run that mails a link, under the key that its secret waits
// under. A link that an operator hands over needs none.
func (s *Panel) linkMail(r eventstore.RecordedEvent, e account.LinkRequested) (sagas.Start, bool) {
	user, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if _, mailed := occasions[e.Link]; err != nil || !mailed {
		return sagas.Start{}, false
	}
	key := linkKey(user, r.Metadata.ID)
	return s.linkMails.Start(key, LinkMail{User: user, Link: e.Link, Key: key}, uuid.Nil), true
}

// tokenRows store a one-time link for a user, which ends earlier ones, and its
// secret for the mail.
func (s *Panel) tokenRows(token string, user int64, effect string) []eventstore.TxStatement {
	rows := credentials.TokenRows(token, SetPassword, user, s.times.LateBudget+s.times.LinkLife)
	return append(rows, s.vault.HandOff(SetPassword, effect, []byte(token), s.times.LateBudget))
}

// occasions are why a link is mailed.
var occasions = map[account.Link]notice.Occasion{account.Welcome: notice.Invitation, account.Reset: notice.Reset}

// linkCall makes a mail with a one-time link ready. A link that is of no use
// any more is not sent: the person has got a newer one, has chosen a password,
// or is no longer there.
func (s *Panel) linkCall(ctx context.Context, job *LinkMail) (sagas.Call, error) {
	user, err := s.accountUser(ctx, job.User)
	if err != nil {
		return sagas.Call{}, err
	}
	token, err := s.liveLink(ctx, job.Key)
	if errors.Is(err, credentials.ErrLink) || errors.Is(err, credentials.ErrShredded) {
		err = domain.Fail(domain.Permanent, "link_over", err)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	l := notice.Letter{Occasion: occasions[job.Link], To: user.Email, Name: user.Name, Language: user.Language, Username: user.Email}
	if l, err = s.branded(ctx, home(user), l); err != nil {
		return sagas.Call{}, err
	}
	return s.mailCall(envelope{
		key: job.Key, letter: l, token: token, to: recipientOf(user), request: map[string]any{"user": job.User, "link": job.Link},
	})
}

// liveLink is the secret that waits under a key, if its link still works. It
// answers [credentials.ErrShredded] if there is none, [credentials.ErrLink] if
// the link has ended.
func (s *Panel) liveLink(ctx context.Context, key string) (string, error) {
	secret, err := s.vault.OpenHandOff(ctx, SetPassword, key)
	if err == nil {
		_, err = s.vault.TokenUser(ctx, string(secret), SetPassword)
	}
	return string(secret), err
}

// An envelope is a letter with all that sending it takes.
type envelope struct {
	key     string // names the mail: its message id, and where the secret of its link waits
	letter  notice.Letter
	token   string // of the one-time link that it brings; blank: it leads to the path
	path    string // within the panel; blank: to where one signs in
	to      recipient
	request map[string]any // what is asked for; no personal data
	then    []domain.Command
}

// mailCall sends one letter, now or later: the key, and so the message and its
// link, are the same each time.
func (s *Panel) mailCall(e envelope) (sagas.Call, error) {
	l := e.letter
	l.MessageID, l.From = messageID(e.key, s.mailFrom), cmp.Or(l.From, s.mailFrom)
	l.PanelURL, l.Link = s.publicURL()+"/", s.publicURL()+cmp.Or(e.path, "/login/")
	rows := []eventstore.TxStatement{credentials.Shred(e.key)}
	if e.token != "" {
		l.Link = s.publicURL() + "/set-password/?token=" + e.token
		rows = append(rows, credentials.ExtendToken(e.token, s.times.LinkLife))
	}
	message, err := l.Write()
	if err != nil {
		return sagas.Call{}, domain.Fail(domain.Permanent, "malformed", err)
	}
	e.request["message"] = l.MessageID
	return sagas.Call{
		Request: e.request,
		Do: func(ctx context.Context) (sagas.Result, error) {
			return sagas.Result{External: l.MessageID}, e.to.of(s.mail.Send(ctx, message))
		},
		Confirmed: func(sagas.Result) sagas.Work {
			return sagas.Work{Commands: append(e.then, s.reached(e.to)...), Rows: rows}
		},
	}, nil
}

// messageID follows from the key, so a mail that is sent twice is recognised
// as one.
func messageID(key, from string) string {
	host := "localhost"
	if a, err := mail.ParseAddress(from); err == nil {
		_, host, _ = strings.Cut(a.Address, "@")
	}
	return sagas.RunID(key).String() + "@" + host
}
