package hosting

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/web"
)

func somePages() *pages {
	return &New(Deps{Web: &web.Renderer{}, Callers: caller.New(caller.Deps{})}).pages
}

// answerOf is an answer of the kind, with all that it may show.
func (k pageKind) answerOf() field.Set {
	if r, is := k.blank().(*resource); is {
		return append((&hosted{resource: r}).Fields(), (&credentials{}).Fields()...)
	}
	return k.blank().Fields()
}

func TestEveryFieldOfAPageHasALabel(t *testing.T) {
	missing := map[string]bool{}
	for _, k := range somePages().all() {
		sent := k.blank().Fields()
		for _, f := range append(k.answerOf(), sent...) {
			own, isSent := sent.Named(f.Name)
			if slices.Contains(aside, f.Name) || f.Name == k.EngineID || f.Name == "credentials" ||
				k.isNameOf(f.Name) && f.IsReadOnly() || isSent && !k.answerOf().Has(f.Name) && own.IsReadOnly() {
				continue
			}
			for language, w := range web.Texts {
				label := labelOf(w, k, f.Name)
				if w[label] == "" {
					missing[language+" "+k.Name+" "+f.Name] = true
				}
				if isSent && len(k.questions(field.Set{own}, field.Create)) > 0 && own.About != "" &&
					w[strings.Replace(label, "label_", "note_", 1)] == "" {
					missing[language+" "+k.Name+" "+f.Name+" has no note: "+own.About] = true
				}
			}
		}
		for language := range web.Texts {
			if k.Nouns[language] == "" || k.Plurals[language] == "" {
				t.Errorf("a %s has no name in %s", k.Label, language)
			}
		}
	}
	for _, one := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no label: %s", one)
	}
}

// What a server has refused is said in the language of the reader.
func TestEveryReasonOfARefusalIsSaidInEveryLanguage(t *testing.T) {
	for _, sentence := range append(slices.Collect(maps.Values(syncErrors)), unexplained) {
		if web.Translated("es", sentence) == sentence {
			t.Errorf("not in Spanish: %s", sentence)
		}
	}
}

// Every state and every choice that is no technical term has a word.
func TestEveryStateHasAWord(t *testing.T) {
	for language, w := range web.Texts {
		for _, k := range somePages().all() {
			for _, f := range k.answerOf() {
				if f.Name != "sync_status" && f.Name != "status" {
					continue
				}
				for _, state := range f.OneOf {
					if w["state_"+state] == "" || stateClasses[state] == "" {
						t.Errorf("%s: %s has no word or no color in %s", k.Label, state, language)
					}
				}
			}
		}
	}
}

// Paths of pages are those of the API, so that no two kinds share one.
func TestNoTwoKindsShareAPage(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range somePages().all() {
		if path := k.Page(0); seen[path] || !strings.HasPrefix(path, hosting.PanelPath) {
			t.Errorf("%s: %s", k.Label, path)
		}
		seen[k.Page(0)] = true
	}
}
