package orders_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

func TestTheGuideTakesAKeyThatItsReaderHas(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 5, paneltest.RootMail, "es", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get(paneltest.GuidePath + "?widget=strictstrict0000&lang=en")
	paneltest.Refused(t, b.Twin().Send("use_key", "key", s.Known["mistyped"]), http.StatusBadRequest,
		"Esta clave no está completa.")
	w := b.Send("use_key", "key", " "+s.Known["live"]+"\n")
	if w.Code != http.StatusOK || b.ShownKey() != s.Known["live"] {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	paneltest.Has(t, b.Snippet(), `data-widget-id="strictstrict0000" data-lang="en"`, s.Known["live"])
	order := b.Samples("python")[2]
	paneltest.Has(t, order, `"customer_phone": "`, `"customer_company": "`, `"plan_id": 1`)
	if strings.Contains(s.Logged.String(), s.Known["live"]) {
		t.Error("the key is in the log")
	}
}

// Users without the rights of operators have a placeholder, and see order forms whose
// numbers they know, as visitors of websites do.
func TestTheGuideIsForEveryUser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 5, paneltest.AnaMail, "en", false)
	paneltest.Goes(t, s.Browser(t).Get(paneltest.GuidePath), "/login/?next=%2Fstorefront%2Fintegration%2F")
	b := s.Browser(t).Enter(paneltest.AnaMail)
	text := b.Get(paneltest.GuidePath).Body.String()
	paneltest.Has(t, text, "YOUR_API_KEY", "YOUR_WIDGET_ID", "Choose an order form above")
	if strings.Contains(text, "allplansallplans") || strings.Contains(text, `name="form" value="create"`) {
		t.Error("a user sees the operators' order forms, or may make a key")
	}
	paneltest.Has(t, b.Get(paneltest.GuidePath+"?widget=allplansallplans").Body.String(),
		`data-preview="/storefront/preview/allplansallplans/"`, "https://shop.example/thanks?from=panel")
	for _, unknown := range []string{"inactiveinactive", "nobodyhasmadethi", "%3Cscript%3E", "x%00"} {
		w := b.Get(paneltest.GuidePath + "?widget=" + unknown)
		if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), "There is no active order form with this number.") ||
			w.Code >= http.StatusInternalServerError {
			t.Errorf("%s: %d %s", unknown, w.Code, w.Body)
		}
	}
	if w := b.Do("POST", paneltest.GuidePath, "form=create"); w.Code != http.StatusForbidden {
		t.Errorf("a user makes a key: %d", w.Code)
	}
}
