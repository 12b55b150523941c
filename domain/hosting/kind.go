package hosting

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Kind is one sort of hosting resource. The row says all that the program has
// to know of the kind, and no other package compares its name. The life cycle
// that all kinds share is in resource.go.
type Kind struct {
	Name          string            // category of its streams: "site-42"
	Class         string            // in "No Site matches the given query."
	Label         string            // in "site with this domain already exists."
	Nouns         map[string]string // what messages call it, by language; nil: a record
	Plurals       map[string]string // what pages call all of them, by language; nil: it has no pages
	Collection    string            // in the API: /hosting/api/rest/sites/; empty: not in the API
	EngineID      string            // the field that shows the engine's own number; empty: it shows none
	Backend       Backend           // what works behind it
	Owner         bool              // it is a tenant, to which the others belong: a client of the engine
	CanBeDisabled bool              // can be switched off beside what is wanted of it
	Soft          bool              // goes into a bin first, for 30 days
	Shared        bool              // belongs to the installation and not to a tenant
	Hidden        bool              // only operators read it
	Issued        bool              // a certificate: part of its parent's object at the engine, and it expires (certificatelife.go)
	KeyIn         string            // the kind of the DNS records that publish its keys; empty: it has none
	Serial        bool              // a zone: a change of it, or of its parts, gives it a new serial

	Shown  []string // the fields of an answer, in order; empty: it has an answer of its own
	Names  []Name   // fields of an answer that other records name
	Counts []Count  // fields of an answer that count other records

	Unique   []string    // fields whose value no other live resource of the kind may have, in the whole panel
	Claims   string      // the unique field with a domain, which has to go with the domains of others ([NotForTenants]); empty: none
	Sets     [][]string  // fields that no two live resources may have in common; "tenant" is the tenant
	Single   string      // flag that only one live resource of the kind has; empty: none
	InUse    string      // refusal to remove it while others refer to it; empty: its parts go with it
	Address  string      // field that makes an address, which only one resource of all such kinds has; empty: none
	Rival    string      // refusal where a resource of another kind has the address
	Refs     []Reference // fields that hold the number of another resource
	Personal []string    // fields that hold personal data

	Filters  []string // fields that a list can be filtered by; "expires_at__lte" is a range
	Search   []string // fields that a list is searched in
	Ordering []string // fields that a list can be ordered by
	Called   string   // the field that a resource is known by, and looked for; empty: none
	Within   string   // where its parent lists all of them: /dns-zones/1/records/; empty: nowhere
	Oldest   bool     // lists begin with the first, not with the newest

	Quota     string // what the tenant's limit calls it: the limit is max_<quota>; empty: it is not limited
	Plan      string // the hosting plan's promise that sets the limit: "quota_sites"; empty: none
	Feature   string // the package's flag without which the limit is 0: "shell_enabled"; empty: none
	Rationed  bool   // the limit is 0 unless it is set, and not [Unlimited]
	Uncounted bool   // there is no limit in numbers: the feature alone decides
	Most      int64  // that one parent may have; 0: any number
	MostIn    string // the field of the parent that says how many it may have; empty: any number

	NamedBy    []string                               // fields of the spec that its natural key at the engine follows from
	EngineName func(spec, parent field.Values) string // that key; nil: the only field in NamedBy
	NamedIn    bool                                   // the key is unique in what it is a part of, and nowhere else
	Shape      func(id int64, o *EngineObject)        // what else the engine is told; nil: nothing
	Told       []string                               // derived fields ([Derived]) that the engine is told as well
	Generated  string                                 // the secret field that is made up when it is left out; empty: none

	Shows string // the secret field that owners are shown once, where the panel has made it up; empty: none

	Acts    []MachineAct // what owners do beside changing fields
	Verbs   Verbs
	Writers Role // every user of the tenant may read, unless only administrators write
	New     func() Spec
}

// A Backend is the system that brings a resource to its desired state.
type Backend int

const (
	Engine  Backend = iota // the hosting engine
	Compute                // a hypervisor
	Local                  // none: a request takes effect at once
)

