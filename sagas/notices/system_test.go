//go:build system

package notices_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// TestAWorkerMayDieWhileItMailsALink: whatever is killed, the mail comes, at
// most twice, and twice it is the same one with the same link.
func TestAWorkerMayDieWhileItMailsALink(t *testing.T) { // F-1, L-1 … L-3
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	plans := []sagastest.Crash{
		{At: sagas.BeforeIntent},
		{At: sagas.AfterIntent},
		{At: sagas.Sent},
		{At: sagas.Sent, Made: true},
		{At: sagas.Answered},
		{At: sagas.BeforeComplete},
		{At: sagas.AfterComplete},
	}
	deaths := sagastest.NewDeaths[int64](w)
	users := map[string]int64{}
	w.Fault.To(func(p sagas.Point, c sagas.Run) error { return deaths.At(mailedUser(c), "", p, false) })
	w.Mail.Tell(nil, func(_, to string) error { return deaths.At(users[to], "", sagas.Sent, true) })
	killed := map[uuid.UUID]bool{}
	w.ResetFault.To(func(id uuid.UUID) error {
		if killed[id] {
			return nil
		}
		killed[id] = true
		return sagas.ErrKilled
	})
	for i, c := range plans {
		user, email := int64(i+1), fmt.Sprintf("crash%d@example.com", i)
		w.Opens(user, email, "en")
		users[email] = user
		deaths.Plan(user, c)
		w.Must(w.Accounts.AskReset(t.Context(), strings.ToUpper(email)))
	}
	w.Goes()
	w.Equal("given up", len(w.Ended()), 0)
	for email, user := range users {
		mails := w.Mail.To(email)
		if len(mails) == 0 || len(mails) > 2 {
			t.Errorf("%+v: %d mails", plans[user-1], len(mails))
			continue
		}
		if last := mails[len(mails)-1]; last.MessageID != mails[0].MessageID || last.Text != mails[0].Text {
			t.Errorf("%+v: two different mails", plans[user-1])
		}
		w.Equal("whose link works", w.Dead(sagastest.TokenIn(t, mails[0])), false)
	}
	deaths.Came()
	w.Equal("requests that were dropped once", len(killed), len(plans))
	w.Equal("links asked for", w.Count(`select count(*) from events where name = 'account.link_requested'`), len(plans))
	w.Equal("mails sent more than twice", w.Count(`select count(*) from effect where sends > 2`), 0)
}

// A worker dies after the call, so its outcome is unknown. The message is sent once
// more with the same id.
func TestAWorkerThatDiesAfterTheCallSendsTheSameMessageAgain(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	sagastest.Listens(w, 1, 17)
	died := false
	var mu sync.Mutex
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		if p == sagas.Answered && c.Definition == "webhook/1" && !died {
			died = true
			return sagas.ErrKilled
		}
		return nil
	})
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Succeeded)
	got := r.Heard(sagastest.URLOf(1))
	if len(got) != 2 || got[0].Message.ID != got[1].Message.ID || string(got[0].Message.Body()) != string(got[1].Message.Body()) {
		t.Errorf("%+v", got)
	}
	w.Equal("events", w.Often(webhook.DeliveryStream(id), "webhook.delivered"), 1)
}

