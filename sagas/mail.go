package sagas

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
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Mails with a one-time link must neither get lost nor come with another link
// each time. So the link's secret is made with the fact that asks for it, and
// waits sealed for the mail; the mail's identity follows from its key
// (docs/sagas.md, "Mail").

// The lists of a run that sends one mail: an order's that is late, or one that
// an account was asked for.
const (
	mailDef = "mail/1"
	linkDef = "mail/2"
)

// sendMail makes the mail of a run ready: one that an account was asked for, or
// one that an order could not wait for.
func (s *Sagas) sendMail(ctx context.Context, job Job) (Call, error) {
	if job.Link != "" {
		return s.linkCall(ctx, job)
	}
	return s.welcomeCall(ctx, job)
}

// giveUpSending ends a run whose mail will not be sent any more.
func (s *Sagas) giveUpSending(job Job, l lapse) Work {
	work := s.blame(l)
	if job.Link != "" {
		return work.and(Work{Rows: []eventstore.Row{eventstore.Shred(job.Effect)}})
	}
	return work.and(s.giveUpMail(job))
}

// linkKey names the mail that a request for a link leads to.
func linkKey(user int64, request uuid.UUID) string { return fmt.Sprintf("u/%d/link/%s", user, request) }

// linkMail is the run that mails a link, under the key that its secret waits
// under. A link that an operator hands over needs none.
func (s *Sagas) linkMail(r eventstore.Recorded, e account.LinkRequested) (Start, bool) {
	user, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if _, mailed := occasions[e.Link]; err != nil || !mailed {
		return Start{}, false
	}
	key := linkKey(user, r.Cause.ID)
	return Start{Key: "mail:" + key, Def: linkDef, Steps: s.places([]string{"send"}), Job: Job{User: user, Link: e.Link, Effect: key}}, true
}

// tokenRows store a one-time link for a user, which ends earlier ones, and its
// secret for the mail.
func (s *Sagas) tokenRows(token string, user int64, effect string) []eventstore.Row {
	rows := eventstore.TokenRows(token, SetPassword, user, s.times.LateBudget+s.times.LinkLife)
	return append(rows, s.store.HandOff(SetPassword, effect, []byte(token), s.times.LateBudget))
}

// occasions are why a link is mailed.
var occasions = map[account.Link]notice.Occasion{account.Welcome: notice.Invitation, account.Reset: notice.Reset}

// linkCall makes a mail with a one-time link ready. A link that is of no use
// any more is not sent: the person has got a newer one, has chosen a password,
// or is no longer there.
func (s *Sagas) linkCall(ctx context.Context, job Job) (Call, error) {
	user, err := s.accountUser(ctx, job.User)
	if err != nil {
		return Call{}, err
	}
	token, err := s.liveLink(ctx, job.Effect)
	if errors.Is(err, eventstore.ErrLink) || errors.Is(err, eventstore.ErrShredded) {
		err = domain.Fail(domain.Permanent, "link_over", err)
	}
	if err != nil {
		return Call{}, err
	}
	l := notice.Letter{Occasion: occasions[job.Link], To: user.Email, Name: user.Name, Language: user.Language, Username: user.Email}
	if l, err = s.branded(ctx, home(user), l); err != nil {
		return Call{}, err
	}
	return s.mailCall(envelope{
		key: job.Effect, letter: l, token: token, to: recipientOf(user), request: map[string]any{"user": job.User, "link": job.Link},
	})
}

// liveLink is the secret that waits under a key, if its link still works. It
// answers [eventstore.ErrShredded] if there is none, [eventstore.ErrLink] if
// the link has ended.
func (s *Sagas) liveLink(ctx context.Context, key string) (string, error) {
	secret, err := s.store.OpenHandOff(ctx, SetPassword, key)
	if err == nil {
		_, err = s.store.TokenUser(ctx, string(secret), SetPassword)
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
func (s *Sagas) mailCall(e envelope) (Call, error) {
	l := e.letter
	l.MessageID, l.From = messageID(e.key, s.mailFrom), cmp.Or(l.From, s.mailFrom)
	l.PanelURL, l.Link = s.publicURL()+"/", s.publicURL()+cmp.Or(e.path, "/login/")
	rows := []eventstore.Row{eventstore.Shred(e.key)}
	if e.token != "" {
		l.Link = s.publicURL() + "/set-password/?token=" + e.token
		rows = append(rows, eventstore.ExtendToken(e.token, s.times.LinkLife))
	}
	message, err := l.Write()
	if err != nil {
		return Call{}, domain.Fail(domain.Permanent, "malformed", err)
	}
	e.request["message"] = l.MessageID
	return Call{
		Request: e.request,
		Do: func(ctx context.Context) (Result, error) {
			return Result{External: l.MessageID}, e.to.of(s.mail.Send(ctx, message))
		},
		Confirmed: func(Result) Work { return Work{Commands: append(e.then, s.reached(e.to)...), Rows: rows} },
	}, nil
}

// messageID follows from the key, so a mail that is sent twice is recognised
// as one.
func messageID(key, from string) string {
	host := "localhost"
	if a, err := mail.ParseAddress(from); err == nil {
		_, host, _ = strings.Cut(a.Address, "@")
	}
	return RunID(key).String() + "@" + host
}
