package hosting_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/field"
	kinds "hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/hosting"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// A recordPage is a kind with pages, with the fields of its answers and of its requests.
type recordPage struct {
	kinds.Kind
	shown, sent field.Set
}

func recordPages() (all []recordPage) {
	routes := map[string]route.Route{}
	for _, r := range hosting.New(hosting.Deps{Web: &web.Renderer{}, Callers: caller.New(caller.Deps{})}).Routes().Routes {
		routes[r.Name] = r
	}
	for _, k := range hosting.PageKinds() {
		name := k.Name
		if k.Owner {
			name = "tenant" // sub-tenants are tenants in the API
		}
		writes, has := routes[name+"_create"]
		if !has { // orders make them
			writes = routes[name+"_change"]
		}
		all = append(all, recordPage{k, routes[name+"_read"].Answer.Fields(), writes.Request.Fields()})
	}
	return all
}

// asks tells whether the form for a new record asks for a field. Whose a record is follows from
// the tenant for which the user acts.
func (p recordPage) asks(f field.Field) bool {
	return web.IsAsked(f, field.Create) && p.sent.Has(f.Name) && f.Name != "tenant" && f.Name != "parent" &&
		(!p.Owner || slices.Contains(kinds.OfSubTenant, f.Name))
}

// named are all fields that a page of the kind names: those that it shows, those that its forms
// ask for, and what is shown only once.
func (p recordPage) named() (set field.Set) {
	for _, f := range p.shown {
		within, isRecord := f.Schema(field.Shown)["properties"].(map[string]any)
		for name := range within {
			set = append(set, field.Text(name, new(string)).ReadOnly())
		}
		if !isRecord && !p.IsOffPage(f.Name) {
			set = append(set, f)
		}
	}
	for _, f := range p.sent {
		if p.asks(f) {
			set = append(set, f)
		}
	}
	return set
}

func TestEveryFieldOfAPageHasALabel(t *testing.T) {
	missing := map[string]bool{}
	for _, p := range recordPages() {
		for _, f := range p.named() {
			for language, w := range web.Texts {
				if w.FieldLabel(p.Name, f.Name) == "" {
					missing[language+" "+p.Name+" "+f.Name] = true
				}
				if p.asks(f) && f.About != "" && w["note_"+w.FieldKey(p.Name, f.Name)] == "" {
					missing[language+" "+p.Name+" "+f.Name+" has no note: "+f.About] = true
				}
			}
		}
		for language := range web.Texts {
			if p.Nouns[language] == "" || p.Plurals[language] == "" {
				t.Errorf("a %s has no name in %s", p.Label, language)
			}
		}
	}
	for _, one := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no label: %s", one)
	}
}

// What a server has refused is said in the language of the reader.
func TestEveryReasonOfARefusalIsSaidInEveryLanguage(t *testing.T) {
	for _, sentence := range append(slices.Collect(maps.Values(kinds.SyncErrors)), kinds.Unexplained) {
		if web.Translated("es", sentence) == sentence {
			t.Errorf("not in Spanish: %s", sentence)
		}
	}
}

// Every state and every choice that is no technical term has a word.
func TestEveryStateHasAWord(t *testing.T) {
	for language, w := range web.Texts {
		for _, p := range recordPages() {
			for _, f := range p.shown {
				if f.Name != "sync_status" && f.Name != "status" {
					continue
				}
				for _, state := range f.OneOf {
					if look := w.RecordState(state); look.Text == "" || look.Class == "" {
						t.Errorf("%s: %s has no word or no color in %s", p.Label, state, language)
					}
				}
			}
		}
	}
}

// Paths of pages are those of the API, so that no two kinds share one.
func TestNoTwoKindsShareAPage(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range hosting.PageKinds() {
		if path := k.Page(0); seen[path] || !strings.HasPrefix(path, kinds.PanelPath) {
			t.Errorf("%s: %s", k.Label, path)
		}
		seen[k.Page(0)] = true
	}
}

// A number without a default is decided when the record is made. A form that begins with 0
// asks for that, or cannot be sent because 0 is out of its bounds.
func TestAFormForANewRecordLeavesNumbersToThePanel(t *testing.T) {
	t.Parallel()
	numbers := 0
	for _, p := range recordPages() {
		for _, f := range p.sent {
			in := web.RecordInput(f, field.Create)
			if in.Type != "number" || !p.asks(f) || f.HasDefault() {
				continue
			}
			if numbers++; in.Value != "" {
				t.Errorf("%s: %s begins with %q, and is made otherwise when it is left out", p.Name, f.Name, in.Value)
			}
		}
	}
	if numbers == 0 {
		t.Error("no form asks for a number")
	}
}
