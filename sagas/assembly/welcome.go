package assembly

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// The welcome mail of an order brings a new account its one-time link, and an
// existing one the way to sign in. It never holds up an order: what does not
// get through in time is left to a run of its own (docs/sagas.md, "Mail").

// welcomeCall makes the mail ready.
func (s *Panel) welcomeCall(ctx context.Context, job WelcomeMail) (sagas.Call, error) {
	o, err := s.order(ctx, job.Order)
	if err == nil {
		err = s.stillWelcome(ctx, job.Order)
	}
	if err != nil {
		return sagas.Call{}, err
	}
	if o.CustomerEmail == "" {
		return sagas.Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	key := job.Key
	token, err := s.welcomeLink(ctx, job, key)
	if err != nil {
		return sagas.Call{}, err
	}
	l := notice.Letter{
		Occasion: notice.NextOrder, To: o.CustomerEmail, Name: o.CustomerName, Language: o.Language,
		Username: plainAddress(o.CustomerEmail), Order: o.OrderNumber, Plan: o.PlanName,
	}
	if token != "" {
		l.Occasion = notice.FirstOrder
	}
	if l, err = s.branded(ctx, job.Tenant, l); err != nil {
		return sagas.Call{}, err
	}
	_, to, err := s.recipient(ctx, o.Subject)
	if err != nil {
		return sagas.Call{}, err
	}
	return s.mailCall(envelope{
		key: key, letter: l, token: token, to: to, request: map[string]any{"subject": o.Subject, "link": job.Opened},
		then: []domain.Command{order.ConfirmMail{ID: job.Order, At: s.Now()}},
	})
}

// stillWelcome refuses to welcome somebody to what is being taken back, or has
// ended.
func (s *Panel) stillWelcome(ctx context.Context, id uuid.UUID) error {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(id))
	if err == nil && (o.TurnsBack() || o.Compensated || o.Service() == order.ServiceEnds) {
		return domain.Fail(domain.Permanent, "order_over", errors.New("the order has ended"))
	}
	return err
}

// welcomeLink is the secret of the mail's link; empty for an account that was
// there before, or whose owner has a newer link or a password by now. A secret
// that has run out on the way is replaced.
func (s *Panel) welcomeLink(ctx context.Context, job WelcomeMail, key string) (string, error) {
	if !job.Opened {
		return "", nil
	}
	token, err := s.liveLink(ctx, key)
	switch {
	case errors.Is(err, credentials.ErrLink):
		return "", nil
	case errors.Is(err, credentials.ErrShredded):
		return s.renewLink(ctx, job, key)
	}
	return token, err
}

// renewLink makes a link anew, unless its reader can sign in without.
func (s *Panel) renewLink(ctx context.Context, job WelcomeMail, key string) (string, error) {
	user, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(job.User))
	if err != nil || user.HasPassword {
		return "", err
	}
	rows := append([]eventstore.TxStatement{credentials.Shred(key)}, s.tokenRows(credentials.NewToken(), job.User, key)...)
	rows[0].Key = "secret_handoff/" + key + "/0" // before the new one
	rows[len(rows)-1].Key += "/1"
	if _, err := s.store.ExecuteWith(ctx, domain.Metadata{Actor: "system:mail"}, rows); err != nil {
		return "", err
	}
	return s.liveLink(ctx, key)
}

// delayMail lets the order go on without its mail. One that was refused for
// good is not tried again.
func (s *Panel) delayMail(job WelcomeMail, l sagas.FailedAttempt) sagas.Work {
	work := sagas.Work{Commands: []domain.Command{order.DelayMail{ID: job.Order, At: s.Now()}}}
	if l.Final {
		work = work.And(s.giveUpMail(job))
	}
	return work.And(s.blame(l))
}

// giveUpMail leaves the mail to an operator. Its link stays valid.
func (s *Panel) giveUpMail(job WelcomeMail) sagas.Work {
	return sagas.Work{
		Commands: []domain.Command{order.GiveUpMail{ID: job.Order, At: s.Now()}},
		Rows:     []eventstore.TxStatement{credentials.Shred(job.Key)},
	}
}

// lateMail is the run that goes on with a delayed mail; not, if the mail is
// given up in the same breath.
func (s *Panel) lateMail(ctx context.Context, id uuid.UUID, facts []eventstore.RecordedEvent) (sagas.Start, bool, error) {
	for _, f := range facts {
		if _, over := f.Event.(order.WelcomeMailGivenUp); over && f.Stream == order.Stream(id) {
			return sagas.Start{}, false, nil
		}
	}
	in, err := s.provisioned(ctx, id)
	return s.lateWelcome.Start(in.welcome().Key, in.welcome(), id), true, err
}

// welcome is the welcome mail of a provisioning.
func (in ProvisionInput) welcome() WelcomeMail {
	return WelcomeMail{Order: in.Order, User: in.User, Opened: in.Opened, Tenant: in.Tenant, Key: sagas.EffectKey(in.Order, "welcome")}
}
