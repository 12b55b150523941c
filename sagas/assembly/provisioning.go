package assembly

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/notify"
)

// The lists of provisioning, by what was bought (docs/sagas.md,
// "Provisioning"). A change to a list is a new def; a running saga keeps the
// list that it started with.

var provisionLists = map[string][]string{
	"hosting":             {"account", "tenant", "tenant.engine", "tenant.ready", "billing", "welcome", "activate"},
	"hosting with domain": {"account", "tenant", "tenant.engine", "tenant.ready", "site", "site.ready", "billing", "welcome", "activate"},
	"vps":                 {"account", "tenant", "vm", "vm.ready", "billing", "welcome", "activate"},
	"saas":                {"account", "tenant", "billing", "welcome", "activate"},
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
	Client int64     `json:"client,omitempty"`    // the engine's id of the tenant
	Domain string    `json:"domain,omitempty"`    // instead of the one that was ordered
	OS     string    `json:"os_choice,omitempty"` // likewise
}

// registerProvisioning registers how orders become services, and how services
// end.
func (s *Panel) registerProvisioning() {
	engine, compute, outside := s.Reconciler.EngineQueue(), s.Reconciler.ComputeQueue(), s.Reconciler.Policies()
	s.provision = sagas.Register(s.Runner, sagas.Saga[ProvisionInput]{
		Name: "provision", Definition: "provision/1",
		Begun: func(in ProvisionInput) []domain.Command {
			return []domain.Command{order.StartProvisioning{ID: in.Order, At: s.Now()}}
		},
		Parked: func(in ProvisionInput, step, code string) []domain.Command {
			return []domain.Command{order.Park{ID: in.Order, Step: step, Code: code, At: s.Now()}}
		},
		Undone: s.orderCompensated, Stuck: s.compensationParked,
		TakeBack: func(ctx context.Context, cause domain.Metadata, r sagas.Run, reason string) error {
			return s.Cancel(ctx, cause, r.Order, reason)
		},
		Steps: []sagas.Step[ProvisionInput]{
			{
				Name: "account", Says: "create the user account if absent", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ProvisionInput]{Do: s.openAccount, Undo: s.closeAccount},
			},
			{
				Name: "tenant", Says: "create the hosting tenant, VM or SaaS sub-tenant", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ProvisionInput]{Do: s.openTenant, Undo: s.closeTenant},
			},
			{
				Name: "tenant.engine", Says: "create the tenant's place on the hosting engine", Queue: engine, Policy: outside.Engine,
				Effect: &sagas.Effect[ProvisionInput]{Key: keyed("tenant.engine"), Prepare: s.tenantCall},
			},
			{
				Name: "tenant.ready", Says: "wait until the engine has made the tenant's place", Queue: engine, Policy: outside.Ready,
				Wait: s.tenantReady,
			},
			{
				Name: "site", Says: "create the website of the ordered domain", Queue: engine, Policy: outside.Engine,
				Corrections: map[string]func(*ProvisionInput, string){"domain": func(in *ProvisionInput, name string) { in.Domain = name }},
				Effect:      &sagas.Effect[ProvisionInput]{Key: keyed("site"), Prepare: s.siteCall},
			},
			{
				Name: "site.ready", Says: "wait until the website is served", Queue: engine, Policy: outside.Ready,
				Wait: s.siteReady,
			},
			{
				Name: "vm", Says: "create the virtual server", Queue: compute, Policy: outside.Engine,
				Corrections: map[string]func(*ProvisionInput, string){"os_choice": func(in *ProvisionInput, os string) { in.OS = os }},
				Effect:      &sagas.Effect[ProvisionInput]{Key: keyed("vm"), Prepare: s.vmCall},
			},
			{
				Name: "vm.ready", Says: "wait until the virtual server runs and has an address", Queue: compute, Policy: outside.Machine,
				Wait: s.vmReady,
			},
			{
				Name: "billing", Says: "create a subscription and an invoice", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ProvisionInput]{Do: s.bill, Undo: s.endBilling},
			},
			{
				Name: "welcome", Says: "send a welcome email with credentials", Queue: notify.MailQueue, Policy: s.Notify.WelcomePolicy(),
				Effect: &sagas.Effect[ProvisionInput]{
					Key: keyed("welcome"), Lasting: true,
					Prepare: func(ctx context.Context, in *ProvisionInput) (sagas.Call, error) {
						return s.Notify.WelcomeCall(ctx, notify.WelcomeOf(in.Order, in.customer()))
					},
					Deferred: func(in ProvisionInput, failed sagas.FailedAttempt) sagas.Work {
						return s.Notify.DelayWelcome(notify.WelcomeOf(in.Order, in.customer()), failed)
					},
				},
			},
			{
				Name: "activate", Says: "set the order status to active", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ProvisionInput]{Do: s.activate},
			},
		},
	})
	s.registerServiceEnding()
}

