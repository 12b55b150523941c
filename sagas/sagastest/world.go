// Package sagastest holds the world in which stories of sagas happen: the log, the read tables, the sagas,
// and doubles of all that is outside, which lie on order.
package sagastest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	hypervisor "hostpanel/adapters/compute/sandbox"
	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/accounts"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/catalogue"
	"hostpanel/sagas/payments"
)

// Quick are times that let a test see in a second what takes days. The patience with an
// engine and with a mail server is a day all the same: how long one takes under load is not
// what most stories tell.
var Quick = assembly.Times{
	Times: sagas.Times{
		Lease: 2 * time.Second, Poll: 250 * time.Millisecond, Grace: time.Second, Call: time.Second,
		Write: 5 * time.Second, Floor: 5 * time.Millisecond,
		Break: 20 * time.Millisecond, BreakMax: 100 * time.Millisecond, Quarantine: 200 * time.Millisecond,
		LocalBase: 5 * time.Millisecond, LocalCap: 50 * time.Millisecond,
		UndoBase: 5 * time.Millisecond, UndoCap: 50 * time.Millisecond, UndoBudget: 20 * time.Second,
		KeyLife: 23 * time.Hour, Keep: 90 * Day, Sweep: time.Hour,
	},
	ProvisioningTimes: assembly.ProvisioningTimes{RefundGrace: 7 * Day},
	AuditTimes:        assembly.Defaults.AuditTimes,
	BillingTimes:      assembly.BillingTimes{BillingLook: time.Second},
	HostingTimes: assembly.HostingTimes{
		SyncBudget: time.Minute, BinLife: 30 * Day, BinLook: 6 * time.Hour, CertificateLook: Day,
	},
	ReconcileTimes: assembly.ReconcileTimes{
		EngineBase: 5 * time.Millisecond, EngineCap: 50 * time.Millisecond, EngineBudget: Day, SecretLife: time.Hour,
		ReadyBudget: Day, VMBudget: Day, ReadyFirst: 20 * time.Millisecond, ReadyLast: 50 * time.Millisecond,
	},
	NotifyTimes: assembly.NotifyTimes{
		MailBase: 5 * time.Millisecond, MailCap: 10 * time.Millisecond, MailBudget: Day,
		LateBase: 20 * time.Millisecond, LateCap: 40 * time.Millisecond, LateBudget: 2 * Day,
		MailUnanswered: 200 * time.Millisecond, LinkLife: time.Hour,
		WebhookBase: 5 * time.Millisecond, WebhookCap: 40 * time.Millisecond, WebhookBudget: 30 * time.Second,
		KeepDeliveries: 30 * Day,
	},
	PaymentTimes: assembly.PaymentTimes{
		SessionCall: 300 * time.Millisecond, SessionPause: 10 * time.Millisecond, SessionBudget: time.Second,
		InboxBase: 5 * time.Millisecond, InboxCap: 20 * time.Millisecond, InboxMatch: 3 * time.Second,
		CheckLease: 2 * time.Second, CheckCall: time.Second,
		DownBase: 10 * time.Millisecond, DownCap: 50 * time.Millisecond, DownAlarm: 100 * time.Millisecond, DownPace: time.Millisecond,
		PendingTTL: time.Hour, OrderTTL: 24 * time.Hour, SessionLife: 23 * time.Hour, SettlementTTL: 14 * Day,
		SessionChecks: [3]time.Duration{time.Minute, 10 * time.Minute, time.Hour}, AfterExpiry: time.Minute, SettlementCheck: Day,
		PaymentCall: time.Second, PaymentBase: 5 * time.Millisecond, CaptureCap: 20 * time.Millisecond, RefundCap: 20 * time.Millisecond,
		CaptureDeadline: 165 * time.Minute, RefundBudget: 20 * time.Second, CaptureCheck: 5 * time.Minute,
		RefundCheck: Day, RefundTTL: 14 * Day,
		PaidChecks: [3]time.Duration{Day, 7 * Day, 30 * Day}, CancelledChecks: [3]time.Duration{time.Hour, Day, 72 * time.Hour},
		KeepBodies: 90 * Day,
	},
}

// An Instance is one process of the panel, and what goes wrong in it on order.
type Instance struct {
	*assembly.Panel
	Store      *eventstore.Store
	Pool       *pgxpool.Pool
	Tables     *projections.Tables
	Pace       assembly.Times
	Fault      Control[func(sagas.Point, sagas.Run) error]
	InboxFault Control[func() error]
	ResetFault Control[func(uuid.UUID) error]
	Frozen     Control[bool] // it renews no leases
	Silent     Control[bool] // it wakes no other process
	Stopped    sync.RWMutex  // as a whole, as by a machine that is suspended
	readers    *pgxpool.Pool
}

