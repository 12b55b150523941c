package orders

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/texts"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/memory"
)

// ProvisionSteps are the steps of an order's setup (docs/sagas.md, "Provisioning"). An
// order that joins a tenant makes neither an account nor a tenant. Where the customer has
// chosen the tenant by a link, a new one may be made instead. A change to a list is a new
// definition; a running saga keeps the list that it started with.
func ProvisionSteps(resourceType string, hasDomain, joins, chosen bool) (list []string) {
	hosts := resourceType == storefront.HostingPlan
	add := func(when bool, steps ...string) {
		if when {
			list = append(list, steps...)
		}
	}
	add(!joins, "account")
	add(true, "tenant")
	add(hosts && (!joins || chosen), "tenant.engine")
	add(hosts, "tenant.ready")
	add(hosts && hasDomain, "site", "site.ready")
	add(resourceType == storefront.VPSPlan, "vm", "vm.ready")
	add(true, "billing", "welcome", "activate")
	return list
}

// A ProvisionInput is what the provisioning of an order works with.
type ProvisionInput struct {
	Order  uuid.UUID `json:"order"`
	Type   string    `json:"type"` // hosting, vps, saas
	User   int64     `json:"user"`
	Opened bool      `json:"opened,omitempty"` // the account was opened for this order
	Tenant int64     `json:"tenant"`
	Site   int64     `json:"site,omitempty"`
	VM     int64     `json:"vm,omitempty"`
	Server string    `json:"server,omitempty"`    // the hypervisor of the machine; "": the first one
	Client int64     `json:"client,omitempty"`    // the engine's id of the tenant
	Domain string    `json:"domain,omitempty"`    // instead of the one that was ordered
	OS     string    `json:"os_choice,omitempty"` // likewise

	Password uuid.UUID `json:"password,omitzero"` // names that of root, which was made up; zero: there is none

	Joins bool `json:"joins,omitempty"` // the tenant was there before
	Again bool `json:"again,omitempty"` // the customer has a tenant of the same name
}