// A Reference is a field that holds the number of another resource of the same
// tenant. A parent gives its tenant to its children.
type Reference struct {
	Field, Kind string
	Parent      bool
}

// Leads tells whether what the reference names has a page. What has none is shown by its name.
func (r Reference) Leads() bool {
	kind, _ := KindNamed(r.Kind)
	return kind.HasPages()
}

// A Name is a field that shows what the resource behind a reference is called.
type Name struct {
	Field string // "site_domain"
	Of    string // the reference: "site"
	Shows string // the field of the other resource: "domain"
}

// A Count is a field that shows how many resources of a kind refer to this one.
type Count struct {
	Field string // "records_count"
	Kind  string // "dns_record"
	By    string // their reference: "zone"
}

// Verbs are what the API lets callers do with a resource, apart from reading.
type Verbs int

const (
	Create  Verbs = 1 << iota // POST
	Replace                   // PUT
	Patch                     // PATCH
	Delete                    // DELETE

	All = Create | Replace | Patch | Delete // all of them
)

// A Role is the permission that a caller needs.
type Role int

const (
	Member    Role = iota // any user of the tenant
	Admin                 // an administrator of the tenant
	Superuser             // an operator of the installation
)

// KindOf is the kind of the resource with this stream; false: the stream belongs
// to no hosting resource.
func KindOf(stream domain.Stream) (Kind, bool) { return KindNamed(stream.Category) }

// KindNamed finds a kind by its name.
func KindNamed(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{Name: name, Class: name, Label: name}, false
	}
	return Kinds[i], true
}

// Parent is the reference to the resource that the kind's resources are parts
// of, if they are.
func (k Kind) Parent() (Reference, bool) {
	i := slices.IndexFunc(k.Refs, func(r Reference) bool { return r.Parent })
	if i < 0 {
		return Reference{}, false
	}
	return k.Refs[i], true
}

// Own tells whether the kind's resources belong to a tenant by themselves:
// neither to the installation nor as parts of something, and no tenants.
func (k Kind) Own() bool {
	_, isPart := k.Parent()
	return !isPart && !k.Shared && !k.Owner
}

// Belongs tells whether a tenant has resources of the kind that end with it.
// Machines end with their order.
func (k Kind) Belongs() bool { return !k.Owner && k.Backend != Compute }

// Announced tells whether webhooks tell of the kind's resources.
func (k Kind) Announced() bool { return k.Collection != "" && !k.Shared && !k.Owner }

// Announced are the names of the kinds of whose resources webhooks tell.
func Announced() (names []string) {
	for _, k := range Kinds {
		if k.Announced() {
			names = append(names, k.Name)
		}
	}
	return names
}

// KeepsContact tells whether the engine keeps contact data of a person in the
// kind's objects. Where the object's name is made of that data, it cannot be
// taken out: it is the object.
func (k Kind) KeepsContact() bool {
	isPersonal := func(field string) bool { return slices.Contains(k.Personal, field) }
	return k.Backend == Engine && len(k.Personal) > 0 && !slices.ContainsFunc(k.NamedBy, isPersonal)
}

// Noun is what one resource of the kind is called in a language ("es-MX"), or in
// English where the language is not known.
func (k Kind) Noun(language string) string {
	nouns := k.Nouns
	if nouns == nil {
		nouns = map[string]string{"en": "record", "es": "registro"}
	}
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	return cmp.Or(nouns[language], nouns["en"])
}

// Several is what all resources of the kind are called in a language, or in English
// where the language is not known.
func (k Kind) Several(language string) string {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	return cmp.Or(k.Plurals[language], k.Plurals["en"])
}

// HasPages tells whether tenants see the kind's resources in their browsers.
func (k Kind) HasPages() bool { return k.Plurals != nil }

// aside are the fields that the page of a resource shows elsewhere, or not at all.
var aside = strings.Fields("id tenant tenant_name parent sync_status sync_error last_error")

