package http_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// Every page can be used by everybody: with a reader of the screen, with the
// keyboard alone, without scripts (WCAG 2.2 AA as far as a program can tell).
func TestPagesAreForEverybody(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	for i, language := range []string{"en", "es"} {
		id := int64(2*i + 1)
		s.Resident(t, id, language+paneltest.AnaMail, language, false)
		s.Resident(t, id+1, language+paneltest.RootMail, language, true)
		s.Organisation(t, id, "Tenant", id)
		nobody, user, super := s.Browser(t), s.Browser(t).Enter(language+paneltest.AnaMail),
			s.Browser(t).Enter(language+paneltest.RootMail)
		wish := []string{"Accept-Language", language}
		for path, b := range map[string]*paneltest.Browser{
			"/login/": nobody, "/password-reset/": nobody, "/set-password/": nobody,
			"/set-password/?token=" + s.Link(t, id): nobody,
			"/notifications/unsubscribe/gone/":      nobody, "/notifications/unsubscribe/" + s.Unsubscribe(id) + "/": nobody,
			order.JoinPath + "gone/": nobody, joins(t, s, id, language+paneltest.AnaMail): nobody,
			"/account/": user, "/account/?super": super, "/storefront/": super, "/storefront/keys/": super,
			"/storefront/?refused":     user,
			"/storefront/integration/": user, "/storefront/integration/?super": super,
		} {
			w := b.Get(path, wish...)
			b.IsForEverybody(t, language, w.Body.String())
			paneltest.Has(t, w.Header().Get("Content-Security-Policy"),
				"default-src 'none'; script-src 'self'; style-src 'self'", "form-action 'self'", "frame-ancestors 'none'")
		}
		super.Get("/storefront/keys/")
		super.IsForEverybody(t, language, super.Send("create", "rate_limit_per_minute", "0").Body.String())
		super.IsForEverybody(t, language, super.Send("create", "name", "x", "rate_limit_per_minute", "1", "password",
			paneltest.Password).Body.String())
		super.Get("/storefront/keys/")
		super.IsForEverybody(t, language, super.Get("/storefront/keys/").Body.String())
		nobody.Get("/password-reset/", wish...)
		path, sent := nobody.Fill("reset", "email", "x@example.com")
		nobody.IsForEverybody(t, language, nobody.Do("POST", path, sent.Encode(), wish...).Body.String())
	}
}

func TestRefusalsOfPagesAreTheirReadersPages(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "es", false)
	w := s.Browser(t).Enter(paneltest.AnaMail).Get("/storefront/")
	if w.Code != http.StatusForbidden {
		t.Fatalf("%d", w.Code)
	}
	paneltest.Has(t, w.Body.String(), `<html lang="es">`, "Esta página no es para usted",
		"No tiene permiso para hacer esto.", "/panel/style.css")
	w = s.Call("POST", "/login/", `{"username":"x"}`, "Accept-Language", "es")
	if w.Code != http.StatusUnsupportedMediaType {
		t.Fatalf("%d", w.Code)
	}
	paneltest.Has(t, w.Body.String(), "Eso no era un formulario")
	b := s.Browser(t)
	b.Get("/login/")
	if w := b.Do("POST", "/login/", strings.Repeat("x", 70_000)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", w.Code)
	}
}
