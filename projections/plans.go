package projections

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
)

// plans is what the shop offers. A plan that is withdrawn is gone; orders have
// kept what they agreed on.
var plans = New("plans", `
	create table plans (
		id            bigint  primary key,
		spec          jsonb   not null,
		slug          text    not null generated always as (spec ->> 'slug') stored,
		resource_type text    not null generated always as (spec ->> 'resource_type') stored,
		price         numeric not null generated always as ((spec ->> 'price')::numeric) stored,
		position      bigint  not null generated always as ((spec ->> 'position')::bigint) stored,
		is_active     boolean not null generated always as ((spec ->> 'is_active')::boolean) stored,
		is_ordered    boolean not null default false, -- somebody has ordered it, whatever became of it
		is_withdrawn  boolean not null default false, -- on its way out of the table
		created_at    timestamptz not null,
		updated_at    timestamptz not null,
		version       int     not null, -- of the plan's stream
		constraint plans_in_use check (not (is_ordered and is_withdrawn))
	);
	create unique index plans_slug on plans (slug);
	create index plans_newest on plans (created_at desc, id desc)`,

	On(func(at eventstore.RecordedEvent, e storefront.PlanOffered) Change {
		return insert(
			"plans",
			Row{{"id", at.Stream.ID}, {"spec", e.Spec}, {"created_at", now}, {"updated_at", now}, {"version", at.Version}},
		)
	}).Unique("plans_slug", errSlugTaken),
	On(func(at eventstore.RecordedEvent, e storefront.PlanChanged) Change {
		return update("plans", its(at), changed(at, Row{{"spec", merged(e.Spec)}}))
	}).Unique("plans_slug", errSlugTaken),
	On(func(_ eventstore.RecordedEvent, e order.Placed) Change {
		return ordered(e.Plan.ID)
	}),
	On(func(_ eventstore.RecordedEvent, e billing.ChangeInvoiced) Change { return ordered(e.Plan) }),
	On(func(_ eventstore.RecordedEvent, e billing.ChangePlanned) Change { return ordered(e.Plan) }),
	On(func(at eventstore.RecordedEvent, _ storefront.PlanWithdrawn) Change {
		return update("plans", its(at), Row{{"is_withdrawn", true}})
	}).Unique("plans_in_use", errPlanInUse),
	On(func(at eventstore.RecordedEvent, _ storefront.PlanWithdrawn) Change { return remove("plans", its(at)) }),
)

// ordered keeps a plan that an order or a subscription has, or is to have.
func ordered(plan int64) Change {
	return update("plans", Row{{"id", plan}}, Row{{"is_ordered", true}}).provided(not(col("is_ordered")))
}

var (
	errSlugTaken       = domain.RefuseField("slug", field.AlreadyExists("plan", "slug"))
	errPlanInUse error = &domain.Error{Code: domain.Conflict, Message: "The plan is in use.", Reason: "in_use"}
)

// A Plan is on offer.
type Plan struct {
	ID int64
	storefront.Plan
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int // of the plan's stream
}

// Fields are the plan as customers see it: the common fields, then those of
// its own sort.
func (p *Plan) Fields() field.Set {
	set := p.Shown()
	effective := p.EffectivePrice()
	after := 1 + slices.IndexFunc(set, func(f field.Field) bool { return f.Name == "price" })
	set = slices.Insert(set, after, effectivePrice(&effective))
	return slices.Insert(set, 0, field.Int("id", &p.ID).ReadOnly())
}

func effectivePrice(at *decimal.Decimal) field.Field {
	return field.Amount("effective_price", at, 12, 2).ReadOnly()
}

// Record are all fields of all sorts of plans, as operators see them.
func (p *Plan) Record() field.Set {
	return slices.Concat(field.Set{field.Int("id", &p.ID).ReadOnly()}, p.Plan.Fields(), field.Set{
		field.Time("created_at", &p.CreatedAt).ReadOnly(),
		field.Time("updated_at", &p.UpdatedAt).ReadOnly(),
	})
}

// Columns are the plan as operators see it.
func (p *Plan) Columns() field.Set { return p.Record() }

// planRow is a plan as its table keeps it.
type planRow struct {
	ID        int64
	Spec      field.Values
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int
}

const selectPlans = `select id, spec, created_at, updated_at, version from plans`

