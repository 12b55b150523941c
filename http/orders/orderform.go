package orders

import (
	"context"
	"slices"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

// An orderForm is what a customer fills in. Prices are not in it: whatever a
// request says about money is ignored.
type orderForm struct {
	order.Draft
	methods []string // payment methods that there are
}

// Fields are the order form (docs/storefront.md, "Orders").
func (f *orderForm) Fields() field.Set {
	return slices.Concat(field.Set{
		field.Ref("plan_id", &f.PlanID).Required().Doc("A plan on offer."),
		field.Text("customer_email", &f.Customer.Email).Required().Is(field.Email),
		field.Text("customer_name", &f.Customer.Name).Required().Between(1, 200).Is(field.Visible),
		field.Text("customer_phone", &f.Customer.Phone).Is(field.Phone).Default("").Doc("Required where the widget says so."),
		field.Text("customer_company", &f.Customer.Company).Max(200).Is(field.Visible).Default("").Doc(
			"Required where the widget says so.",
		),
	}, buyer.Fields(&f.Customer.Details), field.Set{
		field.Text("payment_method", &f.PaymentMethod).Required().Among(f.methods...),
		field.Text("billing_period", (*string)(&f.Period)).Among(string(order.Monthly), string(order.Yearly)).
			Default(string(order.Monthly)),
		field.Flag("save_payment_method", &f.KeepMethod).Default(false).Doc(
			"The customer agrees that the provider keeps the payment method, and that renewals are charged by it.",
		),
		field.Text("domain", &f.Domain).Is(field.Domain).Default("").Doc("The domain to be hosted."),
		field.Text("os_choice", &f.OS).Max(64).Default("").Doc("VPS plans only: one of the plan's options; its default when absent."),
		field.Text("language", &f.Language).Spoken().Doc("That of the widget, if one is named, when absent."),
		field.Text("success_url", &f.Return.SuccessURL).Is(field.HTTPSURL).Default("").Doc(
			"Where the customer goes after the payment: a page of a domain that the key names. The widget's when absent.",
		),
		field.Text("cancel_url", &f.Return.CancelURL).Is(field.HTTPSURL).Default("").Doc("Likewise, where the payment is cancelled."),
		field.Text("widget_id", &f.Widget).Max(64).Default("").Doc("The widget that the order comes from."),
	}, record.MachineFields(&f.Draft))
}

// check looks up what the order needs, and says what else is wrong with it.
func (s *Area) check(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	key := caller.KeyOf(c)
	f.AnyLanguage = !c.Sent.Has("language")
	f.APIKey, f.Owner, f.TestMoney = key.ID, key.Owner, key.Mode == storefront.Test
	for name, page := range map[string]string{"success_url": f.Return.SuccessURL, "cancel_url": f.Return.CancelURL} {
		if page != "" && !wrong.Has(name) && !s.mayReturnTo(key, page) {
			wrong.Add(name, "The key does not name this domain.")
		}
	}
	return s.Orders.Prepare(ctx, &f.Draft, wrong)
}
