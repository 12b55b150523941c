package http

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	loginPath      = "/login/"
	accountPath    = "/account/"
	storefrontPath = "/storefront/"

	sessionCookie = "session"
	noticeCookie  = "notice" // what a page says to whoever comes from a form

	freshFor = 10 * time.Minute // that a password counts as just given
)

// A visit is one browser, and who has signed in there. Forms are bound to its
// id, which is also there before somebody signs in.
type visit struct {
	id      string
	isNew   bool // the browser does not know its id yet
	session domain.Session
	who     identity // the zero one: nobody has signed in
}

func (v visit) isSignedIn() bool { return v.who.ID != 0 }

// caller is the visitor as routes know callers.
func (v visit) caller() route.Caller {
	c := v.who.caller()
	c.Detail = v
	return c
}

// visitOf is the browser that calls.
func visitOf(c route.Call) visit {
	v, _ := c.Caller.Detail.(visit)
	return v
}

// browser admits everybody, and looks whether somebody has signed in.
func (s *Server) browser() route.Access {
	return route.Access{Rule: "open", Identify: s.arrive, Admit: s.sameSite}
}

// session admits browsers in which somebody has signed in. Others are sent to
// the login page, and from there back.
func (s *Server) session() route.Access {
	return route.Access{
		Rule: "session", Scheme: "session",
		Security: map[string]any{"type": "apiKey", "in": "cookie", "name": "__Host-" + sessionCookie},
		Identify: s.signedIn, Admit: s.sameSite, Limit: s.limitUser,
	}
}

// superuserSession admits superusers alone.
func (s *Server) superuserSession() route.Access {
	return s.session().As("session of a superuser").Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := identityOf(c); !who.IsSuperuser {
			s.noteDenied(ctx, r, who.User)
			return route.NoPermission
		}
		return nil
	})
}

// arrive tells which browser calls, and who has signed in there: nobody in
// whose account the sessions were ended since.
func (s *Server) arrive(ctx context.Context, r route.Request) (route.Caller, error) {
	cookie, err := r.Cookie(s.cookieName(sessionCookie))
	if err != nil || !isCookieID(cookie.Value) {
		return route.Caller{Detail: visit{id: rand.Text(), isNew: true}}, nil
	}
	v := visit{id: cookie.Value}
	session, known, err := s.Sessions.Session(ctx, v.id)
	if err != nil || !known {
		return route.Caller{Detail: v}, err
	}
	who, known, err := s.system().Identity(ctx, session.User)
	if err != nil || !known || !who.IsActive || who.SessionVersion != session.Version {
		return route.Caller{Detail: v}, err
	}
	v.session, v.who = session, identity{who}
	return v.caller(), nil
}

// isCookieID tells whether a cookie can be one of ours.
func isCookieID(text string) bool {
	return len(text) >= 20 && len(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (s *Server) signedIn(ctx context.Context, r route.Request) (route.Caller, error) {
	caller, err := s.arrive(ctx, r)
	if err == nil && caller.Principal == "" {
		err = route.SeeOther(loginPath + "?next=" + url.QueryEscape(wanted(r)))
	}
	return caller, err
}

// wanted is where somebody wants to go on who has to sign in first. What a
// form asked for is not asked again.
func wanted(r route.Request) string {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r.URL.RequestURI()
	}
	return r.URL.EscapedPath()
}

var fromElsewhere = &route.Refusal{
	Status: http.StatusForbidden, Detail: "This form was sent by another site.", Slug: "permission_denied",
}

// sameSite refuses forms that another site has sent.
func (s *Server) sameSite(_ context.Context, r route.Request, _ route.Caller) error {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(s.Settings.PublicURL()); err != nil {
		s.log().Warn("the public URL is no origin", "err", err.Error())
	}
	if protection.Check(r.Request) != nil {
		return fromElsewhere
	}
	return nil
}

// localPath is a path of ours that a parameter names; "" for whatever could
// lead elsewhere.
func localPath(next string) string {
	if len(next) > 2000 || strings.ContainsFunc(next, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return ""
	}
	u, err := url.Parse(next)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "",
		!strings.HasPrefix(u.Path, "/"), strings.Contains(u.Path, "//"), strings.Contains(u.Path, `\`),
		u.Path == loginPath, u.Path == logoutPath:
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// homeOf is where somebody begins who has signed in.
func homeOf(user projections.User) string {
	if user.IsSuperuser {
		return storefrontPath
	}
	return accountPath
}

// isFresh tells whether the password was given a moment ago.
func (s *Server) isFresh(v visit) bool { return s.now().Sub(v.session.ConfirmedAt) < freshFor }

// token binds a form to a browser.
func (s *Server) token(browser string) string {
	return base64.RawURLEncoding.EncodeToString(s.formMACs(browser)[0])
}

// formMACs are keyed hashes of a browser's id, with the newest key and with
// all that are not retired yet.
func (s *Server) formMACs(browser string) [][]byte {
	return s.Once.Fingerprints([]byte("form"), []byte(browser))
}

func (s *Server) isToken(browser, token string) bool {
	sent, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || browser == "" {
		return false
	}
	for _, mac := range s.formMACs(browser) {
		if hmac.Equal(mac, sent) {
			return true
		}
	}
	return false
}

// cookieName is what a cookie of ours is called. Where the panel is reached
// over https, browsers keep others from setting it.
func (s *Server) cookieName(name string) string {
	if s.isSecure() {
		return "__Host-" + name
	}
	return name
}

func (s *Server) isSecure() bool { return strings.HasPrefix(s.Settings.PublicURL(), "https://") }

// cookie is one of ours, which no script can read and no other site send
// along. It lives for so many seconds; 0: until the browser is closed, -1: it
// is taken away.
func (s *Server) cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: seconds,
		Secure: s.isSecure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// seeOther sends a browser on, with cookies.
func seeOther(path string, cookies ...*http.Cookie) *route.Document {
	d := &route.Document{Status: http.StatusSeeOther, Header: http.Header{"Location": {path}}}
	giving(d, cookies...)
	return d
}

func giving(d *route.Document, cookies ...*http.Cookie) {
	for _, cookie := range cookies {
		d.Header.Add("Set-Cookie", cookie.String())
	}
}

// done sends a browser on to a page that says what was done.
func (s *Server) done(path, notice string, cookies ...*http.Cookie) *route.Document {
	return seeOther(path, append(cookies, s.cookie(noticeCookie, notice, 60))...)
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}
