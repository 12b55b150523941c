// Package assembly puts the runner and all areas of sagas together. It is the one
// place that knows all of them, and where every event type and every decider is
// registered.
package assembly

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/accounts"
	invoicing "hostpanel/sagas/billing"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/operations"
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
	Offers    order.Offers              // payment methods
	Engine    hosting.EngineServer
	Compute   compute.Fleet
	Mail      notices.Mail
	Outbox    accounts.Outbox       // where sent mails can be deleted; nil: they are with a mail server
	Listed    func(context.Context) // writes the list of erasures; nil: there is none
	Rebuild   operations.Rebuild    // builds read tables anew
	Webhooks  notices.Webhooks
	MailFrom  string        // sender of mails
	PublicURL func() string // where customers reach us, without a slash at the end
	Times     Times         // zero: [Defaults]
	Policy    Policy
	Retention Retention
	Documents invoicing.Writers // of invoices and credit notes; zero: none are made
	Hashing   credentials.Cost  // of passwords; see [credentials.Vault.Hashing]

	Installation string // of the panel, which effects carry: see [sagas.Runner]

	// UnsubscribeKeys prove that a link in a mail is ours: the first signs.
	UnsubscribeKeys [][]byte
}

// Policy is what an operator of the panel has settled.
type Policy struct {
	KeepDisputed bool            // a dispute does not suspend the service: operators are told, and decide
	RefundLate   bool            // late payments go back; none reopens its order
	RefundUnused bool            // of a subscription that is cancelled at once
	YearsKept    int             // of buyers' data, from the end of the year of issue; 0: the usual
	RefundGrace  *time.Duration  // for which a service that has ended is kept; nil: as in [Times]
	Seller       billing.Seller  // as invoices name it; zero: they name none
	TaxRate      decimal.Decimal // percent that prices include, in the mode of the single rate
	Tax          tax.Policy      // zero: the single rate
	Terms        billing.Terms   // of renewals; zero: the usual ones
	AddressRest  time.Duration   // of machines that have gone: see [orders.NewPlaces]
	Compare      *time.Duration  // in which every tenant is compared with the engine once; 0: none is; nil: as in [Times]
}

// Retention is how long rows that are no events are kept; zero: as in [Times].
type Retention struct {
	WebhookBodies   time.Duration // of payment providers
	Attempts        time.Duration // of runs that are done
	Deliveries      time.Duration // to endpoints of tenants
	Looks           time.Duration // of who has looked at the log
	IdempotencyKeys time.Duration // at least; see [idempotency.Keeping]
	Credentials     credentials.Times
}

// apply puts what is set in the place of the defaults.
func (r Retention) apply(t *Times) {
	t.KeepBodies = cmp.Or(r.WebhookBodies, t.KeepBodies)
	t.Keep = cmp.Or(r.Attempts, t.Keep)
	t.KeepDeliveries = cmp.Or(r.Deliveries, t.KeepDeliveries)
	t.KeepLooks = cmp.Or(r.Looks, t.KeepLooks)
}

// A Panel is the runner with all sagas of the panel.
type Panel struct {
	Runner *sagas.Runner
	Areas

	store  *eventstore.Store
	pool   *pgxpool.Pool
	vault  *credentials.Vault
	tables *projections.Tables
	times  Times
}

// New prepares the runner with all sagas of the panel.
func New(o Options) *Panel {
	if o.Times == (Times{}) {
		o.Times = Defaults
	}
	if o.Policy.RefundGrace != nil {
		o.Times.RefundGrace = *o.Policy.RefundGrace
	}
	if o.Policy.Compare != nil {
		o.Times.Compare = *o.Policy.Compare
	}
	if o.Policy.Terms.Grace == 0 {
		o.Policy.Terms = billing.UsualTerms
	}
	o.Retention.apply(&o.Times)
	runner := sagas.New(sagas.Options{
		Store: o.Store, Times: o.Times.Times, Limits: o.Limits, Now: o.Now, Log: o.Log, Fault: o.Fault, Installation: o.Installation,
	})
	s := &Panel{
		Runner: runner, store: o.Store,
		vault: credentials.Open(o.Store.Pool(), o.Store.Keys()).Keeping(o.Retention.Credentials).Hashing(o.Hashing),
		pool:  o.Store.Pool(), tables: o.Tables,
		times: o.Times,
	}
	limits := ratelimit.Open(s.pool)
	s.addPayments(o)
	s.addNotify(o)
	s.addAccounts(limits, o)
	s.addOperations(o)
	s.addHosting(o)
	s.addProvisioning(o.Policy)
	s.addBilling(o)
	for _, sweep := range []func(context.Context) error{
		s.store.Sweep, s.vault.Sweep, limits.Sweep, idempotency.Open(s.pool, s.store.Keys()).Sweep,
	} {
		s.Runner.EachRound("the log's tables were not swept", sweep)
	}
	return s
}

// userNamed finds the account of an address.
func (s *Panel) userNamed(ctx context.Context, email string) (int64, bool, error) {
	user, known, err := s.tables.For(projections.System).Accounts().UserByEmail(ctx, email)
	return user.ID, known, err
}