func (p *Provisioner) registerProvision() {
	engine, outside := p.deps.Outside.EngineQueue(), p.deps.Policies
	compute := func(in ProvisionInput) string { return p.deps.Outside.ComputeQueue(in.Server) }
	p.provision = sagas.Register(p.deps.Runner, sagas.Saga[ProvisionInput]{
		Name: "provision", Definition: "provision/1",
		Begun: func(in ProvisionInput) []domain.Command {
			return []domain.Command{order.StartProvisioning{ID: in.Order, At: p.deps.Runner.Now()}}
		},
		Parked: func(in ProvisionInput, step, code string) []domain.Command {
			return parked(in, step, code, p.deps.Runner.Now())
		},
		Undone: p.orderCompensated, Stuck: p.compensationParked,
		TakeBack: func(ctx context.Context, cause domain.Metadata, r sagas.Run, reason string) error {
			return p.Cancel(ctx, cause, r.Order, reason)
		},
		Steps: []sagas.Step[ProvisionInput]{
			{
				Name: "account", Says: "create the user account if absent", Queue: sagas.LocalQueue, Policy: p.local,
				Local: &sagas.Local[ProvisionInput]{Do: p.openAccount, Undo: p.closeAccount},
			},
			{
				Name: "tenant", Says: "create the hosting tenant, VM or SaaS sub-tenant", Queue: sagas.LocalQueue,
				Policy: p.local, Joins: true,
				Local: &sagas.Local[ProvisionInput]{Do: p.openTenant, Undo: p.closeTenant},
			},
			{
				Name: "tenant.engine", Says: "create the tenant's place on the hosting engine", Queue: engine,
				Policy: outside.Engine, Joins: true,
				Effect: &sagas.Effect[ProvisionInput]{Key: keyed("tenant.engine"), Prepare: p.pushTenant},
			},
			{
				Name: "tenant.ready", Says: "wait until the engine has made the tenant's place", Queue: engine,
				Policy: outside.Ready, Joins: true,
				Wait: p.tenantReady, Of: "tenant.engine",
			},
			{
				Name: "site", Says: "create the website of the ordered domain", Queue: engine, Policy: outside.Engine, Joins: true,
				Corrections: map[string]func(*ProvisionInput, string){"domain": func(in *ProvisionInput, name string) { in.Domain = name }},
				Effect:      &sagas.Effect[ProvisionInput]{Key: keyed("site"), Prepare: p.push(p.siteRequest)},
			},
			{
				Name: "site.ready", Says: "wait until the website is served", Queue: engine, Policy: outside.Ready, Joins: true,
				Wait: p.applied(p.siteRequest), Of: "site",
			},
			{
				Name: "vm", Says: "create the virtual server", QueueOf: compute, Policy: outside.Engine, Joins: true,
				Corrections: map[string]func(*ProvisionInput, string){"os_choice": func(in *ProvisionInput, os string) { in.OS = os }},
				Effect:      &sagas.Effect[ProvisionInput]{Key: keyed("vm"), Prepare: p.push(p.machineRequest)},
			},
			{
				Name: "vm.ready", Says: "wait until the virtual server runs and has an address", QueueOf: compute,
				Policy: outside.Machine, Joins: true,
				Wait: p.applied(machineName), Of: "vm",
			},
			{
				Name: "billing", Says: "create a subscription and an invoice", Queue: sagas.LocalQueue, Policy: p.local, Joins: true,
				Local: &sagas.Local[ProvisionInput]{Do: p.bill, Undo: p.endBilling},
			},
			{
				Name: "welcome", Says: "send a welcome email with credentials", Queue: p.deps.Welcome.Queue(),
				Policy: p.deps.Welcome.Policy(),
				Effect: &sagas.Effect[ProvisionInput]{
					Key: keyed("welcome"), Lasting: true,
					Prepare: func(ctx context.Context, in *ProvisionInput) (sagas.Call, error) {
						return p.deps.Welcome.Call(ctx, in.Order, in.customer())
					},
					Deferred: func(in ProvisionInput, failed sagas.FailedAttempt) sagas.Work {
						return p.deps.Welcome.Delay(in.Order, in.customer(), failed)
					},
				},
			},
			{
				Name: "activate", Says: "set the order status to active", Queue: sagas.LocalQueue, Policy: p.local, Joins: true,
				Local: &sagas.Local[ProvisionInput]{Do: p.activate},
			},
		},
	})
}

// parked parks the order. That a name at the engine is another's is an incident too: no
// retry gets the customer what was paid.
func parked(in ProvisionInput, step, code string, at time.Time) []domain.Command {
	commands := []domain.Command{order.Park{ID: in.Order, Step: step, Code: code, At: at}}
	refused := map[string]hosting.Ref{"tenant.engine": {Kind: "tenant", ID: in.Tenant}, "site": {Kind: "site", ID: in.Site}}
	if ref, is := refused[step]; is && code == "name_taken" {
		commands = append(commands, operations.StuckTrouble(in.Tenant, ref.Kind, ref.ID, code).Report(at))
	}
	return commands
}

// keyed is the key of an order's effect: "o/<order>/site".
func keyed(step string) func(ProvisionInput) string {
	return func(in ProvisionInput) string { return sagas.EffectKey(in.Order, step) }
}

// listFor are the steps of an order.
func listFor(o projections.Order, chosen bool) []string {
	return ProvisionSteps(o.ResourceType, o.Domain != "", o.OrderedBy != nil, chosen)
}

