package notices_test

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
	"hostpanel/sagas/sagastest"
)

// warns lets something happen that the user is told of.
func warns(w *sagastest.World, user int64) {
	w.T.Helper()
	w.Asks(account.NoteReuse{User: user, Family: uuid.New(), At: w.Runner.Now()})
}

// wants sets what a user wants to hear of.
func wants(w *sagastest.World, user int64, preference string, want bool) {
	w.T.Helper()
	said := map[bool]string{true: "true", false: "false"}[want]
	w.Asks(notice.SetPreferences{User: user, Values: field.Values{preference: []byte(said)}})
}

// becameOf are the ends that mails of notifications to a user came to.
func becameOf(w *sagastest.World, user int64) []string {
	w.T.Helper()
	rows, err := w.Pool.Query(w.T.Context(), `select coalesce(data ->> 'code', 'mailed') from events
		where name in ('notification.mailed', 'notification.mail_given_up') and (data ->> 'user')::bigint = $1 order by position`, user)
	w.Must(err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var code string
		w.Must(rows.Scan(&code))
		all = append(all, code)
	}
	return all
}

// Whatever is read, built or started again, each is told once by each way.
func TestUsersAreToldByTheWaysTheyWantAndNeverAgain(t *testing.T) { // W-7, L-1
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	for user, email := range map[int64]string{1: "both@example.com", 2: "panel@example.com", 3: "mail@example.com", 4: "none@example.com"} {
		w.Opens(user, email, "es")
		wants(w, user, "email_on_system", user == 1 || user == 3)
		wants(w, user, "in_app_enabled", user == 1 || user == 2)
	}
	for user := range int64(4) {
		warns(w, user+1)
	}
	once := func(when string) {
		t.Helper()
		w.AllTold()
		w.Equal(when+", in the panel", []int{len(w.Told(1)), len(w.Told(2)), len(w.Told(3)), len(w.Told(4))}, []int{1, 1, 0, 0})
		var mails []int
		for _, name := range []string{"both", "panel", "mail", "none"} {
			mails = append(mails, len(w.Mail.News(name+"@example.com")))
		}
		w.Equal(when+", by mail", mails, []int{1, 0, 1, 0})
	}
	once("at first")
	w.Equal("shown as mailed", w.Count(`select count(*) from notifications where is_email_sent`), 1)
	m := w.Mail.News("both@example.com")[0]
	u, ok := notice.ReadUnsubscription(
		strings.TrimSuffix(m.Headers["List-Unsubscribe"][len("<http://127.0.0.1:8080/notifications/unsubscribe/"):], "/>"),
		sagastest.UnsubscribeKey,
	)
	if !ok || u != (notice.Unsubscription{
		User: 1, Preference: "email_on_system",
	}) || m.Subject != "Se ha cerrado una sesión" || !strings.Contains(
		m.Text, "http://127.0.0.1:8080/account/\n",
	) {
		t.Errorf("%+v %+v\n%s", u, m.Headers, m.Text)
	}

	for _, user := range []int64{2, 4} { // later preferences do not bring back earlier mails
		wants(w, user, "email_on_system", true)
	}
	wants(w, 4, "email_on_system", false)
	w.Repeated()
	once("when all is reacted to again")
	w.End()
	_, err := w.Pool.Exec(t.Context(), `update readers set position = 0 where name = $1`, sagas.ReactionsReader)
	w.Must(err)
	w.Goes()
	once("when the log is read again")
	owner, err := eventstore.ConnectOwner(t.Context(), w.Pool.Config().ConnString())
	w.Must(err)
	defer owner.Close()
	_, err = projections.Rebuild(t.Context(), owner, w.Store.Reader(), []string{"notifications"}, projections.Options{})
	w.Must(err)
	once("when the tables are built again")
	w.Equal("shown as mailed", w.Count(`select count(*) from notifications where is_email_sent`), 1)
}

// Preferences that change before a mail is sent take effect.
func TestAMailThatIsNoLongerWantedIsNotSent(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses("news")
	w.Goes()
	for user, email := range map[int64]string{1: "ana@example.com", 2: "bob@example.com", 3: "eva@example.com"} {
		w.Opens(user, email, "en")
		warns(w, user)
	}
	w.Eventually("all mails are asked for", func() bool {
		return w.Count(`select count(*) from saga_run where definition = $1`, "mail/4") == 3
	})
	wants(w, 1, "email_on_system", false)
	w.Asks(account.Deactivate{User: 2, At: w.Runner.Now()})
	_, err := w.Pool.Exec(t.Context(), `update saga_queue set paused = false`)
	w.Must(err)
	w.AllTold()
	w.Equal("Ana's", becameOf(w, 1), []string{"switched_off"})
	w.Equal("Bob's", becameOf(w, 2), []string{"no_account"})
	w.Equal("Eva's", becameOf(w, 3), []string{"mailed"})
	w.Equal("mails", len(w.Mail.News("ana@example.com"))+len(w.Mail.News("bob@example.com")), 0)
	w.Equal("in the panel", len(w.Told(1)), 1)
}

