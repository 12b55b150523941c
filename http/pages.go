package http

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"strings"

	"hostpanel/http/route"
)

// Pages work without scripts. What they say stands in texts.go, in the
// languages of the panel.

//go:embed web/*.html
var pageFiles embed.FS

//go:embed web/style.css
var style []byte

const stylePath = "/panel/style.css"

var pages = template.Must(template.New("pages").ParseFS(pageFiles, "web/*.html"))

// files are what pages need besides themselves.
func (s *Server) files() route.Area {
	sum := sha256.Sum256(style)
	tag := hex.EncodeToString(sum[:8])
	return route.Area{
		Name: "Pages", Access: route.Open,
		About: "What the pages for people consist of.",
		Routes: []route.Route{
			route.File(stylePath, "The style of the pages", func(context.Context, route.Call) (*route.Document, error) {
				return &route.Document{Type: "text/css; charset=utf-8", Body: style, ETag: tag, Cache: "public, max-age=300"}, nil
			}).As("style"),
			s.sheetFile(),
		},
	}
}

// page shows one of the pages in web/ in a language, to nobody in particular.
func page(status int, name, language string, data map[string]any) (*route.Document, error) {
	shown := map[string]any{
		"Words": texts[language], "Language": language, "Style": stylePath, "Failed": status >= http.StatusBadRequest,
		"Visit": nil, "Notice": "", "Wide": false,
	}
	maps.Copy(shown, data)
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, shown); err != nil {
		return nil, fmt.Errorf("show the page %s: %w", name, err)
	}
	return &route.Document{Status: status, Type: "text/html; charset=utf-8", Body: b.Bytes(), Header: http.Header{}}, nil
}

// sheet shows one of the pages in web/ to whoever has signed in, in their
// language, with what was just done. The title is one of the texts.
func (s *Server) sheet(c route.Call, status int, name, title string, data map[string]any) (*route.Document, error) {
	v, language := visitOf(c), readers(c)
	data["Title"] = texts[language][title]
	notice, noted := s.notice(c)
	if noted && status < http.StatusBadRequest {
		data["Notice"] = texts[language]["done_"+notice]
	}
	if v.isSignedIn() {
		data["Visit"] = s.bearings(c)
	}
	d, err := page(status, name, language, data)
	if err != nil {
		return nil, err
	}
	if v.isNew {
		giving(d, s.cookie(sessionCookie, v.id, 0))
	}
	if noted {
		giving(d, s.cookie(noticeCookie, "", -1))
	}
	return d, nil
}

// notice is what the form before has brought along to say.
func (s *Server) notice(c route.Call) (string, bool) {
	cookie, err := (&http.Request{Header: c.Header}).Cookie(s.cookieName(noticeCookie))
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}

// Bearings tell people who they are and where they may go.
type bearings struct {
	User, Home string
	Leave      form
	Ways       []way
}

// A way leads to a page. One may be there already.
type way struct {
	Path, Text string
	IsHere     bool
}

func (s *Server) bearings(c route.Call) bearings {
	v, w := visitOf(c), texts[readers(c)]
	b := bearings{User: v.who.Email, Home: homeOf(v.who.User), Leave: s.fill(c, form{Name: "sign_out", Action: logoutPath}, nil)}
	for _, page := range []struct {
		path, text string
		isOpen     bool
	}{
		{storefrontPath, "keys_title", v.who.IsSuperuser},
		{accountPath, "account_title", true},
	} {
		if page.isOpen {
			b.Ways = append(b.Ways, way{page.path, w[page.text], c.Path == page.path})
		}
	}
	return b
}

// readers is the language of whoever looks at a page.
func readers(c route.Call) string {
	if v := visitOf(c); v.isSignedIn() {
		return spoken(v.who.Language)
	}
	return preferred(c.Header)
}

// refusalPage tells people what they were refused.
func (s *Server) refusalPage(c route.Call, status int, detail string) *route.Document {
	language := readers(c)
	data := map[string]any{
		"Title":  cmp.Or(texts[language][fmt.Sprintf("status_%d", status)], http.StatusText(status)),
		"Detail": strings.Join(translated(language, []string{detail}), " "), "Visit": nil,
	}
	if v := visitOf(c); v.isSignedIn() {
		data["Visit"] = s.bearings(c)
	}
	d, err := page(status, "refusal", language, data)
	if err != nil {
		return &route.Document{Status: status, Type: "text/plain; charset=utf-8", Body: []byte(detail)}
	}
	return d
}

// spoken is the language of the panel for somebody who speaks the given one.
func spoken(language string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(language)), "-")
	if _, known := texts[primary]; known {
		return primary
	}
	return english
}

// preferred is the language of the panel that a browser's user likes best.
// Browsers put it first.
func preferred(header http.Header) string {
	for wish := range strings.SplitSeq(header.Get("Accept-Language"), ",") {
		language, _, _ := strings.Cut(wish, ";")
		if spoken(language) != english || strings.HasPrefix(strings.TrimSpace(language), english) {
			return spoken(language)
		}
	}
	return english
}
