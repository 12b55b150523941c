package assembly_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// warns lets something happen that the user is told of.
func (w *world) warns(user int64) {
	w.t.Helper()
	w.asks(account.NoteReuse{User: user, Family: uuid.New(), At: w.Now()})
}

// wants sets what a user wants to hear of.
func (w *world) wants(user int64, preference string, want bool) {
	w.t.Helper()
	said := map[bool]string{true: "true", false: "false"}[want]
	w.asks(notice.SetPreferences{User: user, Values: field.Values{preference: []byte(said)}})
}

// heard waits until everybody has been told of all that has happened.
func (w *world) heard() {
	w.t.Helper()
	w.eventually("all is told", func() bool {
		return w.count(`select count(*) from readers where name = $1 and position >=
			(select max(position) from events where name not like 'saga.%' and name not like 'notification.%')`, sagas.ReactionsReader) == 1
	})
}

// allTold waits for the mails as well.
func (w *world) allTold() {
	w.t.Helper()
	w.heard()
	w.eventually("all mails are dealt with", func() bool { return w.count(`select count(*) from saga_run where status <> 'done'`) == 0 })
}

// becameOf are the ends that mails of notifications to a user came to.
func (w *world) becameOf(user int64) []string {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `select coalesce(data ->> 'code', 'mailed') from events
		where name in ('notification.mailed', 'notification.mail_given_up') and (data ->> 'user')::bigint = $1 order by position`, user)
	w.must(err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var code string
		w.must(rows.Scan(&code))
		all = append(all, code)
	}
	return all
}

// Whatever is read, built or started again, each is told once by each way.
func TestUsersAreToldByTheWaysTheyWantAndNeverAgain(t *testing.T) { // W-7, L-1
	t.Parallel()
	w := newWorld(t).goes()
	for user, email := range map[int64]string{1: "both@example.com", 2: "panel@example.com", 3: "mail@example.com", 4: "none@example.com"} {
		w.opens(user, email, "es")
		w.wants(user, "email_on_system", user == 1 || user == 3)
		w.wants(user, "in_app_enabled", user == 1 || user == 2)
	}
	for user := range int64(4) {
		w.warns(user + 1)
	}
	once := func(when string) {
		t.Helper()
		w.allTold()
		w.equal(when+", in the panel", []int{len(w.told(1)), len(w.told(2)), len(w.told(3)), len(w.told(4))}, []int{1, 1, 0, 0})
		var mails []int
		for _, name := range []string{"both", "panel", "mail", "none"} {
			mails = append(mails, len(w.mail.news(name+"@example.com")))
		}
		w.equal(when+", by mail", mails, []int{1, 0, 1, 0})
	}
	once("at first")
	w.equal("shown as mailed", w.count(`select count(*) from notifications where is_email_sent`), 1)
	m := w.mail.news("both@example.com")[0]
	u, ok := notice.ReadUnsubscription(strings.TrimSuffix(m.Headers["List-Unsubscribe"][len("<http://127.0.0.1:8080/notifications/unsubscribe/"):], "/>"), unsubscribeKey)
	if !ok || u != (notice.Unsubscription{User: 1, Preference: "email_on_system"}) || m.Subject != "Se ha cerrado una sesión" || !strings.Contains(m.Text, "http://127.0.0.1:8080/account/\n") {
		t.Errorf("%+v %+v\n%s", u, m.Headers, m.Text)
	}

	for _, user := range []int64{2, 4} { // later preferences do not bring back earlier mails
		w.wants(user, "email_on_system", true)
	}
	w.wants(4, "email_on_system", false)
	w.repeated()
	once("when all is reacted to again")
	w.end()
	_, err := w.pool.Exec(t.Context(), `update readers set position = 0 where name = $1`, sagas.ReactionsReader)
	w.must(err)
	w.goes()
	once("when the log is read again")
	owner, err := eventstore.ConnectOwner(t.Context(), w.pool.Config().ConnString())
	w.must(err)
	defer owner.Close()
	_, err = projections.Rebuild(t.Context(), owner, w.store, []string{"notifications"}, projections.Options{})
	w.must(err)
	once("when the tables are built again")
	w.equal("shown as mailed", w.count(`select count(*) from notifications where is_email_sent`), 1)
}

// Preferences that change before a mail is sent take effect.
func TestAMailThatIsNoLongerWantedIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pauses("news")
	w.goes()
	for user, email := range map[int64]string{1: "ana@example.com", 2: "bob@example.com", 3: "eva@example.com"} {
		w.opens(user, email, "en")
		w.warns(user)
	}
	w.eventually("all mails are asked for", func() bool { return w.count(`select count(*) from saga_run where definition = $1`, "mail/4") == 3 })
	w.wants(1, "email_on_system", false)
	w.asks(account.Deactivate{User: 2, At: w.Now()})
	_, err := w.pool.Exec(t.Context(), `update saga_queue set paused = false`)
	w.must(err)
	w.allTold()
	w.equal("Ana's", w.becameOf(1), []string{"switched_off"})
	w.equal("Bob's", w.becameOf(2), []string{"no_account"})
	w.equal("Eva's", w.becameOf(3), []string{"mailed"})
	w.equal("mails", len(w.mail.news("ana@example.com"))+len(w.mail.news("bob@example.com")), 0)
	w.equal("in the panel", len(w.told(1)), 1)
}

