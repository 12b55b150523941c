package notices

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Who orders in a shop with the address of an account that administers tenants is asked by
// mail which of them the order joins (docs/orders.md, "Joining a tenant by a link"). The
// shop is told nothing of it, and waits for nothing.

// A JoiningMail asks a user which tenant an unpaid order joins.
type JoiningMail struct {
	Order uuid.UUID `json:"order"`
	User  int64     `json:"user"`
	Key   string    `json:"key"`
}

// A joiningOffer asks customers which tenant their order joins.
type joiningOffer struct{ notifier *Notifier }

// registerJoiningMails registers the saga that sends one such mail.
func (n joiningOffer) registerJoiningMails() {
	n.notifier.joiningMails = sagas.Register(n.notifier.runner, sagas.Saga[JoiningMail]{
		Name: "mail", Definition: "mail/5",
		Steps: []sagas.Step[JoiningMail]{{
			Name: "join", Says: "ask the customer which tenant the order joins", Queue: MailQueue, Policy: n.notifier.mailPolicy(),
			Effect: &sagas.Effect[JoiningMail]{
				Key: func(m JoiningMail) string { return m.Key }, Prepare: n.joiningCall,
				Deferred: func(_ JoiningMail, failed sagas.FailedAttempt) sagas.Work { return n.notifier.refused(failed) },
			},
		}},
	})
}

// offerJoining asks the account that has the address of a new order, if it administers a
// tenant that the order may join. Orders of signed-in users and orders that pay an invoice
// leave nothing to choose.
func (n joiningOffer) offerJoining(ctx context.Context, r eventstore.RecordedEvent, e order.Placed) error {
	if e.Tenant != 0 || e.Invoice != uuid.Nil || e.Charge != uuid.Nil || len(n.notifier.unsubscribeKeys) == 0 || !n.notifier.isFresh(r) {
		return nil
	}
	user, err := n.notifier.mayJoin(ctx, e.Order)
	if err != nil || user == 0 {
		return err
	}
	_, err = n.notifier.store.Execute(
		ctx, reactionTo(r, uuid.NewSHA1(r.ID, []byte("offer joining"))),
		account.OfferJoining{User: user, Order: e.Order, At: r.RecordedAt},
	)
	return unlessMissing(err)
}

// joiningMail is the run that sends the mail.
func (n joiningOffer) joiningMail(r eventstore.RecordedEvent, e account.JoiningOffered) (sagas.Start, bool) {
	user, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	key := sagas.EffectKey(e.Order, "join")
	return n.notifier.joiningMails.Start(key, JoiningMail{Order: e.Order, User: user, Key: key}, e.Order), err == nil
}

// joiningCall prepares the mail. It is not sent once there is nothing to choose any more.
func (n joiningOffer) joiningCall(ctx context.Context, job *JoiningMail) (sagas.Call, error) {
	user, err := n.notifier.mayJoin(ctx, job.Order)
	switch {
	case err != nil:
		return sagas.Call{}, err
	case user != job.User || len(n.notifier.unsubscribeKeys) == 0:
		return sagas.Call{}, domain.Fail(domain.Permanent, "link_over", errors.New("the order joins no tenant of the user"))
	}
	o, err := n.notifier.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	reader, err := n.notifier.accountUser(ctx, job.User)
	if err != nil {
		return sagas.Call{}, err
	}
	l := joiningLetter(o, reader)
	l.Link = order.JoinPath + notice.Joining{User: job.User, Order: job.Order}.Token(n.notifier.unsubscribeKeys[0]) + "/"
	if l, err = n.notifier.branded(ctx, homeTenant(reader), l); err != nil {
		return sagas.Call{}, err
	}
	return n.notifier.mailCall(
		envelope{key: job.Key, letter: l, to: recipientOf(reader), request: map[string]any{"order": job.Order, "user": job.User}},
	)
}

// joiningLetter asks which tenant the order joins. Nothing in it was typed into the order
// form, which any caller can send.
func joiningLetter(o projections.Order, reader projections.User) notice.Letter {
	return notice.Letter{
		Occasion: notice.OrderTenant, To: o.CustomerEmail, Name: reader.Name,
		Language: cmp.Or(reader.Language, o.Language), Order: o.OrderNumber, Plan: o.PlanName,
		Link: order.JoinPath + "…/",
	}
}
