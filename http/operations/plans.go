package operations

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	plansPath = operationsPrefix + "plans/"
	planPath  = plansPath + "{id:int}/"
)

// A planRecord is a plan with all fields of all sorts.
type planRecord struct{ projections.Plan }

// Fields are the plan as operators see it.
func (p *planRecord) Fields() field.Set { return p.Record() }

func (p *planRecord) Tag() string { return record.Tag("plan", strconv.FormatInt(p.ID, 10), p.Version) }

func (s *catalog) planRoutes() []route.Route {
	return []route.Route{
		listing.Pages[planRecord](plansPath, "Plans, also those that are not active", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Flag("is_active", new(bool)).Doc("Only those that are on offer, or that are not."),
					field.Text("resource_type", new(string)).Among(storefront.PlanTypes...).Doc("Only plans of this sort."),
					field.Text("slug", new(string)).Doc("Only the plan with this slug."),
				}
			},
			Search: "name and slug", Ordering: []string{"name", "slug", "position", "price"},
		}, s.listPlans).As("operator_plan_list"),
		route.Get(planPath, "A plan", record.Found[planRecord]).As("operator_plan_read").Of("Plan").Finding(s.findPlan),
		route.Post(plansPath, "Offer a plan", s.offerPlan).As("operator_plan_create").Checking(route.Check(s.checkPlanRecord)).
			Saying("What the plan's sort needs and the request leaves out gets a default. Fields of other sorts are not kept."),
		route.Put(planPath, "Change a plan", s.changePlan).As("operator_plan_replace").Of("Plan").
			Finding(s.findPlan).Checking(route.Check(s.checkPlanRecord)).Failing(http.StatusConflict, lostRace),
		route.Patch(planPath, "Change some fields of a plan", s.changePlan).As("operator_plan_change").Of("Plan").
			Finding(s.findPlan).Checking(route.Check(s.checkPlanRecord)).
			Saying("Orders that were placed keep what they agreed on."),
		route.Delete(planPath, "Withdraw a plan", s.withdrawPlan).As("operator_plan_delete").Of("Plan").Finding(s.findPlan).
			Saying("Widgets forget the plan.").
			Failing(http.StatusConflict, "A customer has ordered the plan (in_use), or another change was faster."),
	}
}

const lostRace = "Others were faster, again and again."

func (s *catalog) listPlans(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[planRecord], error) {
	plans, err := s.callers.Scope(c).Orders().AllPlans(ctx, l)
	return record.Map(plans, err, func(p projections.Plan) planRecord { return planRecord{p} })
}

func (s *catalog) plan(ctx context.Context, c route.Call, id int64) (*planRecord, error) {
	plan, err := s.callers.Scope(c).Orders().Plan(ctx, id)
	return &planRecord{plan}, err
}

func (s *catalog) findPlan(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.plan(ctx, c, c.ID("id")))
}

// checkPlanRecord looks at what the fields alone do not tell. The rules
// between them are the plan's own.
func (s *catalog) checkPlanRecord(ctx context.Context, c route.Call, p *planRecord, wrong *field.Errors) error {
	return s.callers.Scope(c).CheckPlan(ctx, &p.Plan.Plan, p.ID, c.Sent, wrong)
}

func (s *catalog) offerPlan(ctx context.Context, c route.Call, p *planRecord) (_ *planRecord, err error) {
	if !c.Sent.Has("currency") {
		p.Currency = cmp.Or(s.currency, p.Currency)
	}
	if p.ID, err = record.NextNumber(ctx, s.numbers, "plan"); err != nil {
		return nil, err
	}
	c.Location(plansPath + strconv.FormatInt(p.ID, 10) + "/")
	err = p.PutOnOffer(p.ID, s.callers.Now(), func(o storefront.OfferPlan) error {
		_, err := s.commands.Execute(ctx, c.Cause(), o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*planRecord, error) { return s.plan(ctx, c, p.ID) })
}

func (s *catalog) changePlan(ctx context.Context, c route.Call, p *planRecord) (*planRecord, error) {
	err := record.Execute(ctx, s.commands, c, p.Version, storefront.ChangePlan{Plan: p.ID, Spec: c.Sent.Values(), At: s.callers.Now()})
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*planRecord, error) { return s.plan(ctx, c, p.ID) })
}

// withdrawPlan takes a plan off the shop and out of the widgets that show it.
func (s *catalog) withdrawPlan(ctx context.Context, c route.Call) error {
	p := c.Subject.(*planRecord) //nolint:forcetypeassert // found by findPlan
	widgets, err := s.callers.Scope(c).Orders().WidgetsWith(ctx, p.ID)
	if err != nil {
		return err
	}
	commands := []domain.Command{storefront.WithdrawPlan{Plan: p.ID, At: s.callers.Now()}}
	for _, w := range widgets {
		commands = append(commands, storefront.ForgetPlan{Widget: w.ID, Plan: p.ID, At: s.callers.Now()})
	}
	return record.Execute(ctx, s.commands, c, p.Version, commands...)
}
