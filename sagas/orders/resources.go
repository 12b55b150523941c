package orders

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What provisioning makes at the engine and at the hypervisor. Names follow
// from our numbers and are known before the call (rule E-1); our reference
// stands in a searchable field (E-2); only what is ours is adopted (E-3).

// tenantOf is the tenant as the order has bought it: new, named after the
// company or the customer, with the plan's package or limits.
func (p *Provisioner) tenantOf(ctx context.Context, job *ProvisionInput, o projections.Order) (*hosting.Tenant, error) {
	name := nameOf(o)
	if job.Again { // so that both can be told apart
		name += " (" + o.OrderNumber + ")"
	}
	login := hosting.CustomerNumber(job.Tenant)
	t := &hosting.Tenant{
		Name: name, Email: o.CustomerEmail, Slug: slug(name, job.Tenant), ContactName: o.CustomerName, CompanyName: o.CustomerCompany,
		Phone: o.CustomerPhone, Language: o.Language, Username: login, CustomerNumber: login,
		Status: "active", IsActive: true, Limits: hosting.NoLimits(),
	}
	give(t, o.Plan)
	if o.Plan.SaaS != nil {
		owner, _, err := eventstore.Fold(ctx, p.deps.Store, account.Decider, account.Stream(o.Owner))
		if err != nil {
			return nil, err
		}
		if owner.ActiveTenant != 0 {
			t.Parent = &owner.ActiveTenant
		}
	}
	return t, nil
}

// give sets in a tenant what a plan sells.
func give(t *hosting.Tenant, p order.Plan) {
	t.Package = p.Package
	switch {
	case p.SaaS != nil:
		t.SaaS = projections.SaaSMaxima(p.SaaS)
	case p.ResourceType == "vps":
		t.Limits = hosting.Limits{} // the machine is all that was bought
	case p.Package == nil && p.ResourceType == "hosting":
		t.Limits = hosting.PackageFrom(p.Quotas)
	}
}

// nameOf is what the tenant of an order is named after.
func nameOf(o projections.Order) string { return cmp.Or(o.CustomerCompany, o.CustomerName) }

// hasNamesake tells whether the customer belongs to another tenant of the name that the new
// one is to have.
func hasNamesake(ctx context.Context, scope projections.Scope, job *ProvisionInput, o projections.Order) (bool, error) {
	known, err := scope.Accounts().Memberships(ctx, job.User)
	return slices.ContainsFunc(known, func(m projections.Membership) bool {
		return m.Tenant != job.Tenant && m.TenantName == nameOf(o)
	}), err
}

// slug makes a name fit for URLs; the number keeps it unique.
func slug(name string, id int64) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	number := strconv.FormatInt(id, 10)
	stem := b.String()
	stem = strings.Trim(stem[:min(len(stem), 99-len(number))], "-")
	return strings.Trim(stem+"-"+number, "-")
}

func siteOf(job *ProvisionInput, o projections.Order) *hosting.Site {
	domain := o.Domain
	if job.Domain != "" {
		domain = job.Domain
	}
	return &hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
}

func machineOf(job *ProvisionInput, o projections.Order) *hosting.Machine {
	m := hosting.NewMachine(job.VM, job.Order.String())
	m.OS, m.Server, m.Hostname = o.OSChoice, job.Server, o.Hostname
	if o.SSHKey != "" {
		m.Keys = []string{o.SSHKey}
	}
	if job.Password != uuid.Nil {
		m.Password = job.Password.String()
	}
	if v := o.Plan.VPS; v != nil {
		m.Cores, m.MemoryMB, m.DiskGB, m.TrafficTB, m.MaxSnapshots = v.Cores, v.MemoryMB, v.DiskGB, v.TrafficTB, v.Snapshots
		if m.OS == "" {
			m.OS = v.DefaultOS
		}
	}
	if job.OS != "" {
		m.OS = job.OS
	}
	m.Settle()
	return m
}

// joining are the commands that prepare the tenant that an order joins; none, if the order
// makes its own. One without a place at the engine gets it now, if it needs one.
func (p *Provisioner) joining(ctx context.Context, job *ProvisionInput, o projections.Order) ([]domain.Command, error) {
	if !job.Joins {
		return nil, nil
	}
	t, is, err := p.tenancyOf(ctx, job.Tenant)
	switch {
	case err != nil:
		return nil, err
	case !is || t.row.TrashedAt != nil:
		return nil, domain.Fail(domain.Permanent, "no_tenant", errors.New("the tenant that the service was to join has ended"))
	case o.ResourceType == "hosting" && t.row.EngineID == nil:
		return []domain.Command{hosting.Push{Ref: t.row.Ref()}}, nil
	}
	return nil, nil
}

