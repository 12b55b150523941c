package hosting

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// Programs that the panel installs into sites (docs/sync.md, "Installing").

const sitesPath = hostingPrefix + "sites/"

func (s *jobs) cmsRoutes() []route.Route {
	return []route.Route{
		route.List(sitesPath+
			"available_cms/", "The content-management systems that can be installed", s.availableCMS).As("site_available_cms"),
		route.Post(sitesPath+"{id:int}/install_cms/", "Install a content-management system into a site", s.installCMS).
			As("site_install_cms").Of("Site").With(http.StatusAccepted).For(s.callers.Writing()).Finding(
			s.kinds.named("site").findOpen,
		).Resuming(s.showInstall).
			Saying("The operation at Location tells what becomes of it. A database is made if the system needs one.").
			Failing(
				http.StatusConflict,
				"The document root is not empty (docroot_not_empty), or an installation is running (in_progress).",
			),
	}
}

func (s *jobs) availableCMS(ctx context.Context, _ route.Call) ([]hosting.CMS, error) {
	return s.jobs.Installable(ctx), nil
}

// An installForm says what to install, and how.
type installForm struct {
	CMS, Directory, AdminUser string
	secrets                   hosting.InstallationSecrets
}

// Fields are the form.
func (f *installForm) Fields() field.Set {
	ids := make([]string, len(hosting.Installable))
	for i, system := range hosting.Installable {
		ids[i] = system.ID
	}
	return field.Set{
		field.Text("cms", &f.CMS).Required().Among(ids...).KnownAs("cms_type", "name").Doc("May be sent as cms_type or name too."),
		field.Text("site_title", &f.secrets.SiteTitle).Between(1, 200).Is(field.Plain).Doc("The domain of the site when absent."),
		field.Text("admin_user", &f.AdminUser).Is(field.Username).Default("admin"),
		field.Text("admin_email", &f.secrets.AdminEmail).Is(field.Email).Doc("The caller's when absent."),
		field.Password("admin_password", &f.secrets.AdminPassword).Doc("Made up when absent; the operation shows it once."),
		field.Text("language", &f.secrets.Language).Spoken(),
		field.Text("directory", &f.Directory).Is(field.Path).Default("/").Doc("Below the document root."),
	}
}

// An installAnswer is an installation that has been asked for.
type installAnswer struct {
	Job      uuid.UUID
	Status   string
	CMS, URL string
	Site     int64
}

// Fields are the answer.
func (a *installAnswer) Fields() field.Set {
	return field.Set{
		field.UUID("job_id", &a.Job).ReadOnly(),
		field.Text("status", &a.Status).Among(statusesOf(hosting.OperationStatuses)...).ReadOnly(),
		field.Text("cms", &a.CMS).ReadOnly(),
		field.Int("site", &a.Site).ReadOnly(),
		field.Text("url", &a.URL).ReadOnly().Doc("Where the system will be."),
	}
}

func (s *jobs) installCMS(ctx context.Context, c route.Call, f *installForm) (*installAnswer, error) {
	site := c.Subject.(*resource) //nolint:forcetypeassert // found by findOpen
	order := s.installation(c, site, f)
	c.Location(hosting.OperationPath(order.Operation))
	err := s.jobs.Install(ctx, c.CauseOf(domain.Versions{site.Ref().Stream(): site.Version}), order)
	if err != nil {
		return nil, s.databaseLimit(ctx, site.Tenant, err)
	}
	return &installAnswer{
		order.Operation, string(hosting.OperationQueuedStatus), order.Installation.CMS, order.Installation.URL,
		order.Site,
	}, nil
}

// installation is what the form asks for in a site. What it leaves open
// follows from the site and the caller.
func (s *jobs) installation(c route.Call, site *resource, f *installForm) hosting.InstallationOrder {
	system, _ := hosting.CMSNamed(f.CMS) // one of those, says the form
	domain, directory := hosting.TextIn(site.Spec, "domain"), "/"+strings.Trim(f.Directory, "/")
	order := hosting.InstallationOrder{
		Operation: uuid.New(), User: caller.Of(c).ID, Tenant: site.Tenant, Site: site.ID, Secrets: f.secrets,
		Installation: hosting.Installation{
			CMS: system.ID, Version: system.Version, Domain: domain, Directory: directory, AdminUser: f.AdminUser,
			URL: "https://" + domain + strings.TrimSuffix(directory, "/") + "/",
		},
	}
	if order.Secrets.SiteTitle == "" {
		order.Secrets.SiteTitle = domain
	}
	if order.Secrets.AdminEmail == "" {
		order.Secrets.AdminEmail = caller.Of(c).Email
	}
	return order
}

// databaseLimit says in numbers that there is no room for one more database.
func (s *jobs) databaseLimit(ctx context.Context, tenant int64, err error) error {
	w := s.kinds.named("database").empty()
	w.Tenant = tenant
	return s.service.InNumbers(ctx, w.Draft, err)
}

// showInstall answers a repeat whose first answer was never given.
func (s *jobs) showInstall(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	o, err := s.jobOf(ctx, c, location)
	if err != nil {
		return nil, err
	}
	if o.Install == nil {
		return nil, route.Missing("Operation")
	}
	return (&installAnswer{o.ID, string(hosting.OperationQueuedStatus), o.Install.CMS, o.Install.URL, o.ResourceID}).Fields(), nil
}
