package storefront

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// WidgetCategory is that of the streams "widget-<id>".
const WidgetCategory = "widget"

// A Widget is an order form on another website.
type Widget struct {
	Name                      string
	Theme                     string // light, dark, auto
	Layout                    string // cards, table
	PrimaryColor, AccentColor string
	BorderRadius              int64 // pixels
	ShowFeatures              bool
	CTAText                   string
	Texts                     Translations // of CTAText, by language
	ShowHosting, ShowVPS      bool
	RequirePhone              bool
	RequireCompany            bool
	Language                  string
	SuccessURL, CancelURL     string
	Plans                     []int64
	IsActive                  bool
}

// In is the order form as customers read it in a language.
func (w Widget) In(language string) Widget {
	w.CTAText = w.Texts.in("cta_text", language, w.CTAText)
	return w
}

// Fields are the order form.
func (w *Widget) Fields() field.Set {
	buttons := w.Texts.fields("cta_text", func(f field.Field) field.Field { return f.Max(60) })
	return slices.Concat(field.Set{
		field.Text("name", &w.Name).Required().Max(100),
		field.Text("theme", &w.Theme).Among("light", "dark", "auto").Default("auto").Worded("choice_"),
		field.Text("layout", &w.Layout).Among("cards", "table").Default("cards").Worded("choice_"),
		field.Text("primary_color", &w.PrimaryColor).Is(field.Color).Default("#4F46E5"),
		field.Text("accent_color", &w.AccentColor).Is(field.Color).Default("#10B981"),
		field.Int("border_radius", &w.BorderRadius).Between(0, 48).Default(12),
		field.Flag("show_features", &w.ShowFeatures).Default(true),
		field.Text("cta_text", &w.CTAText).Min(1).Max(60).Default("Contratar"),
	}, buttons, field.Set{
		field.Flag("show_hosting", &w.ShowHosting).Default(true),
		field.Flag("show_vps", &w.ShowVPS).Default(true),
		field.Flag("require_phone", &w.RequirePhone).Default(false),
		field.Flag("require_company", &w.RequireCompany).Default(false),
		field.Text("language", &w.Language).Spoken().Worded("language_"),
		field.Text("success_url", &w.SuccessURL).Is(field.HTTPSURL).Default(""),
		field.Text("cancel_url", &w.CancelURL).Is(field.HTTPSURL).Default(""),
		field.Refs("plans", &w.Plans).Default([]int64{}),
		field.Flag("is_active", &w.IsActive).Default(true).Worded("is_active_"),
	})
}

// A Form is what the history of a widget amounts to.
type Form struct {
	Status   OfferStatus  `json:"status"`
	WidgetID string       `json:"widget_id"`
	Spec     field.Values `json:"spec,omitempty"`
}

// Widgets is the behaviour of the streams "widget-<id>".
var Widgets = domain.Decider[Form, WidgetCommand, WidgetEvent]{
	Decide: func(f Form, c WidgetCommand) ([]WidgetEvent, error) { return c.decide(f) },
	Evolve: func(f Form, e WidgetEvent) Form { return e.evolve(f) },
}

type (
	// A WidgetCommand asks for a change of a widget.
	WidgetCommand interface {
		domain.Command
		decide(Form) ([]WidgetEvent, error)
	}
	// A WidgetEvent belongs to the stream of a widget.
	WidgetEvent interface {
		domain.Event
		evolve(Form) Form
	}
)

type (
	// MakeWidget makes an order form. WidgetID is its public name: 16 random
	// small letters and digits.
	MakeWidget struct {
		Widget   int64
		WidgetID string
		Spec     field.Values // of [Widget]
		At       time.Time
	}
	// ChangeWidget changes the values of an order form.
	ChangeWidget struct {
		Widget int64
		Spec   field.Values // only what changes
		At     time.Time
	}
	// ForgetPlan takes a plan that is no more out of a widget.
	ForgetPlan struct {
		Widget, Plan int64
		At           time.Time
	}
	// RemoveWidget removes an order form for good.
	RemoveWidget struct {
		Widget int64
		At     time.Time
	}
)

var widgetID = regexp.MustCompile(`^[a-z0-9]{16}$`)

// WidgetID makes the public name of a widget from sixteen random bytes.
func WidgetID(random [16]byte) string {
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	for i, b := range random {
		random[i] = letters[b%32]
	}
	return string(random[:])
}

func (c MakeWidget) decide(f Form) ([]WidgetEvent, error) {
	switch {
	case f.Status != "":
		return nil, domain.Refuse(domain.Conflict, "The widget exists.")
	case !widgetID.MatchString(c.WidgetID):
		return nil, fmt.Errorf("storefront: %q is no public name of a widget", c.WidgetID)
	}
	return []WidgetEvent{WidgetCreated{WidgetID: c.WidgetID, Spec: c.Spec, At: c.At}}, nil
}

func (c ChangeWidget) decide(f Form) ([]WidgetEvent, error) {
	if f.Status != OnOffer {
		return nil, absent("Widget")
	}
	changed := difference(f.Spec, merged(f.Spec, c.Spec))
	if len(changed) == 0 {
		return nil, nil
	}
	return []WidgetEvent{WidgetChanged{Spec: changed, At: c.At}}, nil
}

func (c ForgetPlan) decide(f Form) ([]WidgetEvent, error) {
	var w Widget
	if err := w.Fields().Load(f.Spec); err != nil {
		return nil, fmt.Errorf("read widget %d: %w", c.Widget, err)
	}
	if f.Status != OnOffer || !slices.Contains(w.Plans, c.Plan) {
		return nil, nil
	}
	w.Plans = slices.DeleteFunc(w.Plans, func(plan int64) bool { return plan == c.Plan })
	return []WidgetEvent{WidgetChanged{Spec: w.Fields().Only("plans").Values(), At: c.At}}, nil
}

func (c RemoveWidget) decide(f Form) ([]WidgetEvent, error) {
	if f.Status == "" {
		return nil, absent("Widget")
	}
	if f.Status == Withdrawn {
		return nil, nil
	}
	return []WidgetEvent{WidgetRemoved{At: c.At}}, nil
}

func widgetStream(id int64) domain.Stream {
	return domain.Stream{Category: WidgetCategory, ID: strconv.FormatInt(id, 10)}
}

func (c MakeWidget) Stream() domain.Stream   { return widgetStream(c.Widget) }
func (c ChangeWidget) Stream() domain.Stream { return widgetStream(c.Widget) }
func (c ForgetPlan) Stream() domain.Stream   { return widgetStream(c.Widget) }
func (c RemoveWidget) Stream() domain.Stream { return widgetStream(c.Widget) }
