package sagas

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// The lists of provisioning, by what was bought (docs/sagas.md,
// "Provisioning"). A change to a list is a new def; a running saga keeps the
// list that it started with.
const provisionDef = "provision/1"

var provisioning = map[string][]string{
	"hosting":             {"account", "tenant", "tenant.engine", "tenant.ready", "billing", "welcome", "activate"},
	"hosting with domain": {"account", "tenant", "tenant.engine", "tenant.ready", "site", "site.ready", "billing", "welcome", "activate"},
	"vps":                 {"account", "tenant", "vm", "vm.ready", "billing", "welcome", "activate"},
	"saas":                {"account", "tenant", "billing", "welcome", "activate"},
}

// provisioningSteps are what the lists are made of.
func (s *Sagas) provisioningSteps() []step {
	engine, compute := engineQueue(s.engine), computeQueue(s.compute)
	return []step{
		{
			name: "account", says: "create the user account if absent", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.openAccount, undo: s.closeAccount},
		},
		{
			name: "tenant", says: "create the hosting tenant, VM or SaaS sub-tenant", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.openTenant, undo: s.closeTenant},
		},
		{
			name: "tenant.engine", says: "create the tenant's place on the hosting engine", queue: engine, policy: s.policies.engine,
			effect: &effect{key: keyed("tenant.engine"), prepare: s.tenantCall},
		},
		{
			name: "tenant.ready", says: "wait until the engine has made the tenant's place", queue: engine, policy: s.policies.ready,
			wait: &until{ready: s.tenantReady},
		},
		{
			name: "site", says: "create the website of the ordered domain", queue: engine, policy: s.policies.engine,
			effect: &effect{key: keyed("site"), prepare: s.siteCall},
		},
		{
			name: "site.ready", says: "wait until the website is served", queue: engine, policy: s.policies.ready,
			wait: &until{ready: s.siteReady},
		},
		{
			name: "vm", says: "create the virtual server", queue: compute, policy: s.policies.engine,
			effect: &effect{key: keyed("vm"), prepare: s.vmCall},
		},
		{
			name: "vm.ready", says: "wait until the virtual server runs and has an address", queue: compute, policy: s.policies.vm,
			wait: &until{ready: s.vmReady},
		},
		{
			name: "billing", says: "create a subscription and an invoice", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.bill, undo: s.endBilling},
		},
		{
			name: "welcome", says: "send a welcome email with credentials", queue: mailQueue, policy: s.policies.welcome,
			effect: &effect{key: keyed("welcome"), prepare: s.welcomeCall, lasting: true, deferred: s.delayMail},
		},
		{
			name: "activate", says: "set the order status to active", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.activate},
		},
		{
			name: "send", says: "send the email", queue: mailQueue, policy: s.policies.late,
			effect: &effect{key: func(j Job) string { return j.Effect }, prepare: s.sendMail, lasting: true, deferred: s.giveUpSending},
		},
	}
}

// keyed is the key of an order's effect: "o/<order>/site".
func keyed(step string) func(Job) string {
	return func(j Job) string { return effectKey(j.Order, step) }
}

func effectKey(order uuid.UUID, step string) string { return "o/" + order.String() + "/" + step }

// provisioningSagas are the lists under their names.
func (s *Sagas) provisioningSagas() []saga {
	return []saga{
		{
			name: "provision", def: provisionDef,
			begun: func(j Job) []domain.Command {
				return []domain.Command{order.StartProvisioning{ID: j.Order, At: s.now()}}
			},
			parked: func(j Job, step, code string) []domain.Command {
				return []domain.Command{order.Park{ID: j.Order, Step: step, Code: code, At: s.now()}}
			},
			undone: s.undone, stuck: s.stuck,
		},
		{name: "mail", def: mailDef},
		{name: "mail", def: linkDef},
		{name: "mail", def: noticeDef},
	}
}

// listFor picks the list for an order.
func listFor(o projections.Order) []string {
	if o.ResourceType == "hosting" && o.Domain != "" {
		return provisioning["hosting with domain"]
	}
	return provisioning[o.ResourceType]
}

// provision is the run that a paid order starts. The numbers of everything
// that it may make are drawn now, so that names outside follow from them.
func (s *Sagas) provision(ctx context.Context, id uuid.UUID) (Start, error) {
	o, err := s.order(ctx, id)
	if err != nil {
		return Start{}, err
	}
	list := listFor(o)
	job := Job{Order: id, Type: o.ResourceType}
	names, at := []string{"user", "tenant"}, []*int64{&job.User, &job.Tenant}
	if slices.Contains(list, "site") {
		names, at = append(names, "site"), append(at, &job.Site)
	}
	if slices.Contains(list, "vm") {
		names, at = append(names, "vm"), append(at, &job.VM)
	}
	numbers, err := s.store.NextIDs(ctx, names...)
	if err != nil {
		return Start{}, err
	}
	for i, number := range numbers {
		*at[i] = number
	}
	return Start{Key: "provision:" + id.String(), Def: provisionDef, Steps: s.places(list), Job: job, Order: id}, nil
}

