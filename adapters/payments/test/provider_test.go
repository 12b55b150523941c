package test_test

import (
	"errors"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

var _ order.Provider = (*test.Provider)(nil)

var secret = []byte("a secret of the tests")

// A clock stands still until it is moved.
type clock struct {
	sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.Lock()
	defer c.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.Lock()
	defer c.Unlock()
	c.at = c.at.Add(d)
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func pool(t *testing.T) *pgxpool.Pool {
	return eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "test_payments", Files: test.Migrations}))
}

// provider is one at a panel that receives no webhooks.
func provider(t *testing.T, c *clock) *test.Provider {
	return test.New(pool(t), test.Options{PublicURL: func() string { return "http://127.0.0.1:1" }, Secret: secret, Now: c.now})
}

func checkout(c *clock, id uuid.UUID) order.Checkout {
	return order.Checkout{
		Order: id, Number: "ORD-20261121-7F3K9Q", EffectKey: "order/" + id.String() + "/session/1", Minor: 3509, Currency: "EUR",
		Total: decimal.RequireFromString("35.09"), Description: "Web S", Email: "canary@customer.test", Language: "es",
		ReturnURL: "http://127.0.0.1:1/return", CancelURL: "http://127.0.0.1:1/cancel", ExpiresAt: c.now().Add(24 * time.Hour),
	}
}

