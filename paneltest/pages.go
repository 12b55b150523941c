package paneltest

import (
	"regexp"
	"strings"
	"testing"
)

func (b *Browser) IsForEverybody(t *testing.T, language, text string) {
	t.Helper()
	problem := func(what string) { t.Helper(); t.Errorf("%s in %s: %s\n%s", b.Address, language, what, text) }
	if lang := Attribute(Elements(b.Page, "html")[0], "lang"); lang != language {
		problem("its language is " + lang)
	}
	if len(Elements(b.Page, "h1")) != 1 || len(Elements(b.Page, "main")) != 1 || TextOf(Elements(b.Page, "title")[0]) == "" {
		problem("no single heading, main part or title")
	}
	for _, script := range Elements(b.Page, "script") {
		if !strings.HasPrefix(Attribute(script, "src"), "/") || TextOf(script) != "" {
			problem("it has a script that is no file of ours")
		}
	}
	for _, forbidden := range []string{" style=", "<style", " on", "javascript:"} {
		if tag := regexp.MustCompile(`<[^>]*` + forbidden).FindString(text); tag != "" && (forbidden != " on" || regexp.MustCompile(` on\w+=`).MatchString(tag)) {
			problem("it has " + forbidden)
		}
	}
	ids, labels := map[string]int{}, map[string]string{}
	for d := range b.Page.Descendants() {
		if id := Attribute(d, "id"); id != "" {
			ids[id]++
		}
		if d.Data == "label" {
			labels[Attribute(d, "for")] = TextOf(d)
		}
	}
	for _, tag := range []string{"input", "select", "textarea"} {
		for _, in := range Elements(b.Page, tag) {
			if Attribute(in, "type") != "hidden" && !HasAttribute(in, "hidden") && labels[Attribute(in, "id")] == "" {
				problem(Attribute(in, "id") + " has no label")
			}
			for id := range strings.FieldsSeq(Attribute(in, "aria-describedby")) {
				if ids[id] != 1 {
					problem(id + " explains nothing")
				}
			}
			if Attribute(in, "type") == "password" && (Attribute(in, "autocomplete") == "" || Attribute(in, "value") != "") {
				problem("a password is not for password managers, or is shown")
			}
		}
	}
	for id, n := range ids {
		if n != 1 {
			problem("two things are called " + id)
		}
	}
	for _, a := range Elements(b.Page, "a") {
		if target, inside := strings.CutPrefix(Attribute(a, "href"), "#"); TextOf(a) == "" || inside && ids[target] != 1 {
			problem("a link leads nowhere or says nothing")
		}
	}
	for _, button := range Elements(b.Page, "button") {
		if TextOf(button) == "" {
			problem("a button says nothing")
		}
	}
	if strings.Contains(text, "no value") {
		problem("something is missing")
	}
}
