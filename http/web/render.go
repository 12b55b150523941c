// Package web renders the pages for people, with their forms and texts.
package web

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// Pages work without scripts. Their words are in domain/texts, in files that end
// in "pages" (offerpages.en.json), in the languages of the panel.

//go:embed *.html
var pageFiles embed.FS

//go:embed style.css
var Style []byte

// CopyScript gives texts of a page a button that copies them.
//
//go:embed copy.js
var CopyScript []byte

// Live keeps parts of a page up to date, without being needed for any of them.
//
//go:embed live.js
var Live []byte

// Console shows the screen of a virtual server.
//
//go:embed console.js
var Console []byte

const noticeCookie = "notice" // what a page says after a form was carried out

// pages are read when the first of them is shown: commands show none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").ParseFS(pageFiles, "*.html"))
})

// A Renderer shows pages to people, in their language.
type Renderer struct {
	Callers *caller.Callers
	AsOf    time.Time // the moment that a view of the past shows; zero: the present
}

// Page shows one of the pages in web/ in a language, without a user.
func Page(status int, name, language string, data map[string]any) (*route.Document, error) {
	shown := map[string]any{
		"Words": Texts[language], "Language": language, "Style": StylePath, "Live": "", "Failed": status >= http.StatusBadRequest,
		"Visit": nil, "Notice": "", "Wide": false, "FormToken": "", "Every": 0, "Brand": (*brand)(nil), "AsOf": "", "MayChoose": "",
	}
	maps.Copy(shown, data)
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name, shown); err != nil {
		return nil, fmt.Errorf("show the page %s: %w", name, err)
	}
	return &route.Document{Status: status, Type: "text/html; charset=utf-8", Body: b.Bytes(), Header: http.Header{}}, nil
}

// Sheet shows one of the pages in web/ to a signed-in user, in their language,
// with what was just done. The title is one of the texts.
func (s *Renderer) Sheet(c route.Call, status int, name, title string, data map[string]any) (*route.Document, error) {
	v, language := caller.VisitOf(c), Readers(c)
	data["FormToken"] = s.Callers.Token(v.ID)
	if data["Title"] == nil {
		data["Title"] = Texts[language][title]
	}
	notice, noted := s.notice(c)
	if noted && status < http.StatusBadRequest {
		data["Notice"] = Texts[language]["done_"+notice]
	}
	if v.IsSignedIn() {
		data["Visit"], data["Live"] = s.bearings(c), LivePath
	}
	look := brandOf(c)
	data["Brand"], data["AsOf"] = look, s.banner(language)
	d, err := Page(status, name, language, data)
	if err != nil {
		return nil, err
	}
	if look != nil {
		d.Images = look.images()
	}
	if v.IsNew {
		Giving(d, s.Callers.Cookie(caller.SessionCookie, v.ID, 0))
	}
	if noted {
		Giving(d, s.Callers.Cookie(noticeCookie, "", -1))
	}
	return d, nil
}

// banner tells which moment a view of the past shows; "": this is the present.
func (s *Renderer) banner(language string) string {
	if s.AsOf.IsZero() {
		return ""
	}
	w := Texts[language]
	return strings.Replace(w["as_of"], "{moment}", w.Instant(s.AsOf).Text, 1)
}

// notice is what the form before has brought along to say.
func (s *Renderer) notice(c route.Call) (string, bool) {
	cookie, err := (&http.Request{Header: c.Header}).Cookie(s.Callers.CookieName(noticeCookie))
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}

// RefusalPage tells people what they were refused.
func (s *Renderer) RefusalPage(c route.Call, status int, detail string) *route.Document {
	language := Readers(c)
	data := map[string]any{
		"Title":  cmp.Or(Texts[language][fmt.Sprintf("status_%d", status)], http.StatusText(status)),
		"Detail": strings.Join(translated(language, []string{detail}), " "), "Visit": nil,
	}
	if v := caller.VisitOf(c); v.IsSignedIn() {
		data["Visit"], data["FormToken"] = s.bearings(c), s.Callers.Token(v.ID)
	}
	look := brandOf(c)
	data["Brand"], data["AsOf"] = look, s.banner(language)
	d, err := Page(status, "refusal", language, data)
	if err != nil {
		return &route.Document{Status: status, Type: "text/plain; charset=utf-8", Body: []byte(detail)}
	}
	if look != nil {
		d.Images = look.images()
	}
	return d
}
