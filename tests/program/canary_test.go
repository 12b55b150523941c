//go:build system

package program_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/mail"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/domain/storefront"
	"hostpanel/tests/processtest"
)

// In this story everything that the panel does is done once, with secrets and
// people that are like no others. Then everything that the panel leaves behind
// is searched. It is one story because it is the whole that has to be tight.
func TestNoSecretIsFoundWhereItDoesNotBelong(t *testing.T) {
	t.Parallel()
	m := newMine(t)
	ana := m.somebodyOrders()
	m.choosesAPassword(ana)
	m.signsIn(ana)
	m.forgetsThePassword(ana)
	m.usesTheBrowser(ana)
	m.hasASecondFactor(ana)
	m.operates()
	m.hosts()
	m.tellsOthers()
	m.actsAtTheConsole()
	m.isAskedForNonsense()
	m.breaks()
	m.everythingIsSearched()
	m.peopleAreInReadTablesAlone()
	m.tellsNobodyAnyMore()
	before := m.makesAPack(filepath.Join(t.TempDir(), "before.zip"))
	m.erases(ana)
	m.peopleAreNowhere()
	m.peopleAreInNoFile()
	m.provesTheSame(before)
	m.wouldBeFound()
	m.Stop()
	for _, s := range m.secrets.seen("the log until the end", []byte(m.Stderr()+m.Said.String())) {
		t.Errorf("%s stands in %s", s.canary, s.place)
	}
}

// A customer has ordered.
type customer struct {
	email, name, password string
	access, refresh       string
}

func (m *mine) somebodyOrders() *customer {
	t := m.Home.T
	c := &customer{email: m.personal("address", "%s@customer.example"), name: m.personal("name", "Ana %s")}
	phone := "+34 6" + digits(12)
	m.people.add("phone", phone)
	postal, taxID := digits(12), "ESB"+digits(12)
	m.people.add("postal code", postal)
	m.people.add("tax id", taxID)
	body := fmt.Sprintf(`{"plan_id":%d,"customer_email":%q,"customer_name":%q,"customer_company":%q,`+
		`"customer_phone":%q,"customer_address":%q,"customer_city":%q,"customer_postal_code":%q,"customer_country":"ES",`+
		`"customer_tax_id":%q,"payment_method":"test","domain":"canary.example","language":"en"}`,
		m.demo.Plans.Hosting, c.email, c.name, m.personal("company", "%s Ltd"), phone,
		m.personal("street", "Calle %s 1"), m.personal("city", "%s"), postal, taxID)
	key := m.secret("Idempotency-Key")
	place := func(want int, key, body, once string) processtest.Answer {
		return m.call(want, "POST", "/storefront/api/orders/", body, "X-API-Key", key, "Idempotency-Key", once)
	}
	placed := place(201, m.demo.APIKey, body, key)
	place(201, m.demo.APIKey, body, key)
	place(422, m.demo.APIKey, strings.Replace(body, `"en"`, `"es"`, 1), key)
	place(401, m.known("unknown storefront key", storefront.DrawKey(storefront.Test, rand.Read)), body,
		m.secret("Idempotency-Key of a refused call"))
	m.call(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	m.AwaitActive(placed.Field(t, "order_id"), m.demo.APIKey, processtest.Patience)
	return c
}

// choosesAPassword follows the link of the welcome mail.
func (m *mine) choosesAPassword(c *customer) {
	m.followsTheLink(m.post.await(m.Home.T, c.email, 1), c)
}

// followsTheLink sets a new password by the link of a letter.
func (m *mine) followsTheLink(letter string, c *customer) {
	t := m.Home.T
	link := processtest.LinkIn(t, textOf(t, letter))
	m.known("one-time link of "+c.email, processtest.TokenOf(t, link))
	c.password = m.secret("password by a link")
	b := m.browser()
	page := b.look(200, link)
	b.send(400, page, "/set-password/", "set_password", "password", "12345678", "password_repeat", "12345678")
	weak := c.email + m.secret("password that is too like the name")
	b.send(400, page, "/set-password/", "set_password", "password", weak, "password_repeat", weak)
	b.send(303, page, "/set-password/", "set_password", "password", c.password, "password_repeat", c.password)
	b.look(400, link)
}

// signsIn does everything that a program does with tokens.
func (m *mine) signsIn(c *customer) {
	m.call(401, "POST", "/api/token/", processtest.PasswordLogin(c.email, m.secret("wrong password")))
	m.call(401, "POST", "/api/token/", processtest.PasswordLogin(m.personal("unknown name", "%s@unknown.example"),
		m.secret("password of an unknown name")))
	m.call(401, "POST", "/api/token/", processtest.PasswordLogin(m.secret("password typed as a name"), "whatever"))
	m.tokens(c, m.call(200, "POST", "/api/token/", processtest.PasswordLogin(c.email, c.password)))
	first := c.refresh
	m.tokens(c, m.call(200, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, c.refresh)))
	m.call(200, "POST", "/api/token/verify/", fmt.Sprintf(`{"token":%q}`, c.access))
	m.agesTokens()
	m.call(401, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, first)) // a copy: the family ends
	m.call(401, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, c.refresh))
	m.tokens(c, m.call(200, "POST", "/api/token/", processtest.PasswordLogin(c.email, c.password)))

	me := []string{"Authorization", "Bearer " + c.access}
	m.call(200, "GET", "/api/me/", "", me...)
	m.call(200, "PATCH", "/api/me/", fmt.Sprintf(`{"name":%q}`, m.personal("new name", "Ana %s")), me...)
	m.call(200, "GET", "/hosting/api/rest/tenants/", "", me...)
	m.call(403, "GET", "/operations/api/v1/users/", "", me...)
	m.call(400, "POST", "/api/me/password/", fmt.Sprintf(`{"current_password":%q,"new_password":%q}`,
		m.secret("wrong current password"), m.secret("password never taken")), me...)
	next := m.secret("changed password")
	m.tokens(c, m.call(200, "POST", "/api/me/password/", fmt.Sprintf(`{"current_password":%q,"new_password":%q}`,
		c.password, next), me...))
	c.password = next
	m.call(401, "GET", "/api/me/", "", me...) // older tokens have ended
	m.call(401, "GET", "/api/me/", "", "Authorization", "Bearer "+c.access+"x")
	m.call(200, "POST", "/api/token/blacklist/", fmt.Sprintf(`{"refresh":%q}`, c.refresh))
}

