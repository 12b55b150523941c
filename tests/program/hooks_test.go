//go:build system

package program_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/eventstore/sealing"
	"hostpanel/tests/processtest"
)

// A hookHearer is a tenant's own program, with a token in its address.
type hookHearer struct {
	*httptest.Server
	mu   sync.Mutex
	says int
	got  []message
}

type message struct {
	head http.Header
	body string
}

func hearing(t *testing.T) *hookHearer {
	t.Helper()
	l := &hookHearer{says: 200}
	l.Server = httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.got = append(l.got, message{q.Header, string(body)})
		a.WriteHeader(l.says)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *hookHearer) answers(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.says = status
}

// hears waits for a message of a type, behind so many others.
func (l *hookHearer) hears(t *testing.T, event string, behind int) (message, int) {
	t.Helper()
	for until := time.Now().Add(processtest.Patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		l.mu.Lock()
		for i, m := range l.got {
			if i >= behind && strings.HasPrefix(m.body, `{"type":"`+event+`"`) {
				l.mu.Unlock()
				return m, i + 1
			}
		}
		l.mu.Unlock()
	}
	t.Fatalf("%s is not heard", event)
	return message{}, 0
}

// signed tells whether a message is, with a secret as the API shows it.
func (m message) signed(t *testing.T, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) != 32 {
		t.Fatalf("the secret is %q", secret)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", m.head.Get("webhook-id"), m.head.Get("webhook-timestamp"), m.body)
	return strings.Contains(" "+m.head.Get("webhook-signature")+" ",
		" v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))+" ")
}

// A tenant hears of its records by signed messages, whatever becomes of the
// endpoint's secret, of ours, and of the program.
func TestATenantsProgramHearsOfWhatIsTheTenants(t *testing.T) {
	t.Parallel()
	const token = "t0keninthepath"
	l := hearing(t)
	h := processtest.NewHome(t)
	h.Env = append(h.Env, "HOSTPANEL_LOG_LEVEL=debug")
	r := h.Start()
	d := h.Demo()
	var admin []string
	signsIn := func() {
		admin = []string{
			"Authorization", "Bearer " + r.SignIn(d.TenantAdmin).Field(t, "access"), "Content-Type",
			processtest.AsJSON,
		}
	}
	const endpoints = "/hosting/api/rest/webhook-endpoints/"
	wish := fmt.Sprintf(`{"url":"%s/%s","events":["site.*"]}`, l.URL, token)
	signsIn()
	r.Ask(400, "POST", endpoints, wish, admin...) // the machine's own addresses are not allowed
	r.Stop()
	said := r.Log.String()

	h.Env = append(h.Env, "HOSTPANEL_WEBHOOK_NETWORKS=127.0.0.0/8")
	r = h.Start()
	signsIn()
	made := r.Ask(201, "POST", endpoints, wish, admin...)
	first := made.Field(t, "secret")
	var endpoint struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal([]byte(made.Body), &endpoint); err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf("%s%d/", endpoints, endpoint.ID)
	if again := r.Ask(200, "GET", one, "", admin...); strings.Contains(again.Body, first) {
		t.Error("the secret is shown again")
	}
	r.Ask(201, "POST", "/hosting/api/rest/sites/", `{"domain":"hooks.example"}`, admin...)
	m, n := l.hears(t, "site.created", 0)
	if !m.signed(t, first) || strings.Contains(m.body, "hooks.example") {
		t.Errorf("%v %s", m.head, m.body)
	}

	second := r.Ask(200, "POST", one+"rotate_secret/", "", admin...).Field(t, "secret")
	l.answers(503)
	sent := r.Ask(202, "POST", one+"test/", "", admin...).Field(t, "id")
	m, n = l.hears(t, "endpoint.test", n)
	if !m.signed(t, first) || !m.signed(t, second) || first == second {
		t.Errorf("signed with %s", m.head.Get("webhook-signature"))
	}
	r.Stop()
	said += r.Log.String()

	old, err := os.ReadFile(filepath.Join(h.Dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "HOSTPANEL_SECRET_KEY="+sealing.NewSecretKey()+","+strings.TrimSpace(string(old)))
	l.answers(200)
	r = h.Start()
	signsIn()
	again, _ := l.hears(t, "endpoint.test", n)
	if again.head.Get("webhook-id") != m.head.Get("webhook-id") || again.body != m.body || !again.signed(t, second) {
		t.Errorf("tried again as %v %s", again.head, again.body)
	}
	for until := time.Now().Add(processtest.Patience); r.Ask(200, "GET", one+"deliveries/"+sent+"/", "", admin...).Field(t,
		"status") != "delivered"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it is not shown as delivered")
		}
	}
	r.Ask(204, "DELETE", one, "", admin...)
	r.Ask(404, "GET", one, "", admin...)
	r.Stop()
	said += r.Log.String() + h.Must("history", fmt.Sprintf("webhook_endpoint-%d", endpoint.ID))
	for _, secret := range []string{token, first, second, strings.TrimPrefix(l.URL, "http://")} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is in a log or a history", secret)
		}
	}
}
