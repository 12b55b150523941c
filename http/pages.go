package http

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"hostpanel/domain/field"
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
		},
	}
}

// page shows one of the pages in web/ in the reader's language.
func page(status int, name, language string, data map[string]any) (*route.Document, error) {
	words := texts[language]
	data["Words"], data["Language"], data["Style"] = words, language, stylePath
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("show the page %s: %w", name, err)
	}
	return &route.Document{Status: status, Type: "text/html; charset=utf-8", Body: b.Bytes()}, nil
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

// decodeForm fills a record from the fields of a form. One that was left
// empty was not sent.
func decodeForm(into field.Record, form url.Values) error {
	sent := field.Value{Kind: field.ObjectValue}
	for name, values := range form {
		if last := values[len(values)-1]; last != "" {
			sent.Items = append(sent.Items, field.Value{Kind: field.TextValue, Name: name, Text: last})
		}
	}
	_, err := into.Fields().Decode(sent, field.Create)
	return err
}
