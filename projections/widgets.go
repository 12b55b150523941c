package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
)

// widgets is the order forms on other websites.
var widgets = New("widgets", `
	create table widgets (
		id         bigint  primary key,
		widget_id  text    not null, -- the public name
		spec       jsonb   not null,
		is_active  boolean not null generated always as ((spec ->> 'is_active')::boolean) stored,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		version    int     not null -- of the widget's stream
	);
	create unique index widgets_widget_id on widgets (widget_id);
	create index widgets_newest on widgets (created_at desc, id desc)`,

	On(func(at eventstore.RecordedEvent, e storefront.WidgetCreated) Change {
		return insert("widgets", Row{
			{"id", at.Stream.ID},
			{"widget_id", e.WidgetID},
			{"spec", e.Spec},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e storefront.WidgetChanged) Change {
		return update("widgets", its(at), changed(at, Row{{"spec", merged(e.Spec)}}))
	}),
	On(func(at eventstore.RecordedEvent, _ storefront.WidgetRemoved) Change {
		return remove("widgets", its(at))
	}),
)

// A Widget is an order form, with the plans that it offers at the moment.
type Widget struct {
	ID       int64
	WidgetID string // the public name
	storefront.Widget
	Offered   []Plan
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int // of the widget's stream
}

// Fields are the widget as the website that shows it needs it.
func (w *Widget) Fields() field.Set {
	set := slices.DeleteFunc(w.Widget.Fields(), func(f field.Field) bool {
		return f.Name == "plans" || f.Name == "is_active" || strings.HasPrefix(f.Name, "cta_text_")
	})
	return append(slices.Insert(set, 0, field.Text("widget_id", &w.WidgetID).ReadOnly()), field.Objects("plans", &w.Offered))
}

// Record are the fields that operators see and change.
func (w *Widget) Record() field.Set {
	return slices.Concat(field.Set{
		field.Int("id", &w.ID).ReadOnly(),
		field.Text("widget_id", &w.WidgetID).ReadOnly(),
	}, w.Widget.Fields(), field.Set{
		field.Time("created_at", &w.CreatedAt).ReadOnly(),
		field.Time("updated_at", &w.UpdatedAt).ReadOnly(),
	})
}

// Offers tells whether the form is for this plan.
func (w *Widget) Offers(plan int64) bool { return slices.Contains(w.Plans, plan) }

// widgetRow is a widget as its table keeps it.
type widgetRow struct {
	ID        int64
	WidgetID  string
	Spec      field.Values
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int
}

const selectWidgets = `select id, widget_id, spec, created_at, updated_at, version from widgets`

func (r widgetRow) widget() (Widget, error) {
	w := Widget{ID: r.ID, WidgetID: r.WidgetID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version}
	if err := w.Widget.Fields().Load(r.Spec); err != nil {
		return w, fmt.Errorf("load widget %d: %w", r.ID, err)
	}
	return w, nil
}

// Widget returns an active widget by its public name, with the active plans
// that it shows; operators find others too.
func (s OrderReader) Widget(ctx context.Context, widgetID string) (Widget, error) {
	cond := s.offered()
	cond.and("widget_id = ?", widgetID)
	r, err := one[widgetRow](ctx, s.db, "Widget", selectWidgets, cond)
	if err != nil {
		return Widget{}, err
	}
	w, err := r.widget()
	if err == nil {
		w.Offered, err = s.shownBy(ctx, w)
	}
	return w, err
}

// WidgetRecord returns any widget by its number, to operators.
func (s OrderReader) WidgetRecord(ctx context.Context, id int64) (Widget, error) {
	w := s.caller.operators()
	w.and("id = ?", id)
	r, err := one[widgetRow](ctx, s.db, "Widget", selectWidgets, w)
	if err != nil {
		return Widget{}, err
	}
	return r.widget()
}

// WidgetsWith are the widgets that name a plan, to operators.
func (s OrderReader) WidgetsWith(ctx context.Context, plan int64) ([]Widget, error) {
	w := s.caller.operators()
	w.and("spec -> 'plans' @> to_jsonb(?::bigint)", plan)
	return loaded(widgetRow.widget)(list[widgetRow](ctx, s.db, selectWidgets, w, " order by id"))
}

func (s OrderReader) shownBy(ctx context.Context, w Widget) ([]Plan, error) {
	cond := s.caller.public()
	cond.and("is_active = ?", true)
	cond.and("id = any(?)", w.Plans)
	if !w.ShowHosting {
		cond.and("resource_type <> ?", storefront.HostingPlan)
	}
	if !w.ShowVPS {
		cond.and("resource_type <> ?", storefront.VPSPlan)
	}
	return s.plans(ctx, cond)
}

var widgetsBy = listRules{
	columns: `w.id, w.widget_id, w.spec, w.created_at, w.updated_at, w.version`, from: "widgets w", id: "w.id",
	search: `lower((w.spec ->> 'name') || chr(10) || w.widget_id)`,
	fields: with(fieldsOf("w", "widget_id", "is_active"), "name", "w.spec ->> 'name'"),
}

// Widgets lists widgets to operators, those that are not active as well: by
// name, widget_id, is_active.
func (s OrderReader) Widgets(ctx context.Context, l Listing) (Listed[Widget], error) {
	return loadedPart(widgetRow.widget)(part[widgetRow](ctx, s.db, widgetsBy, s.caller.operators(), l))
}
