package assembly_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// watched is a world with two operators, who are users 901 and 902.
func watched(t *testing.T, change ...func(*assembly.Options)) *world {
	t.Helper()
	w := newWorld(t, change...)
	for user, language := range map[int64]string{901: "es-MX", 902: "en"} {
		c := w.someone(user, fmt.Sprintf("operator%d@example.com", user), language)
		c.Superuser = true
		w.must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, c, goodPassword))
	}
	return w
}

// owner connects as the owner of the database, who may change everything.
func (w *world) owner() *pgxpool.Pool { return eventstoretest.Owner(w.t, w.pool.Config().ConnString()) }

// reports counts the reports and settlements of an incident.
func (w *world) reports(t operations.Trouble) (reported, settled int) {
	w.t.Helper()
	stream := operations.IncidentStream(t.ID())
	return w.often(stream, "operations.incident_reported"), w.often(stream, "operations.incident_settled")
}

// hears waits until both operators have been told so often, and looks that
// it was no oftener.
func (w *world) hears(times int, spanish, english string) {
	w.t.Helper()
	told := func(user int64, title string) (n int) {
		for _, one := range w.told(user) {
			if one == title {
				n++
			}
		}
		return n
	}
	w.eventually(fmt.Sprintf("operators are told %d times: %s", times, english), func() bool { return told(901, spanish) >= times && told(902, english) >= times })
	w.repeated()
	w.equal("told in Spanish", told(901, spanish), times)
	w.equal("told in English", told(902, english), times)
}

// ends looks after what is over, and waits for a trouble to be settled so often.
func (w *world) ends(t operations.Trouble, times int) {
	w.t.Helper()
	w.eventually(t.Kind+" is settled", func() bool {
		w.must(w.Operations.ReviewIncidents(w.t.Context()))
		_, settled := w.reports(t)
		return settled >= times
	})
	_, settled := w.reports(t)
	w.equal("settled", settled, times)
}

func (w *world) inboxID(event string) int64 {
	w.t.Helper()
	return int64(w.count(`select id from webhook_inbox where event_id = $1`, event))
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
	w := watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).goes()
	w.must(w.webhook("evt_lonely", w.placedLater()))
	w.eventually("it is put aside", func() bool { return w.inboxState("evt_lonely") == "unmatched" })
	trouble := operations.WebhookTrouble(operations.WebhookUnmatched, w.inboxID("evt_lonely"), "test")
	w.hears(1, lonelyES, lonelyEN)
	w.must(w.Operations.ReviewIncidents(t.Context())) // it is not over
	w.must(w.Payments.ReplayWebhook(t.Context(), operator, w.inboxID("evt_lonely"), "once more"))
	w.hears(2, lonelyES, lonelyEN)
	_, err := w.Payments.ReplayWebhooks(t.Context(), operator, operations.WebhookPick{State: "unmatched"}, "all of them")
	w.must(err)
	w.hears(3, lonelyES, lonelyEN)
	reported, settled := w.reports(trouble)
	w.equal("reported, settled", []int{reported, settled}, []int{3, 2})
}

func TestAWebhookWhoseOrderCameAfterAllIsNoTroubleAnyMore(t *testing.T) {
	t.Parallel()
	w := watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).goes()
	id := w.placedLater()
	w.must(w.webhook("evt_lonely", id))
	w.eventually("it is put aside", func() bool { return w.inboxState("evt_lonely") == "unmatched" })
	w.placeAs(id)
	w.eventually("it found its order", func() bool { return w.inboxState("evt_lonely") == "done" })
	w.ends(operations.WebhookTrouble(operations.WebhookUnmatched, w.inboxID("evt_lonely"), "test"), 1)
}

func TestAParkedWebhookIsToldOnceAndSettledByItsReplay(t *testing.T) {
	t.Parallel()
	w := watched(t)
	broken := w.breakInbox()
	w.goes()
	id := w.buy(ordering{})
	event := "evt_" + id.String()
	w.eventually("it is parked", func() bool { return w.inboxState(event) == "parked" })
	w.hears(1, parkedES, parkedEN)
	w.must(w.Payments.ReplayWebhook(t.Context(), operator, w.inboxID(event), ""))
	w.hears(2, parkedES, parkedEN)
	broken.Store(false)
	w.must(w.Payments.ReplayWebhook(t.Context(), operator, w.inboxID(event), "mended"))
	w.becomes(id, order.StatusActive)
	reported, settled := w.reports(operations.WebhookTrouble(operations.WebhookParked, w.inboxID(event), "test"))
	w.equal("reported, settled", []int{reported, settled}, []int{2, 2})
}

