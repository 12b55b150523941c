package orders

import (
	"cmp"
	"context"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// An offeredPlan is a plan as customers see it: what all plans have, then what
// plans of its own sort have.
type offeredPlan struct {
	projections.Plan
	soldOut bool
}

// offeredFields are the fields of a plan in the order in which they are shown,
// by the sort of plan that has them.
var offeredFields = []struct {
	sort  string // "": all
	names []string
}{
	{"", []string{"name", "slug", "description", "price", "effective_price", "setup_fee", "currency", "billing_period", "resource_type"}},
	{
		storefront.HostingPlan,
		[]string{"quota_sites", "quota_databases", "quota_storage_gb", "quota_mailboxes", "quota_domains", "quota_ftp_users"},
	},
	{storefront.VPSPlan, []string{"vps_cpu_cores", "vps_memory_mb", "vps_disk_gb", "vps_bandwidth_tb", "vps_default_os", "vps_os_options"}},
	{storefront.SaaSPlan, []string{"saas_max_vms", "saas_max_hosting_accounts", "saas_max_agents", "saas_whitelabel"}},
}

// Fields are the plan (docs/storefront.md, "Plans and widgets").
func (p *offeredPlan) Fields() field.Set {
	effective := p.EffectivePrice()
	all := append(p.Plan.Plan.Fields(), field.Amount("effective_price", &effective, 12, 2).Doc("The price with two places."))
	set := field.Set{field.Int("id", &p.ID)}
	for _, group := range offeredFields {
		for _, name := range group.names {
			f, _ := all.Named(name)
			set = append(set, f.When(group.sort == "" || group.sort == p.ResourceType))
		}
	}
	soldOut := field.Flag("sold_out", &p.soldOut).ReadOnly().Doc("No machine of this plan has a place now: orders are refused.")
	return append(set, soldOut.When(p.ResourceType == storefront.VPSPlan))
}

// offered are plans as customers read them in a language; "": in that of each plan itself.
func (s *Area) offered(ctx context.Context, plans []projections.Plan, language string) ([]offeredPlan, error) {
	soldOut, err := s.Orders.SoldOut(ctx, plans...)
	all := make([]offeredPlan, len(plans))
	for i, p := range plans {
		p.Plan = p.In(language)
		all[i] = offeredPlan{p, soldOut[p.ID]}
	}
	return all, err
}

// An offeredWidget is an order form with its plans, and with the ways to pay.
type offeredWidget struct {
	projections.Widget
	plans   []offeredPlan
	methods []offeredMethod
	origins []string    // that a payment page can have
	tax     *offeredTax // nil: it does not depend on the buyer
}

// offeredWidget is an order form with the methods that its customers can choose, in a
// language; "": in that of the form.
func (s *Area) offeredWidget(ctx context.Context, w projections.Widget, offers order.Offers, language string) (*offeredWidget, error) {
	language = cmp.Or(language, w.Language)
	w.Widget = w.In(language)
	plans, err := s.offered(ctx, w.Offered, language)
	if err != nil {
		return nil, err
	}
	shown := &offeredWidget{w, plans, methodsOf(offers), web.PaymentOrigins(offers, s.PublicURL()), nil}
	if form, ok := s.Tax.Form(s.Callers.Now()); ok {
		shown.tax = offeredTaxOf(form)
	}
	return shown, nil
}

// An offeredTax is what a form has to know where the tax depends on the buyer.
type offeredTax struct {
	tax.Form
	members     []string
	territories []offeredTerritory
}

func offeredTaxOf(f tax.Form) *offeredTax {
	t := &offeredTax{Form: f}
	t.members = slices.DeleteFunc(slices.Clone(f.Countries), func(country string) bool { return !tax.IsMember(country) })
	for _, one := range f.Territories {
		t.territories = append(t.territories, offeredTerritory{one.Country, one.CountsAs(), one.Postal})
	}
	return t
}

// Fields are what the form has to know.
func (t *offeredTax) Fields() field.Set {
	return field.Set{
		field.Text("seller_country", &t.Home).ReadOnly(),
		field.Amount("seller_rate", &t.Rate, 5, 2).ReadOnly().Doc(
			"Percent that prices include, and that a business of another member state and buyers outside the union do not pay.",
		),
		field.Texts("countries", &t.Countries, nil).ReadOnly().Doc("That have a rate."),
		field.Texts("member_states", &t.members, nil).ReadOnly().Doc("In which a customer_tax_id takes the tax out of the price."),
		field.Texts("untaxed", &t.Untaxed, nil).ReadOnly().Doc(
			"Countries and territories outside the union, in which the tax is taken out of every price.",
		),
		field.Objects("territories", &t.territories).Doc(
			"Parts of countries with a tax of their own; of several, the longest beginning of customer_postal_code decides.",
		),
	}
}

// An offeredTerritory is a territory as a form has to know it.
type offeredTerritory struct {
	country, countsAs string
	postalCodes       []string
}

// Fields are the territory.
func (t *offeredTerritory) Fields() field.Set {
	return field.Set{
		field.Text("country", &t.country).ReadOnly().Doc("In addresses."),
		field.Texts("postal_codes", &t.postalCodes, nil).ReadOnly().Doc("Their beginnings; none: the whole country."),
		field.Text("counts_as", &t.countsAs).ReadOnly().Doc("The country or territory whose tax holds there."),
	}
}

// Fields are the widget (docs/storefront.md, "Plans and widgets").
func (w *offeredWidget) Fields() field.Set {
	set := slices.DeleteFunc(w.Widget.Fields(), func(f field.Field) bool { return f.Name == "plans" })
	return append(set,
		field.Objects("plans", &w.plans),
		field.Objects("payment_methods", &w.methods).Doc("Values for an order's payment_method with this key, with what customers read."),
		field.Object("tax", &w.tax).Doc(
			"What a form has to know to ask for customer_country and customer_tax_id; null: the tax does not depend on them.",
		),
		field.Texts("payment_origins", &w.origins, nil).ReadOnly().Doc(
			"Origins that payment_url can have. A page sends its customers nowhere else.",
		),
	)
}

// An offeredMethod is a payment method as customers see it.
type offeredMethod struct {
	name  string
	label order.Label
	saves bool
}

// Fields are the method.
func (m *offeredMethod) Fields() field.Set {
	return field.Set{
		field.Text("name", &m.name),
		field.Within("label", true, func() field.Set { return field.Set{field.Text("en", &m.label.EN), field.Text("es", &m.label.ES)} }),
		field.Flag("saves", &m.saves).ReadOnly().Doc(
			"Whether its provider keeps payment methods for renewals. A form may ask for save_payment_method then.",
		),
	}
}

func methodsOf(offers order.Offers) []offeredMethod {
	all := make([]offeredMethod, len(offers))
	for i, o := range offers {
		all[i] = offeredMethod{o.Name, o.Label, o.Saves}
	}
	return all
}
