package hosting

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

var tenants = Kind{
	Name: "tenant", Class: "Tenant", Label: "tenant", Collection: "tenants", EngineID: "hosting_client_id", Owner: true, Soft: true,
	Shown: words("id name email slug contact_name company_name phone tax_id address city postal_code country " +
		"language package parent username " +
		"status suspended_reason is_active package_name customer_number suspended_at suspended_for hosting_client_id last_synced_at " +
		"sync_status sync_error created_at updated_at"),
	Names:  []Name{{Field: "package_name", Of: "package", Shows: "name"}},
	Unique: []string{"slug", "username"}, Personal: personalOfTenant,
	Refs:    []Reference{{Field: "package", Kind: "package"}, {Field: "parent", Kind: "tenant"}},
	Filters: []string{"status", "package", "slug"}, Search: []string{"name", "email"}, Ordering: []string{"name"}, Called: "slug",
	NamedBy: []string{"username"}, Shape: shapeTenant,
	Verbs: All, Writers: Superuser, New: spec[Tenant],
}

// A Tenant is an organisation and its place on the engine.
type Tenant struct {
	Name, Email, Slug         string
	ContactName, CompanyName  string
	Phone, TaxID              string
	Address, City, PostalCode string
	Country                   string // two letters
	Language                  string
	Package                   *int64 // nil: the limits below are the tenant's own
	Parent                    *int64 // of a sub-tenant
	Username                  string // engine login
	CustomerNumber            string // our reference at the engine
	Status                    string // [InService], [Suspended], [Terminated]
	SuspendedReason           string
	SuspendedAt               *time.Time
	SuspendedBy               string // who suspended a sub-tenant: [ByParent], or an operator: empty
	IsActive                  bool
	Limits                    Limits
	SaaS                      SaaSLimits

	First          string // whether what the tenant began with counts: [FirstCounts] …
	Added          Added  // by services that joined it
	SitesRest      bool   // no hosting service is left that runs; others are
	SubTenantsRest bool   // no SaaS service is left that runs; others are
}

// personalOfTenant are the fields of a tenant that may tell of a person.
var personalOfTenant = []string{
	"name", "email", "slug", "contact_name", "company_name", "phone", "tax_id", "address", "city", "postal_code",
}

// shapeTenant gives a client of the engine our reference, which is its login
// as well unless another was chosen.
func shapeTenant(id int64, o *EngineObject) {
	o.Ref = CustomerNumber(id)
	o.Name = cmp.Or(o.Name, o.Ref)
}

// CustomerNumber is our reference to a tenant at the engine, and its login
// there unless another was chosen: "t17".
func CustomerNumber(id int64) string { return "t" + strconv.FormatInt(id, 10) }

func (t *Tenant) Fields() field.Set {
	set := field.Set{
		field.Text("name", &t.Name).Required().Max(200).Is(field.Plain),
		field.Text("email", &t.Email).Required().Is(field.Email),
		field.Text("slug", &t.Slug).Max(100).Is(field.Slug).Default("").Doc("Unique; derived from the name when absent."),
		field.Text("contact_name", &t.ContactName).Max(200).Is(field.Plain).Default(""),
		field.Text("company_name", &t.CompanyName).Max(200).Is(field.Plain).Default(""),
		field.Text("phone", &t.Phone).Is(field.Phone).Default(""),
		field.Text("tax_id", &t.TaxID).Max(64).Is(field.Plain).Default(""),
		field.Text("address", &t.Address).Is(field.Plain).Default(""),
		field.Text("city", &t.City).Max(100).Is(field.Plain).Default(""),
		field.Text("postal_code", &t.PostalCode).Max(32).Is(field.Plain).Default(""),
		field.Text("country", &t.Country).Is(field.Match("^[A-Z]{2}$")).Default(""),
		field.Text("language", &t.Language).Spoken(),
		field.NullRef("package", &t.Package).Doc("The default one when absent."),
		field.NullRef("parent", &t.Parent).Once(),
		field.Text("username", &t.Username).Is(field.Username).Default("").Once().Doc("Login at the engine; t{id} when absent."),
		field.Text("customer_number", &t.CustomerNumber).ReadOnly(),
		field.Text("status", &t.Status).Among(InService, Suspended, Terminated).Default(InService),
		field.Text("suspended_reason", &t.SuspendedReason).Default(""),
		field.NullTime("suspended_at", &t.SuspendedAt).ReadOnly(),
		field.Text("suspended_by", &t.SuspendedBy).ReadOnly(),
		field.Flag("is_active", &t.IsActive).Default(true),
	}
	return slices.Concat(set, t.Limits.Fields(), t.SaaS.Fields(), t.Added.fields(), field.Set{
		field.Text("first_service", &t.First).ReadOnly(),
		field.Flag("sites_rest", &t.SitesRest).ReadOnly(),
		field.Flag("subtenants_rest", &t.SubTenantsRest).ReadOnly(),
	})
}

