package hosting_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/hosting"
)

func TestCertificates(t *testing.T) {
	answers(t, "ssl_certificate", placeOf("ssl_certificate"), []asked{
		{`{"site":3}`, `{"site":3,"cert_type":"acme","domain":"example.com","auto_renew":true,"status":"pending","last_error":"","expires_at":null,"is_active":true}`},
		{`{"site":3,"domain":"WWW.example.com","auto_renew":false}`, `{"domain":"www.example.com","auto_renew":false}`},
		{`{"site":3,"domain":"notexample.com"}`, `{"domain":["The domain does not belong to the site."]}`},
		{`{"site":3,"domain":"x"}`, `{"domain":["Enter a valid domain name."]}`},
		{`{"site":3,"cert_type":"bought"}`, `{"cert_type":["\"bought\" is not a valid choice."]}`},
		{`{"site":3,"cert_type":"custom"}`, `{"certificate":["This field is required."],"private_key":["This field is required."]}`},
		{`{}`, `{"site":["This field is required."]}`},
		{`{"site":3,"cert_type":"custom","certificate":"` + long(65537) + `","private_key":"x"}`, `{"certificate":["Ensure this field has no more than 65536 characters."]}`},
	})
}

func TestACertificateOfOnesOwn(t *testing.T) {
	const noMatch = `{"private_key":["The private key does not match the certificate."]}`
	cert, key := pair(t)
	other, otherKey := pair(t)
	for name, c := range map[string]struct{ certificate, key, chain, want string }{
		"a pair":              {cert, key, "", ""},
		"with a chain":        {cert, key, other, ""},
		"another's key":       {cert, otherKey, "", noMatch},
		"no key":              {cert, "x", "", noMatch},
		"no certificate":      {"x", key, "", `{"certificate":["This value does not match the required pattern."]}`},
		"a chain of nothing":  {cert, key, "x", `{"chain":["This value does not match the required pattern."]}`},
		"a key as the chain":  {cert, key, key, `{"chain":["This value does not match the required pattern."]}`},
		"something behind it": {cert + "x", key, "", `{"certificate":["This value does not match the required pattern."]}`},
	} {
		body := fmt.Sprintf(`{"site":3,"cert_type":"custom","certificate":%q,"private_key":%q,"chain":%q}`, c.certificate, c.key, c.chain)
		spec, got := create("ssl_certificate", body, placeOf("ssl_certificate"))
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if shown := string(spec.Fields().AppendJSON(nil)); strings.Contains(shown, "BEGIN") {
			t.Errorf("%s is shown: %s", name, shown)
		}
	}
	spec, _ := create("ssl_certificate", fmt.Sprintf(`{"site":3,"certificate":%q,"private_key":%q}`, cert, key), placeOf("ssl_certificate"))
	if c := spec.(*hosting.Certificate); c.PrivateKey != "" || c.Certificate != "" { // which an acme one has no use for
		t.Error("kept")
	}
}

func TestOnlyTheRenewalOfACertificateChanges(t *testing.T) {
	cert, key := pair(t)
	spec, _ := create("ssl_certificate", `{"site":3}`, placeOf("ssl_certificate"))
	const not = `["This field cannot be changed."]`
	for _, c := range []asked{
		{`{"auto_renew":false}`, ""},
		{`{"domain":"www.example.com","cert_type":"custom"}`, `{"cert_type":` + not + `,"domain":` + not + `}`},
		{fmt.Sprintf(`{"certificate":%q,"private_key":%q}`, cert, key), `{"certificate":` + not + `,"private_key":` + not + `}`},
		{`{"status":"issued","is_active":false}`, ""},
	} {
		if got := change(spec, c.body, placeOf("ssl_certificate")); got != c.want {
			t.Errorf("%s: %s", c.body, got)
		}
	}
	if c := spec.(*hosting.Certificate); c.AutoRenew || c.Status != "pending" || !c.IsActive {
		t.Errorf("%+v", c)
	}
}

func TestDaysAreCountedDown(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{30 * 24 * time.Hour, `{"is_expired":false,"days_until_expiry":30}`},
		{47 * time.Hour, `{"is_expired":false,"days_until_expiry":1}`},
		{time.Second, `{"is_expired":false,"days_until_expiry":0}`},
		{0, `{"is_expired":true,"days_until_expiry":0}`},
		{-time.Second, `{"is_expired":true,"days_until_expiry":-1}`},
		{-48 * time.Hour, `{"is_expired":true,"days_until_expiry":-2}`},
	} {
		at := now.Add(c.left)
		if got := string((&hosting.Certificate{ExpiresAt: &at}).Derived(now).AppendJSON(nil)); got != c.want {
			t.Errorf("%s: %s", c.left, got)
		}
	}
	if got := string((&hosting.Certificate{}).Derived(now).AppendJSON(nil)); got != `{"is_expired":false,"days_until_expiry":null}` {
		t.Error(got)
	}
}

// pair makes a certificate and its key.
func pair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, NotAfter: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, like, like, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}