// activated adds an event that no reaction can handle: its order does not exist.
func (w *world) activated() eventstore.RecordedEvent {
	w.t.Helper()
	position, err := w.store.Append(w.t.Context(), domain.Metadata{Actor: "test"}, order.Stream(uuid.New()), 0, nil, order.Activated{At: w.Now()})
	w.must(err)
	found, err := w.store.After(w.t.Context(), position-1, 1)
	w.must(err)
	return found[0]
}

func TestAReactionThatFailsForGoodIsToldUntilItIsHandledAgain(t *testing.T) {
	t.Parallel()
	w := watched(t).goes()
	broken := w.activated()
	trouble := sagas.ReactionTrouble(broken)
	heard := func(times int) {
		t.Helper()
		w.eventually(fmt.Sprintf("it is told %d times", times), func() bool {
			return w.count(`select count(*) from notifications where user_id in (901, 902) and title in ('A reaction has failed', 'Una reacción ha fallado')`) == 2*times
		})
	}
	heard(1)
	w.must(w.Poison(t.Context(), broken, "again")) // another process has failed too
	if err := w.Requeue(t.Context(), operator, broken.Position, "try"); err == nil {
		t.Error("there is still no such order")
	}
	reported, settled := w.reports(trouble)
	w.equal("reported, settled", []int{reported, settled}, []int{1, 0})
	_, err := w.pool.Exec(t.Context(), `delete from poisoned`) // as if it was handled elsewhere
	w.must(err)
	w.ends(trouble, 1)
	w.must(w.Poison(t.Context(), broken, "again"))
	heard(2)
}

func TestWhatIsHandledAgainIsNoTroubleAnyMore(t *testing.T) {
	t.Parallel()
	w := watched(t).goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	position := int64(w.count(`select position from events where name = 'order.activated' and stream = $1`, order.Stream(id).String()))
	found, err := w.store.After(t.Context(), position-1, 1)
	w.must(err)
	w.must(w.Poison(t.Context(), found[0], "it failed"))
	w.must(w.Requeue(t.Context(), operator, position, "try"))
	reported, settled := w.reports(sagas.ReactionTrouble(found[0]))
	w.equal("reported, settled", []int{reported, settled}, []int{1, 1})
	w.equal("poisoned", w.count(`select count(*) from poisoned`), 0)
}

// An incident that cannot be told must not become an incident that cannot be
// told, and so on.
func TestATellingThatFailsForGoodEndsThere(t *testing.T) {
	t.Parallel()
	w := watched(t)
	owner := w.owner()
	_, err := owner.Exec(t.Context(), `alter table notifications add constraint no_news check (title not like '%reac%')`)
	w.must(err)
	w.goes()
	w.activated()
	w.eventually("both are out of the way", func() bool { return w.count(`select count(*) from poisoned`) == 2 })
	last := w.count(`select max(position) from poisoned`)
	w.eventually("the reader is past them", func() bool {
		return w.count(`select position from readers where name = $1`, sagas.ReactionsReader) >= last
	})
	w.equal("incidents", w.count(`select count(*) from events where name = 'operations.incident_reported'`), 1)
	w.equal("events behind", w.count(`select count(*) from events where position > $1`, last), 0)
}

// A webhook is set aside even if its incident cannot be recorded.
func TestWhatCannotBeReportedIsSetAsideAllTheSame(t *testing.T) {
	t.Parallel()
	w := watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond })
	owner := w.owner()
	_, err := owner.Exec(t.Context(), `alter table incidents add constraint closed check (kind = '')`)
	w.must(err)
	w.goes()
	w.must(w.webhook("evt_lonely", w.placedLater()))
	w.eventually("it is put aside", func() bool { return w.inboxState("evt_lonely") == "unmatched" })
	broken := w.activated()
	w.eventually("it is out of the way", func() bool {
		return w.count(`select count(*) from poisoned where position = $1`, broken.Position) == 1
	})
	if !w.warned("an incident was not reported") {
		t.Error("no operator was told")
	}
}