// A Control is what a test sets in a process that runs.
type Control[V any] struct{ value atomic.Pointer[V] }

// To sets the value.
func (c *Control[V]) To(v V) { c.value.Store(&v) }

// Now is the value.
func (c *Control[V]) Now() (v V) {
	if p := c.value.Load(); p != nil {
		v = *p
	}
	return v
}

// disconnect ends the connections of a process that comes to its end before its
// test does: a server has a hundred for all.
func (i *Instance) disconnect() {
	i.readers.Close()
	i.Store.Pool().Close()
	i.Pool.Close() // where it is another one
}

func (i *Instance) faultAt(p sagas.Point, r sagas.Run) error {
	i.Stopped.RLock()
	i.Stopped.RUnlock() //nolint:staticcheck // it waits while the process is stopped
	switch p {
	case sagas.RenewingLeases:
		return failing(i.Frozen.Now())
	case sagas.Notifying:
		return failing(i.Silent.Now())
	case payments.HandlingWebhook:
		if fails := i.InboxFault.Now(); fails != nil {
			return fails()
		}
	case accounts.AnsweringReset:
		if fails := i.ResetFault.Now(); fails != nil {
			return fails(uuid.MustParse(r.Key))
		}
	default:
		if fails := i.Fault.Now(); fails != nil {
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

// A World is a panel with everything outside it, which lies when it is told to.
type World struct {
	*Instance
	T       *testing.T
	Engine  *Engine
	Compute *Compute
	Mail    *Mail
	Pay     *Payments
	Logged  *SyncBuffer
	Keys    *sealing.Keyring // nil: those of all tests
	Longest time.Duration    // wait where all outside is slow; 0: [Patience]
	End     func()
}

// Catalogue is that of all events.
var Catalogue = catalogue.Events()

// Migrations are the tables of the runs and of everything simulated outside: one list, so
// that all stories share a template.
var Migrations = []eventstore.Migration{
	{Area: "sagas", Files: sagas.Migrations},
	{Area: "faults", Files: faults.Migrations},
	{Area: "test_payments", Files: test.Migrations},
	{Area: "sandbox_engine", Files: engine.Migrations},
	{Area: "sandbox_compute", Files: hypervisor.Migrations},
}

// Database creates a private database with all tables, and those of further outside systems.
func Database(t testing.TB, beside ...eventstore.Migration) string {
	t.Helper()
	fill := func(ctx context.Context, owner *pgxpool.Pool) error { return ReadTables(ctx, t, owner) }
	return eventstoretest.Tables(t, projections.All.Fingerprints(), fill, append(beside, Migrations...)...)
}

// NewWorldWithClock is [NewWorld] with a clock that can be advanced.
func NewWorldWithClock(t *testing.T, change ...func(*assembly.Options)) *World {
	t.Helper()
	fill := func(ctx context.Context, owner *pgxpool.Pool) error {
		return errors.Join(ReadTables(ctx, t, owner), clock.Install(ctx, owner))
	}
	return WorldOn(t, eventstoretest.Tables(t, append(projections.All.Fingerprints(), "clock"), fill, Migrations...), change...)
}

// ReadTables creates the read tables.
func ReadTables(ctx context.Context, t testing.TB, owner *pgxpool.Pool) error {
	return projections.Prepare(ctx, owner, eventstore.Open(owner, Catalogue, eventstoretest.Keys(t)).Reader())
}

// NewWorld creates a world without running workers; goes starts them.
func NewWorld(t *testing.T, change ...func(*assembly.Options)) *World {
	t.Helper()
	return WorldOn(t, Database(t), change...)
}

// WorldOn is [NewWorld] on a database with all tables.
func WorldOn(t *testing.T, url string, change ...func(*assembly.Options)) *World {
	t.Helper()
	w := &World{T: t, Engine: NewEngine(), Compute: NewCompute(), Mail: NewMail(), Pay: NewPayments(), Logged: &SyncBuffer{}}
	w.Instance = w.Node(url, change...)
	return w
}

// Node is one process of the panel, on the database at url.
func (w *World) Node(url string, change ...func(*assembly.Options)) *Instance {
	w.T.Helper()
	i := &Instance{readers: eventstoretest.Readers(w.T, url)}
	pool := eventstoretest.Pool(w.T, url)
	log := slog.New(slog.NewTextHandler(w.Logged, nil))
	store := LogOn(pool, cmp.Or(w.Keys, eventstoretest.Keys(w.T)), eventstore.WithLog(log))
	o := assembly.Options{
		Store: store, Fault: i.faultAt, Log: log, Limits: map[string]int{"local": 8, "mail": 4, "engine:one": 8, "compute:one": 8},
		Tables: projections.Open(i.readers), Payments: map[string]order.Provider{"test": w.Pay}, Offers: testOffers,
		Engine: w.Engine, Compute: compute.Fleet{w.Compute}, Mail: w.Mail,
		MailFrom: PanelAddress, PublicURL: PanelURL, Installation: Installation, Times: Quick, Hashing: eventstoretest.Hashing,
		UnsubscribeKeys: [][]byte{UnsubscribeKey},
	}
	for _, c := range change {
		c(&o)
	}
	i.Panel, i.Store, i.Pool, i.Tables, i.Pace = assembly.New(o), o.Store, pool, o.Tables, o.Times
	o.Store.Attach(eventstore.WithStarter(i.Runner))
	return i
}

// Goes sets a world going until the test or stop ends it.
func (w *World) Goes() *World {
	w.T.Helper()
	w.End = w.Start(w.Instance)
	return w
}

// Passing starts a process that is not needed after its stop.
func (w *World) Passing(s *Instance) (stop func()) {
	w.T.Helper()
	end := w.Start(s)
	return func() {
		end()
		s.disconnect()
	}
}

// Start lets a process run until its stop or the end of the test.
func (w *World) Start(s *Instance) (stop func()) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		var told sync.WaitGroup
		told.Go(func() { s.Store.Hints().Follow(ctx) })
		err := s.Runner.Run(ctx)
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
					w.T.Errorf("sagas ended with %v", err)
				}
			case <-time.After(time.Minute):
				w.T.Error("sagas did not end")
			}
		})
	}
	w.T.Cleanup(func() {
		stop()
		if w.T.Failed() {
			w.T.Log(w.Logged.String())
		}
	})
	return stop
}