// findClient finds the engine's id of a tenant that the order has not made.
func (p *Provisioner) findClient(ctx context.Context, job *ProvisionInput) error {
	if !job.Joins || job.Client != 0 {
		return nil
	}
	ref := hosting.Ref{Kind: "tenant", ID: job.Tenant}
	found, err := p.deps.Tables.For(projections.System).Hosting().Recorded(ctx, ref)
	if row := found[ref]; row.EngineID != nil {
		job.Client = *row.EngineID
	}
	return err
}

// requestOf is the order's request for one resource: what step tenant records, and what
// later steps bring outside.
func requestOf(job *ProvisionInput, o projections.Order, kind string, id int64, spec hosting.Spec) hosting.Request {
	return hosting.Request{
		Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: job.Tenant, Spec: spec.Fields().Values(), Subject: o.Subject, For: forOrder(job),
	}
}

// A requester is how an order requests what a step brings. What is looked for is requested
// by its name alone, which for client and machine follows from the job.
type requester func(context.Context, *ProvisionInput) (hosting.Request, error)

func clientName(_ context.Context, job *ProvisionInput) (hosting.Request, error) {
	login := &hosting.Tenant{Username: hosting.CustomerNumber(job.Tenant)}
	return requestOf(job, projections.Order{}, "tenant", job.Tenant, login), nil
}

func machineName(_ context.Context, job *ProvisionInput) (hosting.Request, error) {
	return requestOf(job, projections.Order{}, "vm", job.VM, machineOf(job, projections.Order{})), nil
}

func (p *Provisioner) machineRequest(ctx context.Context, job *ProvisionInput) (hosting.Request, error) {
	o, err := p.order(ctx, job.Order)
	if err != nil {
		return hosting.Request{}, err
	}
	machine, err := machineFor(ctx, p.deps.Tables, job, o)
	return requestOf(job, o, "vm", job.VM, machine), err
}

func (p *Provisioner) tenantRequest(ctx context.Context, job *ProvisionInput) (hosting.Request, error) {
	o, err := p.order(ctx, job.Order)
	if err != nil {
		return hosting.Request{}, err
	}
	tenant, err := p.tenantOf(ctx, job, o)
	if err != nil {
		return hosting.Request{}, err
	}
	return requestOf(job, o, "tenant", job.Tenant, tenant), nil
}

func (p *Provisioner) siteRequest(ctx context.Context, job *ProvisionInput) (hosting.Request, error) {
	o, err := p.order(ctx, job.Order)
	return requestOf(job, o, "site", job.Site, siteOf(job, o)), errors.Join(err, p.findClient(ctx, job))
}

// push is how a step brings what the order has requested.
func (p *Provisioner) push(requests requester) func(context.Context, *ProvisionInput) (sagas.Call, error) {
	return func(ctx context.Context, job *ProvisionInput) (sagas.Call, error) {
		request, err := requests(ctx, job)
		if err != nil {
			return sagas.Call{}, err
		}
		return p.deps.Outside.Push(ctx, request, job.Client)
	}
}

// applied is how its wait ends.
func (p *Provisioner) applied(named requester) func(context.Context, *ProvisionInput) (bool, sagas.Work, error) {
	return func(ctx context.Context, job *ProvisionInput) (bool, sagas.Work, error) {
		request, err := named(ctx, job)
		if err != nil {
			return false, sagas.Work{}, err
		}
		return p.deps.Outside.Applied(ctx, request, job.Client)
	}
}

// pushTenant makes the engine's client for the tenant. One that the order joins has it.
func (p *Provisioner) pushTenant(ctx context.Context, job *ProvisionInput) (sagas.Call, error) {
	if job.Joins {
		return sagas.Call{}, nil
	}
	call, err := p.push(p.tenantRequest)(ctx, job)
	if err != nil {
		return sagas.Call{}, err
	}
	confirmed := call.Confirmed
	call.Confirmed = func(made sagas.Result) sagas.Work {
		job.Client, _ = strconv.ParseInt(made.External, 10, 64) // the engine's number
		return confirmed(made)
	}
	if job.Site != 0 {
		call.Free = func(ctx context.Context) error { return p.siteIsFree(ctx, job) }
	}
	return call, nil
}

// siteIsFree refuses a domain that the engine has already. In a restored panel that is
// the site of the same order, made under a tenant that the panel has lost: another client
// beside it would be one too many.
func (p *Provisioner) siteIsFree(ctx context.Context, job *ProvisionInput) error {
	site, err := p.siteRequest(ctx, job)
	if err != nil {
		return err
	}
	if _, _, err := p.deps.Outside.Applied(ctx, site, 0); !errors.Is(err, sagas.ErrAbsent) {
		return err
	}
	return nil
}

func (p *Provisioner) tenantReady(ctx context.Context, job *ProvisionInput) (bool, sagas.Work, error) {
	if job.Joins {
		err := p.findClient(ctx, job)
		return job.Client != 0, sagas.Work{}, err
	}
	return p.applied(clientName)(ctx, job)
}