// tokens takes a pair, and knows from now on what is secret about it.
func (m *mine) tokens(c *customer, a processtest.Answer) {
	t := m.Home.T
	c.access, c.refresh = m.known("access token", a.Field(t, "access")), m.known("refresh token", a.Field(t, "refresh"))
	for _, token := range []string{c.access, c.refresh} {
		parts := strings.Split(token, ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		var id struct{ JTI string }
		if err != nil || json.Unmarshal(claims, &id) != nil {
			t.Fatalf("the claims cannot be read: %v", err)
		}
		m.known("id of a token", id.JTI)
		m.known("signature of a token", parts[2])
	}
}

// agesTokens makes as if tokens had been used a while ago.
func (m *mine) agesTokens() {
	if _, err := m.root.Exec(m.Home.T.Context(),
		`update refresh_tokens set used_at = used_at - interval '1 minute'`); err != nil {
		m.Home.T.Fatal(err)
	}
}

func (m *mine) forgetsThePassword(c *customer) {
	before := len(m.post.to(c.email))
	m.call(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`, c.email))
	m.call(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`,
		m.personal("address without an account", "%s@unknown.example")))
	m.followsTheLink(m.post.await(m.Home.T, c.email, before+1), c)
}

// usesTheBrowser does what people do on pages.
func (m *mine) usesTheBrowser(c *customer) {
	b := m.browser()
	page := b.look(200, "/login/")
	b.send(401, page, "/login/", "sign_in", "username", c.email, "password", m.secret("wrong password on the page"))
	b.send(303, page, "/login/", "sign_in", "username", c.email, "password", c.password)
	mine := b.look(200, "/account/")
	next := m.secret("password changed on the page")
	b.send(400, mine, "/account/", "password", "current_password", m.secret("wrong current password on the page"),
		"new_password", next, "password_repeat", next)
	b.send(303, mine, "/account/", "password", "current_password", c.password, "new_password", next, "password_repeat",
		next)
	c.password = next
	b.look(403, "/storefront/")
	b.send(403, processtest.Answer{Body: `<form ><input type="hidden" name="form" value="profile"><input ` +
		`type="hidden" name="form_token" value="` + m.secret("forged token of a form") + `"></form>`},
		"/account/", "profile", "name", "x")
	b.send(303, b.look(200, "/account/"), "/account/", "sessions")

	su := m.browser()
	su.send(303, su.look(200, "/login/?next=/storefront/"), "/login/", "sign_in", "username", m.demo.Superuser.Username,
		"password", m.demo.Superuser.Password)
	m.ageSessions()
	keys := su.look(200, "/storefront/keys/")
	created := su.send(200, keys, "/storefront/keys/", "create", "name", "By page", "mode", "test",
		"rate_limit_per_minute", "60", "password", m.demo.Superuser.Password)
	m.keyIn(created.Body)
	su.givesThePasswordAgain(m.secret("wrong password in a script"), m.demo.Superuser.Password)
	su.send(303, su.look(200, "/storefront/"), "/logout/", "sign_out")
}

// digits are random ones.
func digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789"[rand.Text()[0]%10])
	}
	return b.String()
}

// textOf is what a letter says.
func textOf(t *testing.T, letter string) string {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(letter))
	if err != nil {
		t.Fatal(err)
	}
	return processtest.PlainText(t, m)
}
