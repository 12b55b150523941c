package billing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Services are what a tenant has bought, wherever it was ordered (docs/orders.md,
// "Services").

// Machines looks at virtual servers.
type Machines interface {
	// SeeMachine tells what the hypervisor says of a machine now. False: it does not know
	// the machine, or does not answer within seconds.
	SeeMachine(ctx context.Context, ref hosting.Ref) (compute.Seen, bool, error)
}

// hostingAPI is where resources of the hosting API begin.
const hostingAPI = "/hosting/api/rest/"

func (s *services) routes() []route.Route {
	return []route.Route{
		listing.Pages[service](
			servicesPath, "What the tenant has bought, newest first",
			listing.Spec{Filters: serviceFilters, UUIDs: true}, s.list,
		).
			As("service_list").Saying("A service is there once its order is paid. It is found by the id of that order."),
		route.Get(servicesPath+"{id:uuid}/", "A service", record.Found[serviceDetail]).As("service_read").Of("Service").Finding(s.find),
		route.Get(servicesPath+
			"{id:uuid}/vm/", "The virtual server of a service, as it is now",
			s.vm).As("service_vm").Of("VM").Finding(s.find).Caching("no-store").
			Saying("The hypervisor is asked. It has 5 seconds to answer."),
		s.usageRoute(),
	}
}

func serviceFilters() field.Set {
	return field.Set{
		field.Text("status", new(string)).Among(projections.ServiceStatuses...).Doc("Only those in this status."),
		field.Text("kind", new(string)).Among("hosting", "vps", "saas").Doc("Only those of this kind."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
	}
}

func (s *services) list(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[service], error) {
	rows, err := s.callers.Scope(c).Billing().Services(ctx, l, s.keepDisputed)
	if err != nil {
		return projections.Listed[service]{}, err
	}
	ids := make([]uuid.UUID, len(rows.Rows))
	for i, row := range rows.Rows {
		ids[i] = row.OrderID
	}
	made, err := s.callers.Scope(c).Hosting().MadeBy(ctx, ids...)
	return record.Map(rows, err, func(row projections.Service) service { return newService(row, made) })
}

func (s *services) find(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.service(ctx, c))
}

// service is the one that the path names.
func (s *services) service(ctx context.Context, c route.Call) (*serviceDetail, error) {
	row, err := s.callers.Scope(c).Billing().Service(ctx, c.UUID("id"), s.keepDisputed)
	if err != nil {
		return nil, err
	}
	made, err := s.callers.Scope(c).Hosting().MadeBy(ctx, row.OrderID)
	if err != nil {
		return nil, err
	}
	d := &serviceDetail{service: newService(row, made)}
	limits, saas, err := s.callers.System().Grants(ctx, row)
	d.grant(limits, saas)
	return d, err
}

// A service is what was bought.
type service struct {
	projections.Service
	subscription *subscribed // nil: it has not begun
	made         []madeResource
	machine      *projections.Resource // nil: it has none
}

// newService picks what the service has made among resources.
func newService(row projections.Service, made []projections.Resource) service {
	s := service{Service: row}
	if row.Subscribed {
		s.subscription = &subscribed{
			id: row.OrderID, cycle: row.BillingPeriod, price: row.Price, currency: row.Currency, end: *row.PeriodEnd,
		}
	}
	for i, r := range made {
		if r.RequestedFor != "order:"+row.OrderID.String() {
			continue
		}
		one := madeResource{kind: r.Kind, id: r.ID, name: nameOf(r)}
		kind, _ := hosting.KindNamed(r.Kind)
		one.url, one.page = hostingAPI+kind.Collection+"/"+strconv.FormatInt(r.ID, 10)+"/", kind.Page(r.ID)
		if kind.Backend == hosting.Compute {
			one.isMachine, one.url, s.machine = true, servicesPath+row.OrderID.String()+"/vm/", &made[i]
		}
		s.made = append(s.made, one)
	}
	return s
}

// nameOf is what a resource is called: its domain or its name.
func nameOf(r projections.Resource) string {
	kind, _ := hosting.KindNamed(r.Kind)
	spec := kind.New()
	if r.Load(spec) != nil {
		return ""
	}
	for _, name := range []string{"domain", "name"} {
		if f, has := spec.Fields().Named(name); has {
			return f.FormText()
		}
	}
	return ""
}

// Fields are the service.
func (s *service) Fields() field.Set {
	return field.Set{
		field.UUID("id", &s.OrderID).ReadOnly().Doc("That of its order."),
		field.UUID("order", &s.OrderID).ReadOnly(),
		field.Text("order_number", &s.OrderNumber).ReadOnly(),
		field.Int("tenant", &s.Tenant).ReadOnly(),
		field.Text("kind", &s.ResourceType).Among("hosting", "vps", "saas").ReadOnly().Worded("service_kind_"),
		field.Text("status", (*string)(&s.Status)).Among(projections.ServiceStatuses...).ReadOnly().Worded("service_state_").
			Doc(
				"provisioning: it is paid for and being set up. past_due, suspended and cancelling are as the " +
					"subscription has them; an open dispute suspends as well.",
			),
		field.Int("plan", &s.PlanID).ReadOnly(),
		field.Text("plan_name", &s.PlanName).ReadOnly(),
		field.Text("domain", &s.Domain).ReadOnly().Doc("That was ordered; blank: none.").Labelled("service_domain"),
		field.Flag("made_tenant", &s.Made).ReadOnly().Doc("Whether the tenant was made for it. Otherwise it joined the tenant."),
		field.Object("subscription", &s.subscription).Doc("null: it has not begun."),
		field.Objects("resources", &s.made).Doc("What was made for it and is still there."),
		field.Time("created_at", &s.CreatedAt).ReadOnly().Doc("When it was ordered.").Labelled("service_ordered"),
		field.Time("updated_at", &s.UpdatedAt).ReadOnly().Doc("When the order or the subscription changed last."),
	}
}

// A subscribed is what a service costs, and until when it is paid for.
type subscribed struct {
	id              uuid.UUID
	cycle, currency string
	price           decimal.Decimal
	end             time.Time
}

// Fields are the subscription.
func (s *subscribed) Fields() field.Set {
	return field.Set{
		field.UUID("id", &s.id).ReadOnly(),
		field.Text("billing_period", &s.cycle).Among("monthly", "yearly").ReadOnly(),
		field.Amount("price", &s.price, 16, 4).ReadOnly().Doc("Of one period, tax included."),
		field.Text("currency", &s.currency).ReadOnly(),
		field.Time("period_end", &s.end).ReadOnly().Doc("The first moment that is not paid for."),
	}
}

// A madeResource is what was made for a service.
type madeResource struct {
	kind, name, url string
	page            string // of it in a browser; blank: none
	isMachine       bool
	id              int64
}

// Fields are the resource.
func (m *madeResource) Fields() field.Set {
	return field.Set{
		field.Text("kind", &m.kind).ReadOnly().Doc("Such as tenant, site and vm."),
		field.Int("id", &m.id).ReadOnly(),
		field.Text("name", &m.name).ReadOnly(),
		field.Text("url", &m.url).ReadOnly().Doc("Where this API has it."),
	}
}

// A serviceDetail is a service with what it grants.
type serviceDetail struct {
	service
	grants     []granted
	whiteLabel bool
}

// grant notes what the service lets its tenant have.
func (d *serviceDetail) grant(l hosting.Limits, saas hosting.SaaSLimits) {
	switch vps := d.Plan.VPS; {
	case vps != nil:
		d.grants = []granted{{"cores", vps.Cores}, {"memory_mb", vps.MemoryMB}, {"disk_gb", vps.DiskGB}, {"traffic_tb", vps.TrafficTB}}
	case d.ResourceType == "saas":
		d.grants = []granted{{"vms", saas.MaxVMs}, {"hosting_accounts", saas.MaxHostingAccounts}, {"agents", saas.MaxAgents}}
		d.whiteLabel = saas.WhiteLabel
	default:
		for _, f := range l.Fields() {
			name := strings.TrimPrefix(f.Name, "max_")
			d.grants = append(d.grants, granted{name, l.Of(name)})
		}
	}
}

// Tag changes with everything that the service shows.
func (d *serviceDetail) Tag() string {
	return record.Tag("service", d.OrderID.String(), d.Version) + "." + record.Fingerprint(d.Fields())
}

// Fields are the service.
func (d *serviceDetail) Fields() field.Set {
	return slices.Concat(d.service.Fields(), field.Set{
		field.Objects("grants", &d.grants).Doc("What it lets the tenant have. Services of a tenant add up."),
		field.Flag("white_label", &d.whiteLabel).ReadOnly().Doc("Whether the tenant may show the panel under its own brand."),
	})
}

// A granted is how much of something a service lets its tenant have.
type granted struct {
	name string
	most int64
}

// Fields are the limit.
func (g *granted) Fields() field.Set {
	return field.Set{
		field.Text("limit", &g.name).ReadOnly().Doc("Such as sites, storage_mb, cores."),
		field.Int("most", &g.most).ReadOnly().Doc("-1: without limit."),
	}
}

// The states of a machine, as the hypervisor tells them.
const (
	machineRuns    = string(compute.Running)
	machineStopped = string(compute.Stopped)
	machineMoves   = string(compute.Moving)
	machineUnknown = "unknown"
)

// A machine is a virtual server as it was bought and as the hypervisor sees it.
type machine struct {
	hosting.Machine
	id       int64
	hostname string
	state    string
	seenAt   *time.Time // when the hypervisor told the state; nil: it is not known
	recorded time.Time  // when the panel's record changed last
}

func (s *services) vm(ctx context.Context, c route.Call) (*machine, error) {
	return s.see(ctx, c.Subject.(*serviceDetail).machine) //nolint:forcetypeassert // found by find
}

// see asks the hypervisor about a machine. What the hypervisor does not tell is as the
// record has it.
func (s *services) see(ctx context.Context, row *projections.Resource) (*machine, error) {
	if row == nil {
		return nil, domain.Refuse(domain.NotFound, "No VM matches the given query.")
	}
	m := &machine{id: row.ID, state: machineUnknown, recorded: row.UpdatedAt}
	if err := row.Load(&m.Machine); err != nil {
		return nil, err
	}
	m.hostname = m.HostName()
	if !s.web.AsOf.IsZero() { // the hypervisor tells of the present alone
		return m, nil
	}
	seen, is, err := s.machines.SeeMachine(ctx, row.Ref())
	if err != nil || !is {
		return m, err
	}
	now := s.callers.Now()
	if m.seenAt, m.state = &now, string(seen.State); len(seen.Addresses) > 0 {
		m.Address = seen.Addresses[0].String()
	}
	return m, nil
}

// Fields are the machine.
func (m *machine) Fields() field.Set {
	return field.Set{
		field.Int("id", &m.id).ReadOnly(),
		field.Text("hostname", &m.hostname).ReadOnly().Labelled("service_vm_name"),
		field.Text("address", &m.Address).ReadOnly().
			Doc("The last one that the hypervisor told; blank: none yet.").Labelled("service_vm_address"),
		field.Text("os", &m.OS).ReadOnly().Labelled("service_vm_os"),
		field.Int("cores", &m.Cores).ReadOnly(),
		field.Int("memory_mb", &m.MemoryMB).ReadOnly(),
		field.Int("disk_gb", &m.DiskGB).ReadOnly(),
		field.Int("traffic_tb", &m.TrafficTB).ReadOnly().Doc("A month."),
		field.Text("state", &m.state).Among(machineRuns, machineStopped, machineMoves, machineUnknown).ReadOnly().
			Doc("changing: on its way to one of the others. unknown: the hypervisor does not answer, or does not know the machine."),
		field.NullTime("seen_at", &m.seenAt).ReadOnly().Doc("When the hypervisor told the state; null: it is unknown."),
		field.Time("recorded_at", &m.recorded).ReadOnly().
			Doc("When the panel's record of the machine changed last.").Labelled("service_vm_recorded"),
	}
}