func open(t *testing.T, p *test.Provider, c order.Checkout) order.Session {
	t.Helper()
	s, err := p.OpenSession(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t *testing.T) (*test.Provider, *clock, uuid.UUID, string) {
	t.Helper()
	c, id := newClock(), uuid.New()
	p := provider(t, c)
	return p, c, id, open(t, p, checkout(c, id)).ID
}

func fetch(t *testing.T, p *test.Provider, session string) order.Fetched {
	t.Helper()
	f, err := p.Fetch(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func act(t *testing.T, p *test.Provider, a order.HostedAction) order.HostedSession {
	t.Helper()
	s, err := p.Act(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantBooks checks what the provider holds for true.
func wantBooks(t *testing.T, p *test.Provider, session string, state order.SessionState, payments ...order.Payment) {
	t.Helper()
	f := fetch(t, p, session)
	same := f.State == state && len(f.Payments) == len(payments)
	for i := 0; same && i < len(payments); i++ {
		have, want := f.Payments[i], payments[i]
		same = have.State == want.State && have.Minor == want.Minor && have.Currency == want.Currency &&
			(want.ID == "" || have.ID == want.ID)
	}
	if !same {
		t.Errorf("the books say %s %+v, not %s %+v", f.State, f.Payments, state, payments)
	}
}

func paid(minor int64, currency string) order.Payment {
	return order.Payment{State: order.StatePaid, Minor: minor, Currency: currency}
}

func TestOpeningASessionTwiceGivesTheSameSession(t *testing.T) {
	c, id := newClock(), uuid.New()
	p := provider(t, c)
	first, again := open(t, p, checkout(c, id)), open(t, p, checkout(c, id))
	if first != again || !regexp.MustCompile(`^cs_test_[0-9A-Za-z]{24}$`).MatchString(first.ID) {
		t.Errorf("%+v, then %+v", first, again)
	}
	if first.URL != "http://127.0.0.1:1/storefront/checkout/test/"+first.ID+"/" || p.Host() != "127.0.0.1:1" || p.Name() != "test" {
		t.Errorf("%+v at %s", first, p.Host())
	}
	if other := open(t, p, checkout(c, uuid.New())); other.ID == first.ID {
		t.Error("two orders share a session")
	}
	dearer := checkout(c, id)
	dearer.Minor++
	_, err := p.OpenSession(t.Context(), dearer)
	if f := new(domain.Failure); !errors.As(err, &f) || f.Class != domain.Permanent || f.Code != "key_reused" {
		t.Errorf("the same key for another amount: %v", err)
	}
	wantBooks(t, p, first.ID, order.SessionOpen)
	if f := fetch(t, p, first.ID); f.Order != id || f.Live || f.Provider != "test" || !f.ExpiresAt.Equal(c.now().Add(24*time.Hour)) {
		t.Errorf("%+v", f)
	}
}

func TestASessionStaysTheSameWhileTheSecretIsChanged(t *testing.T) {
	c, id := newClock(), uuid.New()
	db := pool(t)
	options := test.Options{PublicURL: func() string { return "http://127.0.0.1:1" }, Secret: secret, Now: c.now}
	before := open(t, test.New(db, options), checkout(c, id))
	options.Secret, options.Former = []byte("another"), [][]byte{secret}
	if after := open(t, test.New(db, options), checkout(c, id)); after != before {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestEachButtonDoesWhatItSays(t *testing.T) {
	for _, c := range []struct {
		action  string
		session order.SessionState
		payment order.PaymentState
	}{
		{"pay", order.SessionComplete, order.StatePaid},
		{"unpaid", order.SessionComplete, order.StatePending},
		{"decline", order.SessionOpen, order.StateDeclined},
		{"cancel", order.SessionExpired, ""},
		{"expire", order.SessionExpired, ""},
	} {
		p, _, _, session := opened(t)
		for range 2 { // a second press changes nothing
			if s := act(t, p, order.HostedAction{Session: session, Action: c.action}); s.State != c.session || s.Payment != c.payment {
				t.Errorf("%s: %s, %q", c.action, s.State, s.Payment)
			}
		}
		s, err := p.Session(t.Context(), session)
		if err != nil || s.State != c.session || s.Payment != c.payment || s.Number != "ORD-20261121-7F3K9Q" ||
			s.Minor != 3509 || s.Currency != "EUR" {
			t.Errorf("%s: %+v, %v", c.action, s, err)
		}
		if c.payment != "" {
			wantBooks(t, p, session, c.session, order.Payment{State: c.payment, Minor: 3509, Currency: "EUR"})
		} else {
			wantBooks(t, p, session, c.session)
		}
	}
}

func TestADeclinedCardMayBeTriedAgain(t *testing.T) {
	p, _, _, session := opened(t)
	act(t, p, order.HostedAction{Session: session, Action: "decline"})
	act(t, p, order.HostedAction{Session: session, Action: "pay"})
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR"))
}

func TestNothingIsPaidInASessionThatIsOver(t *testing.T) {
	p, _, _, session := opened(t)
	act(t, p, order.HostedAction{Session: session, Action: "cancel"})
	if _, err := p.Act(t.Context(), order.HostedAction{Session: session, Action: "pay"}); domain.CodeOf(err) != domain.Conflict {
		t.Errorf("paid after cancelling: %v", err)
	}
	wantBooks(t, p, session, order.SessionExpired)
}

func TestWhatIsReallyPaidMayDifferFromWhatIsDue(t *testing.T) {
	p, _, _, session := opened(t)
	less := int64(3508)
	act(t, p, order.HostedAction{Session: session, Action: "pay", Amount: &less, Currency: "usd"})
	wantBooks(t, p, session, order.SessionComplete, paid(3508, "USD"))
}

func TestAnUnpaidSessionIsPaidWhenItSettles(t *testing.T) {
	p, c, _, session := opened(t)
	act(t, p, order.HostedAction{Session: session, Action: "unpaid", Settle: time.Hour})
	wantBooks(t, p, session, order.SessionComplete, order.Payment{State: order.StatePending, Minor: 3509, Currency: "EUR"})
	c.move(time.Hour)
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR"))
}

func TestASessionExpiresByItself(t *testing.T) {
	p, c, _, session := opened(t)
	c.move(24 * time.Hour)
	wantBooks(t, p, session, order.SessionExpired)
	if _, err := p.Act(t.Context(), order.HostedAction{Session: session, Action: "pay"}); domain.CodeOf(err) != domain.Conflict {
		t.Errorf("paid after the end: %v", err)
	}
}

func TestAnExpiredSessionCannotBePaidAndAPaidOneStaysPaid(t *testing.T) {
	p, _, _, session := opened(t)
	for range 2 {
		if err := p.ExpireSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	wantBooks(t, p, session, order.SessionExpired)
	p, _, _, session = opened(t)
	act(t, p, order.HostedAction{Session: session, Action: "pay"})
	if err := p.ExpireSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR"))
}

func TestTheProviderMayBeOrderedToFail(t *testing.T) {
	c, id := newClock(), uuid.New()
	p := provider(t, c)
	for _, f := range []faults.Fault{
		{What: faults.TimeoutAfter, Call: faults.Create},
		{What: faults.ClaimsDone, Call: faults.Create},
		{What: faults.Busy, Call: faults.Find},
	} {
		if _, err := p.Faults().Order(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if s, err := p.OpenSession(t.Context(), checkout(c, id)); domain.ClassOf(err) != domain.Unknown || s.ID != "" && err == nil {
			t.Errorf("answered %+v, %v", s, err)
		}
	}
	session := open(t, p, checkout(c, id)).ID
	if _, err := p.Fetch(t.Context(), session); domain.ClassOf(err) != domain.Transient {
		t.Errorf("fetched in spite of the order: %v", err)
	}
	wantBooks(t, p, session, order.SessionOpen)
}

func TestSenselessActionsAreRefused(t *testing.T) {
	p, _, _, session := opened(t)
	minus := int64(-1)
	for field, a := range map[string]order.HostedAction{
		"action":    {Action: "steal"},
		"amount":    {Action: "pay", Amount: &minus},
		"currency":  {Action: "pay", Currency: "euro"},
		"copies":    {Action: "pay", Copies: 201},
		"delay_ms":  {Action: "pay", Delay: -1},
		"settle_ms": {Action: "unpaid", Settle: 15 * 24 * time.Hour},
	} {
		a.Session = session
		_, err := p.Act(t.Context(), a)
		if e := new(domain.Error); !errors.As(err, &e) || e.Code != domain.Invalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := p.Act(t.Context(), order.HostedAction{Session: "cs_test_none", Action: "pay"}); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("unknown session: %v", err)
	}
	if _, err := p.Session(t.Context(), "cs_test_none"); domain.CodeOf(err) != domain.NotFound {
		t.Errorf("unknown session: %v", err)
	}
	if _, err := p.Fetch(t.Context(), "cs_test_none"); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("unknown session: %v", err)
	}
	wantBooks(t, p, session, order.SessionOpen)
}
