package demo

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	netmail "net/mail"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"hostpanel/http/route"
)

const mostMails = 200 // that are listed

// A message is a mail of the outbox, as a mail program shows it.
type message struct {
	Name, Subject, From, To string
	At                      time.Time
	Text, HTML              string
	IsOpen                  bool
}

// names are the files of the outbox, newest first: their names begin with the
// time.
func (s *Area) names() ([]string, error) {
	all, err := fs.Glob(s.Letters, "*.eml")
	slices.Sort(all)
	slices.Reverse(all)
	return all[:min(len(all), mostMails)], err
}

func (s *Area) mails(_ context.Context, c route.Call) (*route.Document, error) {
	names, err := s.names()
	if err != nil {
		return nil, fmt.Errorf("list the mails: %w", err)
	}
	if len(names) == 0 {
		return s.inbox(c, nil, message{})
	}
	return s.open(c, names, names[0])
}

func (s *Area) mail(_ context.Context, c route.Call) (*route.Document, error) {
	names, err := s.names()
	if err != nil {
		return nil, fmt.Errorf("list the mails: %w", err)
	}
	if !slices.Contains(names, c.Var("name")) {
		return nil, route.Missing("Mail")
	}
	return s.open(c, names, c.Var("name"))
}

// open shows the list with one of its mails.
func (s *Area) open(c route.Call, names []string, name string) (*route.Document, error) {
	var all []message
	var shown message
	for _, one := range names {
		m, err := s.read(one)
		if err != nil {
			return nil, err
		}
		if m.IsOpen = one == name; m.IsOpen {
			shown = m
		}
		all = append(all, m)
	}
	return s.inbox(c, all, shown)
}

func (*Area) inbox(_ route.Call, all []message, shown message) (*route.Document, error) {
	const policy = "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'"
	return page("mail", policy, map[string]any{"Mails": all, "Shown": shown, "Text": linked(shown.Text), "Path": MailPath})
}

// letter is the designed part of a mail. It may run nothing; its links open
// beside it.
func (s *Area) letter(_ context.Context, c route.Call) (*route.Document, error) {
	m, err := s.read(path.Base(c.Var("name")))
	if err != nil {
		return nil, err
	}
	return &route.Document{Type: "text/html; charset=utf-8", Body: []byte(`<base target="_blank">` + m.HTML), Header: http.Header{
		"Content-Security-Policy": {
			"default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; form-action 'none'; " +
				"frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
		},
		"X-Frame-Options": {"SAMEORIGIN"},
	}}, nil
}

// read reads a mail from the outbox.
func (s *Area) read(name string) (message, error) {
	raw, err := fs.ReadFile(s.Letters, name)
	if err != nil {
		return message{}, route.Missing("Mail")
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return message{}, fmt.Errorf("read the mail %s: %w", name, err)
	}
	at, _ := m.Header.Date()
	shown := message{
		Name: name, Subject: decoded(m.Header.Get("Subject")), From: person(m.Header.Get("From")),
		To: person(m.Header.Get("To")), At: at.UTC(),
	}
	if err := shown.take(m.Header.Get, m.Body); err != nil {
		return message{}, fmt.Errorf("read the mail %s: %w", name, err)
	}
	return shown, nil
}

// take takes the texts out of a part of the mail, and of the parts within it.
func (m *message) take(header func(string) string, body io.Reader) error {
	kind, parameters, err := mime.ParseMediaType(header("Content-Type"))
	if err != nil {
		return err
	}
	if strings.HasPrefix(kind, "multipart/") {
		return m.parts(multipart.NewReader(body, parameters["boundary"]))
	}
	text, err := io.ReadAll(plain(header("Content-Transfer-Encoding"), body))
	switch kind {
	case "text/plain":
		m.Text = string(text)
	case "text/html":
		m.HTML = string(text)
	}
	return err
}

func (m *message) parts(all *multipart.Reader) error {
	for {
		part, err := all.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.take(part.Header.Get, part); err != nil {
			return err
		}
	}
}

func plain(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body)
	}
	return body
}

func decoded(header string) string {
	text, err := new(mime.WordDecoder).DecodeHeader(header)
	if err != nil {
		return header
	}
	return text
}

// person is a name with its address.
func person(header string) string {
	a, err := netmail.ParseAddress(header)
	if err != nil {
		return decoded(header)
	}
	if a.Name == "" {
		return a.Address
	}
	return a.Name + " <" + a.Address + ">"
}

var address = regexp.MustCompile(`https?://[^\s<>"']+[^\s<>"'.,;:!?)]`)

// linked is a text with its addresses as links.
func linked(text string) template.HTML {
	var b strings.Builder
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		b.WriteString(template.HTMLEscapeString(text[at:found[0]]))
		link := template.HTMLEscapeString(text[found[0]:found[1]])
		b.WriteString(`<a href="` + link + `">` + link + `</a>`)
		at = found[1]
	}
	b.WriteString(template.HTMLEscapeString(text[at:]))
	return template.HTML(b.String()) //nolint:gosec // everything is escaped above
}
