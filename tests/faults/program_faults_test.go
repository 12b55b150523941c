//go:build system

package faults_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/tests/processtest"
)

// recovery is how long a killed process may hold an order up: its lease, then
// the time before "not found" counts as proof, each with a margin.
const recovery = 4 * time.Minute

// Customers order and pay, and an administrator makes sites with all that goes with
// them. At random moments the program is killed, as by a power cut, or Postgres under
// it, and the secret key is replaced. The engine loses answers, and objects.
// HOSTPANEL_FAULT_ORDERS and HOSTPANEL_FAULT_SEED choose how many orders and which
// moments; the seed of a run is printed. At a distance the panel is on a database of
// an ordinary role.
func TestNoOrderIsLostOrDoneTwiceHoweverOftenTheProgramIsKilled(t *testing.T) {
	t.Parallel()
	orders := number64(t, "HOSTPANEL_FAULT_ORDERS", 12)
	seed := number64(t, "HOSTPANEL_FAULT_SEED", time.Now().UnixNano())
	t.Logf("HOSTPANEL_FAULT_ORDERS=%d HOSTPANEL_FAULT_SEED=%d", orders, seed)
	c := &campaign{
		t: t, panelAt: newPanelAt(t), own: int(orders) / 4, chance: rand.New(rand.NewPCG(uint64(seed),
			1)), paid: map[string]string{}, dealt: map[string]int{},
	}
	c.run = c.home.Start()
	c.demo = c.home.Demo()
	c.engineMisbehaves()

	var customers sync.WaitGroup
	customers.Go(c.administrator)
	for n := range int(orders) {
		customers.Go(func() { c.customer(n) })
		if n%2 == 1 { // two at a time are on their way when the power fails
			c.fail()
		}
	}
	c.endRotation()
	customers.Wait()
	t.Logf("killed %d times; %d orders are paid", c.kills, len(c.paid))
	if c.kills < int(orders)/2 || len(c.paid) != int(orders) {
		t.Fatalf("%d kills and %d orders of %d are no trial; the program says:\n%s", c.kills, len(c.paid), orders,
			c.run.Stderr())
	}
	for id := range c.paid {
		c.run.AwaitActive(id, c.demo.APIKey, recovery)
	}
	c.everyBlowWasDealt()
	c.everythingIsThereOnce()
	if out := c.home.Must("verify"); !strings.HasPrefix(out, "intact: ") {
		t.Errorf("verify says %s", out)
	}
	c.run.Stop()
}

// A campaign has customers who want to pay, and kills the program.
type campaign struct {
	*panelAt
	t      *testing.T
	chance *rand.Rand
	demo   serve.Demo

	mu    sync.Mutex
	run   *processtest.Process
	paid  map[string]string // number of an order by its id
	kills int
	own   int            // sites that the administrator makes
	deck  []blow         // those that come before any comes again
	dealt map[string]int // how often each
	steps int            // of replacements of the secret key

	signing sync.Mutex
	token   string // of the administrator
}

// customer orders, and repeats the same request until it is answered; then
// pays, and repeats that.
func (c *campaign) customer(n int) {
	body := fmt.Sprintf(processtest.Ordered, c.demo.Plans.Hosting, fmt.Sprintf("customer%d@customer.example", n),
		fmt.Sprintf("site%d.example", n))
	var placed processtest.Answer
	c.insist(func(base string) (processtest.Answer, error) {
		a, err := processtest.Call(c.t.Context(), "POST", base+"/storefront/api/orders/", body,
			"X-API-Key", c.demo.APIKey, "Content-Type", processtest.AsJSON, "Idempotency-Key", fmt.Sprintf("customer-%d", n))
		placed = a
		return a, err
	}, 201)
	if placed.Status != 201 {
		return
	}
	page := processtest.PathOf(c.t, placed.Field(c.t, "payment_url"))
	c.insist(func(base string) (processtest.Answer, error) {
		return processtest.Call(c.t.Context(), "POST", base+page, "action=pay", "Content-Type", processtest.AsForm)
	}, 303, 409) // 409: it was paid, but the answer was lost
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paid[placed.Field(c.t, "order_id")] = placed.Field(c.t, "order_number")
}

// insist repeats a request until one of these answers comes.
func (c *campaign) insist(request func(base string) (processtest.Answer, error), enough ...int) {
	var last processtest.Answer
	var err error
	for deadline := time.Now().Add(recovery); time.Now().Before(deadline); {
		c.mu.Lock()
		base := c.run.Base
		c.mu.Unlock()
		if last, err = request(base); err == nil {
			for _, status := range enough {
				if last.Status == status {
					return
				}
			}
		}
		select {
		case <-c.t.Context().Done():
			return
		case <-time.After(last.Pause()):
		}
	}
	c.t.Errorf("a customer gave up: %v, status %d %s", err, last.Status, last.Body)
}

func (c *campaign) kill(r *processtest.Process) {
	r.End(syscall.SIGKILL)
	c.kills++
}

