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
