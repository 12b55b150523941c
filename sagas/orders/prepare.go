package orders

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
	"hostpanel/projections"
)

// Prepare looks up what the order needs, and adds to wrong all that is wrong
// with it. Fields that are known to be wrong are left out. What it agrees on is
// in the draft afterwards. A machine that has no place now is refused with [SoldOut].
func (s *Service) Prepare(ctx context.Context, d *order.Draft, wrong *field.Errors) error {
	if err := s.prepare(ctx, d, wrong); err != nil || len(*wrong) > 0 {
		return err
	}
	place, needed, err := s.Places.For(ctx, d.Agreed.Plan, d.OS)
	if needed && place == nil && err == nil {
		return SoldOut
	}
	return err
}

// prepare is [Service.Prepare] without a look at the stock.
func (s *Service) prepare(ctx context.Context, d *order.Draft, wrong *field.Errors) error {
	plan, err := s.checkPlan(ctx, d, wrong)
	if err != nil {
		return err
	}
	if err := s.checkWidget(ctx, d, wrong); err != nil {
		return err
	}
	buyer.Check(d.Customer.Details, wrong)
	checkOS(d, plan, wrong)
	checkMachine(d, plan, wrong)
	if err := s.checkDomain(ctx, d, plan, wrong); err != nil {
		return err
	}
	s.Tax.Check(d.Customer.Details, wrong)
	taxed := s.Tax.Decide(s.TaxRate, d.Customer.Details, s.Now(), "system:storefront")
	offer := s.checkPayment(d, plan, taxed, wrong)
	if len(*wrong) == 0 {
		plan.Plan = plan.In(d.Language)
		d.Agreed = s.agreed(d, plan, taxed, offer)
	}
	return nil
}

// scope reads what the holder of the key may see.
func (s *Service) scope(d *order.Draft) projections.Scope {
	return s.Tables.For(projections.Caller{KeyOwner: d.Owner})
}

func (s *Service) checkPlan(ctx context.Context, d *order.Draft, wrong *field.Errors) (plan projections.Plan, err error) {
	if wrong.Has("plan_id") {
		return plan, nil
	}
	plan, err = s.scope(d).Orders().Plan(ctx, d.PlanID)
	if isMissing(err) || err == nil && !plan.IsActive {
		wrong.Add("plan_id", field.NoSuchPK(d.PlanID))
		return plan, nil
	}
	return plan, err
}

// checkWidget finds the widget, which must contain the plan. It says what
// customers have to tell, and in which language an order is that names none.
func (s *Service) checkWidget(ctx context.Context, d *order.Draft, wrong *field.Errors) error {
	if d.Widget == "" || wrong.Has("widget_id") {
		return nil
	}
	widget, err := s.scope(d).Orders().Widget(ctx, d.Widget)
	foreign := !wrong.Has("plan_id") && !slices.ContainsFunc(widget.Offered, func(p projections.Plan) bool { return p.ID == d.PlanID })
	switch {
	case isMissing(err), err == nil && foreign:
		wrong.Add("widget_id", "Invalid widget.")
		return nil
	case err != nil:
		return err
	}
	if d.AnyLanguage {
		d.Language = widget.Language
	}
	if widget.RequirePhone && d.Customer.Phone == "" && !wrong.Has("customer_phone") {
		wrong.Add("customer_phone", field.Missing)
	}
	if widget.RequireCompany && d.Customer.Company == "" && !wrong.Has("customer_company") {
		wrong.Add("customer_company", field.Missing)
	}
	return nil
}

// checkOS checks the choice by the plan's options.
func checkOS(d *order.Draft, plan projections.Plan, wrong *field.Errors) {
	if wrong.Has("plan_id") || wrong.Has("os_choice") {
		return
	}
	isVPS := plan.ResourceType == storefront.VPSPlan
	switch {
	case !isVPS && d.OS != "":
		wrong.Add("os_choice", "This field is only valid for VPS plans.")
	case isVPS && d.OS == "":
		d.OS = *plan.VPS.DefaultOS
	case isVPS && !slices.Contains(plan.VPS.OSOptions, d.OS):
		wrong.Add("os_choice", field.NotAChoice(d.OS))
	}
}

