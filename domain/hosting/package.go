package hosting

import (
	"slices"

	"hostpanel/domain/field"
)

var packages = Kind{
	Name: "package", Class: "Package", Label: "package", Collection: "packages", Backend: Local, Shared: true,
	Shown: words("id name slug description max_sites max_databases max_storage_mb max_traffic_mb max_mail_domains max_mailboxes " +
		"max_mail_aliases max_ftp_accounts max_shell_users max_dns_zones max_* ssl_enabled shell_enabled " +
		"backup_enabled is_default is_active " +
		"created_at updated_at"),
	Unique: []string{"name", "slug"}, Single: "is_default", InUse: "The package is in use.",
	Filters: []string{"is_default", "slug"}, Search: []string{"name", "description"}, Ordering: []string{"name"}, Called: "slug",
	Verbs: All, Writers: Superuser, New: spec[Package],
}

// A Package is what tenants may have of everything, under a name. Changes
// apply to its tenants at once.
type Package struct {
	Name, Slug, Description string
	Limits                  Limits
	SSL, Shell, Backup      bool
	IsDefault               bool // of tenants that name none; one package is
	IsActive                bool
}

// Fields are the package.
func (p *Package) Fields() field.Set {
	set := field.Set{
		field.Text("name", &p.Name).Required().Max(100).Is(field.Plain),
		field.Text("slug", &p.Slug).Max(100).Is(field.Slug).Default("").Doc("Unique; derived from the name when absent."),
		field.Text("description", &p.Description).Lines().Max(2000).Default(""),
	}
	set = append(set, p.Limits.fields()...)
	return append(set,
		field.Flag(SSLEnabled, &p.SSL).Default(true).Doc("Whether sites of tenants may have certificates, and serve HTTPS."),
		field.Flag(ShellEnabled, &p.Shell).Default(true).Doc("Whether tenants may have shell users."),
		field.Flag("backup_enabled", &p.Backup).Default(false),
		field.Flag("is_default", &p.IsDefault).Default(false).Doc("For new tenants that name no package. One package is."),
		field.Flag("is_active", &p.IsActive).Default(true).Doc("Whether it is given to tenants that do not have it yet."),
	)
}

func (p *Package) complete(at Place) { p.Slug = slugOf(p.Slug, p.Name, "package", at.ID) }

// slugOf is the slug that was given, or one made of the name; of a name that
// has no letters for it, one made of what it is.
func slugOf(given, name, what string, id int64) string {
	if given != "" {
		return given
	}
	if own := field.SlugOf(name); own != "" {
		return own
	}
	return field.OwnSlug(what, id)
}

// Allows are the limits that tenants with the package have.
func (p *Package) Allows() Limits {
	l := p.Limits
	for feature, has := range map[string]bool{SSLEnabled: p.SSL, ShellEnabled: p.Shell} {
		if !has {
			l.lacks = append(slices.Clip(l.lacks), feature)
		}
	}
	return l
}
