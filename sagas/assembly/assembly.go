// Package assembly puts the runner and all areas of sagas together. It is the one
// place that knows all of them, and where every event type and every decider is
// registered.
package assembly

import (
	"context"
	"log/slog"
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/accounts"
	"hostpanel/sagas/notify"
	"hostpanel/sagas/operations"
	"hostpanel/sagas/payments"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options are what all areas need of the program around them.
type Options struct {
	Store     *eventstore.Store
	Limits    map[string]int   // runs at once per queue; missing: as the queue was added
	Now       func() time.Time // business time; nil: that of the store
	Log       *slog.Logger     // nil: slog.Default
	Fault     func(sagas.Point, sagas.Run) error
	Tables    *projections.Tables
	Payments  map[string]order.Provider // by name
	Engine    Engine
	Compute   Compute
	Mail      notify.Mail
	Webhooks  notify.Webhooks
	MailFrom  string        // sender of mails
	PublicURL func() string // where customers reach us, without a slash at the end
	Times     Times         // zero: [Defaults]

	// UnsubscribeKeys prove that a link in a mail is ours: the first signs.
	UnsubscribeKeys [][]byte
}

// A Panel is the runner with all sagas of the panel.
type Panel struct {
	*sagas.Runner
	Payments   *payments.Service
	Notify     *notify.Notifier
	Accounts   *accounts.Service
	Operations *operations.Service

	store    *eventstore.Store
	pool     *pgxpool.Pool
	vault    *credentials.Vault
	tables   *projections.Tables
	engine   Engine
	compute  Compute
	times    Times
	policies policies

	provision   sagas.Definition[ProvisionInput]
	deprovision sagas.Definition[DeprovisionInput]
	engineRuns  sagas.Definition[ResourceVersion]
	machineRuns sagas.Definition[ResourceVersion]
	graces      sagas.Definition[ResourceVersion]
	renewals    sagas.Definition[ResourceVersion]
	installs    sagas.Definition[InstallInput]
	syncs       sagas.Definition[SyncInput]
}

// New prepares the runner with all sagas of the panel.
func New(o Options) *Panel {
	if o.Times == (Times{}) {
		o.Times = Defaults
	}
	runner := sagas.New(sagas.Options{Store: o.Store, Times: o.Times.Times, Limits: o.Limits, Now: o.Now, Log: o.Log, Fault: o.Fault})
	s := &Panel{
		Runner: runner, store: o.Store, vault: credentials.Open(o.Store.Pool(), o.Store.Keys()), pool: o.Store.Pool(), tables: o.Tables, engine: o.Engine, compute: o.Compute,
		times: o.Times, policies: policiesOf(o.Times),
	}
	s.Payments = payments.New(payments.Deps{
		Runner: runner, Store: o.Store, Tables: o.Tables, Providers: o.Payments, PublicURL: o.PublicURL, Times: o.Times.PaymentTimes,
	})
	s.Notify = notify.New(notify.Deps{
		Runner: runner, Store: s.store, Vault: s.vault, Tables: s.tables, Mail: o.Mail, Webhooks: o.Webhooks, MailFrom: o.MailFrom, PublicURL: o.PublicURL,
		UnsubscribeKeys: o.UnsubscribeKeys, Times: o.Times.NotifyTimes, Customer: s.customerOf,
	})
	limits := ratelimit.Open(s.pool)
	s.Accounts = accounts.New(accounts.Deps{
		Runner: runner, Store: s.store, Vault: s.vault, Limits: limits, Tables: s.tables, LinkRows: s.Notify.LinkRows, Forget: payments.ForgetCustomers,
		Times: accounts.Times{LinkLife: o.Times.LinkLife, RetryCap: o.Times.LateCap + o.Times.Lease},
	})
	s.Operations = operations.New(operations.Deps{
		Runner: runner, Store: s.store, Tables: s.tables, Times: o.Times.OperationsTimes, ProviderDown: o.Times.DownAlarm,
		Webhooks: s.Payments.LatestWebhooks,
	})
	s.registerProvisioning()
	s.registerHosting()
	s.registerOperations()
	for _, begin := range []func(context.Context, []eventstore.RecordedEvent) ([]eventstore.Start, error){s.orderStarts, s.operationStarts, s.engineStarts} {
		s.OnAppend(begin)
	}
	for _, react := range []func(context.Context, eventstore.RecordedEvent) error{s.reactToHosting, s.reactToOrder} {
		s.OnEvent(react)
	}
	s.Background(func(ctx, _ context.Context) { s.measure(ctx) })
	for _, sweep := range []func(context.Context) error{s.store.Sweep, s.vault.Sweep, limits.Sweep, idempotency.Open(s.pool, s.store.Keys()).Sweep} {
		s.EachRound("the log's tables were not swept", sweep)
	}
	return s
}

func engineQueue(e Engine) string   { return "engine:" + e.Server() }
func computeQueue(c Compute) string { return "compute:" + c.Server() }

// userNamed finds the account of an address.
func (s *Panel) userNamed(ctx context.Context, email string) (int64, bool, error) {
	user, known, err := s.tables.For(projections.System).UserByEmail(ctx, email)
	return user.ID, known, err
}