// provisioning is the run that a paid order starts. The numbers of everything
// that it may make are drawn now, so that names outside follow from them.
// An order that pays an invoice makes nothing. The place of a machine is given if it is
// reserved just now.
func (p *Provisioner) provisioning(
	ctx context.Context, id uuid.UUID, place *compute.Placement,
) (run sagas.Start, begins bool, err error) {
	o, err := p.order(ctx, id)
	if err != nil || o.Invoice != nil {
		return run, false, err
	}
	chosen, err := isChosen(ctx, p.deps.Store, o)
	if err != nil {
		return run, false, err
	}
	list := listFor(o, chosen)
	job, err := jobFor(ctx, o, list, p.deps.Store.NextIDs)
	if err != nil {
		return run, false, err
	}
	if place == nil && job.VM != 0 {
		if place, err = placeOf(ctx, p.deps.Tables, id); err != nil {
			return run, false, err
		}
	}
	if place != nil {
		job.Server = place.Server
	}
	return p.provision.Start(id.String(), job, id, list...), true, nil
}

// orderOf is the key of an order among what a run has read.
type orderOf uuid.UUID

// order is all that is known of an order, personal data included.
func (p *Provisioner) order(ctx context.Context, id uuid.UUID) (projections.Order, error) {
	return memory.Read(ctx, orderOf(id), func(ctx context.Context) (projections.Order, error) {
		return p.deps.Tables.For(projections.System).Orders().OrderForRun(ctx, id)
	})
}

