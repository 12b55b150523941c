package assembly

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// A notification that somebody wants by mail starts a run of its own in the
// append that asks for it. So whatever reads the log again, nothing is mailed
// a second time (docs/notifications.md, "By mail").

// newsQueue is where news wait: however much there is of it, nothing else waits
// longer for its mail.
const newsQueue = "news"

// noticeMail is the run that mails a notification.
func (s *Panel) noticeMail(r eventstore.RecordedEvent) (sagas.Start, bool) {
	id, err := uuid.Parse(r.Stream.ID)
	key := "n/" + r.Stream.ID
	return s.newsMails.Start(key, NewsMail{Notice: id, Key: key}, uuid.Nil), err == nil
}

// noticeCall makes the mail of a notification ready. It is not sent to who has
// gone, does not want it any more, or cannot be reached.
func (s *Panel) noticeCall(ctx context.Context, job *NewsMail) (sagas.Call, error) {
	asked, err := s.mailAsked(ctx, job.Notice)
	if err != nil {
		return sagas.Call{}, err
	}
	user, err := s.accountUser(ctx, asked.User)
	if err == nil {
		err = s.wants(ctx, user, asked.Type)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	l := notice.Letter{
		Occasion: notice.News, News: asked.Text(), To: user.Email, Name: user.Name, Language: asked.Language, Unsubscribe: s.unsubscribing(user.ID, asked.Type),
	}
	if l, err = s.branded(ctx, asked.Tenant, l); err != nil {
		return sagas.Call{}, err
	}
	return s.mailCall(envelope{
		key: job.Key, letter: l, path: asked.URL, to: recipientOf(user), request: map[string]any{"notice": job.Notice},
		then: []domain.Command{notice.ConfirmMail{ID: job.Notice, At: s.Now()}},
	})
}

// giveUpNews ends a run whose mail will not be sent any more.
func (s *Panel) giveUpNews(job NewsMail, l sagas.FailedAttempt) sagas.Work {
	return s.blame(l).And(sagas.Work{Commands: []domain.Command{notice.GiveUpMail{ID: job.Notice, Code: l.Code, At: s.Now()}}})
}

// mailAsked is what the mail of a notification was to say when it was asked for.
func (s *Panel) mailAsked(ctx context.Context, id uuid.UUID) (asked notice.MailRequested, err error) {
	stream := notice.ConfirmMail{ID: id}.Stream()
	history, err := s.store.Read(ctx, stream)
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
func (s *Panel) accountUser(ctx context.Context, id int64) (projections.User, error) {
	user, err := s.tables.For(projections.System).User(ctx, id)
	if domain.CodeOf(err) == domain.NotFound || err == nil && (user.Email == "" || !user.IsActive) {
		err = domain.Fail(domain.Permanent, "no_account", errors.New("the account has ended"))
	}
	return user, err
}

// wants refuses to mail news to an address that takes none, or about what its
// reader wants no mails of by now.
func (s *Panel) wants(ctx context.Context, user projections.User, about notice.Type) error {
	wishes, err := s.preferences(ctx, user.ID)
	switch {
	case err != nil:
		return err
	case user.EmailRefusedAt != nil:
		return domain.Fail(domain.Permanent, "address_refused", errors.New("mail servers refuse the address"))
	case !wishes.Mails(about):
		return domain.Fail(domain.Permanent, "switched_off", errors.New("the user wants no such mails any more"))
	}
	return nil
}

// preferences are what a user wants to hear of.
func (s *Panel) preferences(ctx context.Context, user int64) (notice.Preferences, error) {
	w, _, err := eventstore.Fold(ctx, s.store, notice.Preferring, notice.SetPreferences{User: user}.Stream())
	return w.Preferences(), err
}

// unsubscribing is the link by which a user wants no more mails like this one;
// blank: this process has no key to make one.
func (s *Panel) unsubscribing(user int64, about notice.Type) string {
	if len(s.unsubscribeKeys) == 0 {
		return ""
	}
	token := notice.Unsubscription{User: user, Preference: about.Preference()}.Token(s.unsubscribeKeys[0])
	return s.publicURL() + "/notifications/unsubscribe/" + token + "/"
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

// recipient is whoever has the address of a customer's, if anybody does.
func (s *Panel) recipient(ctx context.Context, subject uuid.UUID) (projections.User, recipient, error) {
	user, known, err := s.tables.For(projections.System).UserBySubject(ctx, subject)
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

// of tells whose address it was that a mail server has refused.
func (to recipient) of(err error) error {
	if to.user == 0 || sagas.CodeOf(err) != notice.RecipientRefused {
		return err
	}
	return badAddress{to, err}
}

// reached is what follows from a mail that got through.
func (s *Panel) reached(to recipient) []domain.Command {
	if !to.refused {
		return nil
	}
	return []domain.Command{account.AcceptAddress{User: to.user, SubjectID: to.subject, At: s.Now()}}
}

// blame is what follows from a mail that will not be sent, if its address is
// the reason.
func (s *Panel) blame(l sagas.FailedAttempt) sagas.Work {
	bad, is := errors.AsType[badAddress](l.Cause)
	if !is {
		return sagas.Work{}
	}
	return sagas.Work{Commands: []domain.Command{account.RefuseAddress{User: bad.user, SubjectID: bad.subject, Code: l.Code, At: s.Now()}}}
}
