package http_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"hostpanel/domain/order"
)

// Every page can be used by everybody: with a reader of the screen, with the
// keyboard alone, without scripts (WCAG 2.2 AA as far as a program can tell).
func TestPagesAreForEverybody(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
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
			order.JoinPath + "gone/": nobody, s.joins(t, id, language+anaMail): nobody,
			"/account/": user, "/account/?super": super, "/storefront/": super, "/storefront/keys/": super, "/storefront/?refused": user,
			"/storefront/integration/": user, "/storefront/integration/?super": super,
		} {
			w := b.get(path, wish...)
			b.isForEverybody(t, language, w.Body.String())
			has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'", "form-action 'self'", "frame-ancestors 'none'")
		}
		super.get("/storefront/keys/")
		super.isForEverybody(t, language, super.send("create", "rate_limit_per_minute", "0").Body.String())
		super.isForEverybody(t, language, super.send("create", "name", "x", "rate_limit_per_minute", "1", "password", password).Body.String())
		super.get("/storefront/keys/")
		super.isForEverybody(t, language, super.get("/storefront/keys/").Body.String())
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
	for _, script := range elements(b.page, "script") {
		if !strings.HasPrefix(attribute(script, "src"), "/") || textOf(script) != "" {
			problem("it has a script that is no file of ours")
		}
	}
	for _, forbidden := range []string{" style=", "<style", " on", "javascript:"} {
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
	t.Parallel()
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
