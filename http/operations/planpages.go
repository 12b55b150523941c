package operations

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Plans as operators see them in a browser (docs/operations.md, "In the browser").

const (
	planPagePath = web.PlansPath + "{id:int}/"
	newPlanPath  = web.PlansPath + "new/"
)

func (s *catalog) planPageRoutes() []route.Route {
	fresh := web.FormPage{Show: s.showNewPlan, Forms: map[string]web.FormHandler{"create_plan": s.createPlan}}
	page := web.ActFormPage(s.planDesk())
	return []route.Route{
		web.ViewList(s.planList(), web.PlansPath, "The plans").As("plans_page"),
		web.View(newPlanPath, "A new plan", fresh.Look).As("new_plan_page"),
		s.web.Press(newPlanPath, "Offer a plan", fresh).As("new_plan_form"),
		web.View(planPagePath, "A plan", page.Look).As("plan_page").Of("Plan"),
		s.web.Press(planPagePath, "Change or withdraw a plan", page).As("plan_form").Of("Plan"),
	}
}

func (s *catalog) planList() web.List[planRecord] {
	return web.List[planRecord]{
		Web: s.web, Name: "plans", Fields: (*planRecord).Fields, Read: s.listPlans, Search: "orders_search",
		Order: []projections.Ordering{{Field: "position"}},
		Wide:  true, Choices: []web.Choice{{Name: "resource_type", Text: "choice_", Values: storefront.PlanTypes}, onOffer},
		Cards: web.Cards{Page: web.PlansPath, Title: "name", Badges: []string{"is_active"}, Note: []string{"slug"}},
		More: func(c route.Call, p *planRecord, card *web.Card) {
			w := web.Texts[web.Readers(c)]
			card.Lines = []string{w["choice_"+p.ResourceType] + " · " + priceOf(w, p)}
			markOffered(card, p.IsActive)
		},
		Ways: func(c route.Call) (ways []web.Aspect) {
			w := web.Texts[web.Readers(c)]
			for _, sort := range storefront.PlanTypes {
				ways = append(ways, web.Aspect{Path: newPlanPath + "?resource_type=" + sort, Text: w["plan_new_"+sort]})
			}
			return ways
		},
	}
}

// priceOf is what a plan costs a month.
func priceOf(w web.Words, p *planRecord) string {
	return w.Money(p.EffectivePrice(), p.Currency) + " " + w["period_monthly"]
}

// markOffered shows what is on offer as such.
func markOffered(card *web.Card, is bool) {
	card.Badges[0].Class = map[bool]string{true: "active"}[is]
}

// onOffer narrows a list to what is shown to customers, or is not.
var onOffer = web.Choice{Name: "is_active", Text: "is_active_", Values: []string{"true", "false"}, Value: web.IsTrue}

// sortOf is the sort of a new plan.
func sortOf(asked string) string {
	if slices.Contains(storefront.PlanTypes, asked) {
		return asked
	}
	return storefront.HostingPlan
}

func (s *catalog) showNewPlan(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	sort := c.Param("resource_type")
	if back != nil {
		sort = back.Sent.Get("resource_type")
	}
	p := &planRecord{}
	p.ResourceType, p.IsActive, p.Currency, p.BillingPeriod = sortOf(sort), true, cmp.Or(s.currency, "EUR"), "monthly"
	inputs := web.RecordInputs(ofSort(p), field.Create)
	for i := range inputs {
		if inputs[i].Name == "price" || inputs[i].Name == "setup_fee" {
			inputs[i].Value = "" // which is no price that a plan has by itself
		}
	}
	inputs = append(inputs, web.Input{Name: "resource_type", Type: "hidden", Value: p.ResourceType})
	return s.showNew(ctx, c, newOffer{"plan", "plan_new_" + p.ResourceType, web.PlansPath, newPlanPath, inputs}, back)
}

// A newOffer is the page with the form of a new record.
type newOffer struct {
	sort, title, list, path string
	inputs                  []web.Input
}

func (s *catalog) showNew(ctx context.Context, c route.Call, n newOffer, back *web.Returned) (*route.Document, error) {
	data := map[string]any{"List": n.list, "ListTitle": web.Texts[web.Readers(c)][n.sort+"s_title"], "Wide": true}
	if n.sort == "widget" {
		numbers, err := s.planNumbers(ctx, c)
		if err != nil {
			return nil, err
		}
		data["Numbers"] = numbers
	}
	n.inputs = append(n.inputs, web.NumberInput())
	data["Form"] = s.web.Fill(c, web.Form{Name: "create_" + n.sort, Action: n.path, Inputs: n.inputs}, back)
	return s.web.Sheet(c, back.StatusOf(), "new_offer", n.title, data)
}

