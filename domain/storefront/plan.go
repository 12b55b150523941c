package storefront

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/texts"
)

// The sorts of plans.
const (
	HostingPlan = "hosting"
	VPSPlan     = "vps"
	SaaSPlan    = "saas"
)

// A Plan is what the shop offers. Of the fields that only some sort of plan
// has, those of the other sorts are null.
type Plan struct {
	Name, Slug, Description string
	Price                   decimal.Decimal // per month, tax included
	SetupFee                decimal.Decimal
	Currency                string
	BillingPeriod           string // in which it is shown: monthly, yearly
	ResourceType            string // hosting, vps, saas
	Package                 *int64 // hosting: nil is one derived from the quotas
	Position                int64
	IsActive                bool

	Texts Translations // of name and description, by language

	Quotas Quotas // hosting; -1 is without limit
	VPS    VPS
	SaaS   SaaS
}

// Quotas are what a hosting plan promises.
type Quotas struct {
	Sites, Databases, StorageGB, Mailboxes, Domains, FTPUsers *int64
}

// A VPS is the machine that a VPS plan sells.
type VPS struct {
	CPUCores, MemoryMB, DiskGB, BandwidthTB *int64
	Snapshots                               *int64 // that a machine may have
	OSOptions                               []string
	DefaultOS                               *string
	Nodes                                   []string // names of those on which its machines may be; none: all
}

// SaaS is what a SaaS plan lets a sub-tenant have.
type SaaS struct {
	MaxVMs, MaxHostingAccounts, MaxAgents *int64
	WhiteLabel                            *bool
}

// Translations are the texts of something on offer in other languages than its own, by the
// field with the language at its end: "name_es". Blank: customers read the field itself.
type Translations map[string]*string

// fields are a text field in each language of the panel.
func (t *Translations) fields(name string, like func(field.Field) field.Field) (all field.Set) {
	if *t == nil {
		*t = Translations{}
	}
	for _, language := range texts.Languages() {
		key := name + "_" + language
		if (*t)[key] == nil {
			(*t)[key] = new(string)
		}
		all = append(all, like(field.Text(key, (*t)[key])).Default("").
			Doc("For customers who read \""+language+"\"; blank: "+name+"."))
	}
	return all
}

// in is the text of a field in a language.
func (t Translations) in(name, language, otherwise string) string {
	if own := t[name+"_"+language[:min(2, len(language))]]; own != nil && *own != "" {
		return *own
	}
	return otherwise
}

// In is the plan as customers read it in a language.
func (p Plan) In(language string) Plan {
	p.Name = p.Texts.in("name", language, p.Name)
	p.Description = p.Texts.in("description", language, p.Description)
	return p
}

// Fields are all fields of all sorts of plans.
func (p *Plan) Fields() field.Set {
	return slices.Concat(p.common(), p.hosting(), p.vps(), p.saas())
}

// Shown are the fields that customers see: the common ones and those of the
// plan's own sort.
func (p *Plan) Shown() field.Set {
	common := p.common().Only("name", "slug", "description", "price", "setup_fee", "currency", "billing_period", "resource_type")
	own := p.own()
	return append(common, slices.DeleteFunc(own, func(f field.Field) bool { return f.Name == "vps_nodes" || f.Name == "vps_snapshots" })...)
}

// own are the fields that only plans of this sort have.
func (p *Plan) own() field.Set {
	switch p.ResourceType {
	case HostingPlan:
		return p.hosting()
	case VPSPlan:
		return p.vps()
	}
	return p.saas()
}

func (p *Plan) common() field.Set {
	names := p.Texts.fields("name", func(f field.Field) field.Field { return f.Max(100) })
	descriptions := p.Texts.fields("description", func(f field.Field) field.Field { return f.Lines().Max(2000) })
	return slices.Concat(field.Set{
		field.Text("name", &p.Name).Required().Max(100),
		field.Text("slug", &p.Slug).Max(100).Is(field.Slug).Default("").Doc("Unique; derived from the name when absent."),
		field.Text("description", &p.Description).Lines().Max(2000).Default(""),
	}, names, descriptions, field.Set{
		field.Amount("price", &p.Price, 12, 4).Required().Min(0).Places(2).Doc("A month, tax included.").In(&p.Currency),
		field.Amount("setup_fee", &p.SetupFee, 12, 4).Default("0").Min(0).Places(2),
		field.Text("currency", &p.Currency).Is(field.Currency).Default("EUR"),
		field.Text("billing_period", &p.BillingPeriod).Among("monthly", "yearly").Default("monthly"),
		field.Text("resource_type", &p.ResourceType).Required().Once().Among(HostingPlan, VPSPlan, SaaSPlan).Headed("sort").
			Worded("choice_"),
		field.NullRef("package", &p.Package).Default(nil).Doc("Hosting only."),
		field.Int("position", &p.Position).Default(0),
		field.Flag("is_active", &p.IsActive).Default(true).Headed("active").Worded("is_active_"),
	})
}

const most = 1<<31 - 1

func (p *Plan) hosting() field.Set {
	return field.Set{
		field.NullInt("quota_sites", &p.Quotas.Sites).Between(-1, most),
		field.NullInt("quota_databases", &p.Quotas.Databases).Between(-1, most),
		field.NullInt("quota_storage_gb", &p.Quotas.StorageGB).Between(-1, 1<<20),
		field.NullInt("quota_mailboxes", &p.Quotas.Mailboxes).Between(-1, most),
		field.NullInt("quota_domains", &p.Quotas.Domains).Between(-1, most),
		field.NullInt("quota_ftp_users", &p.Quotas.FTPUsers).Between(-1, most),
	}
}

