package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// The page says of each setting what is in force, and of a secret whether it is set.
func TestAnOperatorSeesTheSettingsInForceInTheBrowser(t *testing.T) {
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	const page = "/storefront/settings/"
	for language, c := range map[string]struct{ mail, set, unset, given, empty string }{
		"en": {opMail, "set", "not set", "given", "empty"}, "es": {"es" + opMail, "puesto", "sin poner", "indicado", "vacío"},
	} {
		b := s.browser(t).enter(c.mail)
		text := b.get(page).Body.String()
		b.isForEverybody(t, language, text)
		for name, shown := range map[string][2]string{
			"DATABASE_URL": {c.unset, "secret"}, "HOSTPANEL_SECRET_KEY": {c.set, "secret"}, "HOSTPANEL_LISTEN": {"def", "127.0.0.1:8080"},
			"HOSTPANEL_CURRENCY": {c.given, "CHF"}, "HOSTPANEL_TRUSTED_PROXIES": {"def", c.empty},
		} {
			_, card, has := strings.Cut(text, "<code>"+name+"</code>")
			card, _, _ = strings.Cut(card, "</li>")
			if !has || !strings.Contains(card, `">`+shown[0]) && shown[0] != "def" || !strings.Contains(card, shown[1]) {
				t.Errorf("%s in %s: %s", name, language, card)
			}
		}
	}
	if w := s.visiting(t, ana).get(page); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}
