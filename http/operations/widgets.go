package operations

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	widgetsPath = operationsPrefix + "widgets/"
	widgetPath  = widgetsPath + "{id:int}/"
)

// A widgetRecord is an order form as operators see and change it.
type widgetRecord struct{ projections.Widget }

// Fields are the widget as operators see it.
func (w *widgetRecord) Fields() field.Set { return w.Record() }

func (w *widgetRecord) Tag() string {
	return record.Tag("widget", strconv.FormatInt(w.ID, 10), w.Version)
}

func (s *catalog) widgetRoutes() []route.Route {
	return []route.Route{
		listing.Pages[widgetRecord](widgetsPath, "Widgets", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Flag("is_active", new(bool)).Doc("Only those that are shown, or that are not."),
					field.Text("widget_id", new(string)).Doc("Only the widget with this public name."),
				}
			},
			Search: "name and widget_id", Ordering: []string{"name"},
		}, s.listWidgets).As("operator_widget_list"),
		route.Get(widgetPath, "A widget", record.Found[widgetRecord]).As("operator_widget_read").Of("Widget").Finding(s.findWidget),
		route.Post(widgetsPath, "Make a widget", s.makeWidget).As("operator_widget_create").Checking(route.Check(s.checkWidgetRecord)),
		route.Put(widgetPath, "Change a widget", s.changeWidget).As("operator_widget_replace").Of("Widget").
			Finding(s.findWidget).Checking(route.Check(s.checkWidgetRecord)).Failing(http.StatusConflict, lostRace),
		route.Patch(widgetPath, "Change some fields of a widget", s.changeWidget).As("operator_widget_change").Of("Widget").
			Finding(s.findWidget).Checking(route.Check(s.checkWidgetRecord)),
		route.Delete(widgetPath, "Remove a widget", s.removeWidget).As("operator_widget_delete").Of("Widget").Finding(s.findWidget).
			Failing(http.StatusConflict, lostRace),
	}
}

func (s *catalog) listWidgets(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[widgetRecord], error) {
	widgets, err := s.callers.Scope(c).Orders().Widgets(ctx, l)
	return record.Map(widgets, err, func(w projections.Widget) widgetRecord { return widgetRecord{w} })
}

func (s *catalog) widgetRecord(ctx context.Context, c route.Call, id int64) (*widgetRecord, error) {
	widget, err := s.callers.Scope(c).Orders().WidgetRecord(ctx, id)
	return &widgetRecord{widget}, err
}

func (s *catalog) findWidget(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.widgetRecord(ctx, c, c.ID("id")))
}

// checkWidgetRecord looks for the plans. Which are sent twice count once.
func (s *catalog) checkWidgetRecord(ctx context.Context, c route.Call, w *widgetRecord, wrong *field.Errors) error {
	if !c.Sent.Has("plans") || record.IsWrong(*wrong, "plans") {
		return nil
	}
	known, err := s.callers.Scope(c).Orders().PlansAmong(ctx, w.Plans)
	if err != nil {
		return err
	}
	var missing field.Errors
	for i, id := range w.Plans {
		if _, found := slices.BinarySearch(known, id); !found {
			missing = append(missing, field.Wrong{Field: strconv.Itoa(i), Messages: []string{field.NoSuchPK(id)}})
		}
	}
	if missing != nil {
		*wrong = append(*wrong, field.Wrong{Field: "plans", Items: missing})
	}
	w.Plans = distinct(w.Plans)
	return nil
}

// distinct leaves out what came before.
func distinct(ids []int64) []int64 {
	once, came := make([]int64, 0, len(ids)), make(map[int64]bool, len(ids))
	for _, id := range ids {
		if !came[id] {
			once = append(once, id)
		}
		came[id] = true
	}
	return once
}

func (s *catalog) makeWidget(ctx context.Context, c route.Call, w *widgetRecord) (*widgetRecord, error) {
	id, err := record.NextNumber(ctx, s.numbers, "widget")
	if err != nil {
		return nil, err
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	c.Location(widgetsPath + strconv.FormatInt(id, 10) + "/")
	_, err = s.commands.Execute(ctx, c.Cause(), storefront.MakeWidget{
		Widget: id, WidgetID: storefront.WidgetID(random), Spec: w.Widget.Widget.Fields().Values(), At: s.callers.Now(),
	})
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*widgetRecord, error) { return s.widgetRecord(ctx, c, id) })
}

func (s *catalog) changeWidget(ctx context.Context, c route.Call, w *widgetRecord) (*widgetRecord, error) {
	err := record.Execute(ctx, s.commands, c, w.Version, storefront.ChangeWidget{Widget: w.ID, Spec: c.Sent.Values(), At: s.callers.Now()})
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*widgetRecord, error) { return s.widgetRecord(ctx, c, w.ID) })
}

func (s *catalog) removeWidget(ctx context.Context, c route.Call) error {
	w := c.Subject.(*widgetRecord) //nolint:forcetypeassert // found by findWidget
	return record.Execute(ctx, s.commands, c, w.Version, storefront.RemoveWidget{Widget: w.ID, At: s.callers.Now()})
}