// openAccount opens an account, unless the address has one: that is then let
// into the tenant, and nothing in it is touched (rule R-2).
func (p *Provisioner) openAccount(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := p.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	email := account.PlainAddress(o.CustomerEmail)
	if email == "" {
		return sagas.Work{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	user, known, err := p.deps.UserNamed(ctx, email)
	if err != nil {
		return sagas.Work{}, err
	}
	if known {
		job.User, job.Opened = user, false
		return sagas.Work{}, nil
	}
	open := account.Open{
		User: job.User, SubjectID: o.Subject, Email: email, Name: o.CustomerName, Language: o.Language,
		For: forOrder(job), At: p.deps.Runner.Now(),
	}
	job.Opened = true
	return sagas.Work{
		Commands: []domain.Command{open}, Rows: p.deps.Welcome.LinkRows(job.Order, job.User),
	}, nil
}

// closeAccount closes an account that was opened for this order and has not been
// used since.
func (p *Provisioner) closeAccount(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	user, _, err := eventstore.Fold(ctx, p.deps.Store, account.Decider, account.Stream(job.User))
	if err != nil || !job.Opened || user.HasPassword || user.For != forOrder(job) || len(user.Memberships) > 0 {
		return sagas.Work{}, err
	}
	return sagas.Work{
		Commands: []domain.Command{account.Deactivate{User: job.User, At: p.deps.Runner.Now()}},
		Rows:     []eventstore.TxStatement{p.deps.Welcome.Shred(job.Order)},
	}, nil
}

func forOrder(job *ProvisionInput) string { return "order:" + job.Order.String() }

// openTenant asks for the tenant and for what was bought, and makes the
// customer the tenant's admin.
func (p *Provisioner) openTenant(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := p.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	instead, err := insteadOfChoice(ctx, p.deps, job, o)
	if err != nil {
		return sagas.Work{}, err
	}
	commands, err := p.joining(ctx, job, o)
	if err != nil {
		return sagas.Work{}, err
	}
	if !job.Joins {
		user, _, err := eventstore.Fold(ctx, p.deps.Store, account.Decider, account.Stream(job.User))
		if err != nil {
			return sagas.Work{}, err
		}
		if job.Again, err = hasNamesake(ctx, p.deps.Tables.For(projections.System), job, o); err != nil {
			return sagas.Work{}, err
		}
		tenant, err := p.tenantOf(ctx, job, o)
		if err != nil {
			return sagas.Work{}, err
		}
		commands = append(instead, requestOf(job, o, "tenant", job.Tenant, tenant),
			account.GrantMembership{User: job.User, Tenant: job.Tenant, Role: account.Admin, Seen: user.Tenants(), At: p.deps.Runner.Now()})
	}
	if job.Site != 0 {
		commands = append(commands, requestOf(job, o, "site", job.Site, siteOf(job, o)))
	}
	var rows []eventstore.TxStatement
	if job.VM != 0 {
		rows = makePassword(p.deps.Outside, job, o)
		machine, err := machineFor(ctx, p.deps.Tables, job, o)
		if err != nil {
			return sagas.Work{}, err
		}
		commands = append(commands, requestOf(job, o, "vm", job.VM, machine))
	}
	return sagas.Work{Commands: commands, Rows: rows}, nil
}

// closeTenant asks for the removal of everything that openTenant asked for.
func (p *Provisioner) closeTenant(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	var work sagas.Work
	for _, ref := range []hosting.Ref{{Kind: "vm", ID: job.VM}, {Kind: "site", ID: job.Site}, {Kind: "tenant", ID: job.Tenant}} {
		if ref.ID != 0 && (ref.Kind != "tenant" || !job.Joins) { // the steps before this one have removed it outside
			work = work.And(sagas.Work{
				Commands: []domain.Command{hosting.Remove{Ref: ref}, hosting.Confirm{Ref: ref}},
				Rows:     []eventstore.TxStatement{sagas.FreeClaims(ref.Stream(), sagas.Claim{})},
			})
		}
	}
	if work.Rows = append(work.Rows, p.deps.Outside.ShredShown(hosting.Ref{Kind: "vm", ID: job.VM})...); job.Joins {
		return work, nil
	}
	return work.And(
		sagas.Work{Commands: []domain.Command{account.RevokeMembership{User: job.User, Tenant: job.Tenant, At: p.deps.Runner.Now()}}},
	), nil
}

// bill starts the subscription and writes the invoice, with the order's frozen
// totals.
func (p *Provisioner) bill(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := p.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	now, period := p.deps.Runner.Now(), string(o.BillingPeriod)
	return sagas.Work{Commands: []domain.Command{
		billing.Subscribe{
			Order: o.ID, Tenant: job.Tenant, User: job.User, Plan: o.PlanID, PlanName: o.PlanName, BillingPeriod: period,
			Price: o.PeriodPrice, Currency: o.Currency, At: now, Terms: p.deps.Terms,
		},
		billing.Issue{
			Order: o.ID, Tenant: job.Tenant, SubjectID: o.Subject, Name: o.CustomerName, Email: o.CustomerEmail, Company: o.CustomerCompany,
			Buyer: o.Details(), Seller: p.deps.Seller, Lines: firstLines(o, now), Total: o.Total, Subtotal: o.Subtotal,
			Tax: o.Tax, TaxRate: o.TaxRate, Treatment: o.Treatment,
			Currency: o.Currency, Test: o.Test, At: now,
		},
	}}, nil
}

// firstLines are what an order is billed for, in its language: its first period, and the
// setup fee, which takes the cent that rounding may leave (rule M-3).
func firstLines(o projections.Order, at time.Time) []billing.Line {
	cycle := string(o.BillingPeriod)
	period := billing.PeriodLine(o.Language, o.PlanName, cycle, at, billing.PeriodStart(at, cycle, 1), o.Total)
	if o.SetupFee.IsZero() {
		return []billing.Line{period}
	}
	period.Total = o.Without(o.PeriodPrice.Round(2), o.Currency)
	return []billing.Line{period, {Text: texts.Say(o.Language, "invoices.setup_fee"), Total: o.Total.Sub(period.Total)}}
}

// endBilling ends the subscription. An invoice is never deleted; its credit
// note is written with the refund.
func (p *Provisioner) endBilling(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	return sagas.Work{Commands: []domain.Command{billing.End{Order: job.Order, Reason: "undone", At: p.deps.Runner.Now()}}}, nil
}

func (p *Provisioner) activate(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	return sagas.Work{Commands: []domain.Command{order.Activate{ID: job.Order, At: p.deps.Runner.Now()}}}, nil
}
