package assembly_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/faults"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/accounts"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/payments"
)

// quick are times that let a test see in a second what takes days. The patience with an
// engine and with a mail server is a day all the same: how long one takes under load is not
// what most stories tell.
var quick = assembly.Times{
	Times: sagas.Times{
		Lease: 2 * time.Second, Poll: 250 * time.Millisecond, Grace: time.Second, Call: time.Second, Write: 5 * time.Second, Floor: 5 * time.Millisecond,
		Break: 20 * time.Millisecond, BreakMax: 100 * time.Millisecond, Quarantine: 200 * time.Millisecond,
		LocalBase: 5 * time.Millisecond, LocalCap: 50 * time.Millisecond,
		UndoBase: 5 * time.Millisecond, UndoCap: 50 * time.Millisecond, UndoBudget: 20 * time.Second,
		KeyLife: 23 * time.Hour, Keep: 90 * day, Sweep: time.Hour,
	},
	ProvisioningTimes: assembly.ProvisioningTimes{RefundGrace: 7 * day},
	AuditTimes:        assembly.Defaults.AuditTimes,
	BillingTimes:      assembly.BillingTimes{BillingLook: time.Second},
	HostingTimes: assembly.HostingTimes{
		SyncBudget: time.Minute, BinLife: 30 * day, BinLook: 6 * time.Hour, CertificateLook: day,
	},
	ReconcileTimes: assembly.ReconcileTimes{
		EngineBase: 5 * time.Millisecond, EngineCap: 50 * time.Millisecond, EngineBudget: day, SecretLife: time.Hour,
		ReadyBudget: day, VMBudget: day, ReadyFirst: 20 * time.Millisecond, ReadyLast: 50 * time.Millisecond,
	},
	NotifyTimes: assembly.NotifyTimes{
		MailBase: 5 * time.Millisecond, MailCap: 10 * time.Millisecond, MailBudget: day,
		LateBase: 20 * time.Millisecond, LateCap: 40 * time.Millisecond, LateBudget: 2 * day, MailUnanswered: 200 * time.Millisecond, LinkLife: time.Hour,
		WebhookBase: 5 * time.Millisecond, WebhookCap: 40 * time.Millisecond, WebhookBudget: 30 * time.Second,
		KeepDeliveries: 30 * day,
	},
	PaymentTimes: assembly.PaymentTimes{
		SessionCall: 300 * time.Millisecond, SessionPause: 10 * time.Millisecond, SessionBudget: time.Second,
		InboxBase: 5 * time.Millisecond, InboxCap: 20 * time.Millisecond, InboxMatch: 3 * time.Second,
		CheckLease: 2 * time.Second, CheckCall: time.Second,
		DownBase: 10 * time.Millisecond, DownCap: 50 * time.Millisecond, DownAlarm: 100 * time.Millisecond, DownPace: time.Millisecond,
		PendingTTL: time.Hour, OrderTTL: 24 * time.Hour, SessionLife: 23 * time.Hour, SettlementTTL: 14 * day,
		SessionChecks: [3]time.Duration{time.Minute, 10 * time.Minute, time.Hour}, AfterExpiry: time.Minute, SettlementCheck: day,
		PaymentCall: time.Second, PaymentBase: 5 * time.Millisecond, CaptureCap: 20 * time.Millisecond, RefundCap: 20 * time.Millisecond,
		CaptureDeadline: 165 * time.Minute, RefundBudget: 20 * time.Second, CaptureCheck: 5 * time.Minute, RefundCheck: day, RefundTTL: 14 * day,
		PaidChecks: [3]time.Duration{day, 7 * day, 30 * day}, CancelledChecks: [3]time.Duration{time.Hour, day, 72 * time.Hour},
		KeepBodies: 90 * day,
	},
}

// An instance is one process of the panel, and what goes wrong in it on order.
type instance struct {
	*assembly.Panel
	store      *eventstore.Store
	pool       *pgxpool.Pool
	tables     *projections.Tables
	times      assembly.Times
	fault      control[func(sagas.Point, sagas.Run) error]
	inboxFault control[func() error]
	resetFault control[func(uuid.UUID) error]
	frozen     control[bool] // it renews no leases
	silent     control[bool] // it wakes no other process
	stopped    sync.RWMutex  // as a whole, as by a machine that is suspended
	readers    *pgxpool.Pool
}

// A control is what a test sets in a process that runs.
type control[V any] struct{ value atomic.Pointer[V] }

func (c *control[V]) to(v V) { c.value.Store(&v) }

func (c *control[V]) now() (v V) {
	if p := c.value.Load(); p != nil {
		v = *p
	}
	return v
}

// disconnect ends the connections of a process that comes to its end before its
// test does: a server has a hundred for all.
func (i *instance) disconnect() {
	i.readers.Close()
	i.store.Pool().Close()
	i.pool.Close() // where it is another one
}

func (i *instance) faultAt(p sagas.Point, r sagas.Run) error {
	i.stopped.RLock()
	i.stopped.RUnlock() //nolint:staticcheck // it waits while the process is stopped
	switch p {
	case sagas.RenewingLeases:
		return failing(i.frozen.now())
	case sagas.Notifying:
		return failing(i.silent.now())
	case payments.HandlingWebhook:
		if fails := i.inboxFault.now(); fails != nil {
			return fails()
		}
	case accounts.AnsweringReset:
		if fails := i.resetFault.now(); fails != nil {
			return fails(uuid.MustParse(r.Key))
		}
	default:
		if fails := i.fault.now(); fails != nil {
			return fails(p, r)
		}
	}
	return nil
}