// Ten endpoints, of which one hangs with everything that waits for it: the
// others hear of everything at once.
func TestAHangingEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	released := make(chan struct{})
	for id := int64(1); id <= 10; id++ {
		sagastest.Listens(w, id, 100+id%5)
	}
	r.Answers(sagastest.URLOf(1), func(ctx context.Context, _ int) (int, error) {
		select {
		case <-released:
			return 200, nil
		case <-ctx.Done():
			return 0, domain.Fail(domain.Unknown, "timeout", ctx.Err())
		}
	})
	var waiting, others []uuid.UUID
	for range 20 {
		waiting = append(waiting, sagastest.Sends(w, 1, 101))
	}
	w.Goes()
	for id := int64(2); id <= 10; id++ {
		for range 3 {
			others = append(others, sagastest.Sends(w, id, 100+id%5))
		}
	}
	for _, id := range others {
		sagastest.Delivered(w, id, webhook.Succeeded)
	}
	r.Mu.Lock()
	w.Equal("calls to who hangs, at once", r.Most[sagastest.URLOf(1)], 2)
	r.Mu.Unlock()
	close(released)
	for _, id := range waiting {
		sagastest.Delivered(w, id, webhook.Succeeded)
	}
	w.Equal("breakers", w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'webhook'`), 0)
}

// A welcome mail that comes more than a minute late says nothing for others: the
// customer has mails of the invoice and of the success besides.
func TestALateWelcomeLeavesTheOtherMailsAlone(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorldWithClock(t)
	w.Mail.Tell(func(string, string) error { return domain.Fail(domain.Transient, "busy", sagastest.ErrLie) }, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "late@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Heard()
	w.Must(w.Store.Clock().Advance(t.Context(), 2*time.Minute))
	w.Mail.Tell(nil, nil)
	w.AllTold()
	w.Equal("the other mails", len(w.Mail.News("late@example.com")), 2)
	w.Equal("welcomed", len(w.Mail.To("late@example.com")), 1)
}

func TestACustomerIsToldOfMoneyAndOfTheMachineOnce(t *testing.T) { // W-7
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id, vm, _ := sagastest.Machine(w)
	w.Must(w.Back(id, "2.10"))
	user := w.Provision(id).Job.User
	w.Eventually("part of the money is back", func() bool { return w.Often(order.Stream(id), "order.partially_refunded") == 1 })
	w.Eventually("the customer is told of all of it", func() bool { return len(w.Told(user)) == 3 })
	w.Repeated()
	w.Asks(hosting.Confirm{Ref: vm, EngineID: 9, Version: 1}) // that it runs is no news any more
	w.Repeated()
	w.Equal("told", w.Told(user), []string{
		"billing: Nueva factura", "billing: Reembolso realizado", "success: Su pedido está activo", // which is the machine
	})
}

func TestTenantsHearOfTheirRenewals(t *testing.T) {
	t.Parallel()
	listening, r := sagastest.ListeningWorld(t)
	listening.Moves()
	w := sagastest.RenewalsOn(listening)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	tenant := w.Provision(id).Job.Tenant
	sagastest.Listens(w.World, 1, tenant, "subscription.*", "invoice.*")
	heard := func(names ...string) {
		t.Helper()
		w.Eventually(fmt.Sprint("the endpoint has heard ", names), func() bool {
			var all []string
			for _, one := range r.Heard(sagastest.URLOf(1)) {
				all = append(all, one.Message.Type)
			}
			slices.Sort(all)
			return slices.Equal(all, slices.Sorted(slices.Values(names)))
		})
	}
	w.Until(id, "billing.period_invoiced", 1)
	heard("invoice.created") // before the clock goes on: messages have their time
	w.Until(id, "billing.payment_overdue", 1)
	heard("invoice.created", "subscription.past_due")
	invoice := w.Subscription(id).Open
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "cash", "till"))
	heard("invoice.created", "subscription.past_due", "invoice.paid", "subscription.renewed")
	for _, one := range r.Heard(sagastest.URLOf(1)) {
		about := map[string]string{"invoice": "invoices/" + invoice.String(), "subscription": "subscriptions/" + id.String()}
		kind, _, _ := strings.Cut(one.Message.Type, ".")
		if url := fmt.Sprintf(`"url":"/billing/api/v1/%s/"`, about[kind]); !strings.Contains(string(one.Message.Data), url) {
			t.Errorf("%s is about %s, not about %s", one.Message.Type, one.Message.Data, url)
		}
	}
}

func TestNothingOfAnEndpointIsLoggedOrKeptInTheClear(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	secret := sagastest.Listens(w, 1, 17)
	r.Answers(sagastest.URLOf(1), func(_ context.Context, nth int) (int, error) {
		if nth < 8 { // more than opens a breaker
			return sagastest.Answer(500)
		}
		return 200, nil
	})
	w.Goes()
	sagastest.Delivered(w, sagastest.Sends(w, 1, 17), webhook.Succeeded)
	kept := w.Count(`select count(*) from events e where e::text like '%s3same%' or e::text like '%t1.example%'`) +
		w.Count(`select count(*) from saga_attempt a where a::text like '%s3same%' or a::text like '%t1.example%'`) +
		w.Count(`select count(*) from effect a where a::text like '%s3same%' or a::text like '%t1.example%'`) +
		w.Count(`select count(*) from saga_run a where a::text like '%s3same%' or a::text like '%t1.example%'`)
	w.Equal("places where the address stands", kept, 0)
	if said := w.Logged.String(); strings.Contains(said, "s3same") || strings.Contains(said, "t1.example") || strings.Contains(
		said, base64.StdEncoding.EncodeToString(secret),
	) {
		t.Errorf("logged %s", said)
	}
}

// All messages to an endpoint respect its Retry-After.
func TestWhoAsksForAPauseGetsIt(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	sagastest.Listens(w, 1, 17)
	const rest = 400 * time.Millisecond
	var mu sync.Mutex
	var asked time.Time
	r.Answers(sagastest.URLOf(1), func(_ context.Context, nth int) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if nth == 1 {
			asked = time.Now()
			return 429, &domain.Failure{
				Class: domain.Transient, Code: "status_429", RetryAfter: rest,
				Err: errors.New("the endpoint answered 429"),
			}
		}
		if early := rest - time.Since(asked); early > 0 {
			t.Errorf("called %s too early", early)
		}
		return 200, nil
	})
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	w.Eventually("it was asked", func() bool { return len(r.Heard(sagastest.URLOf(1))) > 0 })
	other := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Succeeded)
	sagastest.Delivered(w, other, webhook.Succeeded)
	w.Equal("attempts of the other", sagastest.Delivery(w, other).Attempts, 1)
}

func TestAMailWithoutAnAnswerIsSentTwiceAtMost(t *testing.T) { // L-3
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(nil, func(string, string) error { return domain.Fail(domain.Unknown, "lost", sagastest.ErrLie) })
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "twice@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Eventually("it is given up", func() bool { return w.Order(id).Mail == order.MailGivenUp })
	mails := w.Mail.To("twice@example.com")
	w.Equal("mails", len(mails), 2)
	if mails[0].MessageID != mails[1].MessageID || mails[0].Text != mails[1].Text {
		t.Error("the second mail is another message")
	}
}

func TestTenantsHearWhatBecomesOfTheirOrders(t *testing.T) {
	t.Parallel()
	w, r := sagastest.ListeningWorld(t)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	tenant := w.Provision(id).Job.Tenant
	sagastest.Listens(w, 1, tenant, "order.*", "credit_note.*", "tenant.*")
	w.Must(w.Payments.Refund(t.Context(), sagastest.Operator, id, nil, "withdrawn"))
	w.Becomes(id, order.StatusRefunded)
	said := func() map[string]string {
		all := map[string]string{}
		for _, one := range r.Heard(sagastest.URLOf(1)) {
			all[one.Message.Type] = string(one.Message.Data)
		}
		return all
	}
	w.Eventually("all is told", func() bool { return len(said()) == 2 })
	w.Equal(
		"the order", said()["order.refunded"],
		fmt.Sprintf(`{"kind":"order","order_id":"%[1]s","tenant":%[2]d,"url":"/storefront/api/orders/%[1]s/"}`, id, tenant),
	)
	note := w.Text(`select id::text from credit_notes where order_id = $1`, id)
	w.Equal("the credit note", said()["credit_note.created"],
		fmt.Sprintf(`{"kind":"credit_note","order_id":"%s","number":"%s","tenant":%d,"url":"/billing/api/v1/credit-notes/%s/"}`,
			id, w.Text(`select number from credit_notes where order_id = $1`, id), tenant, note))
}

func TestAfterThreeDaysADeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	r := sagastest.NewEndpoints()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Webhooks = r; o.Times.WebhookBudget = 300 * time.Millisecond })
	sagastest.Listens(w, 1, 17)
	r.Answers(sagastest.URLOf(1), func(context.Context, int) (int, error) { return sagastest.Answer(503) })
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	sagastest.Delivered(w, id, webhook.Failed)
	history, err := w.Store.Read(t.Context(), webhook.DeliveryStream(id))
	w.Must(err)
	w.Equal("code", history[len(history)-1].Event.(webhook.DeliveryFailed).Code, "gave_up")
	r.Answers(sagastest.URLOf(1), nil)
	w.Asks(webhook.Redeliver{ID: id, By: 1})
	sagastest.Delivered(w, id, webhook.Succeeded)
}

func TestAMailServerThatIsDownLosesNoMail(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var down sync.Map
	down.Store("is", true)
	w.Mail.Tell(func(_, _ string) error {
		if is, _ := down.Load("is"); is.(bool) {
			return domain.Fail(domain.Transient, "busy", errors.New("come back later"))
		}
		return nil
	}, nil)
	w.Opens(1, "ana@example.com", "en")
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	w.Goes()
	w.Eventually("it was refused", func() bool { return w.Count(`select count(*) from saga_attempt where outcome = 'retry'`) > 2 })
	w.Equal("mails", len(w.Mail.To("ana@example.com")), 0)
	down.Store("is", false)
	w.Equal("the link works", w.Dead(sagastest.TokenIn(t, w.Mailed("ana@example.com", 1))), false)
}

// The order goes on; its customer's account knows that mails do not get there.
func TestAWelcomeThatIsRefusedSaysSoOfTheAccount(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(string, string) error {
		return domain.Fail(domain.Permanent, notice.RecipientRefused, sagastest.ErrLie)
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "typo@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Equal("mail", w.Order(id).Mail, "given_up")
	w.AllTold()
	user := w.Provision(id).Job.User
	w.Equal("refused", w.Often(account.Stream(user), "account.address_refused"), 1)
	for _, code := range becameOf(w, user) { // that of the invoice may be under way before the welcome
		w.Equal("news", code == "address_refused" || code == notice.RecipientRefused, true)
	}
	w.Equal("news", len(becameOf(w, user)), 2)
}

func TestEveryLetterCanBeLookedAt(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	looks(w, 7)
	for _, template := range notice.Templates() {
		m, err := w.Notify.Preview(t.Context(), template, "es", 7)
		if err != nil || !isOfBread(m) || m.To != `"Ana Ruiz" <ana@example.com>` {
			t.Errorf("%s: %v %+v", template, err, m)
		}
		if plain, err := w.Notify.Preview(t.Context(), template, "", 0); err != nil ||
			plain.From != sagastest.PanelAddress || plain.Headers["Content-Language"] != "en" ||
			strings.Contains(plain.Text+plain.HTML, "panel.example/") && !strings.Contains(plain.Text, "http://127.0.0.1:8080/") {
			t.Errorf("%s: %v %+v", template, err, plain)
		}
	}
	for _, c := range []struct {
		template, language string
		tenant             int64
		says               string
	}{
		{"love", "en", 0, "No MailTemplate matches the given query."},
		{"reset", "fr", 0, `language: "fr" is not a valid choice.`},
		{"reset", "en", 9, `tenant: Invalid pk "9" - object does not exist.`},
	} {
		_, err := w.Notify.Preview(t.Context(), c.template, c.language, c.tenant)
		w.Equal(c.template, err, c.says)
	}
	_, err := w.Notify.Preview(t.Context(), "love", "en", 0)
	w.Equal("no such template", domain.CodeOf(err), domain.NotFound)
}

// What only becomes credit, or is credit no more, is told too. Money that an operator books
// for one invoice is told with that invoice.
func TestACustomerIsToldOfCredit(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas", Email: "payer@example.com", Language: "en"})
	user := w.Provision(id).Job.User
	told := func(what string, times int) {
		t.Helper()
		w.Eventually(what, func() bool { return strings.Count(w.Titles(user), what) == times })
	}
	mistake := w.Books(id, "5.00", "ST-1")
	told("A payment was received", 1)
	w.Must(w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), w.Account(id), mistake, "of another customer"))
	told("A payment was taken back", 1)
	w.Books(id, "7.00", "ST-2")
	told("A payment was received", 2)
	w.Must(
		w.Billing.PayCreditOut(
			t.Context(), sagastest.Cause(),
			billing.PayOut{
				CreditAccount: w.Account(id), Amount: decimal.RequireFromString("3.00"), Reference: "OUT-1",
				Reason: "asked for",
			},
		),
	)
	told("Credit was paid out", 1)
	w.Equal("messages", w.Text(`select string_agg(message, ' ' order by message) from notifications where user_id = $1
		and title = 'Credit was paid out'`, user), "€3.00 of your credit was paid out to you. €4.00 is left.")

	w.Until(id, "billing.period_invoiced", 1) // 4.00 of it are paid by what is left
	told("A part of your invoice is paid", 1)
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "an outage"))
	told("You have credit again", 1)

	w.Until(id, "billing.period_invoiced", 2)
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "cash", "till"))
	told("Your payment has arrived", 1)
	told("A payment was received", 2)
}
