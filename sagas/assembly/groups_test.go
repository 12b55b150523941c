package assembly_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
)

// refuses lets the database refuse every hint at an order.
func (w *world) refuses(id uuid.UUID) {
	w.t.Helper()
	_, err := eventstoretest.Owner(w.t, w.pool.Config().ConnString()).Exec(w.t.Context(), fmt.Sprintf(`
		create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
		create trigger refusing before update on payment_watch for each row when (new.order_id = '%s') execute function refuse()`, id))
	w.must(err)
}

// Webhooks are matched in groups. One that fails each time is parked after its ten
// attempts, and all others of its group find their orders at once.
func TestAWebhookThatFailsStopsNoOtherOfItsGroup(t *testing.T) { // I-17
	t.Parallel()
	w := newWorld(t)
	var ids []uuid.UUID
	for range 3 {
		id := w.place(ordering{})
		ids = append(ids, id)
		for n := range 3 {
			w.must(w.webhook(fmt.Sprintf("evt_%d_%s", n, id), id))
		}
	}
	w.refuses(ids[1])
	w.goes()
	for i, id := range ids {
		state := map[bool]string{true: "parked", false: "done"}[i == 1]
		for n := range 3 {
			w.eventually(fmt.Sprintf("webhook %d of order %d is %s", n, i, state), func() bool {
				return w.inboxState(fmt.Sprintf("evt_%d_%s", n, id)) == state
			})
		}
	}
	w.equal("attempts", w.count(`select sum(attempts)::int from webhook_inbox`), 6+30)
	w.equal("hints", w.count(`select count(*) from payment_watch where reason = 'webhook'`), 2)
}

// A group of webhooks is matched with their orders by one statement, and each order is
// made due once.
func TestWebhooksAreMatchedInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []uuid.UUID
	for i := range 4 {
		id := w.place(ordering{})
		ids = append(ids, id)
		for n := range 5 {
			w.must(w.webhook(fmt.Sprintf("evt_%d_%d", i, n), id))
		}
	}
	before := w.count(`select sum(wakes)::int from payment_watch`)
	w.pay.pay(ids[0], nil)
	w.goes()
	w.eventually("all are done", func() bool { return w.count(`select count(*) from webhook_inbox where state = 'done'`) == 20 })
	w.equal("their own order's", w.count(`select count(*) from webhook_inbox i join payment_watch p using (order_id) where i.attempts = 1`), 20)
	w.equal("transactions", w.count(`select count(distinct xmin::text) from webhook_inbox`), 1)
	w.equal("hints", w.count(`select sum(wakes)::int from payment_watch`)-before, 4)
	w.becomes(ids[0], order.StatusActive)
}

// Checks are leased and read in groups. An order whose events cannot be read is checked
// again later, and all others of its group are checked.
func TestAnOrderThatCannotBeReadStopsNoOtherCheckOfItsGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []uuid.UUID
	for range 6 {
		id := w.place(ordering{})
		w.pay.pay(id, nil)
		w.must(w.webhook("evt_"+id.String(), id))
		ids = append(ids, id)
	}
	_, err := eventstoretest.Owner(t, w.pool.Config().ConnString()).Exec(t.Context(), fmt.Sprintf(`
		alter table events disable trigger all; update events set schema = 99 where stream = 'order-%s' and name = 'order.placed'; alter table events enable trigger all`, ids[2]))
	w.must(err)
	w.instance = w.node(w.pool.Config().ConnString()) // which remembers nothing
	w.goes()
	for i, id := range ids {
		if i != 2 {
			w.eventually("the order is paid", func() bool {
				return w.count(`select count(*) from events where stream = $1 and name = 'order.payment_confirmed'`, "order-"+id.String()) == 1
			})
		}
	}
	w.eventually("the other is looked at again", func() bool {
		return w.count(`select checks from payment_watch where order_id = $1`, ids[2]) > 1
	})
	w.equal("booked", w.count(`select count(*) from payment_object`), 5)
}
