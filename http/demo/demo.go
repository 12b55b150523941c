// Package demo serves what a newcomer looks at with `serve --demo`: another
// website with the order form, the mails that were sent, and a link that signs
// in once (docs/operations.md, "Demo").
package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"

	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

const (
	ShopPath = "/demo/shop/"    // another website with the order form
	MailPath = "/demo/mail/"    // the mails that were sent
	linkPath = "/demo/sign-in/" // signs in once
)

// Settings are what the demo consists of.
type Settings struct {
	Widget, Key string // of the shop
	Letters     fs.FS  // the outbox
	Link        *Link
	Operator    string // e-mail of the superuser
	Customer    string // e-mail of the tenant's administrator
}

// SignIns are the accounts that the login page offers without a password, by the name of
// the form.
func (s *Settings) SignIns() map[string]string {
	if s == nil {
		return nil
	}
	return map[string]string{"demo_operator": s.Operator, "demo_customer": s.Customer}
}

// An Area is the demo, with what it needs of the rest of the program.
type Area struct {
	Callers *caller.Callers
	Settings
	PublicURL func() string
}

// Routes are the pages of the demo. The mails have links that sign in or set a
// password, so only this machine may read them.
func (s *Area) Routes() route.Area {
	return route.Area{
		Name: "Demo", About: "What there is to look at in a demo.", Access: route.Open,
		Routes: []route.Route{
			file(ShopPath, "Another website with the order form", s.shop).As("demo_shop"),
			route.File(ShopPath+"style.css", "The style of that website", style(shopStyle)).As("demo_shop_style").Sending("text/css", nil).
				Saying("Only the demo has it."),
			route.File(MailPath+
				"style.css", "The style of the mail program", style(mailStyle)).As("demo_mail_style").Sending("text/css", nil).
				Saying("Only the demo has it."),
			file(MailPath, "The mails that were sent, newest first", s.mails).As("demo_mails").For(thisMachine),
			file(MailPath+"{name:[0-9A-Za-z@._-]+\\.eml}/", "One of the mails", s.mail).As("demo_mail").For(thisMachine),
			file(MailPath+
				"{name:[0-9A-Za-z@._-]+\\.eml}/html/", "A mail as its sender designed it", s.letter).As("demo_mail_html").For(thisMachine),
			file(linkPath, "Sign in by the link that the program has printed", s.enter).As("demo_sign_in").For(thisMachine),
		},
	}
}

func file(path, summary string, show func(context.Context, route.Call) (*route.Document, error)) route.Route {
	return route.File(path, summary, show).Sending("text/html", nil).Caching("no-store")
}

// thisMachine admits callers on this machine.
var thisMachine = route.Open.As("this machine").Requiring(func(_ context.Context, r route.Request, _ route.Caller) error {
	if caller.IsThisMachine(r.IP, r.Host, r.Header) {
		return nil
	}
	return route.NoPermission
})

//go:embed *.html
var pageFiles embed.FS

//go:embed shop.css
var shopStyle []byte

//go:embed mail.css
var mailStyle []byte

var pages = template.Must(template.ParseFS(pageFiles, "*.html"))

func style(body []byte) func(context.Context, route.Call) (*route.Document, error) {
	return func(context.Context, route.Call) (*route.Document, error) {
		return &route.Document{Type: "text/css; charset=utf-8", Body: body, Cache: "no-cache"}, nil
	}
}

// page shows one of the pages under its own policy.
func page(name, policy string, data any) (*route.Document, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("show the page %s: %w", name, err)
	}
	return &route.Document{Type: "text/html; charset=utf-8", Body: b.Bytes(), Header: http.Header{
		"Content-Security-Policy": {policy}, "Referrer-Policy": {"same-origin"},
	}}, nil
}

// enter signs the operator in, once. A link that is used or old, or of
// an operator with a second factor, leads to the page to sign in.
func (s *Area) enter(ctx context.Context, c route.Call) (*route.Document, error) {
	if !s.Link.use(c.Param("token")) {
		return web.SeeOther(caller.LoginPath), nil
	}
	user, known, err := s.Callers.System().Accounts().UserByEmail(ctx, s.Operator)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, route.Missing("User")
	}
	if user.SecondFactor { // which the link is none of
		return web.SeeOther(caller.LoginPath), nil
	}
	cookie, err := s.Callers.OpenSession(ctx, user, false)
	if err != nil {
		return nil, err
	}
	return web.Private(web.SeeOther(web.HomeOf(user), cookie), nil)
}
