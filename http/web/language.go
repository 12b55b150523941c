package web

import (
	"net/http"
	"strings"

	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// Readers is the language of the reader of a page.
func Readers(c route.Call) string {
	if v := caller.VisitOf(c); v.IsSignedIn() {
		return Spoken(v.Who.Language)
	}
	return preferred(c.Header)
}

// Spoken is the language of the panel for a reader of the given one.
func Spoken(language string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(language)), "-")
	if _, known := Texts[primary]; known {
		return primary
	}
	return English
}

// preferred is the language of the panel that a browser's user likes best.
// Browsers put it first.
func preferred(header http.Header) string {
	for wish := range strings.SplitSeq(header.Get("Accept-Language"), ",") {
		language, _, _ := strings.Cut(wish, ";")
		if Spoken(language) != English || strings.HasPrefix(strings.TrimSpace(language), English) {
			return Spoken(language)
		}
	}
	return English
}
