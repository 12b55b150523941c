package assembly_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/orders"
)

func (w *world) order(id uuid.UUID) order.Order {
	w.t.Helper()
	o, _, err := eventstore.Fold(w.t.Context(), w.store, order.Decider, order.Stream(id))
	w.must(err)
	return o
}

func (w *world) becomes(id uuid.UUID, status order.Status) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("order %s is %s (it is %s)", id, status, w.order(id).Status), func() bool { return w.order(id).Status == status })
}

func (w *world) runOf(key string) sagas.Run {
	w.t.Helper()
	r, _, err := eventstore.Fold(w.t.Context(), w.store, sagas.Decider, sagas.StreamOf(key))
	w.must(err)
	return r
}

// A provisionRun is the provisioning of an order with what it works with.
type provisionRun struct {
	sagas.Run
	Job orders.ProvisionInput
}

func (w *world) provision(id uuid.UUID) provisionRun {
	w.t.Helper()
	r := w.runOf("provision:" + id.String())
	in, err := sagas.InputOf[orders.ProvisionInput](r)
	w.must(err)
	return provisionRun{r, in}
}

// resourceOf is the hosting resource that a run works for.
func resourceOf(r sagas.Run) hosting.Generation {
	in, _ := sagas.InputOf[hosting.Generation](r) // of other runs it is none
	return in
}

// happened returns the names of the events of a stream, in order.
func (w *world) happened(stream domain.Stream) (names []string) {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), stream)
	w.must(err)
	for _, r := range history {
		names = append(names, r.Name)
	}
	return names
}

func (w *world) often(stream domain.Stream, name string) (n int) {
	for _, happened := range w.happened(stream) {
		if happened == name {
			n++
		}
	}
	return n
}

// pauses keeps everybody from the work of a queue. A world that goes has to have it.
func (w *world) pauses(queue string) {
	w.t.Helper()
	if w.end != nil {
		w.eventually("there is a queue "+queue, func() bool { return w.count(`select count(*) from saga_queue where queue = $1`, queue) == 1 })
	}
	_, err := w.pool.Exec(w.t.Context(), `insert into saga_queue (queue, max_in_flight, paused) values ($1, 1, true) on conflict (queue) do update set paused = true`, queue)
	w.must(err)
}

// loses the work rows, and has them rebuilt.
func (w *world) loses() {
	w.t.Helper()
	_, err := w.pool.Exec(w.t.Context(), `delete from saga_run`)
	w.must(err)
	_, err = w.RebuildRuns(w.t.Context(), operator, "the rows were lost")
	w.must(err)
}

// count asks the database for a number.
func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&n))
	return n
}

func (w *world) equal(what string, got, want any) {
	w.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (w *world) warned(text string) bool { return strings.Contains(w.logged.String(), text) }

// settled checks what must hold of an active order: V1, V2, V5 and V9.
func (w *world) settled(id uuid.UUID) {
	w.t.Helper()
	w.equal("payments confirmed", w.often(order.Stream(id), "order.payment_confirmed"), 1)
	w.equal("activated", w.often(order.Stream(id), "order.activated"), 1)
	w.equal("invoices", len(w.happened(domain.Stream{Category: billing.InvoiceCategory, ID: id.String()})), 1)
	w.equal("run", w.provision(id).Status, sagas.StatusDone)
	w.equal("effects that are not confirmed", w.count(`
		select count(*) from effect where key like 'o/' || $1 || '/%' and state not in ('confirmed', 'skipped')
			and not (step = 'welcome' or step = 'send') `, id.String()), 0)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var errLie = errors.New("the other side lies")

func (w *world) vault() *credentials.Vault {
	return credentials.Open(w.store.Pool(), w.store.Keys()).Hashing(eventstoretest.Hashing)
}
