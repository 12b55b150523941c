package operations_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// hears waits until both operators have been told so often, and looks that
// it was no oftener.
func hears(w *sagastest.World, times int, spanish, english string) {
	w.T.Helper()
	told := func(user int64, title string) (n int) {
		for _, one := range w.Told(user) {
			if one == title {
				n++
			}
		}
		return n
	}
	w.Eventually(fmt.Sprintf("operators are told %d times: %s", times, english), func() bool {
		return told(901, spanish) >= times && told(902, english) >= times
	})
	w.Repeated()
	w.Equal("told in Spanish", told(901, spanish), times)
	w.Equal("told in English", told(902, english), times)
}

func inboxID(w *sagastest.World, event string) int64 {
	w.T.Helper()
	return int64(w.Count(`select id from webhook_inbox where event_id = $1`, event))
}

const (
	lonelyES, lonelyEN = "warning: Un webhook no corresponde a ningún pedido", "warning: A webhook fits no order"
	parkedES, parkedEN = "warning: Se ha apartado un webhook", "warning: A webhook was set aside"
	failedES, failedEN = "system: Una reacción ha fallado", "system: A reaction has failed"
	brokenES, brokenEN = "system: Se ha manipulado el registro", "system: The log has been tampered with"
	downES, downEN     = "warning: Un proveedor de pagos no responde", "warning: A payment provider does not answer"
	tableES, tableEN   = "system: No se ha podido construir una tabla de lectura", "system: A read table could not be built"
)

func TestAWebhookThatFitsNoOrderIsToldOnceAndAgainWhenItsReplayWasInVain(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).Goes()
	w.Must(w.Webhook("evt_lonely", sagastest.PlacedLater(w)))
	w.Eventually("it is put aside", func() bool { return sagastest.InboxState(w, "evt_lonely") == "unmatched" })
	trouble := operations.WebhookTrouble(operations.WebhookUnmatched, inboxID(w, "evt_lonely"), "test")
	hears(w, 1, lonelyES, lonelyEN)
	w.Must(w.Operations.ReviewIncidents(t.Context())) // it is not over
	w.Must(w.Payments.ReplayWebhook(t.Context(), sagastest.Operator, inboxID(w, "evt_lonely"), "once more"))
	hears(w, 2, lonelyES, lonelyEN)
	_, err := w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{State: "unmatched"}, "all of them")
	w.Must(err)
	hears(w, 3, lonelyES, lonelyEN)
	reported, settled := sagastest.Reports(w, trouble)
	w.Equal("reported, settled", []int{reported, settled}, []int{3, 2})
}

func TestAParkedWebhookIsToldOnceAndSettledByItsReplay(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t)
	broken := sagastest.BreakInbox(w)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	event := "evt_" + id.String()
	w.Eventually("it is parked", func() bool { return sagastest.InboxState(w, event) == "parked" })
	hears(w, 1, parkedES, parkedEN)
	w.Must(w.Payments.ReplayWebhook(t.Context(), sagastest.Operator, inboxID(w, event), ""))
	hears(w, 2, parkedES, parkedEN)
	broken.Store(false)
	w.Must(w.Payments.ReplayWebhook(t.Context(), sagastest.Operator, inboxID(w, event), "mended"))
	w.Becomes(id, order.StatusActive)
	reported, settled := sagastest.Reports(w, operations.WebhookTrouble(operations.WebhookParked, inboxID(w, event), "test"))
	w.Equal("reported, settled", []int{reported, settled}, []int{2, 2})
}

// activated adds an event that no reaction can handle: its order does not exist.
func activated(w *sagastest.World) eventstore.RecordedEvent {
	w.T.Helper()
	position, err := w.Store.Append(
		w.T.Context(), domain.Metadata{Actor: "test"}, order.Stream(uuid.New()), 0, nil,
		order.Activated{At: w.Runner.Now()},
	)
	w.Must(err)
	found, err := w.Store.Reader().After(w.T.Context(), position-1, 1)
	w.Must(err)
	return found[0]
}

func TestAReadTableThatCouldNotBeBuiltIsToldOnceUntilItIsLive(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t).Goes()
	owner := w.Owner()
	status := func(status string) {
		_, err := owner.Exec(t.Context(), `update projections set status = $1 where name = 'orders'`, status)
		w.Must(err)
	}
	for times := 1; times <= 2; times++ {
		status("failed")
		w.Must(w.Operations.ReviewIncidents(t.Context()))
		w.Must(w.Operations.ReviewIncidents(t.Context()))
		hears(w, times, tableES, tableEN)
		status("live")
		sagastest.Ends(w, operations.TableTrouble("orders"), times)
	}
}

// A manipulated log is reported once for all verifications, and again only after the
// incident is settled.
func TestALogThatWasChangedByHandIsToldOnceUntilAPersonSettlesIt(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t, func(o *assembly.Options) { o.Times.VerifyRest, o.Times.VerifyPause = time.Hour, time.Millisecond }).Goes()
	w.Placed(sagastest.OrderForm{})
	owner := w.Owner()
	forge := func(sql string, args ...any) {
		t.Helper()
		_, err := owner.Exec(t.Context(), sql, args...)
		w.Must(err)
	}
	position := int64(w.Count(`select position from events where name = 'order.placed'`))
	forge(`alter table events disable trigger user`)
	forge(`update events set actor = 'nobody' where position = $1`, position)
	forge(`alter table events enable trigger user`)
	verified := func() {
		t.Helper()
		forge(`update log_verification set next_at = now(), verified_at = null`)
		w.Eventually("the log is verified", func() bool {
			_, err := w.Operations.VerifyPart(t.Context())
			w.Must(err)
			return w.Count(`select count(*) from log_verification where verified_at is not null`) == 1
		})
	}
	verified()
	hears(w, 1, brokenES, brokenEN)
	verified() // the next day
	w.Must(w.Operations.ReviewIncidents(t.Context()))
	hears(w, 1, brokenES, brokenEN)
	trouble := operations.LogTrouble(position, "", "")
	_, err := w.Store.Execute(t.Context(), sagastest.Operator, trouble.Settle("restored from the backup", w.Runner.Now()))
	w.Must(err)
	verified() // it was not
	hears(w, 2, brokenES, brokenEN)
	v, err := w.Store.Reader().Verification(t.Context())
	w.Must(err)
	w.Equal("broken in this round", v.Broken, 1)
}
