//go:build system

package faults_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Random payments at Stripe, PayPal and the test provider, with refunds, disputes and
// cancellations. Webhooks are lost, duplicated, delayed and forged; providers fail;
// workers die. In the end the providers' books and ours agree, no customer was
// charged or refunded twice, and no run is open. HOSTPANEL_FAULT_SEED and
// HOSTPANEL_FAULT_PAYMENTS set the seed and the number of payments.
func TestWhateverHappensToPaymentsTheBooksAgreeInTheEnd(t *testing.T) { // V1 to V4, V6, V9, V10, F-3 to F-12, F-20, F-21
	t.Parallel()
	seed, orders := sagastest.FromEnvironment("HOSTPANEL_FAULT_SEED", time.Now().UnixNano()), int(
		sagastest.FromEnvironment("HOSTPANEL_FAULT_PAYMENTS", 24),
	)
	t.Logf("HOSTPANEL_FAULT_SEED=%d HOSTPANEL_FAULT_PAYMENTS=%d", seed, orders)
	m := newMarket(t, seed)
	stop := []func(){m.worker(), m.worker()}
	for n := 0; n < orders; n += atOnce {
		over := m.trade(min(atOnce, orders-n))
		for i := range stop { // one of the two goes, and another comes
			m.moment(2 * time.Second)
			stop[i]()
			stop[i] = m.worker()
		}
		over()
	}
	m.calmDown()
	m.quiet()
	m.lookAtAll() // what no webhook has told of, the clock does
	m.quiet()
	for _, l := range m.lives {
		m.addsUp(l)
	}
	m.nothingIsLeftLying()
	eventstoretest.Roots(t, m.Store.Reader())
	m.tells()
}

// atOnce is how many customers come at the same time.
const atOnce = 36

// A market is three banks, a post that carries what they have to say, and a panel.
type market struct {
	*sagastest.World
	url   string
	post  *post
	banks []bank
	lives []*life
	seed  int64
	calm  atomic.Bool // no worker dies any more
	dying sync.Mutex
	death *rand.Rand
}

func newMarket(t *testing.T, seed int64) *market {
	t.Helper()
	m := &market{url: sagastest.Database(t), post: newPost(t, seed), seed: seed, death: rand.New(rand.NewPCG(uint64(seed), 2))}
	m.World = &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	nobody := &atNobody{t: t, post: m.post, Provider: test.New(eventstoretest.Pool(t, m.url), test.Options{
		PublicURL: func() string { return m.post.server.URL }, Secret: nobodysSecret, Log: slog.New(slog.DiscardHandler),
	})}
	m.banks = []bank{newAtStripe(t, m.post), newAtPayPal(t, m.post), nobody}
	m.Instance = m.process()
	m.post.receive = m.Payments.Receive
	sagastest.OffersItsPlan(m.World)
	m.runs(nobody.Run)
	return m
}

// runs runs a function until the test ends.
func (m *market) runs(what func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- what(ctx) }()
	m.T.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			m.T.Error(err)
		}
	})
}

