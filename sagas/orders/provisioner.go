package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what a [Provisioner] works with.
type Deps struct {
	Runner       *sagas.Runner
	Store        *eventstore.Store
	Tables       *projections.Tables
	Outside      Outside
	Policies     Policies
	Welcome      Welcome
	CancelUnpaid func(context.Context, domain.Metadata, order.Cancel) error // at the order's payment provider
	// asks for the removal of all that is in a tenant
	Empty        func(ctx context.Context, tenant int64, by string) error
	UserNamed    func(ctx context.Context, email string) (user int64, known bool, err error) // the account of an address
	Times        Times
	KeepDisputed bool // a dispute does not suspend the service
	Seller       billing.Seller
	Terms        billing.Terms // of renewals
}

// Outside brings resources to the hosting engine and to the hypervisor. Client is the
// engine's number of the tenant; 0: it has none.
type Outside interface {
	EngineQueue() string
	// ComputeQueue is that of a hypervisor; "" is the first one.
	ComputeQueue(server string) string
	// Push prepares the call that brings what an order has requested.
	Push(ctx context.Context, request hosting.Request, client int64) (sagas.Call, error)
	// Applied tells whether it has been carried out. What is lost is [sagas.ErrAbsent].
	Applied(ctx context.Context, request hosting.Request, client int64) (bool, sagas.Work, error)
	// IsGone tells whether nothing is left of it.
	IsGone(ctx context.Context, request hosting.Request, client int64) (bool, error)
	// ChangeCalls are the calls that a change of a record would make at the engine. Nothing
	// is changed.
	ChangeCalls(ctx context.Context, of hosting.Ref, change field.Values) ([]hosting.EngineCall, error)
	// MakeCalls are the calls that would make what is requested, the owner first. What has
	// the name of another client's object is taken. Nothing is made.
	MakeCalls(
		ctx context.Context, client int64, requests ...hosting.Request,
	) (calls []hosting.EngineCall, taken []hosting.EngineObject, err error)
	// SealShown are the rows that keep a secret that was made up, and that a person's tenant
	// is shown once. ShredShown delete them.
	SealShown(of hosting.Ref, handle, person uuid.UUID, secret string) []eventstore.TxStatement
	ShredShown(of hosting.Ref) []eventstore.TxStatement
	// MachineCall is the call that would make a machine. Nothing is made.
	MachineCall(context.Context, *hosting.Machine) (call hosting.EngineCall, hasRoom bool, err error)
}

// Welcome sends the customer of an order the welcome mail.
type Welcome interface {
	Queue() string
	Policy() sagas.Policy
	// Call is the call that sends the mail.
	Call(ctx context.Context, order uuid.UUID, to Customer) (sagas.Call, error)
	// Delay is what happens instead while the mail cannot be sent.
	Delay(order uuid.UUID, to Customer, failed sagas.FailedAttempt) sagas.Work
	// LinkRows keep the one-time link of the mail; Shred deletes it.
	LinkRows(order uuid.UUID, user int64) []eventstore.TxStatement
	Shred(order uuid.UUID) eventstore.TxStatement
}

// A Customer is whom an order was set up for.
type Customer struct {
	User   int64
	Opened bool // the account was opened for the order
	Tenant int64
}

// A Provisioner makes services of paid orders, and ends them
// (docs/sagas.md, "Provisioning").
type Provisioner struct {
	Changes *PlanChanges // of subscriptions

	deps Deps

	local, grace, left sagas.Policy // of steps in the database; of keeping; of waiting until nothing is left
	provision          sagas.Definition[ProvisionInput]
	deprovision        sagas.Definition[DeprovisionInput]
}

// NewProvisioner registers how orders become services, and how services end.
func NewProvisioner(d Deps) *Provisioner {
	t := d.Runner.Times()
	p := &Provisioner{
		deps: d, local: t.LocalPolicy(), grace: sagas.Policy{Timeout: t.Write},
		left: sagas.Policy{
			Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap, First: d.Policies.Ready.First,
			Last: t.UndoCap,
		},
	}
	p.registerProvision()
	p.registerDeprovision()
	p.Changes = newPlanChanges(d, p.local)
	d.Runner.OnAppend(p.starts)
	d.Runner.OnEvent(p.react, sagas.NamesOf(
		order.Activated{}, order.DisputeOpened{}, order.DisputeClosed{}, order.CancelRequested{}, order.RefundCompleted{},
		billing.SubscriptionSuspended{}, billing.PeriodRenewed{}, billing.PaymentExtended{}, billing.SubscriptionEnded{},
		billing.ChangeWithdrawn{}, billing.ChangeDropped{}, hosting.Removed{},
	)...)
	return p
}

// starts are the runs that begin with events of orders and subscriptions: provisioning
// with the money, another plan, and the end of a service.
func (p *Provisioner) starts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(p.deps.Runner, events, func(r eventstore.RecordedEvent) (sagas.Start, bool, error) {
		switch e := r.Event.(type) {
		case order.PaymentConfirmed:
			return p.provisioning(ctx, uuid.MustParse(r.Stream.ID), nil)
		case order.Reopened:
			return p.provisioning(ctx, uuid.MustParse(r.Stream.ID), e.Placement)
		case order.RefundCompleted, order.DisputeClosed, order.Cancelled:
			if !ends(r.Event) {
				break
			}
			return p.serviceEnding(ctx, uuid.MustParse(r.Stream.ID))
		case billing.PlanChanged:
			return p.Changes.planChanging(r)
		}
		return sagas.Start{}, false, nil
	})
}

// react is the reaction of provisioning to an event of the log.
func (p *Provisioner) react(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case order.Activated:
		return errors.Join(p.keepService(ctx, r), reverseDNS{p.deps}.publish(ctx, r))
	case order.DisputeOpened:
		return p.keepService(ctx, r)
	case hosting.Removed:
		if kind, _ := hosting.KindOf(r.Stream); kind.Backend == hosting.Compute {
			return reverseDNS{p.deps}.withdraw(ctx, r)
		}
	case order.DisputeClosed:
		return errors.Join(p.keepService(ctx, r), p.compensateOrder(ctx, r, "charged back"))
	case order.CancelRequested:
		return p.compensateOrder(ctx, r, e.Reason)
	case order.RefundCompleted:
		return p.compensateOrder(ctx, r, "refunded")
	case billing.SubscriptionSuspended, billing.PeriodRenewed, billing.PaymentExtended:
		return p.keepPaid(ctx, r)
	case billing.ChangeWithdrawn, billing.ChangeDropped:
		return p.Changes.release(ctx, r)
	case billing.SubscriptionEnded:
		return errors.Join(p.endUnpaid(ctx, r, e.Reason), p.keepOthers(ctx, r))
	}
	return nil
}