func failing(is bool) error {
	if is {
		return errors.New("on order")
	}
	return nil
}

// A world is a panel with everything outside it, which lies when it is told to.
type world struct {
	*instance
	t       *testing.T
	engine  *fakeEngine
	compute *fakeCompute
	mail    *fakeMail
	pay     *fakePayments
	logged  *syncBuffer
	keys    *sealing.Keyring // nil: those of all tests
	end     func()
}

var facts = assembly.Catalogue()

// database creates a private database with all tables.
func database(t *testing.T) string {
	t.Helper()
	return databaseWith(t)
}

// databaseWith creates a database with the tables of simulated outside systems.
func databaseWith(t *testing.T, beside ...eventstore.Migration) string {
	t.Helper()
	fill := func(ctx context.Context, owner *pgxpool.Pool) error { return readTables(ctx, t, owner) }
	return eventstoretest.Tables(t, projections.All.Fingerprints(), fill, append(beside, migrations...)...)
}

var migrations = []eventstore.Migration{{Area: "faults", Files: faults.Migrations}, {Area: "sagas", Files: sagas.Migrations}}

func readTables(ctx context.Context, t *testing.T, owner *pgxpool.Pool) error {
	return projections.Prepare(ctx, owner, eventstore.Open(owner, facts, eventstoretest.Keys(t)))
}

// newWorld creates a world without running workers; goes starts them.
func newWorld(t *testing.T, change ...func(*assembly.Options)) *world {
	t.Helper()
	return worldOn(t, database(t), change...)
}

// worldOn is [newWorld] on a database with all tables.
func worldOn(t *testing.T, url string, change ...func(*assembly.Options)) *world {
	t.Helper()
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	w.instance = w.node(url, change...)
	return w
}

// node is one process of the panel, on the database at url.
func (w *world) node(url string, change ...func(*assembly.Options)) *instance {
	w.t.Helper()
	i := &instance{readers: eventstoretest.Readers(w.t, url)}
	pool := eventstoretest.Pool(w.t, url)
	log := slog.New(slog.NewTextHandler(w.logged, nil))
	store := logOn(pool, cmp.Or(w.keys, eventstoretest.Keys(w.t)), eventstore.WithLog(log))
	o := assembly.Options{
		Store: store, Fault: i.faultAt, Log: log, Limits: map[string]int{"local": 8, "mail": 4, "engine:one": 8, "compute:one": 8},
		Tables: projections.Open(i.readers), Payments: map[string]order.Provider{"test": w.pay}, Offers: testOffers, Engine: w.engine, Compute: w.compute, Mail: w.mail,
		MailFrom: panelAddress, PublicURL: panelURL, Times: quick, Hashing: eventstoretest.Hashing, UnsubscribeKeys: [][]byte{unsubscribeKey},
	}
	for _, c := range change {
		c(&o)
	}
	i.Panel, i.store, i.pool, i.tables, i.times = assembly.New(o), o.Store, pool, o.Tables, o.Times
	o.Store.Attach(eventstore.WithStarter(i))
	return i
}

// goes sets a world going until the test or stop ends it.
func (w *world) goes() *world {
	w.t.Helper()
	w.end = w.start(w.instance)
	return w
}

// passing starts a process that is not needed after its stop.
func (w *world) passing(s *instance) (stop func()) {
	w.t.Helper()
	end := w.start(s)
	return func() {
		end()
		s.disconnect()
	}
}

func (w *world) start(s *instance) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		var told sync.WaitGroup
		told.Go(func() { s.store.Follow(ctx) })
		err := s.Run(ctx)
		told.Wait()
		done <- err
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					w.t.Errorf("sagas ended with %v", err)
				}
			case <-time.After(time.Minute):
				w.t.Error("sagas did not end")
			}
		})
	}
	w.t.Cleanup(func() {
		stop()
		if w.t.Failed() {
			w.t.Log(w.logged.String())
		}
	})
	return stop
}

// unsubscribeKey signs the links in mails of notifications.
var unsubscribeKey = []byte("a key of thirty-two bytes, no less")

// panelAddress is the sender of mails.
const day = 24 * time.Hour

const panelAddress = "Panel <panel@example.com>"

func panelURL() string { return "http://127.0.0.1:8080" }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// patience is how long a test waits for something that will come.
const patience = time.Minute

// eventually waits until so answers true. It looks whenever the log has grown, and more and
// more seldom while it does not.
func (w *world) eventually(what string, so func() bool) {
	w.t.Helper()
	const often, seldom = 5 * time.Millisecond, 100 * time.Millisecond
	pause := often
	for deadline := time.Now().Add(patience); ; {
		changed := w.store.Changed()
		if so() {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain until %s; %s", what, w.text(`select coalesce(string_agg(concat_ws(' ', key, status, steps -> step ->> 'name', 'until', run_at), '; '), 'no run goes on') from (select * from saga_run where status not in ('done', 'undone') limit 20) live`))
		}
		select {
		case <-changed:
			pause = often
		case <-time.After(pause):
			pause = min(2*pause, seldom)
		}
	}
}