// ofSort are the fields that plans of the sort have, besides the sort.
func ofSort(p *planRecord) field.Set {
	others := map[string]string{storefront.HostingPlan: "quota_", storefront.VPSPlan: "vps_", storefront.SaaSPlan: "saas_"}
	return slices.DeleteFunc(p.Plan.Plan.Fields(), func(f field.Field) bool {
		for sort, begin := range others {
			if sort != p.ResourceType && strings.HasPrefix(f.Name, begin) {
				return true
			}
		}
		return f.Name == "resource_type" || f.Name == "package" && p.ResourceType != storefront.HostingPlan
	})
}

func (s *catalog) createPlan(ctx context.Context, c route.Call, form url.Values) (*route.Document, error) {
	p := &planRecord{}
	p.ResourceType = sortOf(form.Get("resource_type"))
	fields := p.Plan.Plan.Fields()
	c, err := web.ReadRecord(ctx, c, p, append(ofSort(p), fields.Only("resource_type")...), fields, form, field.Create, s.checkPlanRecord)
	if err != nil {
		return nil, err
	}
	return s.createOffer(ctx, c, form, "create_plan", web.PlansPath, func(c route.Call) (int64, error) {
		p, err := s.offerPlan(ctx, c, p)
		if err != nil {
			return 0, err
		}
		return p.ID, nil
	})
}

// createOffer makes a record, once, and leads to its page; a form that was sent twice
// leads to the list.
func (s *catalog) createOffer(
	ctx context.Context, c route.Call, form url.Values, notice, list string, do func(route.Call) (int64, error),
) (*route.Document, error) {
	var id int64
	isRepeat, _, err := caller.FormOnce(ctx, s.callers, c, form, func(c route.Call) (err error) {
		id, err = do(c)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case isRepeat:
		return s.web.Done(list, notice), nil
	}
	return s.web.Done(list+numbered(id), notice), nil
}

func numbered(id int64) string { return strconv.FormatInt(id, 10) + "/" }

// planDesk is the page of a plan with its forms.
func (s *catalog) planDesk() web.ActPage[*planRecord] {
	return web.ActPage[*planRecord]{
		Web: s.web, Show: s.showPlan,
		Find: func(ctx context.Context, c route.Call) (*planRecord, error) { return s.plan(ctx, c, c.ID("id")) },
		Acts: []web.Act[*planRecord]{
			{
				Name: "change_plan", IsOpen: web.Always[*planRecord], Edits: ofSort, Do: s.changePlanByForm,
			},
			{
				Name: "withdraw_plan", IsOpen: web.Always[*planRecord], Grave: true, Leaves: web.PlansPath,
				Do: func(ctx context.Context, c route.Call, _ *planRecord, _ url.Values) error {
					return s.withdrawPlan(ctx, c)
				},
			},
		},
	}
}

func (s *catalog) changePlanByForm(ctx context.Context, c route.Call, p *planRecord, form url.Values) error {
	c, err := web.ReadRecord(ctx, c, p, ofSort(p), p.Plan.Plan.Fields(), form, field.Patch, s.checkPlanRecord)
	if err == nil {
		_, err = s.changePlan(ctx, c, p)
	}
	return err
}

func (s *catalog) showPlan(
	ctx context.Context, c route.Call, p *planRecord, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	widgets, err := s.callers.Scope(c).Orders().WidgetsWith(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	known := []web.Aspect{
		{Name: w["label_resource_type"], Text: w["choice_"+p.ResourceType]},
		{Name: w["plan_price"], Text: priceOf(w, p)},
		w.Moment(w["key_created"], &p.CreatedAt, ""), w.Moment(w["order_changed"], &p.UpdatedAt, ""),
	}
	for _, one := range widgets {
		known = append(known, web.Aspect{Name: w["plan_widget"], Text: one.Name, Path: web.WidgetsPath + numbered(one.ID)})
	}
	return s.web.Sheet(c, back.StatusOf(), "offer", "plan_title", map[string]any{
		"Name": p.Name, "IsActive": p.IsActive, "List": web.PlansPath, "ListTitle": w["plans_title"], "Facts": known,
		"Change": acts[0], "Acts": acts[1:], "Wide": true,
	})
}
