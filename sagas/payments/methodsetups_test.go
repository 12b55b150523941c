package payments_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// An adding is a world with a customer who adds cards without paying.
type adding struct {
	*sagastest.Renewals
	service uuid.UUID
	asked   billing.AskedSetup
}

func newAdding(t *testing.T) *adding {
	t.Helper()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	user := w.Provision(id).Job.User
	person, known, err := w.Tables.For(projections.System).Accounts().Identity(t.Context(), user)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return &adding{
		w, id,
		billing.AskedSetup{Tenant: w.Subscription(id).Tenant, User: user, Subject: person.Subject, Provider: "test", Currency: "EUR"},
	}
}

func (a *adding) begins() uuid.UUID {
	a.T.Helper()
	id, err := a.Payments.SetUpMethod(a.T.Context(), sagastest.Cause, a.asked)
	a.Must(err)
	return id
}

func (a *adding) advance(by time.Duration) {
	a.T.Helper()
	a.Must(a.Store.Clock().Advance(a.T.Context(), by))
}

func (a *adding) setup(id uuid.UUID) projections.MethodSetup {
	a.T.Helper()
	m, err := a.Tables.For(projections.System).Billing().MethodSetup(a.T.Context(), id)
	a.Must(err)
	return m
}

func (a *adding) saved() []projections.PaymentMethod {
	a.T.Helper()
	all, err := a.Tables.For(projections.System).Billing().PaymentMethodsOf(a.T.Context(), a.asked.Tenant, a.asked.Subject)
	a.Must(err)
	return all
}

// news lets the provider tell of a setup.
func (a *adding) news(event string, id uuid.UUID) {
	a.T.Helper()
	a.Must(a.Payments.Receive(a.T.Context(), "test", sagastest.NewsBody(event, id), sagastest.SignedHeader))
}

func (a *adding) ends(id uuid.UUID, reason string) {
	a.T.Helper()
	a.Eventually("it ends: "+reason, func() bool { m := a.setup(id); return m.Status == billing.SetupEnded && m.EndReason == reason })
}

// looksAgain makes another look, and waits for its end.
func (a *adding) looksAgain(id uuid.UUID) {
	a.T.Helper()
	before := a.Count(`select checks from payment_watch where order_id = '` + id.String() + `'`)
	a.Must(a.Payments.Hint(a.T.Context(), id, "return"))
	a.Eventually("another look", func() bool {
		return a.Count(
			`select count(*) from payment_watch where order_id = '`+id.String()+`' and checks > `+fmt.Sprint(before)+
				` and lease_until is null`,
		) == 1
	})
}

// A card is added without an order: it is saved once, however often that is told, charges
// nothing, and is charged for nothing until it is chosen.
func TestACardIsAddedWithoutAPayment(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	orders := a.Count(`select count(*) from orders`)
	id := a.begins()
	a.Equal("the page", a.setup(id).URL, "https://pay.example.com/"+sagastest.SessionOf(id))
	a.Equal("the same page", a.begins(), id)
	a.looksAgain(id)
	a.Equal("before the person is done", len(a.saved()), 0)
	a.Pay.Adds(id)
	for n := range 3 {
		a.news(fmt.Sprintf("evt_%d_%s", n%2, id), id)
	}
	a.Eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	a.looksAgain(id)
	m := a.saved()[0]
	a.Equal(
		"saved",
		fmt.Sprint(m.Kind, " ", m.Brand, " ", m.Last4, " ", m.Expires, " ", m.Provider, " ", *m.SetupID == id, " ", m.OrderID == nil),
		"card visa 4242 2099-03 test true true",
	)
	a.Equal("methods", len(a.saved()), 1)
	a.Equal("setup", *a.setup(id).Method, m.ID)
	a.Equal("charged by it", a.Subscription(a.service).Method, uuid.Nil)
	a.Equal("orders", a.Count(`select count(*) from orders`), orders)
	a.Equal("openings", a.Pay.Openings(id), 1)
	a.Eventually("the person is told once", func() bool {
		return a.Count(
			`select count(*) from notifications where user_id = `+fmt.Sprint(a.asked.User)+` and message like 'visa …4242 %'`,
		) == 1
	})
	a.Must(a.Billing.ChooseMethod(t.Context(), sagastest.Cause(), a.service, m.ID))
	a.Until(a.service, "billing.period_renewed", 1)
	a.Equal("charges", a.Pay.Captures(a.Charges(a.service)[0].ID), 1)
	if next := a.begins(); next == id {
		t.Error("A second card has the setup of the first.")
	}
}

