//go:build system

package program_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

const hooksAPI = hostingAPI + "webhook-endpoints/"

// tellsOthers has the tenant's own programs told of something: at an address
// that holds a token, signed with a secret.
func (m *mine) tellsOthers() {
	t := m.Home.T
	as := m.tenantAdmin()
	receiver := newReceiver(t)
	token, later := m.personal("token in an address", "%s"), m.personal("later token in an address", "%s")
	once := append([]string{"Idempotency-Key", m.secret("Idempotency-Key of an endpoint")}, as...)
	body := fmt.Sprintf(`{"url":"%s/%s","events":["order.active"]}`, receiver.URL, token)
	made := m.call(201, "POST", hooksAPI, body, once...)
	m.endpointSecret(made)
	m.call(201, "POST", hooksAPI, body, once...)
	m.call(400, "POST", hooksAPI, fmt.Sprintf(`{"url":"https://192.168.1.1/%s"}`,
		m.personal("token in an address that is refused", "%s")), as...)

	one := fmt.Sprintf("%s%d/", hooksAPI, int64(made.Number(t, "id")))
	m.call(202, "POST", one+"test/", "", as...)
	processtest.Eventually(t, "a message was refused", func() bool { return receiver.asked.Load() > 0 })
	m.call(200, "PATCH", one, fmt.Sprintf(`{"url":"%s/%s"}`, receiver.URL, later), as...)
	m.endpointSecret(m.call(200, "POST", one+"rotate_secret/", "", as...))
	receiver.welcomes.Store(true)
	processtest.Eventually(t, "a message has arrived", func() bool {
		return strings.Contains(m.call(200, "GET", one+"deliveries/", "", as...).Body, `"delivered"`)
	})
	m.call(200, "GET", hooksAPI+"?search="+token, "", as...)
	m.tellsNothingOfAddresses("webhook_endpoint-" + fmt.Sprint(int64(made.Number(t, "id"))))
}

// tenantAdmin is the administrator of the demo's tenant, as headers.
func (m *mine) tenantAdmin() []string {
	admin := customer{}
	m.tokens(&admin, m.call(200, "POST", "/api/token/", processtest.PasswordLogin(m.demo.TenantAdmin.Username,
		m.demo.TenantAdmin.Password)))
	return []string{"Authorization", "Bearer " + admin.access}
}

// endpointSecret makes the secret known that an answer shows, this once.
func (m *mine) endpointSecret(a processtest.Answer) {
	text := strings.TrimPrefix(a.Field(m.Home.T, "secret"), "whsec_")
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != 32 {
		m.Home.T.Fatalf("%q is no secret: %v", text, err)
	}
	m.known("secret of an endpoint", text)
	m.known("secret of an endpoint, as it is used", string(raw))
}

// tellsNothingOfAddresses looks at an endpoint's history.
func (m *mine) tellsNothingOfAddresses(stream string) {
	for _, how := range [][]string{{"history", stream}, {"history", stream, "--json"}} {
		out, complaint, code := m.Answering("", how...)
		if code != console.Done || !strings.Contains(out, "endpoint_created") &&
			!strings.Contains(out, "endpoint at 127.0.0.1") {
			m.Home.T.Errorf("%v ended with %d: %s%s", how, code, out, complaint)
		}
		for _, s := range m.people.seen(strings.Join(how, " "), []byte(out+complaint)) {
			m.Home.T.Errorf("%s stands in %s", s.canary, s.place)
		}
	}
}

// tellsNobodyAnyMore removes what others were told at.
func (m *mine) tellsNobodyAnyMore() {
	t := m.Home.T
	as := m.tenantAdmin()
	m.call(204, "DELETE", hooksAPI+"1/", "", as...)
	m.call(404, "GET", hooksAPI+"1/", "", as...)
	if n := strings.Count(m.call(200, "GET", hooksAPI, "", as...).Body, `"url"`); n != 0 {
		t.Errorf("%d endpoints are left", n)
	}
}

// A receiver takes messages once it welcomes them.
type receiver struct {
	*httptest.Server
	asked    atomic.Int32
	welcomes atomic.Bool
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r.asked.Add(1)
		if !r.welcomes.Load() {
			http.Error(w, "not now", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(r.Close)
	return r
}
