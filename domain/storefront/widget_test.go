package storefront_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
)

func ExampleWidget() {
	var w storefront.Widget
	_, err := w.Fields().DecodeJSON([]byte(`{"name":"Tienda","plans":[1,2]}`), field.Create)
	shown, _ := json.MarshalIndent(w.Fields(), "", "  ")
	fmt.Println(string(shown), err)
	// Output:
	// {
	//   "name": "Tienda",
	//   "theme": "auto",
	//   "layout": "cards",
	//   "primary_color": "#4F46E5",
	//   "accent_color": "#10B981",
	//   "border_radius": 12,
	//   "show_features": true,
	//   "cta_text": "Contratar",
	//   "cta_text_en": "",
	//   "cta_text_es": "",
	//   "show_hosting": true,
	//   "show_vps": true,
	//   "require_phone": false,
	//   "require_company": false,
	//   "language": "es",
	//   "success_url": "",
	//   "cancel_url": "",
	//   "plans": [
	//     1,
	//     2
	//   ],
	//   "is_active": true
	// } <nil>
}

var (
	makeWidget = storefront.MakeWidget{Widget: 3, WidgetID: "abcdefghij012345", Spec: values(`{"name":"Tienda","theme":"auto"}`), At: noon}
	widgetMade = storefront.WidgetCreated{WidgetID: "abcdefghij012345", Spec: makeWidget.Spec, At: noon}
	widgetGone = storefront.WidgetRemoved{At: noon}
)

func givenWidget(
	t *testing.T, history ...storefront.WidgetEvent,
) *domaintest.Story[storefront.Form, storefront.WidgetCommand, storefront.WidgetEvent] {
	return domaintest.Given(t, storefront.Widgets, history)
}

func TestAWidgetIsMadeChangedAndRemoved(t *testing.T) {
	givenWidget(t).When(makeWidget).Then(widgetMade)
	givenWidget(t, widgetMade).When(makeWidget).ThenRefused(domain.Conflict, "The widget exists.")
	givenWidget(t, widgetMade).When(storefront.ChangeWidget{Widget: 3, Spec: values(`{"theme":"dark","name":"Tienda"}`), At: noon}).
		Then(storefront.WidgetChanged{Spec: values(`{"theme":"dark"}`), At: noon})
	givenWidget(t, widgetMade).When(storefront.ChangeWidget{Widget: 3, Spec: values(`{"theme":"auto"}`), At: noon}).Then()
	givenWidget(t, widgetMade).When(storefront.RemoveWidget{Widget: 3, At: noon}).Then(widgetGone)
	givenWidget(t, widgetMade, widgetGone).When(storefront.RemoveWidget{Widget: 3, At: noon}).Then()
	for _, c := range []storefront.WidgetCommand{storefront.ChangeWidget{Widget: 3}, storefront.RemoveWidget{Widget: 3}} {
		givenWidget(t).When(c).ThenRefused(domain.NotFound, "No Widget matches the given query.")
	}
	givenWidget(t, widgetMade, widgetGone).When(storefront.ChangeWidget{Widget: 3}).ThenRefused(
		domain.NotFound, "No Widget matches the given query.",
	)
}

func TestAWidgetForgetsAPlanThatIsNoMore(t *testing.T) {
	made := storefront.WidgetCreated{WidgetID: "abcdefghij012345", Spec: values(`{"name":"Tienda","plans":[3,1,2]}`), At: noon}
	forget := storefront.ForgetPlan{Widget: 3, Plan: 1, At: noon}
	givenWidget(t, made).When(forget).Then(storefront.WidgetChanged{Spec: values(`{"plans":[3,2]}`), At: noon})
	givenWidget(t, made, storefront.WidgetChanged{Spec: values(`{"plans":[3,2]}`)}).When(forget).Then()
	givenWidget(t, made, widgetGone).When(forget).Then()
	givenWidget(t).When(forget).Then()
}

func TestAWidgetsPublicNameIsSixteenLetters(t *testing.T) {
	for b := range 256 {
		var random [16]byte
		for i := range random {
			random[i] = byte(b + i)
		}
		c := makeWidget
		c.WidgetID = storefront.WidgetID(random)
		if facts, err := storefront.Widgets.Decide(storefront.Form{}, c); err != nil || len(facts) != 1 {
			t.Fatalf("%s: %v", c.WidgetID, err)
		}
	}
	for _, wrong := range []string{"", "abc", "ABCDEFGHIJ012345", "abcdefghij01234-", strings.Repeat("a", 17)} {
		c := makeWidget
		c.WidgetID = wrong
		if facts, err := storefront.Widgets.Decide(storefront.Form{}, c); err == nil {
			t.Errorf("%q makes %v", wrong, facts)
		}
	}
}