// checkMachine refuses what only the customer of a virtual server may say.
func checkMachine(d *order.Draft, plan projections.Plan, wrong *field.Errors) {
	if wrong.Has("plan_id") || plan.ResourceType == storefront.VPSPlan {
		return
	}
	for _, one := range []struct{ name, value string }{{"hostname", d.Hostname}, {"ssh_key", d.SSHKey}} {
		if one.value != "" && !wrong.Has(one.name) {
			wrong.Add(one.name, "This field is only valid for VPS plans.")
		}
	}
}

// checkDomain looks early whether the domain is free, where a unique index
// decides again, and whether a customer may have it.
func (s *Service) checkDomain(ctx context.Context, d *order.Draft, plan projections.Plan, wrong *field.Errors) error {
	if d.Domain == "" || wrong.Has("plan_id") || wrong.Has("domain") || plan.ResourceType != storefront.HostingPlan {
		return nil
	}
	taken, err := s.scope(d).Hosting().NameTaken(ctx, "site", "domain", d.Domain)
	if taken {
		wrong.Add("domain", field.AlreadyExists("site", "domain"))
	}
	if taken || err != nil {
		return err
	}
	refusal, err := s.Domains.RefuseDomain(ctx, d.Domain)
	if refusal != "" {
		wrong.Add("domain", refusal)
	}
	return err
}

// checkPayment reports whether the method is on offer for this key, and whether
// its provider can charge exactly this price.
func (s *Service) checkPayment(d *order.Draft, plan projections.Plan, taxed tax.Decision, wrong *field.Errors) order.Offer {
	if wrong.Has("payment_method") {
		return order.Offer{}
	}
	offer, usable := s.Offers.Configured(d.PaymentMethod)
	if offer.Test {
		usable = usable && d.TestMoney // of a key of that mode, or where there is no other money
	}
	if usable && !wrong.Has("plan_id") && !wrong.Has("billing_period") {
		cost := taxed.Totals(plan.Price, plan.SetupFee, plan.Currency, d.Period == order.Yearly)
		_, usable = offer.Charge(cost.Total, plan.Currency)
	}
	if !usable {
		wrong.Add("payment_method", field.NotAChoice(d.PaymentMethod))
	}
	return offer
}

// agreed is what is ordered, as plan and prices are now.
func (s *Service) agreed(d *order.Draft, plan projections.Plan, taxed tax.Decision, offer order.Offer) order.Place {
	return order.Place{
		Customer: d.Customer, Plan: bought(plan), Period: d.Period,
		Price: plan.Price, SetupFee: plan.SetupFee, TaxRate: taxed.Rate, Tax: taxed.Treatment, Currency: plan.Currency,
		Method: offer.Method, Test: !offer.Live,
		Domain: d.Domain, OS: d.OS, Language: d.Language, Widget: d.Widget, APIKey: d.APIKey, Owner: d.Owner,
		Return: d.Return, Joins: d.Joins, Machine: order.Machine{Hostname: d.Hostname, SSHKey: hosting.WithoutComment(d.SSHKey)},
	}
}

// bought is what provisioning will need of the plan.
func bought(p projections.Plan) order.Plan {
	plan := order.Plan{ID: p.ID, Name: p.Name, Slug: p.Slug, ResourceType: p.ResourceType}
	switch p.ResourceType {
	case storefront.HostingPlan:
		plan.Package = p.Package
		plan.Quotas = map[string]int64{
			"quota_sites": *p.Quotas.Sites, "quota_databases": *p.Quotas.Databases, "quota_storage_gb": *p.Quotas.StorageGB,
			"quota_mailboxes": *p.Quotas.Mailboxes, "quota_domains": *p.Quotas.Domains, "quota_ftp_users": *p.Quotas.FTPUsers,
		}
	case storefront.VPSPlan:
		plan.VPS = &order.VPS{
			Cores: *p.VPS.CPUCores, MemoryMB: *p.VPS.MemoryMB, DiskGB: *p.VPS.DiskGB, TrafficTB: *p.VPS.BandwidthTB,
			DefaultOS: *p.VPS.DefaultOS, Nodes: p.VPS.Nodes, Snapshots: domain.OrZero(p.VPS.Snapshots),
		}
	case storefront.SaaSPlan:
		plan.SaaS = &order.SaaS{
			MaxVMs: *p.SaaS.MaxVMs, MaxHostingAccounts: *p.SaaS.MaxHostingAccounts, MaxAgents: *p.SaaS.MaxAgents,
			WhiteLabel: *p.SaaS.WhiteLabel,
		}
	}
	return plan
}

func isMissing(err error) bool { return domain.CodeOf(err) == domain.NotFound }