// An address that a mail server refuses gets no more news, until a letter that
// its owner has asked for comes through, or it is another one.
func TestARefusedAddressGetsNoNews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(_, to string) error {
		if strings.HasPrefix(to, "gone") {
			return domain.Fail(domain.Permanent, notice.RecipientRefused, errors.New("550"))
		}
		return nil
	}, nil)
	w.goes()
	w.opens(1, "gone@example.com", "en")
	w.opens(2, "gone-too@example.com", "en")
	refused := func(user int64) bool {
		u, err := w.tables.For(projections.System).User(t.Context(), user)
		w.must(err)
		return u.EmailRefusedAt != nil
	}
	for user := range int64(2) {
		w.warns(user + 1)
		w.allTold()
		w.warns(user + 1)
		w.allTold()
		w.equal("mails", w.becameOf(user+1), []string{notice.RecipientRefused, "address_refused"})
		w.equal("seen by operators", refused(user+1), true)
	}
	w.equal("tries", w.count(`select count(*) from saga_attempt where error_class = 'permanent' and saga_id in (select id from saga_run where definition = $1)`, "mail/4"), 4)
	w.must(w.Accounts.AskReset(t.Context(), "gone@example.com")) // is tried all the same
	w.equal("refused again", w.ended(), []string{notice.RecipientRefused})
	w.equal("said once", w.count(`select count(*) from events where name = 'account.address_refused'`), 2)

	w.mail.tell(nil, nil)
	w.must(w.Accounts.AskReset(t.Context(), "gone@example.com"))
	w.mailed("gone@example.com", 1)
	w.allTold()
	w.equal("it is reached again", refused(1), false)
	subject, err := w.store.Subject(t.Context(), "here@example.com")
	w.must(err)
	w.asks(account.ChangeProfile{User: 2, SubjectID: subject, Email: "here@example.com", Language: "en", At: w.Now()})
	w.equal("another address", refused(2), false)
	for user, email := range map[int64]string{1: "gone@example.com", 2: "here@example.com"} {
		w.warns(user)
		w.allTold()
		w.equal("news at "+email, len(w.mail.news(email)), 1)
	}
}

// The welcome mail says what its order's invoice and its success would say in mails of
// their own. In the panel there are notifications of both.
func TestOneMailWelcomesWithInvoiceAndSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{email: "one@example.com"})
	w.becomes(id, order.StatusActive)
	w.allTold()
	user := w.provision(id).Job.User
	w.equal("told", w.told(user), []string{"billing: Nueva factura", "success: Su pedido está activo"})
	w.equal("what became of their mails", w.becameOf(user), []string{notice.InWelcome, notice.InWelcome})
	welcome := w.mail.to("one@example.com")
	w.equal("mails", len(welcome)+len(w.mail.news("one@example.com")), 1)
	w.equal("names the invoice", strings.Contains(welcome[0].Text, "La factura está en el panel."), true)
}

// A welcome mail that comes more than a minute late says nothing for others: the
// customer has mails of the invoice and of the success besides.
func TestALateWelcomeLeavesTheOtherMailsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.moves()
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Transient, "busy", errLie) }, nil)
	w.goes()
	id := w.buy(ordering{email: "late@example.com"})
	w.becomes(id, order.StatusActive)
	w.heard()
	w.must(w.store.Clock().Advance(t.Context(), 2*time.Minute))
	w.mail.tell(nil, nil)
	w.allTold()
	w.equal("the other mails", len(w.mail.news("late@example.com")), 2)
	w.equal("welcomed", len(w.mail.to("late@example.com")), 1)
}

// The order goes on; its customer's account knows that mails do not get there.
func TestAWelcomeThatIsRefusedSaysSoOfTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Permanent, notice.RecipientRefused, errLie) }, nil)
	w.goes()
	id := w.buy(ordering{email: "typo@example.com"})
	w.becomes(id, order.StatusActive)
	w.equal("mail", w.order(id).Mail, "given_up")
	w.allTold()
	user := w.provision(id).Job.User
	w.equal("refused", w.often(account.Stream(user), "account.address_refused"), 1)
	for _, code := range w.becameOf(user) { // that of the invoice may be under way before the welcome
		w.equal("news", code == "address_refused" || code == notice.RecipientRefused, true)
	}
	w.equal("news", len(w.becameOf(user)), 2)
}

// L-3: a mail with an unknown outcome is sent once more, and never a third time.
func TestNewsWithoutAnAnswerIsSentTwiceAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(nil, func(string, string) error { return domain.Fail(domain.Unknown, "answer_lost", errLie) })
	w.goes()
	w.opens(1, "ana@example.com", "en")
	w.warns(1)
	w.allTold()
	mails := w.mail.news("ana@example.com")
	w.equal("mails", len(mails), 2)
	w.equal("given up", w.becameOf(1), []string{sagas.Unanswered})
	if mails[0].MessageID != mails[1].MessageID || mails[0].Text != mails[1].Text {
		t.Error("the second is another message")
	}
}

// What happened long ago is shown, and not mailed.
func TestOldNewsIsNotMailed(t *testing.T) {
	t.Parallel()
	at := time.Now()
	w := newWorld(t, byHand(func() time.Time { return at }))
	w.opens(1, "ana@example.com", "en")
	w.warns(1)
	at = at.Add(4 * day) // older than what is mailed
	w.goes()
	w.allTold()
	w.equal("in the panel", len(w.told(1)), 1)
	w.equal("mails asked for", w.count(`select count(*) from events where name = 'notification.mail_requested'`), 0)
}
