package http

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// An orderForm is what a customer fills in. Prices are not in it: whatever a
// request says about money is ignored.
type orderForm struct {
	PlanID               int64
	Email, Name          string
	Phone, Company       string
	PaymentMethod        string
	Period               string
	Domain, OS, Language string
	WidgetID             string

	plan  projections.Plan // once it is looked up
	offer Offer
}

// Fields are the order form (docs/storefront.md, "Orders").
func (f *orderForm) Fields() field.Set {
	return field.Set{
		field.Ref("plan_id", &f.PlanID).Required().Doc("A plan on offer."),
		field.Text("customer_email", &f.Email).Required().Is(field.Email),
		field.Text("customer_name", &f.Name).Required().Between(1, 200),
		field.Text("customer_phone", &f.Phone).Is(field.Phone).Default("").Doc("Required where the widget says so."),
		field.Text("customer_company", &f.Company).Max(200).Default("").Doc("Required where the widget says so."),
		field.Text("payment_method", &f.PaymentMethod).Required().Among(money.Stripe, money.PayPal, money.Test),
		field.Text("billing_period", &f.Period).Among(string(order.Monthly), string(order.Yearly)).Default(string(order.Monthly)),
		field.Text("domain", &f.Domain).Is(field.Domain).Default("").Doc("The domain to be hosted."),
		field.Text("os_choice", &f.OS).Max(64).Default("").Doc("VPS plans only: one of the plan's options; its default when absent."),
		field.Text("language", &f.Language).Is(field.Language).Default("es"),
		field.Text("widget_id", &f.WidgetID).Max(64).Default("").Doc("The widget that the order comes from."),
	}
}

// check says everything else that is wrong with the form, leaving out fields
// that are known to be wrong, and looks up what the order needs.
func (s *Server) check(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	for _, look := range []func(context.Context, route.Call, *orderForm, *field.Errors) error{
		s.checkPlan, s.checkWidget, s.checkOS, s.checkDomain, s.checkPayment,
	} {
		if err := look(ctx, c, f, wrong); err != nil {
			return err
		}
	}
	return nil
}

// isWrong tells whether something was said about a field already.
func isWrong(known field.Errors, name string) bool {
	return slices.ContainsFunc(known, func(w field.Wrong) bool { return w.Field == name })
}

func isMissing(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Code == domain.NotFound
}

func (s *Server) checkPlan(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	if isWrong(*wrong, "plan_id") {
		return nil
	}
	plan, err := s.visitor(c).Plan(ctx, f.PlanID)
	switch {
	case isMissing(err), err == nil && !plan.IsActive:
		wrong.Add("plan_id", field.NoSuchPK(f.PlanID))
	case err != nil:
		return err
	}
	f.plan = plan
	return nil
}

// checkWidget finds the widget, which must contain the plan, and what it wants
// to know of customers.
func (s *Server) checkWidget(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	if f.WidgetID == "" || isWrong(*wrong, "widget_id") {
		return nil
	}
	widget, err := s.visitor(c).Widget(ctx, f.WidgetID)
	foreign := !isWrong(*wrong, "plan_id") && !offers(widget, f.PlanID)
	switch {
	case isMissing(err), err == nil && foreign:
		wrong.Add("widget_id", "Invalid widget.")
		return nil
	case err != nil:
		return err
	}
	if widget.RequirePhone && f.Phone == "" && !isWrong(*wrong, "customer_phone") {
		wrong.Add("customer_phone", field.Missing)
	}
	if widget.RequireCompany && f.Company == "" && !isWrong(*wrong, "customer_company") {
		wrong.Add("customer_company", field.Missing)
	}
	return nil
}

// offers tells whether a widget shows a plan.
func offers(w projections.Widget, plan int64) bool {
	return slices.ContainsFunc(w.Offered, func(p projections.Plan) bool { return p.ID == plan })
}

// checkOS holds the choice against the plan's options.
func (*Server) checkOS(_ context.Context, _ route.Call, f *orderForm, wrong *field.Errors) error {
	if isWrong(*wrong, "plan_id") || isWrong(*wrong, "os_choice") {
		return nil
	}
	isVPS := f.plan.ResourceType == storefront.VPSPlan
	switch {
	case !isVPS && f.OS != "":
		wrong.Add("os_choice", "This field is only valid for VPS plans.")
	case isVPS && f.OS == "":
		f.OS = *f.plan.VPS.DefaultOS
	case isVPS && !slices.Contains(f.plan.VPS.OSOptions, f.OS):
		wrong.Add("os_choice", field.NotAChoice(f.OS))
	}
	return nil
}

// checkDomain looks early whether the domain is free; a unique index has the
// last word.
func (s *Server) checkDomain(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	if f.Domain == "" || isWrong(*wrong, "plan_id") || isWrong(*wrong, "domain") || f.plan.ResourceType != storefront.HostingPlan {
		return nil
	}
	taken, err := s.visitor(c).NameTaken(ctx, "site", "domain", f.Domain)
	if taken {
		wrong.Add("domain", field.AlreadyExists("site", "domain"))
	}
	return err
}

// checkPayment tells whether the method is on offer for this key, and whether
// its provider can charge exactly this price.
func (s *Server) checkPayment(_ context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	if isWrong(*wrong, "payment_method") {
		return nil
	}
	offer, usable := s.offer(f.PaymentMethod)
	if f.PaymentMethod == money.Test {
		usable = usable && s.Test != nil && keyOf(c).Mode == storefront.Test
	}
	if usable && !isWrong(*wrong, "plan_id") && !isWrong(*wrong, "billing_period") {
		_, usable = order.Chargeable(offer.Name, f.plan.Currency, s.cost(f).Total)
	}
	if !usable {
		wrong.Add("payment_method", field.NotAChoice(f.PaymentMethod))
	}
	f.offer = offer
	return nil
}

func (s *Server) cost(f *orderForm) money.Totals {
	return money.TotalsOf(f.plan.Price, f.plan.SetupFee, s.Settings.TaxRate, f.Period == string(order.Yearly))
}
