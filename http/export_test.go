package http

import (
	"maps"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
)

// Texts are all texts of the pages in a language.
func Texts(language string) map[string]string { return maps.Clone(texts[language]) }

// Translated is one message of the API in a language.
func Translated(language, message string) string {
	return strings.Join(translated(language, []string{message}), " ")
}

// Templates are the pages as they are written, by file.
func Templates() map[string]string {
	all := map[string]string{}
	files, err := pageFiles.ReadDir("web")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := pageFiles.ReadFile("web/" + f.Name())
		if err != nil {
			panic(err)
		}
		all[f.Name()] = string(text)
	}
	return all
}

// Rules are the access rules for those who have signed in, by their names.
func (s *Server) Rules() map[string]route.Access {
	all := map[string]route.Access{}
	for _, a := range []route.Access{s.user(), s.writing(), s.tenantAdmin(), s.superuser()} {
		all[a.Rule] = a
	}
	return all
}

// Timeline are the sentences of a timeline.
func Timeline(d operations.Dossier, says func(domain.Event) string) (texts []string) {
	for _, h := range timeline(d, says) {
		texts = append(texts, h.text)
	}
	return texts
}
