package operations

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Mails as operators see them in a browser, with made-up names, numbers and links
// (docs/operations.md, "In the browser"). What renders them is what sends them.

const (
	mailPagePath = web.MailsPath + "{template}/"
	mailHTMLPath = mailPagePath + "html/"
	brandsMost   = 200 // tenants whose brand may be chosen from a list
)

func (s *mailPreviews) pageRoutes() []route.Route {
	return []route.Route{
		web.View(web.MailsPath, "The mails that the panel writes", s.showMails).As("mails_page"),
		web.View(mailPagePath, "A mail as it would be sent", s.showMail).As("mail_page").Of("MailTemplate"),
		web.View(mailHTMLPath, "The designed part of a mail", s.showMailHTML).As("mail_html_page").Of("MailTemplate"),
	}
}

// A look is in which language and in whose brand mails are shown. What there is not counts
// as not asked for.
type look struct {
	language string
	tenant   int64
}

func (l look) query() string {
	return "?" + url.Values{"language": {l.language}, "tenant": {l.number()}}.Encode()
}

// number is that of the tenant; "": none.
func (l look) number() string {
	if l.tenant == 0 {
		return ""
	}
	return strconv.FormatInt(l.tenant, 10)
}

// lookOf is what the query asks for, and the brand that it names.
func (s *mailPreviews) lookOf(ctx context.Context, c route.Call) (l look, brand []web.Option, err error) {
	l.language = web.Readers(c)
	if _, spoken := web.Texts[c.Param("language")]; spoken {
		l.language = c.Param("language")
	}
	id, err := strconv.ParseInt(c.Param("tenant"), 10, 64)
	if err != nil {
		return l, nil, nil //nolint:nilerr // no number is no tenant
	}
	row, err := s.callers.Scope(c).Hosting().Tenant(ctx, id)
	switch {
	case record.IsMissing(err):
		return l, nil, nil
	case err != nil:
		return l, nil, err
	}
	l.tenant = id
	brand, err = brands([]projections.Resource{row})
	return l, brand, err
}

// brands are tenants to choose from.
func brands(rows []projections.Resource) ([]web.Option, error) {
	all := make([]web.Option, len(rows))
	for i := range rows {
		var t hosting.Tenant
		if err := rows[i].Load(&t); err != nil {
			return nil, err
		}
		all[i] = web.Option{Value: strconv.FormatInt(rows[i].ID, 10), Text: t.Name}
	}
	return all, nil
}

// looks is the bar in which an operator chooses how mails are shown.
func (s *mailPreviews) looks(ctx context.Context, c route.Call, l look, brand []web.Option) (*web.Bar, error) {
	w := web.Texts[web.Readers(c)]
	found, err := s.callers.Scope(c).Hosting().Tenants(
		ctx, projections.Listing{Order: []projections.Ordering{{Field: "name"}}, Limit: brandsMost},
	)
	if err != nil {
		return nil, err
	}
	options, err := brands(found.Rows)
	if err != nil {
		return nil, err
	}
	for _, one := range brand {
		if !slices.Contains(options, one) {
			options = append(options, one)
		}
	}
	var languages []web.Option
	for _, name := range slices.Sorted(maps.Keys(web.Texts)) {
		languages = append(languages, web.Option{Value: name, Text: w["language_"+name]})
	}
	return &web.Bar{Action: c.Path, Filters: []web.Filter{
		{Name: "language", Label: w["label_language"], Value: l.language, Options: languages},
		{
			Name: "tenant", Label: w["mails_brand"], Value: l.number(),
			Options: append([]web.Option{{Text: w["mails_own_brand"]}}, options...),
		},
	}}, nil
}

// A mailSort is one sort of mail in the list.
type mailSort struct{ Path, Name, Subject string }

func (s *mailPreviews) showMails(ctx context.Context, c route.Call) (*route.Document, error) {
	l, brand, err := s.lookOf(ctx, c)
	if err != nil {
		return nil, err
	}
	bar, err := s.looks(ctx, c, l, brand)
	if err != nil {
		return nil, err
	}
	var all []mailSort
	for _, name := range notice.Templates() {
		m, err := s.mails.Preview(ctx, name, l.language, l.tenant)
		if err != nil {
			return nil, err
		}
		all = append(all, mailSort{web.MailsPath + name + "/" + l.query(), name, m.Subject})
	}
	return s.web.Sheet(
		c, http.StatusOK, "mails", "mails_title",
		map[string]any{"Bar": bar, "Mails": all, "Spoken": l.language, "Wide": true},
	)
}

func (s *mailPreviews) showMail(ctx context.Context, c route.Call) (*route.Document, error) {
	l, brand, err := s.lookOf(ctx, c)
	if err != nil {
		return nil, err
	}
	m, err := s.mails.Preview(ctx, c.Var("template"), l.language, l.tenant)
	if err != nil {
		return nil, err
	}
	bar, err := s.looks(ctx, c, l, brand)
	if err != nil {
		return nil, err
	}
	var headers []web.Aspect
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		headers = append(headers, web.Aspect{Name: name, Text: m.Headers[name]})
	}
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, http.StatusOK, "mail", "mails_title", map[string]any{
		"Bar": bar, "Name": c.Var("template"), "Mail": m, "Headers": headers, "Spoken": l.language, "Wide": true,
		"HTML": c.Path + "html/" + l.query(), "List": web.MailsPath + l.query(),
		"Facts": web.Told(web.Aspect{Name: w["mail_from"], Text: m.From}, web.Aspect{Name: w["mail_reply_to"], Text: m.ReplyTo}),
	})
}

// showMailHTML is the designed part of a mail, which may run nothing and asks for nothing but
// pictures.
func (s *mailPreviews) showMailHTML(ctx context.Context, c route.Call) (*route.Document, error) {
	l, _, err := s.lookOf(ctx, c)
	if err != nil {
		return nil, err
	}
	m, err := s.mails.Preview(ctx, c.Var("template"), l.language, l.tenant)
	if err != nil {
		return nil, err
	}
	return &route.Document{Type: "text/html; charset=utf-8", Body: []byte(m.HTML), Header: http.Header{
		"Content-Security-Policy": {
			"default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; form-action 'none'; frame-ancestors 'none'; sandbox",
		},
	}}, nil
}