// keyed is the key of an order's effect: "o/<order>/site".
func keyed(step string) func(ProvisionInput) string {
	return func(in ProvisionInput) string { return sagas.EffectKey(in.Order, step) }
}

// listFor picks the list for an order.
func listFor(o projections.Order) []string {
	if o.ResourceType == "hosting" && o.Domain != "" {
		return provisionLists["hosting with domain"]
	}
	return provisionLists[o.ResourceType]
}

// provisioning is the run that a paid order starts. The numbers of everything
// that it may make are drawn now, so that names outside follow from them.
func (s *Panel) provisioning(ctx context.Context, id uuid.UUID) (sagas.Start, error) {
	o, err := s.order(ctx, id)
	if err != nil {
		return sagas.Start{}, err
	}
	list := listFor(o)
	job := ProvisionInput{Order: id, Type: o.ResourceType}
	names, at := []string{"user", "tenant"}, []*int64{&job.User, &job.Tenant}
	if slices.Contains(list, "site") {
		names, at = append(names, "site"), append(at, &job.Site)
	}
	if slices.Contains(list, "vm") {
		names, at = append(names, "vm"), append(at, &job.VM)
	}
	numbers, err := s.store.NextIDs(ctx, names...)
	if err != nil {
		return sagas.Start{}, err
	}
	for i, number := range numbers {
		*at[i] = number
	}
	return s.provision.Start(id.String(), job, id, list...), nil
}

// order is all that is known of an order, personal data included.
func (s *Panel) order(ctx context.Context, id uuid.UUID) (projections.Order, error) {
	return s.tables.For(projections.System).OrderForRun(ctx, id)
}

