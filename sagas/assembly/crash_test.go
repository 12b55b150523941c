package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// A crash kills the worker of one order once, at one point of one step.
type crash struct {
	kind, step string
	at         sagas.Point
	made       bool // the object outside is there by then
}

// crashes are all points at which a worker can die, times what it may leave.
func crashes() (all []crash) {
	for kind, steps := range map[string][]string{
		"hosting": {"tenant.engine", "site", "welcome"},
		"vps":     {"vm"},
	} {
		for _, step := range steps {
			for _, c := range []crash{
				{at: sagas.BeforeIntent},
				{at: sagas.AfterIntent},
				{at: sagas.Sent},
				{at: sagas.Sent, made: true},
				{at: sagas.Answered, made: true},
				{at: sagas.BeforeComplete, made: true},
				{at: sagas.AfterComplete, made: true},
			} {
				c.kind, c.step = kind, step
				all = append(all, c)
			}
		}
	}
	for _, step := range []string{"account", "tenant", "billing", "activate"} {
		all = append(all, crash{"hosting", step, sagas.BeforeComplete, false}, crash{"hosting", step, sagas.AfterComplete, false})
	}
	return all
}

// deaths kill workers as planned, each once. K says whose plan it is.
type deaths[K comparable] struct {
	w     *world
	mu    sync.Mutex
	plans map[K]crash // those to come
}

func newDeaths[K comparable](w *world) *deaths[K] {
	return &deaths[K]{w: w, plans: map[K]crash{}}
}

func (d *deaths[K]) plan(whose K, c crash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans[whose] = c
}

// at is the end of a worker, if one is planned at this point of its step.
func (d *deaths[K]) at(whose K, step string, at sagas.Point, made bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, planned := d.plans[whose]; !planned || c.step != step || c.at != at || c.made != made && at == sagas.Sent {
		return nil
	}
	delete(d.plans, whose)
	return sagas.ErrKilled
}

// came waits until all have happened. A worker that dies after its last write dies after
// others can read it.
func (d *deaths[K]) came() {
	d.w.t.Helper()
	d.w.eventually("every worker has died as planned", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.plans) == 0
	})
}

func TestAWorkerMayDieAnywhere(t *testing.T) { // F-1
	t.Parallel()
	w := newWorld(t)
	deaths := newDeaths[uuid.UUID](w)
	w.fault.to(func(p sagas.Point, c sagas.Run) error { return deaths.at(c.Order, c.At().Name, p, false) })
	dieAfter := func(step string, whose func(name string) uuid.UUID) func(call, name string) error {
		return func(call, name string) error {
			if call == "find" {
				return nil
			}
			return deaths.at(whose(name), step, sagas.Sent, true)
		}
	}
	var mu sync.Mutex
	runs := map[string]uuid.UUID{} // by what they make outside
	owner := func(name string) uuid.UUID { mu.Lock(); defer mu.Unlock(); return runs[name] }
	client := func(name string) (id uuid.UUID) { // named by a number that is drawn with the payment
		_ = w.pool.QueryRow(t.Context(), `select (input ->> 'order')::uuid from saga_run where definition = 'provision/1' and 't' || (input ->> 'tenant') = $1`, name).Scan(&id)
		return id
	}
	w.engine.tell(nil, func(call, name string) error {
		if number, is := strings.CutPrefix(name, "tenant/"); is {
			return dieAfter("tenant.engine", client)(call, number)
		}
		return dieAfter("site", owner)(call, name)
	})
	w.compute.tell(nil, dieAfter("vm", func(tag string) uuid.UUID { return uuid.MustParse(tag) }))
	w.mail.tell(nil, dieAfter("welcome", owner))

	var ids []uuid.UUID
	for i, c := range crashes() {
		o := ordering{kind: c.kind, email: fmt.Sprintf("crash%d@example.com", i)}
		if c.kind == "hosting" {
			o.domain = fmt.Sprintf("crash%d.example.com", i)
		}
		id := w.place(o)
		w.pay.pay(id, nil)
		deaths.plan(id, c)
		mu.Lock()
		runs["site/"+o.domain], runs[o.email] = id, id
		mu.Unlock()
		ids = append(ids, id)
	}
	for _, id := range ids {
		w.must(w.webhook("evt_"+id.String(), id))
	}
	w.goes()
	w.eventually("all orders are paid", func() bool { return w.count(`select count(*) from saga_run where key like 'provision:%'`) == len(ids) })
	for _, id := range ids {
		w.becomes(id, order.StatusActive)
		w.settled(id)
		w.onlyOnce(id)
	}
	w.eventually("late mails are sent", func() bool {
		return w.count(`select count(*) from saga_run where status <> 'done'`) == 0
	})
	for i := range ids {
		mails := w.mail.to(fmt.Sprintf("crash%d@example.com", i))
		if len(mails) == 0 || len(mails) > 2 {
			t.Errorf("%d: %d mails", i, len(mails))
		}
	}
	deaths.came()
}

// onlyOnce checks that nothing was made twice for an order (V9, N-9).
func (w *world) onlyOnce(id uuid.UUID) {
	w.t.Helper()
	run := w.provision(id)
	if n := w.compute.creations(id.String()); run.Job.VM != 0 && n != 1 {
		w.t.Errorf("order %s made %d machines", id, n)
	}
	if run.Job.Type == "hosting" {
		if n := w.engine.creations(fmt.Sprintf("tenant/t%d", run.Job.Tenant)); n != 1 {
			w.t.Errorf("order %s made %d clients", id, n)
		}
	}
}

// zombies are stopped in one round; HOSTPANEL_FAULT_ROUNDS says how many rounds.
const zombies = 24

