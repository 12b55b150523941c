package hosting_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// secured is a shop with sites and certificates of two tenants. Site 1 has three
// certificates: one valid for 90.5 days, a failed one and a custom one. Site 2 is
// disabled; site 3 belongs to another tenant.
func secured(t testing.TB, options ...func(*paneltest.Shop)) *paneltest.Shop {
	t.Helper()
	s := paneltest.Open(t, options...).People(t)
	for i, site := range []hosting.Site{
		{Domain: "bread.example", IsActive: true},
		{Domain: "off.example"},
		{Domain: "milk.example", IsActive: true},
		{Domain: "new.example", IsActive: true},
	} {
		tenant := int64(1)
		if site.Domain == "milk.example" {
			tenant = 2
		}
		site.IPAddress = "*"
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "site", ID: int64(i + 1)}, Tenant: tenant,
			Spec: site.Fields().Values(),
		})
	}
	now := time.Now()
	certificate(t, s, 1, 1, hosting.Certificate{Site: 1, Type: "acme", Domain: "bread.example", AutoRenew: true})
	certificate(t, s, 2, 1, hosting.Certificate{Site: 1, Type: "acme", Domain: "www.bread.example", AutoRenew: true})
	certificate(t, s, 3, 1, hosting.Certificate{Site: 1, Type: "custom", Domain: "bread.example"})
	certificate(t, s, 4, 2, hosting.Certificate{Site: 3, Type: "acme", Domain: "milk.example", AutoRenew: true})
	certificate(t, s, 5, 1, hosting.Certificate{Site: 2, Type: "acme", Domain: "off.example", AutoRenew: true})
	s.Do(t, hosting.Confirm{
		Ref: ssl(1), EngineID: 9,
		Observed: field.Values{"expires_at": field.AppendTime(nil, now.Add(90*24*time.Hour+12*time.Hour))},
	})
	s.Do(t, hosting.Confirm{
		Ref: ssl(5), EngineID: 9,
		Observed: field.Values{"expires_at": field.AppendTime(nil, now.Add(-36*time.Hour))},
	})
	s.Do(t, hosting.Decline{Ref: ssl(2), Code: "not_issued", At: now})
	if _, err := s.Owner.Exec(t.Context(), `select setval('ssl_certificate_id', 100)`); err != nil {
		t.Fatal(err)
	}
	s.Known["today"] = now.UTC().Format(time.DateOnly)
	cert, key := brought(t, now, "shop.bread.example")
	s.Known["certificate"], s.Known["key"] = inJSON(cert), inJSON(key)
	_, other := brought(t, now, "shop.bread.example")
	s.Known["otherkey"] = inJSON(other)
	return s
}

func ssl(id int64) hosting.Ref { return hosting.Ref{Kind: "ssl_certificate", ID: id} }

func certificate(t testing.TB, s *paneltest.Shop, id, tenant int64, c hosting.Certificate) {
	t.Helper()
	hosting.Complete(&c, hosting.Place{ID: id, Tenant: tenant, At: time.Now()})
	s.Do(t, hosting.Request{Ref: ssl(id), Tenant: tenant, Spec: c.Fields().Values()})
}

// brought creates a custom certificate with its private key.
func brought(t testing.TB, now time.Time, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(365 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: der,
	})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

func inJSON(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

func TestConversationsAboutCertificates(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/certificates/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := secured(t)
		return s.Handler, s.Known
	})
}

// Neither the log nor a table holds a private key in plaintext.
func TestABroughtKeyIsNowhereInTheClear(t *testing.T) {
	t.Parallel()
	s := secured(t)
	body := fmt.Sprintf(`{"site":1,"cert_type":"custom","domain":"shop.bread.example","certificate":"%s",`+
		`"private_key":"%s"}`, s.Known["certificate"], s.Known["key"])
	w := s.Call("POST", "/hosting/api/rest/ssl-certificates/", body,
		append(paneltest.Bearer(s.Known["ben"]), "Content-Type", "application/json")...)
	if w.Code != http.StatusCreated || strings.Contains(w.Body.String(), "BEGIN") {
		t.Fatal(w.Code, w.Body)
	}
	for _, table := range []string{"events", "resources", "secret_handoff", "once_keys"} {
		if n := s.Count(t, `select count(*) from `+table+` x where x::text like '%PRIVATE KEY%'`); n != 0 {
			t.Errorf("the key stands in %s", table)
		}
	}
	if n := s.Count(t, `select count(*) from secret_handoff where purpose = 'engine'`); n != 2 {
		t.Errorf("%d secrets are handed over, not a certificate and its key", n)
	}
}

// What follows from the time, such as the days to an expiry, follows from the moment of the view.
func TestAViewOfThePastTellsTheTimeOfThen(t *testing.T) {
	t.Parallel()
	s := secured(t)
	for _, of := range []struct {
		view time.Time // zero: the present
		days int
	}{{days: 90}, {time.Now().Add(-50 * 24 * time.Hour), 140}} {
		s.Server.AsOf = of.view
		s.Rewire(t)
		var shown served
		w := s.Call("GET", "/hosting/api/rest/ssl-certificates/1/", "", paneltest.Bearer(s.Known["root"])...)
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || shown.Days != of.days {
			t.Errorf("as of %s: %d days, want %d: %v %s", of.view, shown.Days, of.days, err, w.Body)
		}
	}
}

// All users of a tenant together may order ten certificates a minute.
func TestOrdersOfATenantAreCounted(t *testing.T) {
	t.Parallel()
	s := secured(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true })
	for i := range 11 {
		path, want := "/hosting/api/rest/sites/4/request_ssl/", http.StatusAccepted
		if i%2 == 1 {
			path = "/hosting/api/rest/ssl-certificates/1/renew/"
		}
		if i == 10 {
			want = http.StatusTooManyRequests
		}
		if w := s.Call("POST", path, "", paneltest.Bearer(s.Known["ben"])...); w.Code != want {
			t.Fatalf("call %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	if w := s.Call("POST", "/hosting/api/rest/ssl-certificates/4/renew/", "",
		paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusAccepted {
		t.Errorf("another tenant's: %d %s", w.Code, w.Body)
	}
}

// served has the fields of sites and certificates that the tests read.
type served struct {
	ID         int64     `json:"id"`
	Status     string    `json:"status"`
	Expires    time.Time `json:"expires_at"`
	Days       int       `json:"days_until_expiry"`
	SSLEnabled bool      `json:"ssl_enabled"`
}

// say calls the hosting API as a member of the first tenant.
func say(t testing.TB, s *paneltest.Shop, method, path, body string, status int) (got served) {
	t.Helper()
	w := s.Call(method, "/hosting/api/rest/"+path, body,
		append(paneltest.Bearer(s.Known["ben"]), "Content-Type", "application/json")...)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil && w.Body.Len() > 0 {
		t.Fatal(err)
	}
	return got
}
