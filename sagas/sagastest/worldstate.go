package sagastest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/orders"
)

// Text is the text that a query answers with.
func (w *World) Text(sql string, args ...any) (text string) {
	w.T.Helper()
	w.Must(w.Pool.QueryRow(w.T.Context(), sql, args...).Scan(&text))
	return text
}

// Order is the state of an order.
func (w *World) Order(id uuid.UUID) order.Order {
	w.T.Helper()
	o, _, err := eventstore.Fold(w.T.Context(), w.Store, order.Decider, order.Stream(id))
	w.Must(err)
	return o
}

// Becomes waits until an order has a status.
func (w *World) Becomes(id uuid.UUID, status order.Status) {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("order %s is %s (it is %s)", id, status, w.Order(id).Status), func() bool {
		return w.Order(id).Status == status
	})
}

// RunOf is the state of a run.
func (w *World) RunOf(key string) sagas.Run {
	w.T.Helper()
	r, _, err := eventstore.Fold(w.T.Context(), w.Store, sagas.Decider, sagas.StreamOf(key))
	w.Must(err)
	return r
}

// A ProvisionRun is the provisioning of an order with what it works with.
type ProvisionRun struct {
	sagas.Run
	Job orders.ProvisionInput
}

// Provision is the run that sets up an order.
func (w *World) Provision(id uuid.UUID) ProvisionRun {
	w.T.Helper()
	r := w.RunOf("provision:" + id.String())
	in, err := sagas.InputOf[orders.ProvisionInput](r)
	w.Must(err)
	return ProvisionRun{r, in}
}

// Happened returns the names of the events of a stream, in order.
func (w *World) Happened(stream domain.Stream) (names []string) {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), stream)
	w.Must(err)
	for _, r := range history {
		names = append(names, r.Name)
	}
	return names
}

// Often counts the events of a name in a stream.
func (w *World) Often(stream domain.Stream, name string) (n int) {
	for _, happened := range w.Happened(stream) {
		if happened == name {
			n++
		}
	}
	return n
}

// Pauses keeps everybody from the work of a queue. A world that goes has to have it.
func (w *World) Pauses(queue string) {
	w.T.Helper()
	if w.End != nil {
		w.Eventually("there is a queue "+queue, func() bool {
			return w.Count(`select count(*) from saga_queue where queue = $1`, queue) == 1
		})
	}
	_, err := w.Pool.Exec(w.T.Context(), `insert into saga_queue (queue, max_in_flight, paused) values ($1, 1, true)
		on conflict (queue) do update set paused = true`, queue)
	w.Must(err)
}

// Count asks the database for a number.
func (w *World) Count(sql string, args ...any) (n int) {
	w.T.Helper()
	w.Must(w.Pool.QueryRow(w.T.Context(), sql, args...).Scan(&n))
	return n
}

// Equal compares two values as they print.
func (w *World) Equal(what string, got, want any) {
	w.T.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.T.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Warned tells whether a text was logged.
func (w *World) Warned(text string) bool { return strings.Contains(w.Logged.String(), text) }

// Settled checks what must hold of an active order: V1, V2, V5 and V9.
func (w *World) Settled(id uuid.UUID) {
	w.T.Helper()
	w.Equal("payments confirmed", w.Often(order.Stream(id), "order.payment_confirmed"), 1)
	w.Equal("activated", w.Often(order.Stream(id), "order.activated"), 1)
	w.Equal("invoices", len(w.Happened(domain.Stream{Category: billing.InvoiceCategory, ID: id.String()})), 1)
	w.Equal("run", w.Provision(id).Status, sagas.StatusDone)
	w.Equal("effects that are not confirmed", w.Count(`
		select count(*) from effect where key like 'o/' || $1 || '/%' and state not in ('confirmed', 'skipped')
			and not (step = 'welcome' or step = 'send') `, id.String()), 0)
}

// A SyncBuffer is a log of many writers.
type SyncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends.
func (b *SyncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is all that was written.
func (b *SyncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// ErrLie is the error of a double that lies.
var ErrLie = errors.New("the other side lies")

// Vault holds the credentials of the world.
func (w *World) Vault() *credentials.Vault {
	return credentials.Open(w.Store.Pool(), w.Store.Keys()).Hashing(eventstoretest.Hashing)
}
