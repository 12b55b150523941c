package http_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	panel "hostpanel/http"
)

func TestBothLanguagesSayTheSame(t *testing.T) {
	en, es := panel.Texts("en"), panel.Texts("es")
	if a, b := slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(es)); !slices.Equal(a, b) {
		t.Fatalf("%v\n%v", a, b)
	}
	for key := range en {
		if en[key] == "" || es[key] == "" {
			t.Errorf("%s says nothing", key)
		}
	}
	for name, page := range panel.Templates() {
		for _, used := range regexp.MustCompile(`Words\.(\w+)`).FindAllStringSubmatch(page, -1) {
			if en[used[1]] == "" {
				t.Errorf("%s says %s, which nobody has written", name, used[1])
			}
		}
	}
}

func TestPagesSayWhatTheAPISaysInSpanish(t *testing.T) {
	for english, spanish := range map[string]string{
		"Ensure this field has no more than 200 characters.":                 "No puede tener más de 200 caracteres.",
		`"a \"b\" 7" is not a valid choice.`:                                 `"a \"b\" 7" is not a valid choice.`,
		`"free" is not a valid choice.`:                                      `"free" no es una opción válida.`,
		"Request was throttled. Expected available in 60 seconds.":           "Demasiados intentos. Podrá volver a intentarlo dentro de 60 segundos.",
		"What nobody has translated stays as it is.":                         "What nobody has translated stays as it is.",
		"This password is too short. It must contain at least 8 characters.": "La contraseña es demasiado corta. Debe tener al menos 8 caracteres.",
	} {
		if got := panel.Translated("es", english); got != spanish {
			t.Errorf("%s: %s", english, got)
		}
	}
	for _, weak := range []string{"", strings.Repeat("x", 129), "password", "12345678901", "ana-ana-ana"} {
		err := panel.CheckPassword(weak, "ana-ana@example.com")
		if err == nil || strings.Contains(panel.Translated("es", strings.TrimPrefix(err.Error(), "password: ")), "his password") && !strings.Contains(err.Error(), ". ") {
			t.Errorf("%q: %v", weak, err)
		}
	}
}

// Every page can be used by everybody: with a reader of the screen, with the
// keyboard alone, without scripts (WCAG 2.2 AA as far as a program can tell).
func TestPagesAreForEverybody(t *testing.T) {
	s := openShop(t)
	for i, language := range []string{"en", "es"} {
		id := int64(2*i + 1)
		s.resident(t, id, language+anaMail, language, false)
		s.resident(t, id+1, language+rootMail, language, true)
		s.organisation(t, id, "Tenant", id)
		nobody, user, super := s.browser(t), s.browser(t).enter(language+anaMail), s.browser(t).enter(language+rootMail)
		wish := []string{"Accept-Language", language}
		for path, b := range map[string]*browser{
			"/login/": nobody, "/password-reset/": nobody, "/set-password/": nobody,
			"/set-password/?token=" + s.link(t, id): nobody,
			"/notifications/unsubscribe/gone/":      nobody, "/notifications/unsubscribe/" + s.unsubscribe(id) + "/": nobody,
			"/account/": user, "/account/?super": super, "/storefront/": super, "/storefront/?refused": user,
		} {
			w := b.get(path, wish...)
			b.isForEverybody(t, language, w.Body.String())
			has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'", "form-action 'self'", "frame-ancestors 'none'")
		}
		super.get("/storefront/")
		super.isForEverybody(t, language, super.send("create", "rate_limit_per_minute", "0").Body.String())
		super.isForEverybody(t, language, super.send("create", "name", "x", "rate_limit_per_minute", "1", "password", password).Body.String())
		super.get("/storefront/")
		super.isForEverybody(t, language, super.get("/storefront/").Body.String())
		nobody.get("/password-reset/", wish...)
		path, sent := nobody.fill("reset", "email", "x@example.com")
		nobody.isForEverybody(t, language, nobody.do("POST", path, sent.Encode(), wish...).Body.String())
	}
}

func (b *browser) isForEverybody(t *testing.T, language, text string) {
	t.Helper()
	problem := func(what string) { t.Helper(); t.Errorf("%s in %s: %s\n%s", b.at, language, what, text) }
	if lang := attribute(elements(b.page, "html")[0], "lang"); lang != language {
		problem("its language is " + lang)
	}
	if len(elements(b.page, "h1")) != 1 || len(elements(b.page, "main")) != 1 || textOf(elements(b.page, "title")[0]) == "" {
		problem("no single heading, main part or title")
	}
	for _, forbidden := range []string{"<script", " style=", "<style", " on", "javascript:"} {
		if tag := regexp.MustCompile(`<[^>]*` + forbidden).FindString(text); tag != "" && (forbidden != " on" || regexp.MustCompile(` on\w+=`).MatchString(tag)) {
			problem("it has " + forbidden)
		}
	}
	ids, labels := map[string]int{}, map[string]string{}
	for d := range b.page.Descendants() {
		if id := attribute(d, "id"); id != "" {
			ids[id]++
		}
		if d.Data == "label" {
			labels[attribute(d, "for")] = textOf(d)
		}
	}
	for _, tag := range []string{"input", "select", "textarea"} {
		for _, in := range elements(b.page, tag) {
			if attribute(in, "type") != "hidden" && !hasAttribute(in, "hidden") && labels[attribute(in, "id")] == "" {
				problem(attribute(in, "id") + " has no label")
			}
			for id := range strings.FieldsSeq(attribute(in, "aria-describedby")) {
				if ids[id] != 1 {
					problem(id + " explains nothing")
				}
			}
			if attribute(in, "type") == "password" && (attribute(in, "autocomplete") == "" || attribute(in, "value") != "") {
				problem("a password is not for password managers, or is shown")
			}
		}
	}
	for id, n := range ids {
		if n != 1 {
			problem("two things are called " + id)
		}
	}
	for _, a := range elements(b.page, "a") {
		if target, inside := strings.CutPrefix(attribute(a, "href"), "#"); textOf(a) == "" || inside && ids[target] != 1 {
			problem("a link leads nowhere or says nothing")
		}
	}
	for _, button := range elements(b.page, "button") {
		if textOf(button) == "" {
			problem("a button says nothing")
		}
	}
	if strings.Contains(text, "no value") {
		problem("something is missing")
	}
}

func TestRefusalsOfPagesAreTheirReadersPages(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, anaMail, "es", false)
	w := s.browser(t).enter(anaMail).get("/storefront/")
	if w.Code != http.StatusForbidden {
		t.Fatalf("%d", w.Code)
	}
	has(t, w.Body.String(), `<html lang="es">`, "Esta página no es para usted", "No tiene permiso para hacer esto.", "/panel/style.css")
	w = s.call("POST", "/login/", `{"username":"x"}`, "Accept-Language", "es")
	if w.Code != http.StatusUnsupportedMediaType {
		t.Fatalf("%d", w.Code)
	}
	has(t, w.Body.String(), "Eso no era un formulario")
	b := s.browser(t)
	b.get("/login/")
	if w := b.do("POST", "/login/", strings.Repeat("x", 70_000)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", w.Code)
	}
}
