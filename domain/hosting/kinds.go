package hosting

import (
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Spec is what a tenant wants of one hosting resource.
type Spec interface{ Fields() field.Set }

// A Kind is one sort of hosting resource. Kinds differ in what this table says
// and in their fields; what they all do is in resource.go.
type Kind struct {
	Name       string   // of its streams: "site-42"
	Class      string   // in "No Site matches the given query."
	Label      string   // in "site with this domain already exists."
	Collection string   // in the API: /hosting/api/rest/sites/; empty: not in the API
	EngineID   string   // the field that shows the engine's own number
	Unique     []string // fields whose value no other live resource of the kind may have, in the whole panel
	Personal   []string // fields that hold personal data
	Filters    []string // fields that a list can be filtered by
	Search     []string // fields that a list is searched in
	Ordering   []string // fields that a list can be ordered by
	Quota      string   // the tenant's limit that counts it: max_<quota>
	Verbs      Verbs
	Writers    Role // every user of the tenant may read
	New        func() Spec
}

// Kinds are all the hosting resources. To add one, write its Spec in a file of
// its own and give it a line here.
var Kinds = []Kind{
	{
		Name: "tenant", Class: "Tenant", Label: "tenant", Collection: "tenants", EngineID: "hosting_client_id",
		Unique: []string{"slug", "username"}, Personal: personalOfTenant,
		Filters: []string{"status", "package", "slug"}, Search: []string{"name", "email"}, Ordering: []string{"name"},
		Verbs: All, Writers: Superuser, New: spec[Tenant],
	},
	{
		Name: "site", Class: "Site", Label: "site", Collection: "sites", EngineID: "hosting_site_id",
		Unique:  []string{"domain"},
		Filters: []string{"domain", "ip_address", "ssl_enabled"}, Search: []string{"domain"}, Ordering: []string{"domain"},
		Quota: "sites", Verbs: All, Writers: Member, New: spec[Site],
	},
	{
		Name: "vm", Class: "VM", Label: "vm", Unique: []string{"name"}, Writers: Superuser, New: spec[Machine],
	},
}

// Verbs are what the API lets callers do with a resource, apart from reading.
type Verbs int

const (
	Create Verbs = 1 << iota
	Replace
	Patch
	Delete
	All = Create | Replace | Patch | Delete
)

// A Role is what a caller has to be.
type Role int

const (
	Member Role = iota
	Admin
	Superuser
)

// KindNamed finds a kind by its name.
func KindNamed(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{Name: name, Class: name, Label: name}, false
	}
	return Kinds[i], true
}

// absent is the answer about a resource that is not there.
func (k Kind) absent() error {
	return domain.Refuse(domain.NotFound, "No %s matches the given query.", k.Class)
}

func spec[S any, P interface {
	*S
	Spec
}]() Spec {
	return P(new(S))
}
