//go:build system

package processtest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

// Types of bodies, and an order at the demo.
const (
	AsJSON  = "application/json"
	AsForm  = "application/x-www-form-urlencoded"
	Ordered = `{"plan_id":%d,"customer_email":%q,"customer_name":"Ana Example","payment_method":"test","domain":%q,"language":"en"}`
)

// AwaitActive waits until an order is active.
func (r *Process) AwaitActive(order, key string, within time.Duration) {
	r.T.Helper()
	Within(r.T, "order "+order+" is active", within, func() bool {
		path := "/storefront/api/orders/" + order + "/"
		a, err := Call(r.T.Context(), "GET", r.Base+path, "", "X-API-Key", key)
		if err == nil && a.Status == 429 { // many look at once
			time.Sleep(a.Pause())
			return false
		}
		if err != nil || a.Status != 200 {
			r.T.Fatalf("GET %s: status %d, %v: %s\n%s", path, a.Status, err, a.Body, r.Stderr())
		}
		return a.Field(r.T, "status") == "active"
	})
}

// PathOf is the path of a link, with its query.
func PathOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		t.Fatalf("%q is no link", link)
	}
	return u.RequestURI()
}

// TokenOf is the token in a link.
func TokenOf(t *testing.T, path string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("%q has no token", path)
	}
	return u.Query().Get("token")
}

// KeepsSecrets asks of a log that it has no secret.
func KeepsSecrets(t *testing.T, log string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if s == "" || strings.Contains(log, s) {
			t.Errorf("%q stands in the log", s)
		}
	}
}

// SignIn returns the pair of tokens of a sign-in.
func (r *Process) SignIn(who serve.Login) Answer {
	r.T.Helper()
	return r.Ask(200, "POST", "/api/token/", PasswordLogin(who.Username, who.Password), "Content-Type", AsJSON)
}

// KidOf names the key that signed an access token: its head tells.
func KidOf(a Answer) string {
	head, _, _ := strings.Cut(a.Body[strings.Index(a.Body, "eyJ"):], ".")
	return head
}

// PasswordLogin is the body of a sign-in.
func PasswordLogin(username, password string) string {
	return fmt.Sprintf(`{"username":%q,"password":%q}`, username, password)
}

// Teller is the program as far as it writes.
func Teller(t *testing.T, database, secret string) *program.Program {
	t.Helper()
	keys, err := sealing.ParseKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	p := &program.Program{Store: eventstore.Open(eventstoretest.Pool(t, database), catalogue.Events(), keys,
		eventstore.WithProjector(projections.Projector()), eventstoretest.Caused())}
	catalogue.Serve(p.Store)
	p.Tables = projections.Open(eventstoretest.Readers(t, database))
	return p
}
