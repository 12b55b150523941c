// Package hosting serves the resources that run for a tenant
// (docs/hosting.md).
package hosting

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/export"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Deps are what hosting needs of the rest of the program.
type Deps struct {
	Web              *web.Renderer
	Callers          *caller.Callers
	Commands         record.Commands
	Numbers          record.Numbers
	Service          Service
	Machines         Machines
	Jobs             Jobs
	Lookback         web.Lookback
	WebhookEndpoints WebhookEndpoints
	Snapshots        Snapshots      // for the data export of a tenant
	Exports          []export.Part  // what other areas add to it
	NameServers      []string       // of zones that name none, with final dots
	EngineWait       time.Duration  // that an answer waits for the hosting engine; 0: not at all
	Changes          waiting.Log    // by which an answer waits
	WebhookNetworks  []netip.Prefix // that tenants' webhooks may reach besides public addresses
}

// An Area is what runs for tenants, by what it is about.
type Area struct {
	web     *web.Renderer
	callers *caller.Callers

	kinds        *collection // of no kind; makes the others
	tenants      tenants
	endpoints    endpoints
	certificates certificates
	sites        sites
	jobs         jobs
	exporter     exporter
	pages        pages
	subTenants   subTenants
	exportPage   exportPage
	customers    customers
}

type (
	certificates struct {
		service Service
		kinds   *collection
	}
	// sites are made with what goes with them.
	sites struct {
		callers *caller.Callers
		service Service
		kinds   *collection
	}
	jobs struct {
		callers *caller.Callers
		service Service
		jobs    Jobs
		changes waiting.Log
		kinds   *collection
		tenants *tenants
	}
	// customers are the pages of tenants for operators.
	customers struct {
		web      *web.Renderer
		callers  *caller.Callers
		lookback web.Lookback
		pages    *pages
		tenants  *tenants
	}
)

// New returns the area with what it needs of the rest of the program.
func New(d Deps) *Area {
	kinds := &collection{
		callers: d.Callers, service: d.Service, machines: d.Machines,
		nameServers: d.NameServers, engineWait: d.EngineWait, changes: d.Changes,
	}
	a := &Area{
		web: d.Web, callers: d.Callers, kinds: kinds,
		tenants: tenants{kinds.named("tenant"), d.Callers, d.Commands, d.Service},
		endpoints: endpoints{
			kinds.of(endpointKind), d.Callers, d.Commands, d.Numbers, d.Service, d.WebhookEndpoints, d.WebhookNetworks,
		},
		certificates: certificates{d.Service, kinds},
		sites:        sites{d.Callers, d.Service, kinds},
	}
	a.jobs = jobs{d.Callers, d.Service, d.Jobs, d.Changes, kinds, &a.tenants}
	a.exporter = exporter{
		d.Callers, d.Snapshots, d.Exports, kinds, &a.tenants, &a.endpoints, make(chan struct{}, mostExports),
	}
	a.subTenants = subTenants{d.Web, d.Callers, &a.tenants}
	a.pages = pages{d.Web, d.Callers, d.Commands, d.Lookback, kinds, &a.tenants, &a.endpoints, &a.subTenants}
	a.exportPage = exportPage{d.Callers, &a.pages, &a.tenants}
	a.customers = customers{d.Web, d.Callers, d.Lookback, &a.pages, &a.tenants}
	return a
}

// Routes are what customers see and do of what runs for them (docs/hosting.md).
func (a *Area) Routes() route.Area {
	return route.Area{
		Name: "Hosting", Prefix: hostingPrefix, Access: a.callers.User(),
		About: "What runs for a tenant. Every call needs an access token and works in the caller's active tenant.",
		Routes: slices.Concat(a.tenantRoutes(), a.jobs.routes(), a.kindRoutes(), a.certificates.routes(), a.endpoints.routes(),
			a.senderRoutes(), a.publishRoutes(), a.machineRoutes(), []route.Route{a.sites.provisionRoute()}),
	}
}

// PageRoutes are what customers see and do of what runs for them, in a browser.
func (a *Area) PageRoutes() route.Area {
	return route.Area{
		Name: "Customer area", Access: a.callers.Session(),
		About:  "What runs for a tenant, in the browsers of its users.",
		Routes: append(a.ownPages(), a.pages.kindPages()...),
	}
}

// Snapshots let read see what a caller may see, as it is at one moment.
type Snapshots interface {
	Snapshot(ctx context.Context, of projections.Caller, read func(projections.Scope) error) error
}

// Service carries out what callers ask of hosting resources. Commands and
// workers use the same methods.
type Service interface {
	// Prepare completes a draft, draws the number of a new record, and adds
	// what is wrong with it to wrong.
	Prepare(ctx context.Context, by projections.Caller, d *hosting.Draft, wrong *field.Errors) error
	Create(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, *hosting.Credentials, error)
	Change(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error)
	Remove(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, force bool) (domain.Receipt, error)
	Restore(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error)
	// PublishKey brings the record of a mail domain's DKIM key into the tenant's zone.
	PublishKey(ctx context.Context, cause hosting.Cause, by projections.Caller, of *hosting.Draft) (*hosting.Draft, domain.Receipt, error)
	// ProveSender looks for the record that proves the domain of a brand's address.
	ProveSender(
		ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, look *hosting.WhiteLabel,
	) (domain.Receipt, error)

	CreateTenant(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error)
	ChangeTenant(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error)
	TerminateTenant(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error)
	// SettleTenant is whose a new record is.
	SettleTenant(ctx context.Context, by projections.Caller, sent field.Set, tenant *int64, wrong *field.Errors) error
	LimitsOf(ctx context.Context, t *hosting.Tenant) (hosting.Limits, error)
	// InNumbers says which limit was reached, if that is what err is about.
	InNumbers(ctx context.Context, d *hosting.Draft, err error) error

	// RequestCertificate and OrderCertificate tell located the number of the
	// certificate before they order it. When the authority is left alone for a
	// while, they refuse with domain.Throttled and return the certificate.
	RequestCertificate(
		ctx context.Context, cause hosting.Cause, by projections.Caller, site *hosting.Draft, domains []string,
		anew bool, located func(id int64),
	) (projections.Resource, error)
	OrderCertificate(
		ctx context.Context, cause hosting.Cause, row projections.Resource, anew bool, located func(id int64),
	) (projections.Resource, error)

	// PrepareSite finds the pieces of a site order that there are, and checks
	// those that are to be made.
	PrepareSite(ctx context.Context, by projections.Caller, o *hosting.SiteOrder, wrong *field.Errors) error
	// ProvisionFull makes the pieces that are missing, all or none.
	ProvisionFull(
		ctx context.Context, cause hosting.Cause, by projections.Caller, o *hosting.SiteOrder,
		located func(site int64),
	) (domain.Versions, error)
	// KnownPieces finds the pieces that there are.
	KnownPieces(ctx context.Context, o *hosting.SiteOrder) error
}

// Machines does what owners ask of their machines beside changing fields.
type Machines interface {
	// Act does something with a machine. What is wrong with the form is a refusal of its fields.
	Act(
		ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, f *hosting.MachineForm,
	) (domain.Receipt, error)
	// HasPassword tells whether a password of root that the panel has made up waits to be
	// shown. ShowPassword returns it and destroys it.
	HasPassword(context.Context, projections.Resource) (bool, error)
	ShowPassword(ctx context.Context, cause domain.Metadata, of projections.Resource) (string, error)
}