func (r planRow) plan() (Plan, error) {
	p := Plan{ID: r.ID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version}
	if err := p.Plan.Fields().Load(r.Spec); err != nil {
		return p, fmt.Errorf("load plan %d: %w", r.ID, err)
	}
	return p, nil
}

// offered is the scope of what is on offer: everybody sees what is active,
// operators see all.
func (s OrderReader) offered() *where {
	w := s.caller.public()
	if !s.caller.seesAll() {
		w.and("is_active = ?", true)
	}
	return w
}

// Plans lists the active plans in the order in which they are offered; a
// resource type picks those of one sort.
func (s OrderReader) Plans(ctx context.Context, resourceType string) ([]Plan, error) {
	w := s.caller.public()
	w.and("is_active = ?", true)
	given(w, "resource_type = ?", resourceType)
	return s.plans(ctx, w)
}

var plansBy = listRules{
	columns: `p.id, p.spec, p.created_at, p.updated_at, p.version`, from: "plans p", id: "p.id",
	search: `lower((p.spec ->> 'name') || chr(10) || p.slug)`,
	fields: with(fieldsOf("p", "slug", "resource_type", "price", "position", "is_active"),
		"name", "p.spec ->> 'name'", "currency", "p.spec ->> 'currency'", "billing_period", "p.spec ->> 'billing_period'"),
}

// AllPlans lists plans that are not active as well, to operators: by name,
// slug, resource_type, price, position, is_active, currency, billing_period.
func (s OrderReader) AllPlans(ctx context.Context, l Listing) (Listed[Plan], error) {
	return loadedPart(planRow.plan)(part[planRow](ctx, s.db, plansBy, s.caller.operators(), l))
}

func (s OrderReader) plans(ctx context.Context, w *where) ([]Plan, error) {
	return loaded(planRow.plan)(list[planRow](ctx, s.db, selectPlans, w, " order by position, price, id"))
}

// Plan returns an active plan; operators and the program itself find others too.
func (s OrderReader) Plan(ctx context.Context, id int64) (Plan, error) {
	w := s.offered()
	w.and("id = ?", id)
	r, err := one[planRow](ctx, s.db, "Plan", selectPlans, w)
	if err != nil {
		return Plan{}, err
	}
	return r.plan()
}

// CheckPlan says what is wrong with a plan beside its own fields: a slug that
// another plan has, a package that does not exist, and fields of its sort that a
// request has sent as null. What is known to be wrong is left alone.
func (s Scope) CheckPlan(ctx context.Context, p *storefront.Plan, id int64, sent field.Set, wrong *field.Errors) error {
	if sent.Has("slug") && p.Slug != "" && !wrong.Has("slug") {
		taken, err := s.Orders().slugTaken(ctx, p.Slug, id)
		if err != nil {
			return err
		}
		if taken {
			wrong.Add("slug", field.AlreadyExists("plan", "slug"))
		}
	}
	if !wrong.Has("resource_type") {
		p.CheckGiven(sent, wrong)
	}
	if p.ResourceType != storefront.HostingPlan || p.Package == nil || wrong.Has("package") {
		return nil
	}
	_, err := s.Hosting().Resource(ctx, hosting.Ref{Kind: "package", ID: *p.Package})
	if domain.CodeOf(err) == domain.NotFound {
		wrong.Add("package", field.NoSuchPK(*p.Package))
		return nil
	}
	return err
}

// slugTaken tells operators whether a plan other than this one has the slug.
func (s OrderReader) slugTaken(ctx context.Context, slug string, except int64) (bool, error) {
	w := s.caller.operators()
	w.and("slug = ?", slug)
	w.and("id <> ?", except)
	_, taken, err := maybe(one[struct{ ID int64 }](ctx, s.db, "Plan", `select id from plans`, w))
	return taken, err
}

// PlansAmong are those of the ids that are plans, in order, to operators.
func (s OrderReader) PlansAmong(ctx context.Context, ids []int64) ([]int64, error) {
	w := s.caller.operators()
	w.and("id = any(?)", ids)
	found, err := list[struct{ ID int64 }](ctx, s.db, `select id from plans`, w, " order by id")
	known := make([]int64, len(found))
	for i, plan := range found {
		known[i] = plan.ID
	}
	return known, err
}