// sleep lets up to so many milliseconds pass: the moment is what is tried.
func (c *campaign) sleep(most int) { time.Sleep(time.Duration(c.chance.IntN(most)) * time.Millisecond) }

// everythingIsThereOnce looks for each order's tenant, site, subscription and
// invoice in the log's tables, and for what the engine has really made.
func (c *campaign) everythingIsThereOnce() {
	c.looking(c.looksAtEverything)
}

func (c *campaign) looksAtEverything(ctx context.Context, p *program.Program) {
	for id, number := range c.paid {
		c.hasEverythingOnce(ctx, p, uuid.MustParse(id))
		if mails := processtest.MailsAbout(c.t, c.home.Dir, number); len(mails) > 2 {
			c.t.Errorf("%s: %d mails", number, len(mails))
		}
	}
	for message, n := range processtest.Sendings(c.t, c.home.Dir) {
		if n > 2 {
			c.t.Errorf("%s was sent %d times", message, n)
		}
	}
	c.everythingHasARoot(p)
	c.engineHasMisbehaved(ctx, p)
	c.nothingIsStuck(ctx, p)
	c.engineHasEachOnce(ctx, p)
	c.invoicesHaveNoGap(ctx, p)
	if found, err := p.Tables.For(projections.System).Orders().Orders(ctx, projections.OrderFilter{Limit: 10_000}); err != nil ||
		len(found) != len(c.paid) {
		c.t.Errorf("%d orders instead of %d, %v", len(found), len(c.paid), err)
	}
}

// everythingHasARoot walks from each event to what led to it. Orders have the
// correlation of all that came of them. What nothing else has asked for is the
// demo's stock, or an incident.
func (c *campaign) everythingHasARoot(p *program.Program) {
	runs := map[uuid.UUID]int{}
	for _, root := range eventstoretest.Roots(c.t, p.Store.Reader()) {
		m := root.Metadata
		if m.Cause.Kind() == domain.CausedByOperator && m.Actor != "system:demo" && m.Actor != sagas.IncidentReporter {
			c.t.Errorf("event %d, %s of %s, by %s, has the root %s", root.Position, root.Name, root.Stream, m.Actor, m.Cause)
		}
	}
	rows, err := p.Pool.Query(c.t.Context(), `select correlation from saga_run`)
	if err != nil {
		c.t.Fatal(err)
	}
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { runs[id]++; return nil })
	if err != nil {
		c.t.Fatal(err)
	}
	for order := range c.paid {
		if n := runs[uuid.MustParse(order)]; n < 3 { // its setup, its site at the engine, and the mail about it
			c.t.Errorf("order %s: %d runs have its correlation", order, n)
		}
	}
}

func (c *campaign) hasEverythingOnce(ctx context.Context, p *program.Program, id uuid.UUID) {
	scope := p.Tables.For(projections.System)
	made := map[string]int{}
	resources, err := scope.Hosting().ResourcesOfOrder(ctx, id)
	for _, r := range resources {
		made[r.Kind]++
		if r.EngineID == nil || *r.EngineID == 0 {
			c.t.Errorf("order %s: %s %d is not on the engine", id, r.Kind, r.ID)
		}
	}
	_, invoiced, err2 := scope.Billing().InvoiceOfOrder(ctx, id)
	_, subscribed, err3 := scope.Billing().SubscriptionOfOrder(ctx, id)
	if err := cmp.Or(err, err2, err3); err != nil {
		c.t.Fatal(err)
	}
	if made["tenant"] != 1 || made["site"] != 1 || len(made) != 2 || !invoiced || !subscribed {
		c.t.Errorf("order %s: made %v, invoice %t, subscription %t", id, made, invoiced, subscribed)
	}
	history, err := p.Store.Read(ctx, order.Stream(id))
	if err != nil {
		c.t.Fatal(err)
	}
	times := map[string]int{}
	for _, e := range history {
		times[e.Name]++
	}
	if times["order.placed"] != 1 || times["order.payment_confirmed"] != 1 || times["order.activated"] != 1 {
		c.t.Errorf("order %s: %v", id, times)
	}
}

func (c *campaign) invoicesHaveNoGap(ctx context.Context, p *program.Program) {
	invoices, err := p.Tables.For(projections.System).Billing().Invoices(ctx, projections.Listing{Limit: 10_000})
	if err != nil {
		c.t.Fatal(err)
	}
	numbers := map[string]bool{}
	for _, i := range invoices.Rows {
		numbers[i.Number] = true
	}
	for n := 1; n <= len(c.paid); n++ {
		want := fmt.Sprintf("TEST-%d-%06d", time.Now().UTC().Year(), n)
		if !numbers[want] {
			c.t.Errorf("there is no invoice %s among %d", want, len(invoices.Rows))
		}
	}
	if len(invoices.Rows) != len(c.paid) {
		c.t.Errorf("%d invoices for %d orders", len(invoices.Rows), len(c.paid))
	}
}

func number64(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
