package assembly_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/credentials"
)

// links are the secrets of the links in mails to an address.
func (w *world) links(address string) (all []string) {
	for _, mail := range w.mail.to(address) {
		_, rest, _ := strings.Cut(mail.Text, "/set-password/?token=")
		token, _, _ := strings.Cut(rest, "\n")
		all = append(all, token)
	}
	return all
}

func TestTheWelcomeMailIsSentOnceMoreWithANewLink(t *testing.T) { // C-2
	t.Parallel()
	w := newWorld(t).goes()
	const ana = "again@example.com"
	id := w.buy(ordering{email: ana})
	w.becomes(id, order.StatusActive)
	w.equal("without a reason", domain.CodeOf(w.Notify.ResendMail(t.Context(), operator, id, "")), domain.Invalid)
	w.must(w.Notify.ResendMail(t.Context(), operator, id, "it was lost"))
	w.eventually("it is sent", func() bool { return len(w.mail.to(ana)) == 2 && w.order(id).Mail == order.MailSent })
	links := w.links(ana)
	_, err := w.vault().TokenUser(t.Context(), links[0], credentials.SetPassword)
	w.equal("the old link works", err == nil, false)
	user, err := w.vault().TokenUser(t.Context(), links[1], credentials.SetPassword)
	w.must(err)
	w.equal("whose link it is", user, w.provision(id).Job.User)
	w.equal("secrets on their way", w.count(`select count(*) from secret_handoff`), 0)

	w.must(w.Accounts.Set(t.Context(), domain.Metadata{Actor: "user"}, links[1], "a long enough password"))
	w.must(w.Notify.ResendMail(t.Context(), operator, id, "once more"))
	w.eventually("it is sent", func() bool { return len(w.mail.to(ana)) == 3 })
	w.equal("a link for a user with a password", w.links(ana)[2], "")
}

func TestAMailThatWasGivenUpIsSentOnceMore(t *testing.T) { // T26
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Permanent, "no_such_user", errLie) }, nil)
	w.goes()
	id := w.buy(ordering{email: "gone@example.com"})
	w.becomes(id, order.StatusActive)
	w.eventually("it is given up", func() bool { return w.order(id).Mail == order.MailGivenUp })
	w.mail.tell(nil, nil)
	w.must(w.Notify.ResendMail(t.Context(), operator, id, "the mailbox is there now"))
	w.eventually("it is sent", func() bool { return w.order(id).Mail == order.MailSent })
	w.equal("warnings", len(w.order(id).Warnings), 0)
	w.equal("mails", len(w.mail.to("gone@example.com")), 1)
}

func TestAnOrderWithoutAnAccountHasNoMailToBeSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []uuid.UUID{w.place(ordering{}), uuid.New()} {
		w.equal("refused", domain.CodeOf(w.Notify.ResendMail(t.Context(), operator, id, "lost")), domain.Conflict)
	}
}