func TestAProviderThatStaysAwayIsToldOnceUntilItIsBack(t *testing.T) {
	t.Parallel()
	w := watched(t).goes()
	down := func() {
		w.pay.tell(func(call, _ string) error {
			if call == "fetch" {
				return domain.Fail(domain.Transient, "down", errLie)
			}
			return nil
		}, nil)
	}
	trouble := operations.ProviderTrouble("test")
	for times := 1; times <= 2; times++ {
		first, second := w.place(ordering{}), w.place(ordering{})
		down()
		for _, id := range []uuid.UUID{first, second} {
			w.pay.pay(id, nil)
			w.must(w.webhook("evt_"+id.String(), id))
		}
		w.hears(times, downES, downEN)
		w.must(w.Operations.ReviewIncidents(t.Context()))
		reported, settled := w.reports(trouble)
		w.equal("while it is away", []int{reported, settled}, []int{times, times - 1})
		w.pay.reset()
		w.becomes(first, order.StatusActive)
		w.becomes(second, order.StatusActive)
		w.ends(trouble, times)
	}
}

func TestAReadTableThatCouldNotBeBuiltIsToldOnceUntilItIsLive(t *testing.T) {
	t.Parallel()
	w := watched(t).goes()
	owner := w.owner()
	status := func(status string) {
		_, err := owner.Exec(t.Context(), `update projections set status = $1 where name = 'orders'`, status)
		w.must(err)
	}
	for times := 1; times <= 2; times++ {
		status("failed")
		w.must(w.Operations.ReviewIncidents(t.Context()))
		w.must(w.Operations.ReviewIncidents(t.Context()))
		w.hears(times, tableES, tableEN)
		status("live")
		w.ends(operations.TableTrouble("orders"), times)
	}
}

// A manipulated log is reported once for all verifications, and again only after the
// incident is settled.
func TestALogThatWasChangedByHandIsToldOnceUntilAPersonSettlesIt(t *testing.T) {
	t.Parallel()
	w := watched(t, func(o *assembly.Options) { o.Times.VerifyRest, o.Times.VerifyPause = time.Hour, time.Millisecond }).goes()
	w.placed(ordering{})
	owner := w.owner()
	forge := func(sql string, args ...any) {
		t.Helper()
		_, err := owner.Exec(t.Context(), sql, args...)
		w.must(err)
	}
	position := int64(w.count(`select position from events where name = 'order.placed'`))
	forge(`alter table events disable trigger user`)
	forge(`update events set actor = 'nobody' where position = $1`, position)
	forge(`alter table events enable trigger user`)
	verified := func() {
		t.Helper()
		forge(`update log_verification set next_at = now(), verified_at = null`)
		w.eventually("the log is verified", func() bool {
			_, err := w.Operations.VerifyPart(t.Context())
			w.must(err)
			return w.count(`select count(*) from log_verification where verified_at is not null`) == 1
		})
	}
	verified()
	w.hears(1, brokenES, brokenEN)
	verified() // the next day
	w.must(w.Operations.ReviewIncidents(t.Context()))
	w.hears(1, brokenES, brokenEN)
	trouble := operations.LogTrouble(position, "", "")
	_, err := w.store.Execute(t.Context(), operator, trouble.Settle("restored from the backup", w.Now()))
	w.must(err)
	verified() // it was not
	w.hears(2, brokenES, brokenEN)
	v, err := w.store.Verification(t.Context())
	w.must(err)
	w.equal("broken in this round", v.Broken, 1)
}

func TestAFloodOfOneKindDoesNotBuryTheRest(t *testing.T) {
	t.Parallel()
	w := watched(t).goes()
	for i := range operations.MostIncidentsTold + 5 {
		w.must(w.ReportIncident(t.Context(), operations.WebhookTrouble(operations.WebhookUnmatched, int64(1000+i), "test")))
	}
	w.must(w.ReportIncident(t.Context(), operations.TableTrouble("orders")))
	w.hears(1, tableES, tableEN) // which comes behind all of them
	w.hears(operations.MostIncidentsTold, lonelyES, lonelyEN)
	open, err := w.tables.For(projections.System).OpenIncidents(t.Context())
	w.must(err)
	w.equal("open", open[operations.WebhookUnmatched], strconv.Itoa(operations.MostIncidentsTold+5))
}
