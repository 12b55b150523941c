package http_test

import (
	"bytes"
	"net/http"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// What names no language is in that of the installation. An order through a widget is
// in the widget's, unless the customer's site asks for another.
func TestTheDefaultLanguageIsASetting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ setting, want string }{{"", "es"}, {"en", "en"}} {
		t.Run(test.setting, func(t *testing.T) {
			s := paneltest.Office(t, func(s *paneltest.Shop) { s.Server.Settings.Language = test.setting })
			s.Do(t, storefront.ChangeWidget{Widget: 1, Spec: field.Values{"language": []byte(`"pt"`)}})
			for path, body := range map[string]string{
				paneltest.Operations + "users/":   `{"email":"new@example.com"}`,
				paneltest.Operations + "widgets/": `{"name":"New"}`,
				"/hosting/api/rest/tenants/":      `{"name":"New","email":"new@example.com"}`,
			} {
				var made struct{ Language string }
				paneltest.Decode(t, s.Call("POST", path, body, paneltest.Bearer(s.Known["root"])...), http.StatusCreated, &made)
				if made.Language != test.want {
					t.Errorf("%s: %q", path, made.Language)
				}
			}
			const form = `{"plan_id":2,"customer_email":"ana@example.com","customer_name":"Ana","payment_method":"test"`
			for body, want := range map[string]string{
				form + `}`: test.want,
				form + `,"widget_id":"allplansallplans"}`:                 "pt",
				form + `,"widget_id":"allplansallplans","language":"de"}`: "de",
			} {
				placed := paneltest.Read(t, s.Order(t, http.StatusCreated, body))
				o, err := s.For(projections.System).Orders().OrderByNumber(t.Context(), placed.Number)
				if err != nil || o.Language != want {
					t.Errorf("%s: %q, %v", body, o.Language, err)
				}
			}
			if !bytes.Contains(s.Server.Document(), []byte(`"default":"`+test.want+`","description":"That of the widget`)) {
				t.Error("the API document has another default")
			}
		})
	}
}