// UnsubscribeKey signs the links in mails of notifications.
var UnsubscribeKey = []byte("a key of thirty-two bytes, no less")

// Day is 24 hours.
const Day = 24 * time.Hour

// PanelAddress is the sender of mails.
const PanelAddress = "Panel <panel@example.com>"

// Installation is that of the panel.
const Installation = "3f9a2b1c07"

// PanelURL is where customers reach the panel.
func PanelURL() string { return "http://127.0.0.1:8080" }

// Must fails the test on an error.
func (w *World) Must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Patience is how long a test waits for something that will come.
const Patience = time.Minute

// Eventually waits until so answers true. It looks whenever the log has grown, and more and
// more seldom while it does not.
func (w *World) Eventually(what string, so func() bool) {
	w.T.Helper()
	const often, seldom = 5 * time.Millisecond, 100 * time.Millisecond
	pause := often
	for deadline := time.Now().Add(cmp.Or(w.Longest, Patience)); ; {
		changed := w.Store.Changed()
		if so() {
			return
		}
		if time.Now().After(deadline) {
			w.T.Fatalf("waited in vain until %s; %s", what, w.Text(`select coalesce(string_agg(concat_ws(' ', key,
				status, steps -> step ->> 'name', 'until', run_at), '; '), 'no run goes on') from (select *
					from saga_run where status not in ('done', 'undone') limit 20) live`))
		}
		select {
		case <-changed:
			pause = often
		case <-time.After(pause):
			pause = min(2*pause, seldom)
		}
	}
}

// Operator is the cause of an operator's commands.
var Operator = domain.Metadata{Actor: "operator:1"}

// Superuser is a caller who may see all.
var Superuser = projections.Caller{User: 1, Superuser: true}

// FromEnvironment is a number of the environment.
func FromEnvironment(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// LogOn is the log of a process, with its deciders and read tables.
func LogOn(pool *pgxpool.Pool, keys *sealing.Keyring, options ...eventstore.Option) *eventstore.Store {
	options = append(options, eventstore.WithProjector(projections.Projector()), eventstoretest.Caused())
	store := eventstore.Open(pool, Catalogue, keys, options...)
	catalogue.Serve(store)
	return store
}

// Traced makes a process note what it asks the database.
func Traced(t *testing.T, by *eventstoretest.Tracer) func(*assembly.Options) {
	t.Helper()
	return func(o *assembly.Options) {
		pool := o.Store.Pool()
		again := eventstoretest.Traced(t, pool, pool.Config().MaxConns, by)
		o.Store = LogOn(again, eventstoretest.Keys(t), eventstore.WithLog(o.Log))
	}
}