// process is one of the panel's, in which days are seconds. Its workers die in
// two of a hundred moments that are worse than others.
func (m *market) process() *sagastest.Instance {
	s := m.Node(m.url, func(o *assembly.Options) {
		o.Payments = map[string]order.Provider{}
		for _, b := range m.banks {
			o.Payments[b.Name()] = b
		}
		o.PublicURL = func() string { return m.post.server.URL }
		o.Log = slog.New(slog.NewTextHandler(m.Logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
		o.Times.Lease, o.Times.SessionCall, o.Times.SessionBudget = 700*time.Millisecond, time.Second, 3*time.Second
		o.Times.OrderTTL, o.Times.PendingTTL, o.Times.SettlementTTL = 4*time.Second, 3*time.Second, 4*time.Second
		o.Times.SessionChecks = [3]time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}
		o.Times.SettlementCheck, o.Times.CaptureCheck, o.Times.RefundCheck = 500*time.Millisecond, 200*time.Millisecond,
			300*time.Millisecond
		o.Times.CancelledChecks = [3]time.Duration{time.Second, 2 * time.Second, 5 * time.Second}
		o.Times.CaptureDeadline, o.Times.RefundGrace = 5*time.Second, 200*time.Millisecond
		o.Times.InboxMatch = time.Minute // a webhook about a payment waits until the bank has told of it, which fails often
	})
	s.Fault.To(func(sagas.Point, sagas.Run) error {
		if m.dies(2) {
			return sagas.ErrKilled
		}
		return nil
	})
	s.InboxFault.To(func() error {
		if m.dies(5) {
			return sagastest.ErrLie
		}
		return nil
	})
	return s
}

func (m *market) dies(inAHundred int) bool {
	m.dying.Lock()
	defer m.dying.Unlock()
	return !m.calm.Load() && m.death.IntN(100) < inAHundred
}

func (m *market) worker() (stop func()) { return m.Passing(m.process()) }

// trade lets some customers come, each to a bank and with a life of their own.
// over waits until they have lived it.
func (m *market) trade(customers int) (over func()) {
	done := make(chan struct{})
	var trouble, lives sync.WaitGroup
	for i, b := range m.banks {
		chance := rand.New(rand.NewPCG(uint64(m.seed), uint64(10+i)))
		trouble.Go(func() { m.troubles(b, chance, done) })
	}
	for range customers {
		l := m.born()
		lives.Go(l.live)
	}
	return func() {
		lives.Wait()
		close(done)
		trouble.Wait()
	}
}

func (*market) troubles(b bank, chance *rand.Rand, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(20+chance.IntN(100)) * time.Millisecond):
			b.fail(chance)
		}
	}
}

func (m *market) moment(most time.Duration) {
	clock.Pausing(m.T.Context(), rand.N(most), nil)
}

func (m *market) born() *life {
	n := len(m.lives)
	chance := rand.New(rand.NewPCG(uint64(m.seed), uint64(100+n)))
	l := &life{market: m, chance: chance, bank: m.banks[n%len(m.banks)]}
	l.id = m.Placed(sagastest.OrderForm{Kind: anyOf(chance, []string{"saas", "saas", "hosting", "vps"}), Provider: l.bank.Name()})
	m.lives = append(m.lives, l)
	return l
}

func (m *market) calmDown() {
	m.calm.Store(true)
	m.post.calm.Store(true)
	for _, b := range m.banks {
		b.calm()
	}
}

// lookAtAll is the clock's look at every order. A look that was put off, because the
// provider has failed before, still has its cause.
func (m *market) lookAtAll() {
	for _, l := range m.lives {
		ctx := domain.Origin{Cause: domain.OperatorCause(uuid.New()), Correlation: l.id}.With(m.T.Context())
		m.Must(m.Payments.Hint(ctx, l.id, "clock"))
	}
	m.Eventually("everything was looked at", func() bool {
		return m.Count(`select count(*) from payment_watch where next_at <= now() or lease_until is not null or cause is not null`) == 0
	})
}

// quiet waits until nothing is under way that does not wait for a person.
func (m *market) quiet() {
	m.T.Helper()
	m.Eventually("every webhook was acted on", func() bool {
		return m.Count(`select count(*) from webhook_inbox where state = 'stored'`) == 0
	})
	for _, l := range m.lives {
		m.Eventually("order "+l.id.String()+" has come to rest", func() bool { return m.rests(l.id) })
	}
	const (
		going  = `select count(*) from saga_run where status in ('ready', 'running', 'waiting')`
		unread = `select count(*) from readers where position < (select max(position) from events)`
	)
	m.Eventually("no run goes on", func() bool { return m.Count(going) == 0 })
	m.Eventually("everything was reacted to", func() bool { return m.Count(unread) == 0 })
	m.Eventually("what came of that is done", func() bool { return m.Count(`select (`+going+`) + (`+unread+`)`) == 0 })
}

// rests tells whether an order is over, runs, or waits for a person.
func (m *market) rests(id uuid.UUID) bool {
	o := m.Order(id)
	resting := []order.Status{order.StatusActive, order.StatusFailed, order.StatusCancelled, order.StatusRefunded}
	return o.OnHold() || slices.Contains(resting, o.Status) && len(o.Open()) == 0
}
