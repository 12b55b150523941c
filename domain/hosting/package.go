package hosting

import "hostpanel/domain/field"

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
		field.Flag("ssl_enabled", &p.SSL).Default(true).Doc("Whether sites of tenants may have certificates, and serve HTTPS."),
		field.Flag("shell_enabled", &p.Shell).Default(true).Doc("Whether tenants may have shell users."),
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
	if !p.Shell {
		l.ShellUsers = 0
	}
	l.NoSSL = !p.SSL
	return l
}