// IsOffPage tells whether the page of a resource leaves a field of its answer out of the list
// of values: it stands elsewhere, or repeats what a reference leads to, as zone_origin does.
func (k Kind) IsOffPage(field string) bool {
	return field == k.EngineID || slices.Contains(aside, field) || slices.ContainsFunc(k.Refs, func(r Reference) bool {
		return r.Leads() && strings.HasPrefix(field, r.Field+"_")
	})
}

// PanelPath is where customers begin.
const PanelPath = domain.PanelPath

// RecordPage is the path of the page of a record of a collection, or of all where the
// number is 0.
func RecordPage(collection string, id int64) string {
	path := PanelPath + collection + "/"
	if id != 0 {
		path += strconv.FormatInt(id, 10) + "/"
	}
	return path
}

// Page is the path of the page of a resource, or of all where the number is 0. What
// has no page leads to where customers begin.
func (k Kind) Page(id int64) string {
	if !k.HasPages() {
		return PanelPath
	}
	return RecordPage(k.Collection, id)
}

// Certificates are the kind whose resources are certificates for the kind's.
func (k Kind) Certificates() (Child, bool) {
	children := k.Children()
	i := slices.IndexFunc(children, func(c Child) bool { return c.Kind.Issued })
	if i < 0 {
		return Child{}, false
	}
	return children[i], true
}

// Key are the fields that find one of a tenant's resources by what it is called.
func (k Kind) Key() []string {
	if parent, is := k.Parent(); is && !slices.Contains(k.Unique, k.Called) {
		return []string{parent.Field, k.Called}
	}
	return []string{k.Called}
}

// IsPartBy tells whether the reference leads to what the kind's resources are
// parts of.
func (k Kind) IsPartBy(reference string) bool {
	parent, is := k.Parent()
	return is && parent.Field == reference
}

// Referrers are the fields of all kinds that hold the number of a resource of
// the kind.
func (k Kind) Referrers() (all []Child) {
	for _, other := range Kinds {
		for _, r := range other.Refs {
			if r.Kind == k.Name {
				all = append(all, Child{other, r.Field})
			}
		}
	}
	return all
}

// Children are the kinds whose resources are parts of the kind's, each with
// the reference that says so.
func (k Kind) Children() (children []Child) {
	for _, other := range Kinds {
		if parent, is := other.Parent(); is && parent.Kind == k.Name {
			children = append(children, Child{other, parent.Field})
		}
	}
	return children
}

// A Child is a kind whose resources are parts of another kind's.
type Child struct {
	Kind Kind
	By   string // their reference: "zone"
}

// Counted is what the kind is called where it is counted: "sites".
func (k Kind) Counted() string {
	if k.Quota != "" {
		return k.Quota
	}
	return strings.ReplaceAll(k.Collection, "-", "_")
}

// Secrets are the fields whose values never reach the log. What the log keeps
// in their place is the number under which the value is handed over.
func (k Kind) Secrets() (names []string) {
	for _, f := range k.New().Fields() {
		if f.IsSecret() {
			names = append(names, f.Name)
		}
	}
	return names
}

// checkSealed returns an error for a plaintext secret. The caller has to store
// secrets elsewhere first, and pass their ids in the spec.
func (k Kind) checkSealed(spec field.Values) error {
	for _, name := range k.Secrets() {
		if value := text(spec, name); value != "" && uuid.Validate(value) != nil {
			return fmt.Errorf("%s of a %s is not sealed", name, k.Label)
		}
	}
	return nil
}

// settled returns the event of a request. Kinds without a backend are also
// confirmed at once, because no other system has to act.
func (k Kind) settled(requested Event) []Event {
	switch _, leaving := requested.(RemovalRequested); {
	case k.Backend != Local:
		return []Event{requested}
	case leaving:
		return []Event{requested, Removed{}}
	}
	return []Event{requested, EngineConfirmed{}}
}

// absent is the error for a resource that does not exist.
func (k Kind) absent() error {
	return domain.Refuse(domain.NotFound, "No %s matches the given query.", k.Class)
}
