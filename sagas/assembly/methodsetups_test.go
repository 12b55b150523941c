package assembly_test

import (
	"context"
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
)

// OpenSetup opens a page on which a card is added.
func (p *fakePayments) OpenSetup(ctx context.Context, c order.Checkout) (order.Session, error) {
	return p.OpenSession(ctx, c)
}

// adds makes it so that the customer has added a card on the page of a setup.
func (p *fakePayments) adds(id uuid.UUID) (token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.sessions[sessionOf(id)]
	token = "pm_" + id.String()
	f.Provider, f.Session, f.Order, f.State = "test", sessionOf(id), id, order.SessionComplete
	f.Saved = &order.SavedMethod{Customer: "cus_1", Token: token, Kind: "card", Brand: "visa", Last4: "4242", ExpMonth: 3, ExpYear: 2099}
	p.cards[token] = ""
	p.sessions[f.Session] = f
	return token
}

// forgets is how often a card was forgotten.
func (p *fakePayments) forgets(token string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forgot[token]
}

// An adding is a world with a customer who adds cards without paying.
type adding struct {
	*renewing
	service uuid.UUID
	asked   billing.AskedSetup
}

func newAdding(t *testing.T) *adding {
	t.Helper()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	user := w.provision(id).Job.User
	person, known, err := w.tables.For(projections.System).Identity(t.Context(), user)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return &adding{w, id, billing.AskedSetup{Tenant: w.subscription(id).Tenant, User: user, Subject: person.Subject, Provider: "test", Currency: "EUR"}}
}

func (a *adding) begins() uuid.UUID {
	a.t.Helper()
	id, err := a.Payments.SetUpMethod(a.t.Context(), caused, a.asked)
	a.must(err)
	return id
}

func (a *adding) advance(by time.Duration) {
	a.t.Helper()
	a.must(a.store.Clock().Advance(a.t.Context(), by))
}

func (a *adding) setup(id uuid.UUID) projections.MethodSetup {
	a.t.Helper()
	m, err := a.tables.For(projections.System).MethodSetup(a.t.Context(), id)
	a.must(err)
	return m
}

func (a *adding) saved() []projections.PaymentMethod {
	a.t.Helper()
	all, err := a.tables.For(projections.System).PaymentMethodsOf(a.t.Context(), a.asked.Tenant, a.asked.Subject)
	a.must(err)
	return all
}

// news lets the provider tell of a setup.
func (a *adding) news(event string, id uuid.UUID) {
	a.t.Helper()
	a.must(a.Payments.Receive(a.t.Context(), "test", newsBody(event, id), signed))
}

func (a *adding) ends(id uuid.UUID, reason string) {
	a.t.Helper()
	a.eventually("it ends: "+reason, func() bool { m := a.setup(id); return m.Status == billing.SetupEnded && m.EndReason == reason })
}

// looksAgain makes another look, and waits for its end.
func (a *adding) looksAgain(id uuid.UUID) {
	a.t.Helper()
	before := a.count(`select checks from payment_watch where order_id = '` + id.String() + `'`)
	a.must(a.Payments.Hint(a.t.Context(), id, "return"))
	a.eventually("another look", func() bool {
		return a.count(`select count(*) from payment_watch where order_id = '`+id.String()+`' and checks > `+fmt.Sprint(before)+` and lease_until is null`) == 1
	})
}

// A card is added without an order: it is saved once, however often that is told, charges
// nothing, and is charged for nothing until it is chosen.
func TestACardIsAddedWithoutAPayment(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	orders := a.count(`select count(*) from orders`)
	id := a.begins()
	a.equal("the page", a.setup(id).URL, "https://pay.example.com/"+sessionOf(id))
	a.equal("the same page", a.begins(), id)
	a.looksAgain(id)
	a.equal("before the person is done", len(a.saved()), 0)
	a.pay.adds(id)
	for n := range 3 {
		a.news(fmt.Sprintf("evt_%d_%s", n%2, id), id)
	}
	a.eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	a.looksAgain(id)
	m := a.saved()[0]
	a.equal("saved", fmt.Sprint(m.Kind, " ", m.Brand, " ", m.Last4, " ", m.Expires, " ", m.Provider, " ", *m.SetupID == id, " ", m.OrderID == nil), "card visa 4242 2099-03 test true true")
	a.equal("methods", len(a.saved()), 1)
	a.equal("setup", *a.setup(id).Method, m.ID)
	a.equal("charged by it", a.subscription(a.service).Method, uuid.Nil)
	a.equal("orders", a.count(`select count(*) from orders`), orders)
	a.equal("openings", a.pay.openings(id), 1)
	a.eventually("the person is told once", func() bool {
		return a.count(`select count(*) from notifications where user_id = `+fmt.Sprint(a.asked.User)+` and message like 'visa …4242 %'`) == 1
	})
	a.must(a.Billing.ChooseMethod(t.Context(), caused(), a.service, m.ID))
	a.until(a.service, "billing.period_renewed", 1)
	a.equal("charges", a.pay.captures(a.charges(a.service)[0].ID), 1)
	if next := a.begins(); next == id {
		t.Error("A second card has the setup of the first.")
	}
}