// OwnOfTenant are the fields that administrators of a tenant change themselves.
var OwnOfTenant = []string{
	"email", "contact_name", "company_name", "phone", "tax_id", "address", "city", "postal_code", "country", "language",
}

func (t *Tenant) complete(p Place) {
	t.Slug = slugOf(t.Slug, t.Name, "tenant", p.ID)
	if t.Username == "" {
		t.Username = CustomerNumber(p.ID)
	}
	if p.New() {
		t.CustomerNumber = CustomerNumber(p.ID)
		if !p.Sent.Has("package") {
			t.Package = p.Package
		}
		t.Limits = NoLimits() // but for those of the package
	}
	if p.Operator && p.Sent.Has("package") && t.First == FirstGone {
		t.First = FirstGiven
	}
	t.suspend(p)
}

func (t *Tenant) normal() { t.Email = strings.ToLower(t.Email) }

// suspend keeps the time and reason while the tenant is suspended. A terminated
// tenant keeps the reason.
func (t *Tenant) suspend(p Place) {
	switch {
	case t.Status != Suspended:
		t.SuspendedAt, t.SuspendedBy = nil, ""
	case t.SuspendedAt == nil:
		at := p.At
		t.SuspendedAt = &at
		if !p.Operator {
			t.SuspendedBy = ByParent
		}
	case p.Operator && p.Sent.Has("status"):
		t.SuspendedBy = "" // the operator's word counts from now on
	}
	if t.Status == InService && !p.Sent.Has("suspended_reason") {
		t.SuspendedReason = ""
	}
}

// check refuses the default logins of other tenants, and a new tenant that is
// already terminated.
func (t *Tenant) check(p Place, wrong *field.Errors) {
	t.checkParent(p, wrong)
	if p.New() && ofEngine.MatchString(strings.ToLower(t.Username)) && !wrong.Has("username") {
		wrong.Add("username", reservedName)
	}
	if p.New() && t.Status == Terminated && !wrong.Has("status") {
		wrong.Add("status", field.NotAChoice(Terminated))
	}
	if p.New() && p.ID != 0 && t.Username != CustomerNumber(p.ID) && customerNumber.MatchString(t.Username) && !wrong.Has("username") {
		wrong.Add("username", field.AlreadyExists("tenant", "username"))
	}
}

var customerNumber = regexp.MustCompile("^t[0-9]+$")

// OfSubTenant are the fields of a sub-tenant that administrators of its parent
// set. Those that only operators set are not among them.
var OfSubTenant = append([]string{"name", "slug", "package", "parent", "status", "suspended_reason"}, OwnOfTenant...)

// checkParent refuses administrators of a tenant what only operators do with a
// sub-tenant: another package than its parent's or the default one, and the end of
// an operator's suspension.
func (t *Tenant) checkParent(p Place, wrong *field.Errors) {
	if p.Operator || t.Parent == nil {
		return
	}
	if p.Sent.Has("package") && !wrong.Has("package") && !p.mayPackage(t.Package) {
		if t.Package == nil {
			wrong.Add("package", field.NotNull)
		} else {
			wrong.Add("package", field.NoSuchPK(*t.Package))
		}
	}
	if text(p.Before, "status") == Suspended && text(p.Before, "suspended_by") != ByParent && t.Status == InService &&
		!wrong.Has("status") {
		wrong.Add("status", "An operator has suspended this tenant.")
	}
}

// mayPackage tells whether a sub-tenant may get a package: the one that it has,
// the default one, and that of its parent.
func (p Place) mayPackage(id *int64) bool {
	was := number(p.Before, "package")
	return id != nil && (*id == was || p.Package != nil && *id == *p.Package || *id == number(p.Parent, "package"))
}

// IsSubTenant tells whether a tenant is a sub-tenant of its parent. One that an order
// made is not: it stands on what it has bought.
func (t *Tenant) IsSubTenant(requestedFor string) bool { return t.Parent != nil && requestedFor == "" }

// NewStatus is the state that a change gives a tenant; false: the change leaves
// the state alone.
func NewStatus(stream domain.Stream, e Changed) (status string, is bool) {
	kind, _ := KindOf(stream)
	is = kind.Owner && json.Unmarshal(e.Spec["status"], &status) == nil
	return status, is
}

// The states of a tenant (docs/tenants.md).
const (
	InService  = "active"
	Suspended  = "suspended"  // only its DNS zones run, and only superusers may change it
	Terminated = "terminated" // in the bin until it is removed
)