// order is all that is known of an order, personal data included.
func (s *Sagas) order(ctx context.Context, id uuid.UUID) (projections.Order, error) {
	return s.tables.For(projections.System).OrderForRun(ctx, id)
}

// openAccount opens an account, unless the address has one: that is then let
// into the tenant, and nothing in it is touched (rule R-2).
func (s *Sagas) openAccount(ctx context.Context, job Job) (Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Work{}, err
	}
	email := plainAddress(o.CustomerEmail)
	if email == "" {
		return Work{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	user, known, err := s.userNamed(ctx, email)
	if err != nil {
		return Work{}, err
	}
	if known {
		return Work{Learn: func(j *Job) { j.User, j.Opened = user, false }}, nil
	}
	open := account.Open{
		User: job.User, SubjectID: o.Subject, Email: email, Name: o.CustomerName, Language: o.Language, For: forOrder(job), At: s.now(),
	}
	return Work{
		Commands: []domain.Command{open}, Rows: s.tokenRows(eventstore.NewToken(), job.User, effectKey(job.Order, "welcome")),
		Learn: func(j *Job) { j.Opened = true },
	}, nil
}

// closeAccount takes back an account that was opened for this order and that
// nobody has used since.
func (s *Sagas) closeAccount(ctx context.Context, job Job) (Work, error) {
	user, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(job.User))
	if err != nil || !job.Opened || user.HasPassword || user.For != forOrder(job) || len(user.Memberships) > 0 {
		return Work{}, err
	}
	return Work{
		Commands: []domain.Command{account.Deactivate{User: job.User, At: s.now()}},
		Rows:     []eventstore.Row{eventstore.Shred(effectKey(job.Order, "welcome"))},
	}, nil
}

func forOrder(job Job) string { return "order:" + job.Order.String() }

// openTenant asks for the tenant and for what was bought, and makes the
// customer the tenant's admin.
func (s *Sagas) openTenant(ctx context.Context, job Job) (Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Work{}, err
	}
	tenant, err := s.tenantOf(ctx, job, o)
	if err != nil {
		return Work{}, err
	}
	ask := func(kind string, id int64, spec hosting.Spec) domain.Command {
		return hosting.Request{
			Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: job.Tenant, Spec: spec.Fields().Values(), Subject: o.Subject, For: forOrder(job),
		}
	}
	commands := []domain.Command{
		ask("tenant", job.Tenant, tenant),
		account.GrantMembership{User: job.User, Tenant: job.Tenant, Role: account.Admin, At: s.now()},
	}
	if job.Site != 0 {
		commands = append(commands, ask("site", job.Site, siteOf(job, o)))
	}
	if job.VM != 0 {
		commands = append(commands, ask("vm", job.VM, machineOf(job, o)))
	}
	return Work{Commands: commands}, nil
}

// closeTenant asks for the removal of everything that openTenant asked for.
func (s *Sagas) closeTenant(_ context.Context, job Job) (Work, error) {
	var work Work
	for _, ref := range []hosting.Ref{{Kind: "vm", ID: job.VM}, {Kind: "site", ID: job.Site}, {Kind: "tenant", ID: job.Tenant}} {
		if ref.ID != 0 { // the steps before this one have removed it outside
			work = work.and(Work{
				Commands: []domain.Command{hosting.Remove{Ref: ref}, hosting.Confirm{Ref: ref}}, Rows: []eventstore.Row{freeRow(ref.Stream(), Claim{})},
			})
		}
	}
	return work.and(Work{Commands: []domain.Command{account.RevokeMembership{User: job.User, Tenant: job.Tenant, At: s.now()}}}), nil
}

// bill starts the subscription and writes the invoice, with the order's frozen
// totals.
func (s *Sagas) bill(ctx context.Context, job Job) (Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Work{}, err
	}
	period := string(o.BillingPeriod)
	return Work{Commands: []domain.Command{
		billing.Subscribe{
			Order: o.ID, Tenant: job.Tenant, User: job.User, Plan: o.PlanID, PlanName: o.PlanName, BillingPeriod: period,
			Price: o.PeriodPrice, Currency: o.Currency, At: s.now(),
		},
		billing.Issue{
			Order: o.ID, Tenant: job.Tenant, SubjectID: o.Subject, Name: o.CustomerName, Email: o.CustomerEmail, Company: o.CustomerCompany,
			Line: o.PlanName + " (" + period + ")", Total: o.Total, Subtotal: o.Subtotal, Tax: o.Tax, TaxRate: o.TaxRate,
			Currency: o.Currency, Test: o.Test, At: s.now(),
		},
	}}, nil
}

// endBilling ends the subscription. An invoice is never deleted; its credit
// note is written with the refund.
func (s *Sagas) endBilling(_ context.Context, job Job) (Work, error) {
	return Work{Commands: []domain.Command{billing.End{Order: job.Order, Reason: "undone", At: s.now()}}}, nil
}

func (s *Sagas) activate(_ context.Context, job Job) (Work, error) {
	return Work{Commands: []domain.Command{order.Activate{ID: job.Order, At: s.now()}}}, nil
}
