package notices_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas/sagastest"
)

// links are the secrets of the links in mails to an address.
func linksTo(w *sagastest.World, address string) (all []string) {
	for _, mail := range w.Mail.To(address) {
		_, rest, _ := strings.Cut(mail.Text, "/set-password/?token=")
		token, _, _ := strings.Cut(rest, "\n")
		all = append(all, token)
	}
	return all
}

func TestTheWelcomeMailIsSentOnceMoreWithANewLink(t *testing.T) { // C-2
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	const ana = "again@example.com"
	id := w.Buy(sagastest.OrderForm{Email: ana})
	w.Becomes(id, order.StatusActive)
	w.Equal("without a reason", domain.CodeOf(w.Notify.ResendMail(t.Context(), sagastest.Operator, id, "")), domain.Invalid)
	w.Must(w.Notify.ResendMail(t.Context(), sagastest.Operator, id, "it was lost"))
	w.Eventually("it is sent", func() bool { return len(w.Mail.To(ana)) == 2 && w.Order(id).Mail == order.MailSent })
	links := linksTo(w, ana)
	_, err := w.Vault().TokenUser(t.Context(), links[0], credentials.SetPassword)
	w.Equal("the old link works", err == nil, false)
	user, err := w.Vault().TokenUser(t.Context(), links[1], credentials.SetPassword)
	w.Must(err)
	w.Equal("whose link it is", user, w.Provision(id).Job.User)
	w.Equal("secrets on their way", w.Count(`select count(*) from secret_handoff`), 0)

	w.Must(w.Accounts.Set(t.Context(), domain.Metadata{Actor: "user"}, links[1], "a long enough password"))
	w.Must(w.Notify.ResendMail(t.Context(), sagastest.Operator, id, "once more"))
	w.Eventually("it is sent", func() bool { return len(w.Mail.To(ana)) == 3 })
	w.Equal("a link for a user with a password", linksTo(w, ana)[2], "")
}

func TestAMailThatWasGivenUpIsSentOnceMore(t *testing.T) { // T26
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(string, string) error { return domain.Fail(domain.Permanent, "no_such_user", sagastest.ErrLie) }, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "gone@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Eventually("it is given up", func() bool { return w.Order(id).Mail == order.MailGivenUp })
	w.Mail.Tell(nil, nil)
	w.Must(w.Notify.ResendMail(t.Context(), sagastest.Operator, id, "the mailbox is there now"))
	w.Eventually("it is sent", func() bool { return w.Order(id).Mail == order.MailSent })
	w.Equal("warnings", len(w.Order(id).Warnings), 0)
	w.Equal("mails", len(w.Mail.To("gone@example.com")), 1)
}

func TestAnOrderWithoutAnAccountHasNoMailToBeSent(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	for _, id := range []uuid.UUID{w.Place(sagastest.OrderForm{}), uuid.New()} {
		w.Equal("refused", domain.CodeOf(w.Notify.ResendMail(t.Context(), sagastest.Operator, id, "lost")), domain.Conflict)
	}
}
