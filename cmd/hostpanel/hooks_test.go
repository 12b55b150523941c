package main

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
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
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
	return strings.Contains(" "+m.head.Get("webhook-signature")+" ", " v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))+" ")
}

// A tenant hears of its records by signed messages, whatever becomes of the
// endpoint's secret, of ours, and of the program.
func TestATenantsProgramHearsOfWhatIsTheTenants(t *testing.T) {
	t.Parallel()
	const token = "t0keninthepath"
	l := hearing(t)
	h := newHome(t)
	h.env = append(h.env, "HOSTPANEL_LOG_LEVEL=debug")
	r := h.start()
	d := h.demo()
	var admin []string
	signsIn := func() {
		admin = []string{"Authorization", "Bearer " + r.signIn(d.TenantAdmin).field(t, "access"), "Content-Type", asJSON}
	}
	const endpoints = "/hosting/api/rest/webhook-endpoints/"
	wish := fmt.Sprintf(`{"url":"%s/%s","events":["site.*"]}`, l.URL, token)
	signsIn()
	r.ask(400, "POST", endpoints, wish, admin...) // the machine's own addresses are not allowed
	r.stop()
	said := r.log.String()

	h.env = append(h.env, "HOSTPANEL_WEBHOOK_NETWORKS=127.0.0.0/8")
	r = h.start()
	signsIn()
	made := r.ask(201, "POST", endpoints, wish, admin...)
	first := made.field(t, "secret")
	var endpoint struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal([]byte(made.body), &endpoint); err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf("%s%d/", endpoints, endpoint.ID)
	if again := r.ask(200, "GET", one, "", admin...); strings.Contains(again.body, first) {
		t.Error("the secret is shown again")
	}
	r.ask(201, "POST", "/hosting/api/rest/sites/", `{"domain":"hooks.example"}`, admin...)
	m, n := l.hears(t, "site.created", 0)
	if !m.signed(t, first) || strings.Contains(m.body, "hooks.example") {
		t.Errorf("%v %s", m.head, m.body)
	}

	second := r.ask(200, "POST", one+"rotate_secret/", "", admin...).field(t, "secret")
	l.answers(503)
	sent := r.ask(202, "POST", one+"test/", "", admin...).field(t, "id")
	m, n = l.hears(t, "endpoint.test", n)
	if !m.signed(t, first) || !m.signed(t, second) || first == second {
		t.Errorf("signed with %s", m.head.Get("webhook-signature"))
	}
	r.stop()
	said += r.log.String()

	old, err := os.ReadFile(filepath.Join(h.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "HOSTPANEL_SECRET_KEY="+sealing.NewSecretKey()+","+strings.TrimSpace(string(old)))
	l.answers(200)
	r = h.start()
	signsIn()
	again, _ := l.hears(t, "endpoint.test", n)
	if again.head.Get("webhook-id") != m.head.Get("webhook-id") || again.body != m.body || !again.signed(t, second) {
		t.Errorf("tried again as %v %s", again.head, again.body)
	}
	for until := time.Now().Add(patience); r.ask(200, "GET", one+"deliveries/"+sent+"/", "", admin...).field(t, "status") != "delivered"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it is not shown as delivered")
		}
	}
	r.ask(204, "DELETE", one, "", admin...)
	r.ask(404, "GET", one, "", admin...)
	r.stop()
	said += r.log.String() + h.must("history", fmt.Sprintf("webhook_endpoint-%d", endpoint.ID))
	for _, secret := range []string{token, first, second, strings.TrimPrefix(l.URL, "http://")} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is in a log or a history", secret)
		}
	}
}
