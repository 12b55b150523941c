//go:build system

package faults_test

import (
	"context"
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
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// crashes are all points at which a worker can die, times what it may leave.
func crashes() (all []sagastest.Crash) {
	for kind, steps := range map[string][]string{
		"hosting": {"tenant.engine", "site", "welcome"},
		"vps":     {"vm"},
	} {
		for _, step := range steps {
			for _, c := range []sagastest.Crash{
				{At: sagas.BeforeIntent},
				{At: sagas.AfterIntent},
				{At: sagas.Sent},
				{At: sagas.Sent, Made: true},
				{At: sagas.Answered, Made: true},
				{At: sagas.BeforeComplete, Made: true},
				{At: sagas.AfterComplete, Made: true},
			} {
				c.Kind, c.Step = kind, step
				all = append(all, c)
			}
		}
	}
	for _, step := range []string{"account", "tenant", "billing", "activate"} {
		all = append(
			all, sagastest.Crash{Kind: "hosting", Step: step, At: sagas.BeforeComplete},
			sagastest.Crash{Kind: "hosting", Step: step, At: sagas.AfterComplete},
		)
	}
	return all
}

func TestAWorkerMayDieAnywhere(t *testing.T) { // F-1
	t.Parallel()
	w := sagastest.NewWorld(t)
	deaths := sagastest.NewDeaths[uuid.UUID](w)
	w.Fault.To(func(p sagas.Point, c sagas.Run) error { return deaths.At(c.Order, c.At().Name, p, false) })
	dieAfter := func(step string, whose func(name string) uuid.UUID) func(call, name string) error {
		return func(call, name string) error {
			if call == "find" {
				return nil
			}
			return deaths.At(whose(name), step, sagas.Sent, true)
		}
	}
	var mu sync.Mutex
	runs := map[string]uuid.UUID{} // by what they make outside
	owner := func(name string) uuid.UUID { mu.Lock(); defer mu.Unlock(); return runs[name] }
	client := func(name string) (id uuid.UUID) { // named by a number that is drawn with the payment
		_ = w.Pool.QueryRow(t.Context(), `select (input ->> 'order')::uuid from saga_run
			where definition = 'provision/1' and 't' || (input ->> 'tenant') = $1`, name).Scan(&id)
		return id
	}
	w.Engine.Tell(nil, func(call, name string) error {
		if number, is := strings.CutPrefix(name, "tenant/"); is {
			return dieAfter("tenant.engine", client)(call, number)
		}
		return dieAfter("site", owner)(call, name)
	})
	w.Compute.Tell(nil, dieAfter("vm", func(tag string) uuid.UUID { return uuid.MustParse(tag) }))
	w.Mail.Tell(nil, dieAfter("welcome", owner))

	var ids []uuid.UUID
	for i, c := range crashes() {
		o := sagastest.OrderForm{Kind: c.Kind, Email: fmt.Sprintf("crash%d@example.com", i)}
		if c.Kind == "hosting" {
			o.Domain = fmt.Sprintf("crash%d.example.com", i)
		}
		id := w.Place(o)
		w.Pay.Pay(id, nil)
		deaths.Plan(id, c)
		mu.Lock()
		runs["site/"+o.Domain], runs[o.Email] = id, id
		mu.Unlock()
		ids = append(ids, id)
	}
	for _, id := range ids {
		w.Must(w.Webhook("evt_"+id.String(), id))
	}
	w.Goes()
	w.Eventually("all orders are paid", func() bool {
		return w.Count(`select count(*) from saga_run where key like 'provision:%'`) == len(ids)
	})
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		w.OnlyOnce(id)
	}
	w.Eventually("late mails are sent", func() bool {
		return w.Count(`select count(*) from saga_run where status <> 'done'`) == 0
	})
	for i := range ids {
		mails := w.Mail.To(fmt.Sprintf("crash%d@example.com", i))
		if len(mails) == 0 || len(mails) > 2 {
			t.Errorf("%d: %d mails", i, len(mails))
		}
	}
	deaths.Came()
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
	w := &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	url = sagastest.Database(t)
	lease := 400 * time.Millisecond
	if eventstoretest.IsDistant() { // one that is not renewed has to last until the step at which it is stopped
		lease = 3 * time.Second
	}
	short := func(o *assembly.Options) { o.Times.Lease = lease }
	w.Instance = w.Node(url, short, func(o *assembly.Options) { o.Limits["engine:one"] = zombies })
	zombie := w.Instance
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
		id := w.Place(sagastest.OrderForm{})
		w.Pay.Pay(id, nil)
		frozen[id] = points[random.IntN(len(points))]
		ids = append(ids, id)
	}
	asleep.Add(orders)
	zombie.Frozen.To(true)
	zombie.Fault.To(func(p sagas.Point, c sagas.Run) error { // the process is stopped here, in the middle of a call or beside one
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
		w.Must(w.Webhook("evt_"+id.String(), id))
	}
	w.Must(func() error {
		_, err := w.Pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('engine:one', $1)`, 2*orders)
		return err
	}())
	stop := w.Start(zombie)
	asleep.Wait()

	w.Instance = w.Node(url, short)
	w.Goes()
	before := map[uuid.UUID]int{}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		before[id] = len(w.Happened(sagas.StreamOf("provision:" + id.String())))
	}
	fenced, calls := zombie.Runner.Fenced(), atomic.Int64{}
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "tenant/") {
			calls.Add(1)
		}
		return nil
	}, nil)
	close(released)
	w.Eventually("every zombie has found out", func() bool { return zombie.Runner.Fenced() >= fenced+orders })
	stop()
	w.Equal("calls of zombies", calls.Load(), 0)
	for _, id := range ids {
		w.Settled(id)
		w.OnlyOnce(id)
		w.Equal("facts after the zombie", len(w.Happened(sagas.StreamOf("provision:"+id.String()))), before[id])
	}
}

func TestRandomFaultsEndWell(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	chance := func(percent int) bool { mu.Lock(); defer mu.Unlock(); return random.IntN(100) < percent }
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	lie := func(_, _ string) error {
		switch {
		case chance(10):
			return sagastest.ErrLie // no class: it may have happened
		case chance(10):
			return domain.Fail(domain.Unknown, "timeout", context.DeadlineExceeded)
		}
		return nil
	}
	refuse := func(_, _ string) error {
		if chance(15) {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}
	w.Engine.Tell(refuse, lie)
	w.Compute.Tell(refuse, lie)
	w.Mail.Tell(refuse, lie)
	w.Pay.Tell(refuse, nil)
	w.Fault.To(func(sagas.Point, sagas.Run) error {
		if chance(2) {
			return sagas.ErrKilled
		}
		return nil
	})
	w.Goes()
	var ids []uuid.UUID
	for i := range 40 {
		kind := []string{"hosting", "vps", "saas"}[i%3]
		id := w.Placed(sagastest.OrderForm{Kind: kind})
		for {
			if _, err := w.Payments.Pages.OpenSession(t.Context(), id); err == nil {
				break
			} else if domain.CodeOf(err) != domain.Unavailable {
				t.Fatal(err)
			}
		}
		ids = append(ids, id)
		w.Paid(id)
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		w.OnlyOnce(id)
	}
	w.Equal("mails sent more than twice", w.Count(`select count(*) from effect where step in ('welcome', 'send') and sends > 2`), 0)
}
