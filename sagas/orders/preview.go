package orders

import (
	"context"
	"errors"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
)

// Previews tell what an order would cost and do. They run what an order runs, as far as it
// only reads, so there is no second description of it (docs/orders.md, "Preview").
type Previews struct {
	Setup  *Provisioner
	Orders *Service
}

// outsideTime is how long a preview waits for each system outside.
const outsideTime = 5 * time.Second

// Preview completes an order, adds to wrong what is wrong with it, and tells what it would
// do. That its domain is taken is no mistake but a conflict. Nothing is written.
func (p Previews) Preview(ctx context.Context, d *order.Draft, wrong *field.Errors) (order.Preview, []hosting.EngineCall, error) {
	seen := &preview{from: p}
	if err := seen.agree(ctx, d, wrong); err != nil || len(*wrong) > 0 {
		return seen.told, nil, err
	}
	job, err := seen.job(ctx)
	if err != nil {
		return seen.told, nil, err
	}
	looks := []func(context.Context, *ProvisionInput) error{seen.joined, seen.sites, seen.place, seen.atEngine, seen.atHypervisor}
	for _, look := range looks {
		if err := look(ctx, job); err != nil {
			return seen.told, nil, err
		}
	}
	return seen.told, seen.calls, nil
}

// A preview is one that is being made.
type preview struct {
	from  Previews
	told  order.Preview
	would projections.Order // as the order would be read
	owner *hosting.Request  // for the client that has to be made first; nil: none
	calls []hosting.EngineCall
}

// agree is what is ordered, as plan and prices are now. A domain that a new customer may not
// have stays in the preview.
func (p *preview) agree(ctx context.Context, d *order.Draft, wrong *field.Errors) error {
	asked := d.Domain
	var found field.Errors
	err := p.from.Orders.prepare(ctx, d, &found)
	i := slices.IndexFunc(found, func(e field.Wrong) bool { return e.Field == "domain" })
	if err == nil && i >= 0 {
		p.told.Conflict("domain", order.DomainTaken, found[i].Messages[0])
		found, d.Domain = nil, ""
		err = p.from.Orders.prepare(ctx, d, &found)
	}
	*wrong = append(*wrong, found...)
	if err != nil || len(found) > 0 {
		return err
	}
	p.told.Place = d.Agreed
	p.told.Domain, p.told.Cost = asked, d.Agreed.Totals()
	p.would = readAs(p.told.Place, p.told.Cost)
	for _, line := range firstLines(p.would, p.from.Orders.Now()) {
		p.told.Lines = append(p.told.Lines, order.PreviewLine{Text: line.Text, Total: line.Total})
	}
	return nil
}

// readAs is an order as the setup would read it.
func readAs(c order.Place, cost money.Totals) projections.Order {
	o := projections.Order{
		CustomerName: c.Customer.Name, CustomerEmail: c.Customer.Email, CustomerPhone: c.Customer.Phone,
		CustomerCompany: c.Customer.Company,
		PlanID:          c.Plan.ID, PlanName: c.Plan.Name, ResourceType: c.Plan.ResourceType, Plan: c.Plan, BillingPeriod: c.Period,
		Price: c.Price, PeriodPrice: cost.Period, SetupFee: c.SetupFee, TaxRate: c.TaxRate, Treatment: c.Tax,
		Total: cost.Total, Subtotal: cost.Subtotal, Tax: cost.Tax, Currency: c.Currency,
		Hostname: c.Machine.Hostname, SSHKey: c.Machine.SSHKey,
		Domain: c.Domain, OSChoice: c.OS, Language: c.Language, Owner: c.Owner,
	}
	if c.Joins.Tenant != 0 {
		o.Tenant, o.OrderedBy = &c.Joins.Tenant, &c.Joins.User
	}
	return o
}

// job is what the setup would work with, with the numbers that would be drawn.
func (p *preview) job(ctx context.Context) (*ProvisionInput, error) {
	list := listFor(p.would, false)
	for _, name := range list {
		p.told.Steps = append(p.told.Steps, order.Step{Name: name, Says: p.from.Setup.provision.Says(name)})
	}
	job, err := jobFor(ctx, p.would, list, p.from.Setup.deps.Store.UpcomingIDs)
	return &job, err
}

