package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/loopbacktest"
	sender "hostpanel/adapters/webhook"
	"hostpanel/domain"
	"hostpanel/domain/webhook"
)

var (
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	secret   = bytes.Repeat([]byte{7}, 32)
	another  = bytes.Repeat([]byte{9}, 32)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	created  = webhook.Message{
		ID: "0190b2f0-0000-7000-8000-000000000001", Type: "site.created", At: noon, Tenant: 17,
		Data: json.RawMessage(`{"id":42,"kind":"site"}`),
	}
)

func options() sender.Options {
	return sender.Options{Networks: loopback, Now: func() time.Time { return noon }, Installation: "3f9a2b1c07"}
}

// post delivers a message to a receiver that does something.
func post(t *testing.T, o sender.Options, does http.HandlerFunc) (int, error) {
	t.Helper()
	s := httptest.NewServer(does)
	t.Cleanup(s.Close)
	return sender.New(o).Deliver(t.Context(), s.URL+"/hook?token=s3same", [][]byte{secret}, created)
}

func failure(t *testing.T, err error) *domain.Failure {
	t.Helper()
	f, is := errors.AsType[*domain.Failure](err)
	if !is {
		t.Fatalf("%v is no failure", err)
	}
	return f
}

func TestAMessageIsPostedWithASignatureForEachSecret(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if want := `{"type":"site.created","timestamp":"2026-03-01T12:00:00Z","data":{"id":42,"kind":"site"}}`; string(body) != want ||
			q.Method != "POST" {
			t.Errorf("%s %s", q.Method, body)
		}
		var signatures []string
		for _, key := range [][]byte{secret, another} {
			h := hmac.New(sha256.New, key)
			fmt.Fprintf(h, "%s.%d.%s", created.ID, noon.Unix(), body)
			signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
		}
		for name, want := range map[string]string{
			"Webhook-Id": created.ID, "Webhook-Timestamp": fmt.Sprint(noon.Unix()), "Webhook-Signature": strings.Join(signatures, " "),
			"Content-Type": "application/json", "User-Agent": "hostpanel-webhooks/1", "Accept-Encoding": "",
			"Hostpanel-Installation": "3f9a2b1c07",
			"Authorization":          "", "Cookie": "",
		} {
			if got := q.Header.Get(name); got != want {
				t.Errorf("%s: %q, not %q", name, got, want)
			}
		}
		a.Header().Set("Set-Cookie", "a=b")
		a.WriteHeader(204)
	}))
	defer s.Close()
	all := sender.New(options())
	for range 2 { // the second time nothing is left of the first
		if status, err := all.Deliver(t.Context(), s.URL, [][]byte{secret, another}, created); status != 204 || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
}

func TestWhatAnEndpointAnswersDecidesWhetherItIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string
		class      domain.Class
		code       string
		pause      time.Duration
	}{
		{500, "", domain.Transient, "status_500", 0},
		{503, "120", domain.Transient, "status_503", 2 * time.Minute},
		{429, "Sun, 01 Mar 2026 12:10:00 GMT", domain.Transient, "status_429", 10 * time.Minute},
		{429, "Sun, 01 Mar 2020 12:10:00 GMT", domain.Transient, "status_429", 0},
		{429, "9223372036854775807", domain.Transient, "status_429", 10 * time.Hour},
		{503, "-5", domain.Transient, "status_503", 0},
		{503, "soon", domain.Transient, "status_503", 0},
		{404, "", domain.Transient, "status_404", 0},
		{401, "", domain.Transient, "status_401", 0},
		{304, "", domain.Transient, "status_304", 0},
		{410, "", domain.Permanent, "gone", 0},
	} {
		status, err := post(t, options(), func(a http.ResponseWriter, _ *http.Request) {
			a.Header().Set("Retry-After", c.retryAfter)
			a.WriteHeader(c.status)
		})
		if f := failure(t, err); status != c.status || f.Class != c.class || f.Code != c.code || f.RetryAfter != c.pause {
			t.Errorf("%d %q: %d, %+v", c.status, c.retryAfter, status, f)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		got, err := post(t, options(), func(a http.ResponseWriter, q *http.Request) {
			http.Redirect(a, q, elsewhere.URL, status)
		})
		if f := failure(t, err); got != status || f.Code != fmt.Sprintf("status_%d", status) || f.Class != domain.Transient {
			t.Errorf("%d, %+v", got, f)
		}
	}
	if followed.Load() != 0 {
		t.Error("a redirection was followed")
	}
}

func TestWhoHangsIsHungUpOn(t *testing.T) {
	released := make(chan struct{})
	o := options()
	o.Timeout = 200 * time.Millisecond
	status, err := post(t, o, func(http.ResponseWriter, *http.Request) { <-released })
	close(released)
	if f := failure(t, err); status != 0 || f.Class != domain.Unknown || f.Code != "timeout" {
		t.Errorf("%d, %+v", status, f)
	}
}

