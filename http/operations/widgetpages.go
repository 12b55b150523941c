package operations

import (
	"context"
	"net/url"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Order forms as operators see them in a browser: with what they look like, and the
// lines that a website needs (docs/operations.md, "In the browser").

const (
	widgetPagePath = web.WidgetsPath + "{id:int}/"
	newWidgetPath  = web.WidgetsPath + "new/"
)

func (s *catalog) widgetPageRoutes() []route.Route {
	fresh := web.FormPage{Show: s.showNewWidget, Forms: map[string]web.FormHandler{"create_widget": s.createWidget}}
	page := web.ActFormPage(s.widgetDesk())
	return []route.Route{
		web.ViewList(s.widgetList(), web.WidgetsPath, "The order forms").As("widgets_page"),
		web.View(newWidgetPath, "A new order form", fresh.Look).As("new_widget_page"),
		s.web.Press(newWidgetPath, "Make an order form", fresh).As("new_widget_form"),
		web.View(widgetPagePath, "An order form with its preview", page.Look).As("widget_page").Of("Widget"),
		s.web.Press(widgetPagePath, "Change or remove an order form", page).As("widget_form").Of("Widget"),
	}
}

func (s *catalog) widgetList() web.List[widgetRecord] {
	return web.List[widgetRecord]{
		Web: s.web, Name: "widgets", Fields: (*widgetRecord).Fields, Read: s.listWidgets, Search: "orders_search", Wide: true,
		Choices: []web.Choice{onOffer},
		Cards: web.Cards{
			Page: web.WidgetsPath, Title: "name", Badges: []string{"is_active"}, Lines: []string{"layout+theme+language"},
			Note: []string{"widget_id"},
		},
		More: func(_ route.Call, of *widgetRecord, card *web.Card) { markOffered(card, of.IsActive) },
		Ways: func(c route.Call) []web.Aspect {
			return []web.Aspect{{Path: newWidgetPath, Text: web.Texts[web.Readers(c)]["widget_new"]}}
		},
	}
}

func (s *catalog) showNewWidget(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	blank := &widgetRecord{}
	set := blank.Widget.Widget.Fields()
	if _, err := set.Decode(
		field.Value{Kind: field.ObjectValue, Items: []field.Value{{Kind: field.TextValue, Name: "name", Text: "-"}}},
		field.Create,
	); err != nil {
		return nil, err
	}
	blank.Name, blank.Language = "", web.Readers(c)
	return s.showNew(ctx, c, newOffer{"widget", "widget_new", web.WidgetsPath, newWidgetPath, web.RecordInputs(set, field.Create)}, back)
}

// planNumbers tell which plan has which number: order forms name plans by them.
func (s *catalog) planNumbers(ctx context.Context, c route.Call) ([]web.Aspect, error) {
	plans, err := s.callers.Scope(c).Orders().Plans(ctx, "")
	known := make([]web.Aspect, len(plans))
	for i, p := range plans {
		known[i] = web.Aspect{Name: strconv.FormatInt(p.ID, 10), Text: p.Name, Path: web.PlansPath + numbered(p.ID)}
	}
	return known, err
}

func (s *catalog) createWidget(ctx context.Context, c route.Call, form url.Values) (*route.Document, error) {
	w := &widgetRecord{}
	fields := w.Widget.Widget.Fields()
	c, err := web.ReadRecord(ctx, c, w, fields, fields, form, field.Create, s.checkWidgetRecord)
	if err != nil {
		return nil, err
	}
	return s.createOffer(ctx, c, form, "create_widget", web.WidgetsPath, func(c route.Call) (int64, error) {
		w, err := s.makeWidget(ctx, c, w)
		if err != nil {
			return 0, err
		}
		return w.ID, nil
	})
}

// widgetDesk is the page of an order form with what may be done with it.
func (s *catalog) widgetDesk() web.ActPage[*widgetRecord] {
	return web.ActPage[*widgetRecord]{
		Web: s.web, Show: s.showWidget,
		Find: func(ctx context.Context, c route.Call) (*widgetRecord, error) {
			return s.widgetRecord(ctx, c, c.ID("id"))
		},
		Acts: []web.Act[*widgetRecord]{
			{
				Name: "change_widget", IsOpen: web.Always[*widgetRecord],
				Edits: func(w *widgetRecord) field.Set { return w.Widget.Widget.Fields() },
				Do: func(ctx context.Context, c route.Call, w *widgetRecord, form url.Values) error {
					fields := w.Widget.Widget.Fields()
					c, err := web.ReadRecord(ctx, c, w, fields, fields, form, field.Patch, s.checkWidgetRecord)
					if err == nil {
						_, err = s.changeWidget(ctx, c, w)
					}
					return err
				},
			},
			{
				Name: "remove_widget", IsOpen: web.Always[*widgetRecord], Grave: true, Leaves: web.WidgetsPath,
				Do: func(ctx context.Context, c route.Call, _ *widgetRecord, _ url.Values) error {
					return s.removeWidget(ctx, c)
				},
			},
		},
	}
}

func (s *catalog) showWidget(
	ctx context.Context, c route.Call, w *widgetRecord, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	words := web.Texts[web.Readers(c)]
	numbers, err := s.planNumbers(ctx, c)
	if err != nil {
		return nil, err
	}
	about := &guided{Widget: &w.Widget, WidgetID: w.WidgetID}
	return s.web.Sheet(c, back.StatusOf(), "offer", "widget_title", map[string]any{
		"Name": w.Name, "IsActive": w.IsActive, "List": web.WidgetsPath, "ListTitle": words["widgets_title"],
		"Facts": []web.Aspect{
			{Name: words["widget_public"], Text: w.WidgetID},
			words.Moment(words["key_created"], &w.CreatedAt, ""), words.Moment(words["order_changed"], &w.UpdatedAt, ""),
		},
		"WidgetID": w.WidgetID, "Preview": about.preview(), "Snippet": about.snippet(s.publicURL()), "Guide": web.GuidePath + about.query(),
		"Change": acts[0], "Acts": acts[1:], "Numbers": numbers, "Wide": true,
	})
}