func TestAZombieChangesNothing(t *testing.T) { // F-14, N-8
	t.Parallel()
	rounds, _ := strconv.Atoi(os.Getenv("HOSTPANEL_FAULT_ROUNDS"))
	for round := range max(1, rounds) {
		t.Run(fmt.Sprint(round), zombiesChangeNothing)
	}
}

func zombiesChangeNothing(t *testing.T) {
	url := ""
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	url = database(t)
	short := func(o *assembly.Options) { o.Times.Lease = 400 * time.Millisecond }
	w.instance = w.node(url, short, func(o *assembly.Options) { o.Limits["engine:one"] = zombies })
	zombie := w.instance
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	const orders = zombies
	points := []sagas.Point{sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete}
	frozen, released := map[uuid.UUID]sagas.Point{}, make(chan struct{})
	var mu sync.Mutex
	var asleep sync.WaitGroup
	var ids []uuid.UUID
	for range orders {
		id := w.place(ordering{})
		w.pay.pay(id, nil)
		frozen[id] = points[random.IntN(len(points))]
		ids = append(ids, id)
	}
	asleep.Add(orders)
	zombie.frozen.to(true)
	zombie.fault.to(func(p sagas.Point, c sagas.Run) error { // the process is stopped here, in the middle of a call or beside one
		mu.Lock()
		at, waits := frozen[c.Order]
		stop := waits && p == at && c.At().Name == "tenant.engine"
		if stop {
			delete(frozen, c.Order)
		}
		mu.Unlock()
		if stop {
			asleep.Done()
			<-released
		}
		return nil
	})
	for _, id := range ids {
		w.must(w.webhook("evt_"+id.String(), id))
	}
	w.must(func() error {
		_, err := w.pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('engine:one', $1)`, 2*orders)
		return err
	}())
	stop := w.start(zombie)
	asleep.Wait()

	w.instance = w.node(url, short)
	w.goes()
	before := map[uuid.UUID]int{}
	for _, id := range ids {
		w.becomes(id, order.StatusActive)
		before[id] = len(w.happened(sagas.StreamOf("provision:" + id.String())))
	}
	fenced, calls := zombie.Fenced(), atomic.Int64{}
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "tenant/") {
			calls.Add(1)
		}
		return nil
	}, nil)
	close(released)
	w.eventually("every zombie has found out", func() bool { return zombie.Fenced() >= fenced+orders })
	stop()
	w.equal("calls of zombies", calls.Load(), 0)
	for _, id := range ids {
		w.settled(id)
		w.onlyOnce(id)
		w.equal("facts after the zombie", len(w.happened(sagas.StreamOf("provision:"+id.String()))), before[id])
	}
}

func TestRandomFaultsEndWell(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	chance := func(percent int) bool { mu.Lock(); defer mu.Unlock(); return random.IntN(100) < percent }
	w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	lie := func(_, _ string) error {
		switch {
		case chance(10):
			return errLie // no class: it may have happened
		case chance(10):
			return domain.Fail(domain.Unknown, "timeout", context.DeadlineExceeded)
		}
		return nil
	}
	refuse := func(_, _ string) error {
		if chance(15) {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}
	w.engine.tell(refuse, lie)
	w.compute.tell(refuse, lie)
	w.mail.tell(refuse, lie)
	w.pay.tell(refuse, nil)
	w.fault.to(func(sagas.Point, sagas.Run) error {
		if chance(2) {
			return sagas.ErrKilled
		}
		return nil
	})
	w.goes()
	var ids []uuid.UUID
	for i := range 40 {
		kind := []string{"hosting", "vps", "saas"}[i%3]
		id := w.placed(ordering{kind: kind})
		for {
			if _, err := w.Payments.OpenSession(t.Context(), id); err == nil {
				break
			} else if domain.CodeOf(err) != domain.Unavailable {
				t.Fatal(err)
			}
		}
		ids = append(ids, id)
		w.paid(id)
	}
	for _, id := range ids {
		w.becomes(id, order.StatusActive)
		w.settled(id)
		w.onlyOnce(id)
	}
	w.equal("mails sent more than twice", w.count(`select count(*) from effect where step in ('welcome', 'send') and sends > 2`), 0)
}

func TestAnAnswerThatGotLostIsFoundByLookingUp(t *testing.T) { // F-12
	t.Parallel()
	w := newWorld(t)
	lost := map[string]bool{}
	var mu sync.Mutex
	once := func(_, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if lost[name] {
			return nil
		}
		lost[name] = true
		return domain.Fail(domain.Unknown, "timeout", errors.New("no answer"))
	}
	w.engine.tell(nil, once)
	w.compute.tell(nil, once)
	w.goes()
	a, b := w.buy(ordering{domain: "lost.example.com"}), w.buy(ordering{kind: "vps"})
	for _, id := range []uuid.UUID{a, b} {
		w.becomes(id, order.StatusActive)
		w.settled(id)
		w.onlyOnce(id)
	}
	w.equal("sites made", w.engine.creations("site/lost.example.com"), 1)
	w.equal("adopted", w.count(`select count(*) from events where name = 'saga.step_completed' and (data ->> 'found')::boolean`), 3)
}

func TestAStepThatPanicsIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var once sync.Once
	w.compute.tell(func(call, _ string) error {
		if call == "create" {
			once.Do(func() { panic("a mistake in an adapter") })
		}
		return nil
	}, nil)
	w.goes()
	id := w.buy(ordering{kind: "vps"})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.onlyOnce(id)
	w.equal("noted", w.count(`select count(*) from saga_attempt where error like 'panic: a mistake in an adapter%'`), 1)
}
