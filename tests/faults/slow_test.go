//go:build system

package faults_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Customers order while the database is 20 ms away, and each answer of the engine, the
// hypervisor, the provider and the mail server takes 1 to 30 s: longer than the panel waits
// for most of them. Each story ends as it does elsewhere, no operator is asked for help, and
// nothing is there twice. HOSTPANEL_SLOW_PACE=1 is real time. Otherwise the panel and all
// outside are 20 times as fast, but not the database. HOSTPANEL_FAULT_SEED chooses how long
// the answers take.
func TestOrdersEndWellThoughEveryAnswerIsLate(t *testing.T) {
	t.Parallel()
	seed := sagastest.FromEnvironment("HOSTPANEL_FAULT_SEED", time.Now().UnixNano())
	pace := time.Duration(sagastest.FromEnvironment("HOSTPANEL_SLOW_PACE", 20))
	t.Logf("HOSTPANEL_FAULT_SEED=%d HOSTPANEL_SLOW_PACE=%d", seed, pace)
	for n, story := range slowStories {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			w := slowWorld(t, seed+int64(10*n), pace)
			story.tell(w)
			w.Eventually("nothing is left but graces, and mails whose server gave no answer", func() bool {
				return w.Count(`select count(*) from saga_run where status not in ('done', 'undone')
					and not (status = 'waiting' and (key like 'deprovision:%' or key like 'mail:%'))`) == 0
			})
			w.Equal("incidents", w.Text(`select coalesce(string_agg(about::text, ' '), '') from incidents`), "")
			eventstoretest.Roots(t, w.Store.Reader())
		})
	}
}

func slowWorld(t *testing.T, seed int64, pace time.Duration) *sagastest.World {
	t.Helper()
	database := eventstoretest.AtDistance(t, sagastest.Database(t), 20*time.Millisecond)
	w := sagastest.WorldOn(t, database, func(o *assembly.Options) { o.Times = atPace(pace) })
	w.Longest = max(sagastest.Patience, 14*time.Minute/pace)
	for n, outside := range []*sagastest.Lies{&w.Pay.Lies, &w.Engine.Lies, &w.Compute.Lies, &w.Mail.Lies} {
		outside.Slowly(seed+int64(n), time.Second/pace, 30*time.Second/pace)
	}
	return w.Goes()
}

// atPace are the times of the panel, so many times as fast. What bounds work in the database
// stays, as the database is no faster.
func atPace(pace time.Duration) assembly.Times {
	times := assembly.Defaults
	quicken(reflect.ValueOf(&times).Elem(), pace)
	times.Write, times.Lease = assembly.Defaults.Write, max(times.Lease, 2*time.Second)
	return times
}

func quicken(v reflect.Value, pace time.Duration) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			quicken(v.Field(i), pace)
		}
	case reflect.Array:
		for i := range v.Len() {
			quicken(v.Index(i), pace)
		}
	default: // a duration
		v.SetInt(v.Int() / int64(pace))
	}
}

// slowStories are told at once, each in a panel of its own.
var slowStories = []struct {
	name string
	tell func(*sagastest.World)
}{
	{"hosting is bought", func(w *sagastest.World) { bought(w, "hosting") }},
	{"a machine is bought", func(w *sagastest.World) { bought(w, "vps") }},
	{"a SaaS service is bought", func(w *sagastest.World) { bought(w, "saas") }},
	{"a further service joins its tenant", func(w *sagastest.World) {
		id := bought(w, "hosting")
		job := w.Provision(id).Job
		second := pays(w, sagastest.OrderForm{Domain: "second.example.com", Joins: order.Joining{Tenant: job.Tenant, User: job.User}})
		w.Becomes(second, order.StatusActive)
		w.Settled(second)
	}},
	{"no webhook tells of the payment", func(w *sagastest.World) {
		id := ordered(w, sagastest.OrderForm{})
		w.Pay.Pay(id, nil)
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
	}},
	{"ten webhooks tell of the payment", func(w *sagastest.World) {
		id := ordered(w, sagastest.OrderForm{})
		w.Pay.Pay(id, nil)
		for n := range 10 {
			w.Must(w.Webhook(fmt.Sprint("evt_", n%5), id))
		}
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		w.OnlyOnce(id)
	}},
	{"an unpaid order is cancelled", func(w *sagastest.World) {
		id := ordered(w, sagastest.OrderForm{})
		cancelled(w, id)
		w.Becomes(id, order.StatusCancelled)
	}},
	{"an order is cancelled while it is set up", func(w *sagastest.World) {
		id := pays(w, sagastest.OrderForm{Domain: "turns.example.com"})
		sagastest.StandsAt(w, id, "site")
		cancelled(w, id)
		w.Becomes(id, order.StatusRefunded)
		sagastest.Untouched(w)
	}},
	{"the provider gives the money back while the order is set up", func(w *sagastest.World) {
		id := pays(w, sagastest.OrderForm{Kind: "vps"})
		sagastest.StandsAt(w, id, "vm")
		w.Pay.GiveAll(id)
		w.Must(w.Payments.Hint(w.T.Context(), id, "refund"))
		w.Becomes(id, order.StatusRefunded)
		w.Eventually("no machine runs", func() bool { // it is taken back, or was active before and rests
			for _, vm := range w.Compute.All() {
				if vm.State == "running" {
					return false
				}
			}
			return true
		})
	}},
	{"a service is refunded", func(w *sagastest.World) {
		id := bought(w, "hosting")
		comesAgain(w, func() error { return w.Back(id, "") })
		w.Becomes(id, order.StatusRefunded)
	}},
	{"a customer pays after an operator has cancelled", func(w *sagastest.World) {
		id := ordered(w, sagastest.OrderForm{})
		cancelled(w, id)
		w.Paid(id)
		w.Becomes(id, order.StatusRefunded)
		sagastest.Untouched(w)
	}},
	{"a webhook comes before the payment", func(w *sagastest.World) {
		id := ordered(w, sagastest.OrderForm{})
		w.Must(w.Webhook("evt_before", id))
		w.Paid(id)
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
	}},
}

// ordered puts in an order, and repeats the call for its session as a shop does.
func ordered(w *sagastest.World, o sagastest.OrderForm) uuid.UUID {
	w.T.Helper()
	id := w.Placed(o)
	comesAgain(w, func() error {
		_, err := w.Payments.Pages.OpenSession(w.T.Context(), id)
		return err
	})
	return id
}

func pays(w *sagastest.World, o sagastest.OrderForm) uuid.UUID {
	w.T.Helper()
	id := ordered(w, o)
	w.Paid(id)
	return id
}

func bought(w *sagastest.World, kind string) uuid.UUID {
	w.T.Helper()
	id := pays(w, sagastest.OrderForm{Kind: kind})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
	return id
}

func cancelled(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	comesAgain(w, func() error {
		return w.Orders.Cancel(w.T.Context(), sagastest.Operator, id, "the customer changed their mind")
	})
}

// comesAgain repeats a call that is told to come again, because the provider has not answered.
func comesAgain(w *sagastest.World, call func() error) {
	w.T.Helper()
	w.Eventually("the provider has answered in time", func() bool {
		err := call()
		if err != nil && domain.CodeOf(err) != domain.Unavailable {
			w.T.Fatal(err)
		}
		return err == nil
	})
}
