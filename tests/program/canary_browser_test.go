//go:build system

package program_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"hostpanel/tests/processtest"
)

// A browser keeps cookies and sends forms as a person would. What it is given
// to prove who sits there is secret.
type browser struct {
	*mine
	cookies map[string]string
}

func (m *mine) browser() *browser { return &browser{m, map[string]string{}} }

// look opens a page.
func (b *browser) look(want int, path string) processtest.Answer {
	b.Process.T.Helper()
	return b.kept(b.call(want, "GET", path, "", "Cookie", b.cookie()))
}

// send fills in a form of a page and sends it. Values come in pairs.
func (b *browser) send(want int, page processtest.Answer, path, form string, values ...string) processtest.Answer {
	b.Process.T.Helper()
	filled := b.hidden(page, form)
	for n := 0; n < len(values); n += 2 {
		filled.Set(values[n], values[n+1])
	}
	return b.kept(b.call(want, "POST", path, filled.Encode(), "Content-Type", processtest.AsForm, "Cookie", b.cookie(),
		"Origin", b.Base, "Sec-Fetch-Site", "same-origin"))
}

// givesThePasswordAgain does what a script of a page does, first with a wrong
// password.
func (b *browser) givesThePasswordAgain(wrong, right string) {
	token := b.hidden(b.look(200, "/storefront/"), "sign_out").Get("form_token")
	confirm := func(want int, password string) processtest.Answer {
		return b.kept(b.call(want, "POST", "/api/me/confirm/", fmt.Sprintf(`{"password":%q}`, password),
			"Content-Type", processtest.AsJSON, "Cookie", b.cookie(), "Origin", b.Base, "X-CSRF-Token", token))
	}
	confirm(400, wrong)
	b.known("CSRF token", confirm(200, right).Field(b.Process.T, "csrf_token"))
}

func (b *browser) cookie() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.cookies)) {
		all = append(all, name+"="+b.cookies[name])
	}
	return strings.Join(all, "; ")
}

// kept takes the cookies of an answer, and knows from now on that they are
// secret.
func (b *browser) kept(a processtest.Answer) processtest.Answer {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if b.cookies[c.Name] = c.Value; c.Name == "session" && c.Value != "" {
			b.known("session cookie", c.Value)
		}
	}
	return a
}

// pageToken is for scripts of the page.
var pageToken = regexp.MustCompile(`<meta name="csrf-token" content="[^"]*">`)

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// hidden are the values that a form brings along.
func (b *browser) hidden(page processtest.Answer, form string) url.Values {
	b.Process.T.Helper()
	for part := range strings.SplitSeq(page.Body, "<form ") {
		values := url.Values{}
		part, _, _ = strings.Cut(part, "</form>")
		for _, found := range hiddenInput.FindAllStringSubmatch(part, -1) {
			values.Set(found[1], html.UnescapeString(found[2]))
		}
		if token := values.Get("form_token"); values.Get("form") == form || strings.Contains(part, `id="`+form+`-`) {
			if token != "" { // forms that stand on a link need none
				b.known("token of a form", token)
			}
			return values
		}
	}
	b.Process.T.Fatalf("there is no form %q on the page: %s", form, page.Body)
	return nil
}

var (
	appSecret    = regexp.MustCompile(`<code>((?:[A-Z2-7]{4} ){8})</code>`)
	recoveryCode = regexp.MustCompile(`<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>`)
)

// hasASecondFactor switches one on, and signs in with it.
func (m *mine) hasASecondFactor(c *customer) {
	const path = "/account/second-factor/"
	t := m.Home.T
	b := m.browser()
	b.send(303, b.look(200, "/login/"), "/login/", "sign_in", "username", c.email, "password", c.password)
	b.send(303, b.look(200, path), path, "factor_begin", "password", c.password)
	page := b.look(200, path)
	shown := appSecret.FindStringSubmatch(page.Body)
	if shown == nil {
		t.Fatalf("no secret is shown: %s", page.Body)
	}
	secret := m.known("secret of a second factor", strings.ReplaceAll(shown[1], " ", ""))
	b.send(400, page, path, "factor_on", "otp", m.secret("text in place of a code"))
	code, err := totp.GenerateCode(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	codes := recoveryCode.FindAllStringSubmatch(b.send(200, page, path, "factor_on", "otp", code).Body, -1)
	for _, one := range codes {
		m.known("recovery code", strings.ReplaceAll(m.known("recovery code", one[1]), "-", ""))
	}
	login := func(otp string) string {
		return fmt.Sprintf(`{"username":%q,"password":%q,"otp":%q}`, c.email, c.password, otp)
	}
	m.call(401, "POST", "/api/token/", processtest.PasswordLogin(c.email, c.password))
	m.call(401, "POST", "/api/token/", login(m.secret("wrong recovery code")))
	m.tokens(c, m.call(200, "POST", "/api/token/", login(codes[0][1])))
	again := m.browser()
	again.send(303, again.look(200, "/login/"), "/login/", "sign_in", "username", c.email, "password", c.password)
	step := again.look(200, "/login/")
	again.send(401, step, "/login/", "code", "otp", m.secret("wrong recovery code on the page"))
	again.send(303, step, "/login/", "code", "otp", codes[1][1])
}