// joined looks at the tenant that the order would join.
func (p *preview) joined(ctx context.Context, job *ProvisionInput) error {
	if !job.Joins {
		return nil
	}
	t, is, err := p.from.Setup.tenancyOf(ctx, job.Tenant)
	if err != nil {
		return err
	}
	if !is || !t.spec.Takes(p.would.ResourceType, t.row.RequestedFor, t.row.DisabledBy...) {
		p.told.Conflict(
			"tenant", order.TenantClosed,
			"The tenant is suspended, has ended, or is a sub-tenant that cannot have sub-tenants.",
		)
	}
	if is && t.row.EngineID == nil && p.would.ResourceType == storefront.HostingPlan {
		owner := requestOf(job, p.would, "tenant", job.Tenant, &t.spec)
		p.owner = &owner
	}
	return p.from.Setup.findClient(ctx, job)
}

// sites looks whether the tenant may have one more site.
func (p *preview) sites(ctx context.Context, job *ProvisionInput) error {
	if job.Site == 0 {
		return nil
	}
	scope := p.from.Setup.deps.Tables.For(projections.System)
	adds, _, err := scope.PlanAdds(ctx, p.told.Plan)
	if err != nil {
		return err
	}
	kind, _ := hosting.KindNamed("site")
	var used, most int64
	if job.Joins {
		if used, most, err = scope.Hosting().Limit(ctx, kind, job.Tenant); err != nil {
			return err
		}
	}
	if added := adds.Of(kind.Quota); most != hosting.Unlimited && added != hosting.Unlimited && used+1 > most+added {
		p.told.Conflict("domain", order.QuotaExceeded, "The limits of the plan allow no further site.")
	}
	return nil
}

// atEngine are the calls at the hosting engine.
func (p *preview) atEngine(ctx context.Context, job *ProvisionInput) error {
	requests, err := p.requests(ctx, job)
	if err != nil || len(requests) == 0 {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, outsideTime)
	defer cancel()
	calls, taken, err := p.from.Setup.deps.Outside.MakeCalls(asking, job.Client, requests...)
	if p.isSilent(asking, err, p.from.Setup.deps.Outside.EngineQueue()) {
		return nil
	}
	for _, o := range taken {
		about := map[string]string{"site": "domain", "tenant": "customer"}[o.Kind]
		p.told.Conflict(about, order.TakenAtEngine, "Another client of the hosting engine has "+o.Name+".")
	}
	p.calls = append(p.calls, calls...)
	return err
}

// requests are what the setup would bring to the hosting engine.
func (p *preview) requests(ctx context.Context, job *ProvisionInput) (all []hosting.Request, err error) {
	if slices.Contains(listFor(p.would, false), "tenant.engine") {
		tenant, err := p.from.Setup.tenantOf(ctx, job, p.would)
		if err != nil {
			return nil, err
		}
		owner := requestOf(job, p.would, "tenant", job.Tenant, tenant)
		p.owner = &owner
	}
	if p.owner != nil {
		all = append(all, *p.owner)
	}
	if job.Site != 0 {
		all = append(all, requestOf(job, p.would, "site", job.Site, siteOf(job, p.would)))
	}
	return all, nil
}

// place looks for the place of the machine.
func (p *preview) place(ctx context.Context, _ *ProvisionInput) error {
	place, needed, err := p.from.Orders.Places.For(ctx, p.told.Plan, p.told.OS)
	if needed && place == nil && err == nil {
		p.told.Conflict("plan_id", order.NodeFull, "No node has room for this machine.")
	}
	return err
}

// atHypervisor is the call at the hypervisor.
func (p *preview) atHypervisor(ctx context.Context, job *ProvisionInput) error {
	if job.VM == 0 {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, outsideTime)
	defer cancel()
	call, hasRoom, err := p.from.Setup.deps.Outside.MachineCall(asking, machineOf(job, p.would))
	if p.isSilent(asking, err, p.from.Setup.deps.Outside.ComputeQueue("")) {
		return nil
	}
	if err == nil && !hasRoom {
		p.told.Conflict("plan_id", order.NodeFull, "The hypervisor has no room for this machine.")
	}
	p.calls = append(p.calls, call)
	return err
}

// isSilent notes a system outside that does not answer.
func (p *preview) isSilent(asking context.Context, err error, system string) bool {
	if _, failed := errors.AsType[*domain.Failure](err); !failed && asking.Err() == nil {
		return false
	}
	p.told.Silent = append(p.told.Silent, system)
	return true
}
