package operations_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// The page says of each setting what is in force, and of a secret whether it is set.
func TestAnOperatorSeesTheSettingsInForceInTheBrowser(t *testing.T) {
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	const page = "/storefront/settings/"
	for language, c := range map[string]struct{ mail, set, unset, given, empty string }{
		"en": {paneltest.OpMail, "set", "not set", "given", "empty"},
		"es": {"es" + paneltest.OpMail, "puesto", "sin poner", "indicado", "vacío"},
	} {
		b := s.Browser(t).Enter(c.mail)
		text := b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		for name, shown := range map[string][2]string{
			"DATABASE_URL": {c.unset, "secret"}, "HOSTPANEL_SECRET_KEY": {c.set, "secret"},
			"HOSTPANEL_LISTEN":   {"def", "127.0.0.1:8080"},
			"HOSTPANEL_CURRENCY": {c.given, "CHF"}, "HOSTPANEL_TRUSTED_PROXIES": {"def", c.empty},
		} {
			_, card, has := strings.Cut(text, "<code>"+name+"</code>")
			card, _, _ = strings.Cut(card, "</li>")
			if !has || !strings.Contains(card, `">`+shown[0]) && shown[0] != "def" || !strings.Contains(card, shown[1]) {
				t.Errorf("%s in %s: %s", name, language, card)
			}
		}
	}
	if w := s.Visiting(t, paneltest.Ana).Get(page); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}
