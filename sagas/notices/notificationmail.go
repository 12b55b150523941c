package notices

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A notification that its reader gets by mail starts a run in the append that
// asks for it, so reading the log again mails nothing twice
// (docs/notifications.md, "By mail").

// notificationMail is the run that mails a notification.
func (n *Notifier) notificationMail(r eventstore.RecordedEvent, e notice.MailRequested) (sagas.Start, bool) {
	id, err := uuid.Parse(r.Stream.ID)
	key := newsKey(r.Stream.ID)
	return n.notificationMails.Start(key, NewsMail{Notice: id, Key: key, Order: setUp(r), User: e.User}, uuid.Nil), err == nil
}

// setUp is the order whose setup an event tells of.
func setUp(r eventstore.RecordedEvent) uuid.UUID {
	text, _ := strings.CutPrefix(r.Metadata.Saga, "provision:")
	id, _ := uuid.Parse(text) // the zero one: of no order
	return id
}

// notificationCall prepares the mail of a notification. It is not sent if the
// account has ended, the preference was switched off, or the address is refused.
func (n *Notifier) notificationCall(ctx context.Context, job *NewsMail) (sagas.Call, error) {
	asked, err := n.mailAsked(ctx, job.Notice)
	if err != nil {
		return sagas.Call{}, err
	}
	if err := n.besideWelcome(ctx, job.Order, asked); err != nil {
		return sagas.Call{}, err
	}
	user, err := n.accountUser(ctx, asked.User)
	if err == nil {
		err = n.wants(ctx, user, asked.Type)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	l, err := n.newsLetter(ctx, user, asked)
	if err != nil {
		return sagas.Call{}, err
	}
	return n.mailCall(envelope{
		key: job.Key, letter: l, to: recipientOf(user), request: map[string]any{"notice": job.Notice},
		then: []domain.Command{notice.ConfirmMail{ID: job.Notice, At: n.runner.Now()}},
	})
}

// together is the time within which the welcome mail of an order also brings its invoice
// and the news that it is active.
const together = time.Minute

// besideWelcome refuses to mail what the welcome mail of the order has said at about the
// same time ([notice.InWelcome]). It waits for that mail where it is still to come: an
// order that is taken back has none ([Notifier.react]).
func (n *Notifier) besideWelcome(ctx context.Context, id uuid.UUID, asked notice.MailRequested) error {
	if id == uuid.Nil || !asked.Text().IsInWelcome() {
		return nil
	}
	history, err := n.store.Reader().Closed().Read(ctx, order.Stream(id))
	late := false
	for _, r := range history {
		switch r.Event.(type) {
		case order.WelcomeMailDelayed, order.WelcomeMailGivenUp, order.CompensationStarted:
			late = true
		case order.WelcomeMailSent:
			if r.RecordedAt.Sub(asked.At).Abs() <= together {
				return domain.Fail(domain.Permanent, notice.InWelcome, errors.New("the welcome mail has said it"))
			}
			late = true
		}
	}
	left := together - n.runner.Now().Sub(asked.At)
	if err != nil || late || left <= 0 {
		return err
	}
	return sagas.Await(order.Stream(id), "welcome_first", left)
}

// newsLetter is the mail of a notification.
func (n *Notifier) newsLetter(ctx context.Context, user projections.User, asked notice.MailRequested) (notice.Letter, error) {
	return n.branded(ctx, asked.Tenant, notice.Letter{
		Occasion: notice.News, News: asked.Text(), Link: asked.URL, To: user.Email, Name: user.Name,
		Language: asked.Language, Unsubscribe: n.unsubscribing(user.ID, asked.Type),
	})
}

// newsKey names the mail of a notification.
func newsKey(id string) string { return "n/" + id }

// giveUpNotification ends a run whose mail will not be sent any more.
func (n *Notifier) giveUpNotification(job NewsMail, l sagas.FailedAttempt) sagas.Work {
	return n.refused(l).And(sagas.Work{Commands: []domain.Command{notice.GiveUpMail{ID: job.Notice, Code: l.Code, At: n.runner.Now()}}})
}

// mailAsked is what the mail of a notification was to say when it was asked for.
func (n *Notifier) mailAsked(ctx context.Context, id uuid.UUID) (asked notice.MailRequested, err error) {
	stream := notice.ConfirmMail{ID: id}.Stream()
	history, err := n.store.Read(ctx, stream)
	if err != nil {
		return asked, err
	}
	for _, r := range history {
		if e, is := r.Event.(notice.MailRequested); is {
			return e, nil
		}
	}
	return asked, fmt.Errorf("no mail of %s was asked for", stream)
}

// accountUser is a user who can still be written to.
func (n *Notifier) accountUser(ctx context.Context, id int64) (projections.User, error) {
	user, err := n.tables.For(projections.System).Accounts().User(ctx, id)
	if domain.CodeOf(err) == domain.NotFound || err == nil && (user.Email == "" || !user.IsActive) {
		err = domain.Fail(domain.Permanent, "no_account", errors.New("the account has ended"))
	}
	return user, err
}

// wants refuses to mail a notification to a refused address, or of a type whose
// mails the user has switched off.
func (n *Notifier) wants(ctx context.Context, user projections.User, about notice.Type) error {
	prefers, err := n.preferences(ctx, user.ID)
	switch {
	case err != nil:
		return err
	case user.EmailRefusedAt != nil:
		return domain.Fail(domain.Permanent, "address_refused", errors.New("mail servers refuse the address"))
	case !prefers.Mails(about):
		return domain.Fail(domain.Permanent, "switched_off", errors.New("the user wants no such mails any more"))
	}
	return nil
}

// preferences are the ways in which a user wants to be told.
func (n *Notifier) preferences(ctx context.Context, user int64) (notice.Preferences, error) {
	w, _, err := eventstore.Fold(ctx, n.store, notice.Preferring, notice.SetPreferences{User: user}.Stream())
	return w.Preferences(), err
}

// unsubscribing is the link that ends more mails of this type for a user; blank:
// this process has no key to sign it.
func (n *Notifier) unsubscribing(user int64, about notice.Type) string {
	if len(n.unsubscribeKeys) == 0 {
		return ""
	}
	token := notice.Unsubscription{User: user, Preference: about.Preference()}.Token(n.unsubscribeKeys[0])
	return n.publicURL() + "/notifications/unsubscribe/" + token + "/"
}

// A recipient is the account that a letter's address belongs to; the zero
// value is none.
type recipient struct {
	user    int64
	subject uuid.UUID
	refused bool // by a mail server, the last time
}

func recipientOf(u projections.User) recipient {
	return recipient{user: u.ID, subject: u.Subject, refused: u.EmailRefusedAt != nil}
}

// recipient is the user with the address of a customer, if there is one.
func (n *Notifier) recipient(ctx context.Context, subject uuid.UUID) (projections.User, recipient, error) {
	user, known, err := n.tables.For(projections.System).Accounts().UserBySubject(ctx, subject)
	if err != nil || !known {
		return projections.User{}, recipient{}, err
	}
	return user, recipientOf(user), nil
}

// A badAddress is a mail server's last word on a recipient.
type badAddress struct {
	recipient
	error
}

func (b badAddress) Unwrap() error { return b.error }

// of adds the recipient to an error that says that the address was refused.
func (to recipient) of(err error) error {
	if to.user == 0 || sagas.CodeOf(err) != notice.RecipientRefused {
		return err
	}
	return badAddress{to, err}
}

// reached are the commands after a mail that was accepted.
func (n *Notifier) reached(to recipient) []domain.Command {
	if !to.refused {
		return nil
	}
	return []domain.Command{account.AcceptAddress{User: to.user, SubjectID: to.subject, At: n.runner.Now()}}
}

// refused is the work after a mail that will not be sent: if the address is the
// reason, the account says so.
func (n *Notifier) refused(l sagas.FailedAttempt) sagas.Work {
	bad, is := errors.AsType[badAddress](l.Cause)
	if !is {
		return sagas.Work{}
	}
	return sagas.Work{
		Commands: []domain.Command{account.RefuseAddress{User: bad.user, SubjectID: bad.subject, Code: l.Code, At: n.runner.Now()}},
	}
}