func TestWhoStopsUsIsNotTheEndpoint(t *testing.T) {
	released := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	defer s.Close()
	defer close(released)
	stopping := errors.New("the worker stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(stopping) })
	_, err := sender.New(options()).Deliver(ctx, s.URL, [][]byte{secret}, created)
	if _, is := errors.AsType[*domain.Failure](err); is || !errors.Is(err, stopping) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNotReachedIsTriedAgain(t *testing.T) {
	address := "http://" + loopbacktest.Refused(t)
	cut := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(a).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	}))
	defer cut.Close()
	strange := httptest.NewTLSServer(nil)
	strange.Config.ErrorLog = quiet
	defer strange.Close()
	for address, want := range map[string]*domain.Failure{
		address:     {Class: domain.Transient, Code: "unreachable"},
		cut.URL:     {Class: domain.Unknown, Code: "connection_lost"},
		strange.URL: {Class: domain.Transient, Code: "tls_failed"}, // signed by an unknown authority
		strings.Replace(cut.URL, "http:", "https:", 1): {Class: domain.Transient, Code: "tls_failed"},
	} {
		_, err := sender.New(options()).Deliver(t.Context(), address, [][]byte{secret}, created)
		if f := failure(t, err); f.Class != want.Class || f.Code != want.Code {
			t.Errorf("%s: %+v", address, f)
		}
	}
}

func TestOldTLSIsNotSpoken(t *testing.T) {
	for version, want := range map[uint16]string{tls.VersionTLS11: "tls_failed", tls.VersionTLS12: "", tls.VersionTLS13: ""} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		s.TLS, s.Config.ErrorLog = &tls.Config{MinVersion: version, MaxVersion: version}, quiet
		s.StartTLS()
		t.Cleanup(s.Close)
		o := options()
		o.Roots = x509.NewCertPool()
		o.Roots.AddCert(s.Certificate())
		_, err := sender.New(o).Deliver(t.Context(), s.URL, [][]byte{secret}, created)
		if want == "" && err != nil || want != "" && failure(t, err).Code != want {
			t.Errorf("%x: %v", version, err)
		}
	}
}

func TestAProxyOfTheMachineIsNotUsed(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	_, err := sender.New(sender.Options{}).Deliver(t.Context(), "http://169.254.169.254/latest/meta-data/", [][]byte{secret}, created)
	if f := failure(t, err); f.Code != "address_refused" || asked.Load() != 0 {
		t.Errorf("%+v, and the proxy was asked %d times", f, asked.Load())
	}
}

// A listener that must not be reached.
func forbidden(t *testing.T) (port string, reached *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	reached = &atomic.Int32{}
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = connection.Close()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, reached
}

func TestNothingOfOursIsCalledHoweverItIsWritten(t *testing.T) {
	port, reached := forbidden(t)
	for _, scheme := range []string{"http", "https"} {
		for _, host := range []string{
			"127.0.0.1", "127.1.1.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "localhost",
			"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "[fe80::1%25lo]",
		} {
			for _, at := range []string{":" + port, ":443", ""} {
				status, err := sender.New(sender.Options{}).Deliver(t.Context(), scheme+"://"+host+at+"/", [][]byte{secret}, created)
				if f := failure(t, err); status != 0 || f.Class != domain.Permanent || f.Code != "address_refused" {
					t.Errorf("%s://%s%s: %+v", scheme, host, at, f)
				}
			}
		}
	}
	for _, address := range []string{
		"ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1/", "https://user:pass@127.0.0.1/",
		"https:///path", "", "https://127.0.0.1:99999/", "://",
	} {
		if _, err := sender.New(options()).Deliver(t.Context(), address, [][]byte{secret}, created); failure(t, err).
			Class != domain.Permanent &&
			failure(t, err).Code != "unreachable" {
			t.Errorf("%q: %v", address, err)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d connections came through", reached.Load())
	}
}

func TestFailuresTellNothingOfWhereOrWith(t *testing.T) {
	port, _ := forbidden(t)
	o := options()
	o.Resolver = (&nameserver{answers: []string{""}}).resolver(t)
	for _, address := range []string{
		"https://tokeninthename.invalid/tokeninthepath?key=tokeninthequery",
		"http://127.0.0.1:" + port + "/tokeninthepath", "https://127.0.0.1:" + port + "/tokeninthepath",
		"https://10.9.8.7/tokeninthepath", "tokeninthescheme://x/", "https://x/%zztokenintheescape",
	} {
		_, err := sender.New(o).Deliver(t.Context(), address, [][]byte{[]byte("tokeninthesecret")}, created)
		text := fmt.Sprintf("%v %+v %#v", err, err, err)
		if u, bad := url.Parse(address); bad == nil && len(u.Host) > 1 && strings.Contains(text, u.Host) ||
			strings.Contains(text, "tokenin") || strings.Contains(text, "10.9.8.7") {
			t.Errorf("says %s", text)
		}
	}
}