func (p *Plan) vps() field.Set {
	return field.Set{
		field.NullInt("vps_cpu_cores", &p.VPS.CPUCores).Between(1, 128),
		field.NullInt("vps_memory_mb", &p.VPS.MemoryMB).Between(128, 1048576),
		field.NullInt("vps_disk_gb", &p.VPS.DiskGB).Between(1, 65536),
		field.NullInt("vps_bandwidth_tb", &p.VPS.BandwidthTB).Between(0, 10000),
		field.NullInt("vps_snapshots", &p.VPS.Snapshots).Between(0, 100).Doc("How many snapshots a machine may have; 2 when absent."),
		field.Texts("vps_os_options", &p.VPS.OSOptions, func(f field.Field) field.Field { return f.Max(64) }).Min(1).Max(50).OrNull(),
		field.NullText("vps_default_os", &p.VPS.DefaultOS).Max(64).Doc("One of the options; the first when absent."),
		field.Texts("vps_nodes", &p.VPS.Nodes, func(f field.Field) field.Field { return f.Max(64).Is(field.Slug) }).Max(100).OrNull().
			Doc("Names of nodes on which its machines may be; all when absent."),
	}
}

func (p *Plan) saas() field.Set {
	return field.Set{
		field.NullInt("saas_max_vms", &p.SaaS.MaxVMs).Between(-1, most),
		field.NullInt("saas_max_hosting_accounts", &p.SaaS.MaxHostingAccounts).Between(-1, most),
		field.NullInt("saas_max_agents", &p.SaaS.MaxAgents).Between(-1, most),
		field.NullFlag("saas_whitelabel", &p.SaaS.WhiteLabel),
	}
}

// complete gives the fields of the plan's sort their defaults and empties
// those of the other sorts.
func (p *Plan) complete() {
	if p.ResourceType != HostingPlan {
		p.Quotas, p.Package = Quotas{}, nil
	}
	if p.ResourceType != VPSPlan {
		p.VPS = VPS{}
	}
	if p.ResourceType != SaaSPlan {
		p.SaaS = SaaS{}
	}
	switch q, v, s := &p.Quotas, &p.VPS, &p.SaaS; p.ResourceType {
	case HostingPlan:
		preset(1, &q.Sites, &q.Databases, &q.Domains, &q.FTPUsers)
		preset(10, &q.StorageGB, &q.Mailboxes)
	case VPSPlan:
		preset(1, &v.CPUCores, &v.BandwidthTB)
		preset(1024, &v.MemoryMB)
		preset(20, &v.DiskGB)
		preset(2, &v.Snapshots)
		if v.Nodes == nil {
			v.Nodes = []string{}
		}
		if len(v.OSOptions) == 0 {
			v.OSOptions = []string{"debian-12"}
		}
		preset(v.OSOptions[0], &v.DefaultOS)
	case SaaSPlan:
		preset(0, &s.MaxVMs)
		preset(1, &s.MaxHostingAccounts, &s.MaxAgents)
		preset(false, &s.WhiteLabel)
	}
}

func preset[T any](value T, at ...**T) {
	for _, p := range at {
		if *p == nil {
			*p = &value
		}
	}
}

// CheckGiven says which fields of the plan's own sort a request has brought as
// null, which only those of other sorts may be.
func (p *Plan) CheckGiven(brought field.Set, wrong *field.Errors) {
	for name, value := range p.own().Values() {
		if brought.Has(name) && string(value) == "null" && !wrong.Has(name) {
			wrong.Add(name, field.NotNull)
		}
	}
}

// PutOnOffer executes the command that offers the plan. Two plans may have one
// name: a slug that is made of the name gets the plan's number where it is taken.
func (p *Plan) PutOnOffer(id int64, at time.Time, execute func(OfferPlan) error) error {
	err := execute(OfferPlan{Plan: id, Spec: p.Fields().Values(), At: at})
	if p.Slug == "" && domain.RefusesField(err, "slug") {
		p.Slug = field.OwnSlug(p.Name, id)
		err = execute(OfferPlan{Plan: id, Spec: p.Fields().Values(), At: at})
	}
	return err
}

// Check holds a complete plan against the rules between its fields.
func (p *Plan) Check() error {
	_, known := money.Places(p.Currency)
	switch {
	case p.ResourceType == VPSPlan && !slices.Contains(p.VPS.OSOptions, *p.VPS.DefaultOS):
		return domain.RefuseField("vps_default_os", field.NotAChoice(*p.VPS.DefaultOS))
	case !known:
		return domain.RefuseField("currency", field.NotAChoice(p.Currency))
	case !p.chargeable():
		return domain.RefuseField("price", "No payment provider can charge this price.")
	}
	return nil
}

// chargeable tells whether a month and a year of the plan cost a whole number of minor
// units. What one provider cannot charge is refused when it is ordered.
func (p *Plan) chargeable() bool {
	for _, yearly := range []bool{false, true} {
		cost := money.TotalsOf(p.Price, p.SetupFee, decimal.Zero, p.Currency, yearly)
		if _, ok := money.Minor(cost.Total, p.Currency); !ok {
			return false
		}
	}
	return true
}

// EffectivePrice is the monthly price with two places.
func (p *Plan) EffectivePrice() decimal.Decimal { return p.Price.Round(2) }

// PlanTypes are the sorts of plans.
var PlanTypes = []string{HostingPlan, VPSPlan, SaaSPlan}
