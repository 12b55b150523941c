package hosting

import (
	"github.com/google/uuid"

	"hostpanel/domain/field"
)

// A CMS is a content-management system that the panel can install into a site.
type CMS struct {
	ID            string
	Name          string
	Version       string
	Description   string
	NeedsDatabase bool
}

// Fields are the system as customers see it.
func (c *CMS) Fields() field.Set {
	return field.Set{
		field.Text("id", &c.ID).ReadOnly(),
		field.Text("name", &c.Name).ReadOnly(),
		field.Text("version", &c.Version).ReadOnly().Doc("The engine installs this one, or a newer one of the same line."),
		field.Text("description", &c.Description).ReadOnly(),
		field.Flag("requires_database", &c.NeedsDatabase).ReadOnly(),
	}
}

// Installable are all of them.
var Installable = []CMS{
	{
		ID: "wordpress", Name: "WordPress", Version: "6.8",
		Description: "Blogs and websites, with the largest choice of themes and plugins.", NeedsDatabase: true,
	},
	{
		ID: "joomla", Name: "Joomla", Version: "5.3",
		Description: "Websites and portals with many languages and fine-grained rights.", NeedsDatabase: true,
	},
	{ID: "drupal", Name: "Drupal", Version: "11.2", Description: "Large websites with content of many sorts.", NeedsDatabase: true},
}

// CMSNamed finds one by its id.
func CMSNamed(id string) (CMS, bool) {
	for _, c := range Installable {
		if c.ID == id {
			return c, true
		}
	}
	return CMS{}, false
}

// An Installation is that of a system in a site, as the log may know it: who
// administers it, with which address and passwords, is handed over beside the
// log ([InstallationSecrets]).
type Installation struct {
	CMS       string `json:"cms"`
	Version   string `json:"version"`
	Domain    string `json:"domain"`    // of the site
	Directory string `json:"directory"` // below the document root: "/", "/blog"
	URL       string `json:"url"`
	AdminUser string `json:"admin_user"`
	Database  int64  `json:"database,omitempty"`  // made for it; 0: it needs none
	Generated bool   `json:"generated,omitempty"` // the administrator's password was made up
}

// InstallationSecrets are what only the engine may know of an installation.
type InstallationSecrets struct {
	SiteTitle     string `json:"site_title"`
	AdminEmail    string `json:"admin_email"`
	AdminPassword string `json:"admin_password"`
	Language      string `json:"language"`
	DBPassword    string `json:"db_password,omitempty"`
}

// String keeps secrets out of texts.
func (InstallationSecrets) String() string { return "[secrets]" }

// GoString keeps secrets out of %#v.
func (InstallationSecrets) GoString() string { return "[secrets]" }

// An InstallationOrder asks for an installation in a site.
type InstallationOrder struct {
	Operation    uuid.UUID
	User         int64 // who asks
	Tenant, Site int64
	Installation Installation
	Secrets      InstallationSecrets // without AdminPassword, one is made up
}

// Place is the natural key of an installation at the engine: the domain and
// the directory, "example.com/blog".
func (i Installation) Place() string { return i.Domain + i.Directory }

// A Home is where an installation goes: the engine's numbers of the client,
// the site, and the database made for it.
type Home struct {
	Owner, Site, Database int64
	DB                    *Database // nil: it needs none
}

// Object is the installation as the engine is asked for it. The reference is
// ours, by which it is known again.
func (i Installation) Object(ref string, home Home, s InstallationSecrets) EngineObject {
	o := EngineObject{
		Kind: "cms", Owner: home.Owner, Name: i.Place(), Ref: ref, Parents: map[string]int64{"site": home.Site},
		Values: field.Values{}, Secrets: Secrets{"admin_password": s.AdminPassword},
	}
	texts := map[string]string{
		"cms": i.CMS, "version": i.Version, "domain": i.Domain, "directory": i.Directory, "site_title": s.SiteTitle,
		"admin_user": i.AdminUser, "admin_email": s.AdminEmail, "language": s.Language,
	}
	if home.DB != nil {
		texts["db_name"], texts["db_user"] = home.DB.EngineName, home.DB.EngineUser
		o.Parents["database"], o.Secrets["db_password"] = home.Database, s.DBPassword
	}
	for name, value := range texts {
		o.Values[name] = field.AppendText(nil, value)
	}
	return o
}