// Every webhook is lost: the schedule alone brings the card.
func TestACardIsAddedThoughEveryWebhookIsLost(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.pay.adds(id)
	a.eventually("it is saved", func() bool { a.advance(time.Minute); return len(a.saved()) == 1 })
}

// Calls at the same time, and calls whose answers are lost, lead to one page.
func TestAPageOfASetupIsOpenedOnce(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	var lost atomic.Int32
	a.pay.tell(nil, func(call, _ string) error {
		if call == "open" && lost.Add(1) <= 2 {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	})
	if _, err := a.Payments.SetUpMethod(t.Context(), caused, a.asked); domain.CodeOf(err) != domain.Unavailable {
		t.Fatalf("without an answer: %v", err)
	}
	ids := make([]uuid.UUID, 4)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i], _ = a.Payments.SetUpMethod(t.Context(), caused, a.asked) })
	}
	all.Wait()
	id := a.begins()
	for _, other := range ids {
		a.equal("setup", other, id)
	}
	a.equal("openings", a.pay.openings(id), 1)
	a.pay.adds(id)
	a.news("evt_"+id.String(), id)
	a.eventually("it is saved", func() bool { return len(a.saved()) == 1 })
}

// A page that is not finished expires, and leaves nothing. What the provider shows all the
// same afterwards is forgotten there.
func TestAnAbandonedSetupExpires(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.eventually("it expires", func() bool { a.advance(time.Hour); return a.setup(id).Status == billing.SetupEnded })
	a.equal("reason", a.setup(id).EndReason, billing.SetupExpired)
	a.equal("page", a.setup(id).URL, "")
	token := a.pay.adds(id) // too late
	a.news("evt_late_"+id.String(), id)
	a.eventually("it is forgotten", func() bool { return a.pay.forgets(token) == 1 })
	a.equal("saved", len(a.saved()), 0)
	if a.begins() == id {
		t.Error("A setup that has ended goes on.")
	}
}

// Who leaves the tenant, or is erased, before the page is finished saves nothing.
func TestNothingIsSavedForAPersonWhoIsGone(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	for reason, goes := range map[string]func(*adding){
		billing.MembershipEnded: func(a *adding) {
			_, err := a.store.Execute(t.Context(), caused(), account.RevokeMembership{User: a.asked.User, Tenant: a.asked.Tenant, At: a.Now()})
			a.must(err)
		},
		billing.OwnerErased: func(a *adding) { a.must(a.Accounts.Erase(t.Context(), caused(), a.asked.User)) },
	} {
		t.Run(reason, func(t *testing.T) {
			a := newAdding(t)
			id := a.begins()
			goes(a)
			a.ends(id, reason)
			token := a.pay.adds(id)
			a.news("evt_"+id.String(), id)
			a.eventually("it is forgotten", func() bool { return a.pay.forgets(token) == 1 })
			a.equal("saved", len(a.saved()), 0)
		})
	}
	id := a.begins() // finished before, told of after
	token := a.pay.adds(id)
	_, err := a.store.Execute(t.Context(), caused(), account.RevokeMembership{User: a.asked.User, Tenant: a.asked.Tenant, At: a.Now()})
	a.must(err)
	a.news("evt_"+id.String(), id)
	a.eventually("it is forgotten", func() bool { return a.pay.forgets(token) == 1 })
	a.equal("saved", len(a.saved()), 0)
}

// What a webhook about a setup has told of a person ends with the person.
func TestWebhooksAboutASetupAreForgottenWithThePerson(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.pay.adds(id)
	a.news("evt_"+id.String(), id)
	a.eventually("it is saved", func() bool { return len(a.saved()) == 1 })
	bodies := func() int {
		return a.count(`select count(*) from webhook_inbox where order_id = '` + id.String() + `' and body is not null`)
	}
	a.equal("bodies", bodies(), 1)
	about, err := a.Payments.WebhooksAbout(t.Context(), []uuid.UUID{a.asked.Subject})
	a.must(err)
	a.equal("told of the person", len(about), 2)
	a.must(a.Accounts.Erase(t.Context(), caused(), a.asked.User))
	a.equal("bodies", bodies(), 0)
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
		token := a.pay.adds(id)
		a.pay.mu.Lock()
		f := a.pay.sessions[sessionOf(id)]
		change(&f)
		a.pay.sessions[f.Session] = f
		a.pay.mu.Unlock()
		a.news("evt_"+id.String(), id)
		a.ends(id, billing.SetupForeign)
		a.equal(name+": saved", len(a.saved()), 0)
		a.equal(name+": forgotten", a.pay.forgets(token), 0)
	}
	if err := a.Payments.Receive(t.Context(), "test", newsBody("evt_forged", a.begins()), map[string][]string{}); domain.CodeOf(err) != domain.Invalid {
		t.Errorf("a forged webhook: %v", err)
	}
}
