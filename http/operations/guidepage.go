package operations

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A guide tells how a website takes orders: a key, an order form, a snippet and
// the pages of the return (docs/widget.md, "The guide in the panel").
type guide struct {
	web            *web.Renderer
	callers        *caller.Callers
	keys           *apiKeys
	publicURL      func() string
	offers         order.Offers
	paymentMethods []string
}

const (
	guideWidgets = 100 // that superusers choose from
	noKey        = "YOUR_API_KEY"
	noWidget     = "YOUR_WIDGET_ID"
)

// pageRoutes are for every signed-in user; keys are for superusers.
func (g *guide) pageRoutes() []route.Route {
	page := web.FormPage{Show: g.show, Forms: map[string]web.FormHandler{"create": g.create, "use_key": g.useKey}}
	return []route.Route{
		web.View(web.GuidePath, "How a website takes orders", page.Look).As("guide_page").For(g.callers.Session()),
		g.web.Press(web.GuidePath, "Create a key for the guide, or use one", page).As("guide_form"),
	}
}

// A guided website is what the page is about.
type guided struct {
	Key      string // of the storefront; "": a placeholder stands for it
	Widget   *projections.Widget
	WidgetID string // asked for; it may name none
	Language string // of the order form; "": its own
	Choices  []web.Option
	Wrong    string
}

func (g *guide) show(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	return g.guide(ctx, c, "", back)
}

// create makes a key. It stands in the snippets of this one page.
func (g *guide) create(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	return g.keys.createKey(ctx, c, sent, func(key, _ string) (*route.Document, error) { return g.guide(ctx, c, key, nil) })
}

// useKey takes a key that the reader has. It is checked for typing mistakes, and
// neither stored nor put into an address.
func (g *guide) useKey(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := web.Needed(sent, "key"); err != nil {
		return nil, err
	}
	key := strings.TrimSpace(sent.Get("key"))
	if _, isKey := storefront.ParseKey(key); !isKey {
		return nil, domain.RefuseField("key", "This is not a complete key.")
	}
	return g.guide(ctx, c, key, nil)
}

func (g *guide) guide(ctx context.Context, c route.Call, key string, back *web.Returned) (*route.Document, error) {
	about, err := g.about(ctx, c)
	if err != nil {
		return nil, err
	}
	about.Key = key
	panel := g.publicURL()
	data := map[string]any{
		"Guide": about, "Languages": about.languages(c), "Snippet": about.snippet(panel), "Pinned": about.pinned(panel),
		"Policy": fmt.Sprintf("script-src %[1]s; connect-src %[1]s\n", panel), // that the order form needs of a page
		"Calls":  g.calls(c, about), "Facts": guideFacts(c, about), "Preview": about.preview(), "Widgets": web.GuidePath,
		"Super": caller.VisitOf(c).Who.IsSuperuser, "Wide": true,
	}
	if caller.VisitOf(c).Who.IsSuperuser {
		action := web.GuidePath + about.query()
		data["Create"] = g.keys.createForm(c, action, back)
		data["Use"] = g.web.Fill(c, web.Form{Name: "use_key", Action: action, Inputs: []web.Input{
			{Name: "key", Key: "api_key", Required: true, Plain: true, Autocomplete: "off", Long: 100},
		}}, back)
	}
	return g.web.Sheet(c, back.StatusOf(), "guide", "guide_title", data)
}

// about looks up the order form that the reader asks for; without one the first
// of those that superusers see.
func (g *guide) about(ctx context.Context, c route.Call) (*guided, error) {
	w := web.Texts[web.Readers(c)]
	a := &guided{WidgetID: c.Param("widget")}
	if language := c.Param("lang"); web.Texts[language] != nil {
		a.Language = language
	}
	list, err := g.callers.Scope(c).Orders().Widgets(ctx, projections.Listing{Limit: guideWidgets})
	if err != nil {
		return nil, err
	}
	for _, one := range list.Rows {
		text := one.Name
		if !one.IsActive {
			text += " (" + w["guide_off"] + ")"
		}
		a.Choices = append(a.Choices, web.Option{Value: one.WidgetID, Text: text})
	}
	if a.WidgetID == "" && len(list.Rows) > 0 {
		first := max(0, slices.IndexFunc(list.Rows, func(one projections.Widget) bool { return one.IsActive }))
		a.WidgetID = list.Rows[first].WidgetID
	}
	return a, g.lookUp(ctx, c, a)
}

func (g *guide) lookUp(ctx context.Context, c route.Call, a *guided) error {
	if a.WidgetID == "" {
		return nil
	}
	a.Wrong = web.Texts[web.Readers(c)]["guide_no_widget"]
	if !widgetName.MatchString(a.WidgetID) {
		return nil
	}
	found, err := g.callers.Scope(c).Orders().Widget(ctx, a.WidgetID)
	switch {
	case domain.CodeOf(err) == domain.NotFound:
		return nil
	case err != nil:
		return err
	}
	a.Widget, a.Wrong = &found, ""
	return nil
}

var widgetName = regexp.MustCompile(`^[a-z0-9]{16}$`)

// query keeps the choice in the address.
func (a *guided) query() string {
	query := url.Values{}
	if a.WidgetID != "" {
		query.Set("widget", a.WidgetID)
	}
	if a.Language != "" {
		query.Set("lang", a.Language)
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// preview is where the order form of the page reads its plans.
func (a *guided) preview() string {
	if a.Widget == nil {
		return ""
	}
	return "/storefront/preview/" + a.Widget.WidgetID + "/"
}

func (a *guided) languages(c route.Call) map[string]any {
	w := web.Texts[web.Readers(c)]
	return map[string]any{"Value": a.Language, "Options": []web.Option{
		{Value: "", Text: w["guide_own_language"]}, {Value: "en", Text: w["language_en"]}, {Value: "es", Text: w["language_es"]},
	}}
}

func guideFacts(c route.Call, a *guided) []web.Aspect {
	if a.Widget == nil {
		return nil
	}
	w, none := web.Texts[web.Readers(c)], web.Texts[web.Readers(c)]["guide_no_page"]
	or := func(text string) string {
		if text == "" {
			return none
		}
		return text
	}
	return []web.Aspect{{Name: w["guide_success"], Text: or(a.Widget.SuccessURL)}, {Name: w["guide_cancel"], Text: or(a.Widget.CancelURL)}}
}