// An address that a mail server refuses gets no more news, until a letter that
// its owner has asked for comes through, or it is another one.
func TestARefusedAddressGetsNoNews(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(_, to string) error {
		if strings.HasPrefix(to, "gone") {
			return domain.Fail(domain.Permanent, notice.RecipientRefused, errors.New("550"))
		}
		return nil
	}, nil)
	w.Goes()
	w.Opens(1, "gone@example.com", "en")
	w.Opens(2, "gone-too@example.com", "en")
	refused := func(user int64) bool {
		u, err := w.Tables.For(projections.System).Accounts().User(t.Context(), user)
		w.Must(err)
		return u.EmailRefusedAt != nil
	}
	for user := range int64(2) {
		warns(w, user+1)
		w.AllTold()
		warns(w, user+1)
		w.AllTold()
		w.Equal("mails", becameOf(w, user+1), []string{notice.RecipientRefused, "address_refused"})
		w.Equal("seen by operators", refused(user+1), true)
	}
	w.Equal("tries", w.Count(`select count(*) from saga_attempt where error_class = 'permanent'
		and saga_id in (select id from saga_run where definition = $1)`, "mail/4"), 4)
	w.Must(w.Accounts.AskReset(t.Context(), "gone@example.com")) // is tried all the same
	w.Equal("refused again", w.Ended(), []string{notice.RecipientRefused})
	w.Equal("said once", w.Count(`select count(*) from events where name = 'account.address_refused'`), 2)

	w.Mail.Tell(nil, nil)
	w.Must(w.Accounts.AskReset(t.Context(), "gone@example.com"))
	w.Mailed("gone@example.com", 1)
	w.AllTold()
	w.Equal("it is reached again", refused(1), false)
	subject, err := w.Store.Subject(t.Context(), "here@example.com")
	w.Must(err)
	w.Asks(account.ChangeProfile{User: 2, SubjectID: subject, Email: "here@example.com", Language: "en", At: w.Runner.Now()})
	w.Equal("another address", refused(2), false)
	for user, email := range map[int64]string{1: "gone@example.com", 2: "here@example.com"} {
		warns(w, user)
		w.AllTold()
		w.Equal("news at "+email, len(w.Mail.News(email)), 1)
	}
}

// The welcome mail says what its order's invoice and its success would say in mails of
// their own. In the panel there are notifications of both.
func TestOneMailWelcomesWithInvoiceAndSuccess(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Email: "one@example.com"})
	w.Becomes(id, order.StatusActive)
	w.AllTold()
	user := w.Provision(id).Job.User
	w.Equal("told", w.Told(user), []string{"billing: Nueva factura", "success: Su pedido está activo"})
	w.Equal("what became of their mails", becameOf(w, user), []string{notice.InWelcome, notice.InWelcome})
	welcome := w.Mail.To("one@example.com")
	w.Equal("mails", len(welcome)+len(w.Mail.News("one@example.com")), 1)
	w.Equal("names the invoice", strings.Contains(welcome[0].Text, "La factura está en el panel."), true)
}

// L-3: a mail with an unknown outcome is sent once more, and never a third time.
func TestNewsWithoutAnAnswerIsSentTwiceAtMost(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(nil, func(string, string) error { return domain.Fail(domain.Unknown, "answer_lost", sagastest.ErrLie) })
	w.Goes()
	w.Opens(1, "ana@example.com", "en")
	warns(w, 1)
	w.AllTold()
	mails := w.Mail.News("ana@example.com")
	w.Equal("mails", len(mails), 2)
	w.Equal("given up", becameOf(w, 1), []string{sagas.Unanswered})
	if mails[0].MessageID != mails[1].MessageID || mails[0].Text != mails[1].Text {
		t.Error("the second is another message")
	}
	if !strings.Contains(mails[0].MessageID, "."+sagastest.Installation+"@") {
		t.Errorf("another panel may send a mail with the id %s", mails[0].MessageID)
	}
}

// What happened long ago is shown, and not mailed.
func TestOldNewsIsNotMailed(t *testing.T) {
	t.Parallel()
	at := time.Now()
	w := sagastest.NewWorld(t, sagastest.ByHand(func() time.Time { return at }))
	w.Opens(1, "ana@example.com", "en")
	warns(w, 1)
	at = at.Add(4 * sagastest.Day) // older than what is mailed
	w.Goes()
	w.AllTold()
	w.Equal("in the panel", len(w.Told(1)), 1)
	w.Equal("mails asked for", w.Count(`select count(*) from events where name = 'notification.mail_requested'`), 0)
}
