package assembly

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	invoices "hostpanel/domain/billing"
	incidents "hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/sagas"
	"hostpanel/sagas/accounts"
	"hostpanel/sagas/audit"
	"hostpanel/sagas/billing"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/hosting/reconcile"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/operations"
	"hostpanel/sagas/orders"
	"hostpanel/sagas/payments"
)

// Areas are the parts of the panel's sagas.
type Areas struct {
	Orders      *orders.Provisioner // makes the services of orders, and ends them
	Payments    *payments.Service
	Notify      *notices.Notifier
	Accounts    *accounts.Service
	Audit       *audit.Service        // looks back at the log
	Operations  *operations.Service   // of the panel itself: incidents, the log
	Reconciler  *reconcile.Reconciler // brings resources to the engine and the hypervisor
	Maintenance *hosting.Maintenance
	Jobs        *hosting.Operations  // that people ask for and wait for
	Differences *hosting.Differences // between the log and the engine
	Billing     *billing.Service     // renews subscriptions
}

// addPayments adds what watches and moves money.
func (s *Panel) addPayments(o Options) {
	s.Payments = payments.New(payments.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Providers: o.Payments, PublicURL: o.PublicURL, Times: s.times.PaymentTimes,
		RefundLate: o.Policy.RefundLate, Place: orders.NewPlaces(s.tables, o.Policy.AddressRest, s.Runner.Now).For,
	})
}

// addNotify adds what tells users, customers and endpoints of tenants.
func (s *Panel) addNotify(o Options) {
	s.Notify = notices.New(notices.Deps{
		Runner: s.Runner, Store: s.store, Vault: s.vault, Tables: s.tables, Mail: o.Mail, Webhooks: o.Webhooks,
		MailFrom: o.MailFrom, PublicURL: o.PublicURL,
		UnsubscribeKeys: o.UnsubscribeKeys, Times: s.times.NotifyTimes, Customer: s.customerOf, MayJoin: s.mayJoin,
	})
}

// addAccounts adds passwords, links and resets.
func (s *Panel) addAccounts(limits *ratelimit.Windows, o Options) {
	s.Accounts = accounts.New(accounts.Deps{
		Runner: s.Runner, Store: s.store, Vault: s.vault, Limits: limits, Tables: s.tables, LinkRows: s.Notify.LinkRows,
		Forget:   payments.ForgetCustomers,
		Webhooks: s.Payments.WebhooksAbout, Outbox: o.Outbox, Listed: o.Listed,
		Times: accounts.Times{LinkLife: s.times.LinkLife, RetryCap: s.times.LateCap + s.times.Lease},
	})
}

// addOperations adds what watches over the panel itself.
func (s *Panel) addOperations(o Options) {
	s.Audit = audit.New(s.Runner, s.store, s.tables, s.times.AuditTimes)
	s.Operations = operations.New(operations.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Times: s.times.OperationsTimes, ProviderDown: s.times.DownAlarm,
		Webhooks: s.Payments.LatestWebhooks, Replay: s.Payments.ReplayWebhook, Rebuild: o.Rebuild,
		Answer: func(ctx context.Context, cause domain.Metadata, answer incidents.AnswerIncident) error {
			return s.Differences.Answer(ctx, cause, answer)
		},
	})
}

// addHosting adds what works on hosting resources.
func (s *Panel) addHosting(o Options) {
	s.Reconciler = reconcile.New(reconcile.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Vault: s.vault, Engine: o.Engine, Compute: o.Compute,
		Times: s.times.ReconcileTimes, Installation: o.Installation,
	})
	policies := s.Reconciler.Policies()
	deps := hosting.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Vault: s.vault, Engine: o.Engine, Times: s.times.HostingTimes,
		EngineQueue: s.Reconciler.EngineQueue(), EngineCalls: policies.Engine, EngineApplies: policies.Ready, Comparison: policies.Compare,
		Seal: s.Reconciler.Seal, SecretLife: s.times.SecretLife, Compute: o.Compute, Installation: o.Installation,
	}
	s.Maintenance, s.Jobs = hosting.NewMaintenance(deps), hosting.NewOperations(deps)
	s.Differences = hosting.NewDifferences(deps, hosting.New(hosting.Options{
		Tables: s.tables, Resources: s.Reconciler, Numbers: s.store, Subjects: s.store, PublicURL: o.PublicURL, Now: s.Runner.Now,
	}))
}

// addProvisioning adds what makes services of paid orders, and ends them.
func (s *Panel) addProvisioning(p Policy) {
	policies := s.Reconciler.Policies()
	s.Orders = orders.NewProvisioner(orders.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Outside: s.Reconciler, Welcome: welcome{s.Notify},
		Policies:     orders.Policies{Engine: policies.Engine, Ready: policies.Ready, Machine: policies.Machine},
		CancelUnpaid: s.Payments.CancelUnpaid, Empty: s.Maintenance.Empty, UserNamed: s.userNamed,
		Times: orders.Times{RefundGrace: s.times.RefundGrace, Look: s.times.BinLook}, KeepDisputed: p.KeepDisputed,
		Seller: p.Seller, Terms: p.Terms,
	})
	s.Maintenance.OwnServices = s.Orders.KeepSubTenant
}

// addBilling adds what renews subscriptions.
func (s *Panel) addBilling(o Options) {
	p := o.Policy
	places := orders.New(orders.Options{
		Tables: s.tables, Commands: s.store, Subjects: s.store, Payments: s.Payments.Pages, Offers: o.Offers,
		TaxRate: p.TaxRate, Tax: p.Tax, Now: s.Runner.Now,
	})
	s.Billing = billing.New(billing.Deps{
		Runner: s.Runner, Store: s.store, Tables: s.tables, Orders: places, Places: s.Orders.Changes,
		Terms: p.Terms, Seller: p.Seller, TaxRate: p.TaxRate, Tax: p.Tax, Look: s.times.BillingLook, RefundUnused: p.RefundUnused,
		YearsKept: cmp.Or(p.YearsKept, invoices.UsualYearsKept), Writers: o.Documents, Offers: o.Offers,
	})
}

// customerOf is whom an order was set up for.
func (s *Panel) customerOf(ctx context.Context, id uuid.UUID) (notices.Customer, error) {
	c, err := s.Orders.Customer(ctx, id)
	return notices.Customer(c), err
}

// mayJoin is the user who may let an unpaid order join a tenant; 0: no user.
func (s *Panel) mayJoin(ctx context.Context, id uuid.UUID) (int64, error) {
	return orders.MayJoin(ctx, s.tables, id)
}

// welcome sends the welcome mails of provisioning.
type welcome struct{ notifier *notices.Notifier }

func (welcome) Queue() string          { return notices.MailQueue }
func (w welcome) Policy() sagas.Policy { return w.notifier.WelcomePolicy() }

func (w welcome) Call(ctx context.Context, order uuid.UUID, to orders.Customer) (sagas.Call, error) {
	return w.notifier.WelcomeCall(ctx, notices.WelcomeOf(order, notices.Customer(to)))
}

func (w welcome) Delay(order uuid.UUID, to orders.Customer, failed sagas.FailedAttempt) sagas.Work {
	return w.notifier.DelayWelcome(notices.WelcomeOf(order, notices.Customer(to)), failed)
}

func (w welcome) LinkRows(order uuid.UUID, user int64) []eventstore.TxStatement {
	return w.notifier.WelcomeLinkRows(order, user)
}

func (welcome) Shred(order uuid.UUID) eventstore.TxStatement { return notices.ShredWelcomeLink(order) }
