package payments_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/sagastest"
)

// refuses lets the database refuse every hint at an order.
func refuses(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	_, err := eventstoretest.Owner(w.T, w.Pool.Config().ConnString()).Exec(w.T.Context(), fmt.Sprintf(`
		create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
		create trigger refusing before update on payment_watch for each row when (new.order_id = '%s') execute function refuse()`, id))
	w.Must(err)
}

// Webhooks are matched in groups. One that fails each time is parked after its ten
// attempts, and all others of its group find their orders at once.
func TestAWebhookThatFailsStopsNoOtherOfItsGroup(t *testing.T) { // I-17
	t.Parallel()
	w := sagastest.NewWorld(t)
	var ids []uuid.UUID
	for range 3 {
		id := w.Place(sagastest.OrderForm{})
		ids = append(ids, id)
		for n := range 3 {
			w.Must(w.Webhook(fmt.Sprintf("evt_%d_%s", n, id), id))
		}
	}
	refuses(w, ids[1])
	w.Goes()
	for i, id := range ids {
		state := map[bool]string{true: "parked", false: "done"}[i == 1]
		for n := range 3 {
			w.Eventually(fmt.Sprintf("webhook %d of order %d is %s", n, i, state), func() bool {
				return sagastest.InboxState(w, fmt.Sprintf("evt_%d_%s", n, id)) == state
			})
		}
	}
	w.Equal("attempts", w.Count(`select sum(attempts)::int from webhook_inbox`), 6+30)
	w.Equal("hints", w.Count(`select count(*) from payment_watch where reason = 'webhook'`), 2)
}

// A group of webhooks is matched with their orders by one statement, and each order is
// made due once.
func TestWebhooksAreMatchedInGroups(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var ids []uuid.UUID
	for i := range 4 {
		id := w.Place(sagastest.OrderForm{})
		ids = append(ids, id)
		for n := range 5 {
			w.Must(w.Webhook(fmt.Sprintf("evt_%d_%d", i, n), id))
		}
	}
	before := w.Count(`select sum(wakes)::int from payment_watch`)
	w.Pay.Pay(ids[0], nil)
	w.Goes()
	w.Eventually("all are done", func() bool { return w.Count(`select count(*) from webhook_inbox where state = 'done'`) == 20 })
	w.Equal(
		"their own order's",
		w.Count(`select count(*) from webhook_inbox i join payment_watch p using (order_id) where i.attempts = 1`), 20,
	)
	w.Equal("transactions", w.Count(`select count(distinct xmin::text) from webhook_inbox`), 1)
	w.Equal("hints", w.Count(`select sum(wakes)::int from payment_watch`)-before, 4)
	w.Becomes(ids[0], order.StatusActive)
}

// Checks are leased and read in groups. An order whose events cannot be read is checked
// again later, and all others of its group are checked.
func TestAnOrderThatCannotBeReadStopsNoOtherCheckOfItsGroup(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var ids []uuid.UUID
	for range 6 {
		id := w.Place(sagastest.OrderForm{})
		w.Pay.Pay(id, nil)
		w.Must(w.Webhook("evt_"+id.String(), id))
		ids = append(ids, id)
	}
	_, err := eventstoretest.Owner(t, w.Pool.Config().ConnString()).Exec(t.Context(), fmt.Sprintf(`
		alter table events disable trigger all; update events set schema = 99 where stream = 'order-%s'
			and name = 'order.placed'; alter table events enable trigger all`, ids[2]))
	w.Must(err)
	w.Instance = w.Node(w.Pool.Config().ConnString()) // which remembers nothing
	w.Goes()
	for i, id := range ids {
		if i != 2 {
			w.Eventually("the order is paid", func() bool {
				return w.Count(
					`select count(*) from events where stream = $1 and name = 'order.payment_confirmed'`,
					"order-"+id.String(),
				) == 1
			})
		}
	}
	w.Eventually("the other is looked at again", func() bool {
		return w.Count(`select checks from payment_watch where order_id = $1`, ids[2]) > 1
	})
	w.Equal("booked", w.Count(`select count(*) from payment_object`), 5)
}
