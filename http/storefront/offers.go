package storefront

import (
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
)

// An offeredPlan is a plan as customers see it: what all plans have, then what
// plans of its own sort have.
type offeredPlan struct{ projections.Plan }

// offeredFields are the fields of a plan in the order in which they are shown,
// by the sort of plan that has them.
var offeredFields = []struct {
	sort  string // "": all
	names []string
}{
	{"", []string{"name", "slug", "description", "price", "effective_price", "setup_fee", "currency", "billing_period", "resource_type"}},
	{storefront.HostingPlan, []string{"quota_sites", "quota_databases", "quota_storage_gb", "quota_mailboxes", "quota_domains", "quota_ftp_users"}},
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
	return set
}

func offered(plans []projections.Plan) []offeredPlan {
	all := make([]offeredPlan, len(plans))
	for i, p := range plans {
		all[i] = offeredPlan{p}
	}
	return all
}

// An offeredWidget is an order form with its plans, and with the ways to pay.
type offeredWidget struct {
	projections.Widget
	plans   []offeredPlan
	methods []offeredMethod
	origins []string // that a payment page can have
}

// Fields are the widget (docs/storefront.md, "Plans and widgets").
func (w *offeredWidget) Fields() field.Set {
	set := slices.DeleteFunc(w.Widget.Fields(), func(f field.Field) bool { return f.Name == "plans" })
	return append(set,
		field.Objects("plans", &w.plans),
		field.Objects("payment_methods", &w.methods).Doc("Values for an order's payment_method with this key, with what customers read."),
		field.Texts("payment_origins", &w.origins, nil).ReadOnly().Doc("Origins that payment_url can have. A page sends its customers nowhere else."),
	)
}

// An offeredMethod is a payment method as customers see it.
type offeredMethod struct {
	name  string
	label order.Label
}

// Fields are the method.
func (m *offeredMethod) Fields() field.Set {
	return field.Set{
		field.Text("name", &m.name),
		field.Within("label", true, func() field.Set { return field.Set{field.Text("en", &m.label.EN), field.Text("es", &m.label.ES)} }),
	}
}

func methodsOf(offers order.Offers) []offeredMethod {
	all := make([]offeredMethod, len(offers))
	for i, o := range offers {
		all[i] = offeredMethod{o.Name, o.Label}
	}
	return all
}