// openAccount opens an account, unless the address has one: that is then let
// into the tenant, and nothing in it is touched (rule R-2).
func (s *Panel) openAccount(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	email := account.PlainAddress(o.CustomerEmail)
	if email == "" {
		return sagas.Work{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	user, known, err := s.userNamed(ctx, email)
	if err != nil {
		return sagas.Work{}, err
	}
	if known {
		job.User, job.Opened = user, false
		return sagas.Work{}, nil
	}
	open := account.Open{
		User: job.User, SubjectID: o.Subject, Email: email, Name: o.CustomerName, Language: o.Language, For: forOrder(job), At: s.Now(),
	}
	job.Opened = true
	return sagas.Work{
		Commands: []domain.Command{open}, Rows: s.Notify.WelcomeLinkRows(job.Order, job.User),
	}, nil
}

// closeAccount closes an account that was opened for this order and has not been
// used since.
func (s *Panel) closeAccount(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	user, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(job.User))
	if err != nil || !job.Opened || user.HasPassword || user.For != forOrder(job) || len(user.Memberships) > 0 {
		return sagas.Work{}, err
	}
	return sagas.Work{
		Commands: []domain.Command{account.Deactivate{User: job.User, At: s.Now()}},
		Rows:     []eventstore.TxStatement{notify.ShredWelcomeLink(job.Order)},
	}, nil
}

func forOrder(job *ProvisionInput) string { return "order:" + job.Order.String() }

// openTenant asks for the tenant and for what was bought, and makes the
// customer the tenant's admin.
func (s *Panel) openTenant(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	tenant, err := s.tenantOf(ctx, job, o)
	if err != nil {
		return sagas.Work{}, err
	}
	ask := func(kind string, id int64, spec hosting.Spec) domain.Command {
		return hosting.Request{
			Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: job.Tenant, Spec: spec.Fields().Values(), Subject: o.Subject, For: forOrder(job),
		}
	}
	commands := []domain.Command{
		ask("tenant", job.Tenant, tenant),
		account.GrantMembership{User: job.User, Tenant: job.Tenant, Role: account.Admin, At: s.Now()},
	}
	if job.Site != 0 {
		commands = append(commands, ask("site", job.Site, siteOf(job, o)))
	}
	if job.VM != 0 {
		commands = append(commands, ask("vm", job.VM, machineOf(job, o)))
	}
	return sagas.Work{Commands: commands}, nil
}

// closeTenant asks for the removal of everything that openTenant asked for.
func (s *Panel) closeTenant(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	var work sagas.Work
	for _, ref := range []hosting.Ref{{Kind: "vm", ID: job.VM}, {Kind: "site", ID: job.Site}, {Kind: "tenant", ID: job.Tenant}} {
		if ref.ID != 0 { // the steps before this one have removed it outside
			work = work.And(sagas.Work{
				Commands: []domain.Command{hosting.Remove{Ref: ref}, hosting.Confirm{Ref: ref}}, Rows: []eventstore.TxStatement{sagas.FreeClaims(ref.Stream(), sagas.Claim{})},
			})
		}
	}
	return work.And(sagas.Work{Commands: []domain.Command{account.RevokeMembership{User: job.User, Tenant: job.Tenant, At: s.Now()}}}), nil
}

// bill starts the subscription and writes the invoice, with the order's frozen
// totals.
func (s *Panel) bill(ctx context.Context, job *ProvisionInput) (sagas.Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Work{}, err
	}
	period := string(o.BillingPeriod)
	return sagas.Work{Commands: []domain.Command{
		billing.Subscribe{
			Order: o.ID, Tenant: job.Tenant, User: job.User, Plan: o.PlanID, PlanName: o.PlanName, BillingPeriod: period,
			Price: o.PeriodPrice, Currency: o.Currency, At: s.Now(),
		},
		billing.Issue{
			Order: o.ID, Tenant: job.Tenant, SubjectID: o.Subject, Name: o.CustomerName, Email: o.CustomerEmail, Company: o.CustomerCompany,
			Line: o.PlanName + " (" + period + ")", Total: o.Total, Subtotal: o.Subtotal, Tax: o.Tax, TaxRate: o.TaxRate,
			Currency: o.Currency, Test: o.Test, At: s.Now(),
		},
	}}, nil
}

// endBilling ends the subscription. An invoice is never deleted; its credit
// note is written with the refund.
func (s *Panel) endBilling(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	return sagas.Work{Commands: []domain.Command{billing.End{Order: job.Order, Reason: "undone", At: s.Now()}}}, nil
}

func (s *Panel) activate(_ context.Context, job *ProvisionInput) (sagas.Work, error) {
	return sagas.Work{Commands: []domain.Command{order.Activate{ID: job.Order, At: s.Now()}}}, nil
}

// orderStarts are the runs that begin with events of orders: provisioning with
// the money, and the end of a service.
func (s *Panel) orderStarts(ctx context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(s.Runner, events, func(r eventstore.RecordedEvent) (sagas.Start, bool, error) {
		switch r.Event.(type) {
		case order.PaymentConfirmed, order.Reopened:
			run, err := s.provisioning(ctx, uuid.MustParse(r.Stream.ID))
			return run, true, err
		case order.RefundCompleted, order.DisputeClosed, order.Cancelled:
			if !ends(r.Event) {
				break
			}
			run, err := s.serviceEnding(ctx, uuid.MustParse(r.Stream.ID))
			return run, true, err
		}
		return sagas.Start{}, false, nil
	})
}