// Every webhook is lost: the schedule alone brings the card.
func TestACardIsAddedThoughEveryWebhookIsLost(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Pay.Adds(id)
	a.Eventually("it is saved", func() bool { a.advance(time.Minute); return len(a.saved()) == 1 })
}

// Calls at the same time, and calls whose answers are lost, lead to one page.
func TestAPageOfASetupIsOpenedOnce(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	var lost atomic.Int32
	a.Pay.Tell(nil, func(call, _ string) error {
		if call == "open" && lost.Add(1) <= 2 {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	})
	if _, err := a.Payments.SetUpMethod(t.Context(), sagastest.Cause, a.asked); domain.CodeOf(err) != domain.Unavailable {
		t.Fatalf("without an answer: %v", err)
	}
	ids := make([]uuid.UUID, 4)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i], _ = a.Payments.SetUpMethod(t.Context(), sagastest.Cause, a.asked) })
	}
	all.Wait()
	id := a.begins()
	for _, other := range ids {
		a.Equal("setup", other, id)
	}
	a.Equal("openings", a.Pay.Openings(id), 1)
	a.Pay.Adds(id)
	a.news("evt_"+id.String(), id)
	a.Eventually("it is saved", func() bool { return len(a.saved()) == 1 })
}

// Who leaves the tenant, or is erased, before the page is finished saves nothing.
func TestNothingIsSavedForAPersonWhoIsGone(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	for reason, goes := range map[string]func(*adding){
		billing.MembershipEnded: func(a *adding) {
			_, err := a.Store.Execute(
				t.Context(), sagastest.Cause(),
				account.RevokeMembership{User: a.asked.User, Tenant: a.asked.Tenant, At: a.Runner.Now()},
			)
			a.Must(err)
		},
		billing.OwnerErased: func(a *adding) { a.Must(a.Accounts.Erase(t.Context(), sagastest.Cause(), a.asked.User)) },
	} {
		t.Run(reason, func(t *testing.T) {
			a := newAdding(t)
			id := a.begins()
			goes(a)
			a.ends(id, reason)
			token := a.Pay.Adds(id)
			a.news("evt_"+id.String(), id)
			a.Eventually("it is forgotten", func() bool { return a.Pay.Forgets(token) == 1 })
			a.Equal("saved", len(a.saved()), 0)
		})
	}
	id := a.begins() // finished before, told of after
	token := a.Pay.Adds(id)
	_, err := a.Store.Execute(
		t.Context(), sagastest.Cause(),
		account.RevokeMembership{User: a.asked.User, Tenant: a.asked.Tenant, At: a.Runner.Now()},
	)
	a.Must(err)
	a.news("evt_"+id.String(), id)
	a.Eventually("it is forgotten", func() bool { return a.Pay.Forgets(token) == 1 })
	a.Equal("saved", len(a.saved()), 0)
}

// What a webhook about a setup has told of a person ends with the person.
func TestWebhooksAboutASetupAreForgottenWithThePerson(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Pay.Adds(id)
	a.news("evt_"+id.String(), id)
	a.Eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	bodies := func() int {
		return a.Count(`select count(*) from webhook_inbox where order_id = '` + id.String() + `' and body is not null`)
	}
	a.Equal("bodies", bodies(), 1)
	about, err := a.Payments.WebhooksAbout(t.Context(), []uuid.UUID{a.asked.Subject})
	a.Must(err)
	a.Equal("told of the person", len(about), 2)
	a.Must(a.Accounts.Erase(t.Context(), sagastest.Cause(), a.asked.User))
	a.Equal("bodies", bodies(), 0)
}

// What the provider shows of another setup, or of other money, is not saved.
func TestAForeignSessionSavesNothing(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	for name, change := range map[string]func(*order.Fetched){
		"another reference": func(f *order.Fetched) { f.Order = uuid.New() },
		"real money":        func(f *order.Fetched) { f.Live = true },
	} {
		id := a.begins()
		token := a.Pay.Adds(id)
		a.Pay.Mu.Lock()
		f := a.Pay.Sessions[sagastest.SessionOf(id)]
		change(&f)
		a.Pay.Sessions[f.Session] = f
		a.Pay.Mu.Unlock()
		a.news("evt_"+id.String(), id)
		a.ends(id, billing.SetupForeign)
		a.Equal(name+": saved", len(a.saved()), 0)
		a.Equal(name+": forgotten", a.Pay.Forgets(token), 0)
	}
	if err := a.Payments.Receive(
		t.Context(), "test", sagastest.NewsBody("evt_forged", a.begins()), map[string][]string{},
	); domain.CodeOf(err) != domain.Invalid {
		t.Errorf("a forged webhook: %v", err)
	}
}
