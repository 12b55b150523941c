package hosting_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
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
		{
			`{"site":3}`,
			`{"site":3,"cert_type":"acme","domain":"example.com","auto_renew":true,"status":"pending","last_error":"",` +
				`"expires_at":null,"is_active":true}`,
		},
		{`{"site":3,"domain":"WWW.example.com","auto_renew":false}`, `{"domain":"www.example.com","auto_renew":false}`},
		{`{"site":3,"domain":"notexample.com"}`, `{"domain":["The domain does not belong to the site."]}`},
		{`{"site":3,"domain":"x"}`, `{"domain":["Enter a valid domain name."]}`},
		{`{"site":3,"cert_type":"bought"}`, `{"cert_type":["\"bought\" is not a valid choice."]}`},
		{`{"site":3,"cert_type":"custom"}`, `{"certificate":["This field is required."],"private_key":["This field is required."]}`},
		{`{}`, `{"site":["This field is required."]}`},
		{
			`{"site":3,"cert_type":"custom","certificate":"` + long(65537) + `","private_key":"x"}`,
			`{"certificate":["Ensure this field has no more than 65536 characters."]}`,
		},
	})
}

func TestACertificateOfOnesOwn(t *testing.T) {
	const pattern = `["This value does not match the required pattern."]`
	const noMatch = `{"private_key":["The private key does not match the certificate."]}`
	const noChain = `{"chain":["The chain does not belong to the certificate."]}`
	const outOfOrder = `{"chain":["The chain is not in order: each certificate has to be signed by the next one."]}`
	const encrypted = `{"private_key":["The private key is encrypted; it has to be sent without a passphrase."]}`
	authority := pairOf(t, paper{isCA: true})
	root := authority.text()
	cert := pairOf(t, paper{})
	signed, wildcard := pairOf(t, paper{by: &authority}), pairOf(t, paper{names: []string{"*.example.com", "example.com"}})
	between := pairOf(t, paper{by: &authority, isCA: true})
	under := pairOf(t, paper{by: &between})
	locked := string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("locked")}))
	older := string(pem.EncodeToMemory(&pem.Block{
		Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"},
	}))
	of := func(p paper) string { p = pairOf(t, p); return p.text() + "|" + p.keyText(t) }
	for name, c := range map[string]struct{ certificate, key, chain, want string }{
		"a pair":              {cert.text(), cert.keyText(t), "", ""},
		"one of more names":   {wildcard.text(), wildcard.keyText(t), "", ""},
		"with a chain":        {signed.text(), signed.keyText(t), root, ""},
		"a chain in one file": {signed.text() + root, signed.keyText(t), "", ""},
		"a longer chain":      {under.text(), under.keyText(t), between.text() + root, ""},
		"a chain upside down": {under.text(), under.keyText(t), root + between.text(), outOfOrder},
		"the other way round": {root + between.text() + under.text(), authority.keyText(t), "", outOfOrder},
		"a key with a phrase": {cert.text(), locked, "", encrypted},
		"one of older tools":  {cert.text(), older, "", encrypted},
		"another's chain":     {cert.text(), cert.keyText(t), root, noChain},
		"another's in a file": {cert.text() + root, cert.keyText(t), "", noChain},
		"another's key":       {cert.text(), signed.keyText(t), "", noMatch},
		"no key":              {cert.text(), "x", "", noMatch},
		"no certificate":      {"x", cert.keyText(t), "", `{"certificate":` + pattern + `}`},
		"a chain of nothing":  {cert.text(), cert.keyText(t), "x", `{"chain":` + pattern + `}`},
		"a key as the chain":  {cert.text(), cert.keyText(t), cert.keyText(t), `{"chain":` + pattern + `}`},
		"something behind it": {cert.text() + "x", cert.keyText(t), "", `{"certificate":` + pattern + `}`},
	} {
		spec, got := create("ssl_certificate", own(c.certificate, c.key, c.chain), placeOf("ssl_certificate"))
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if shown := string(spec.Fields().AppendJSON(nil)); strings.Contains(shown, "BEGIN") {
			t.Errorf("%s is shown: %s", name, shown)
		}
	}
	const otherKey = `{"certificate":["The key of the certificate has to be RSA, or of the curve P-256, P-384 or P-521."]}`
	for name, c := range map[string]struct{ pair, want string }{
		"over":         {of(paper{until: noon.Add(-time.Second)}), `{"certificate":["The certificate has expired."]}`},
		"not yet":      {of(paper{from: noon.Add(time.Second)}), `{"certificate":["The certificate is not valid yet."]}`},
		"another name": {of(paper{names: []string{"www.example.com"}}), `{"certificate":["The certificate does not cover the domain."]}`},
		"no name": { // but the common one
			of(paper{names: []string{}}),
			`{"certificate":["The certificate has no subject alternative names, which browsers look for the domain in."]}`,
		},
		"a short key":    {of(paper{key: rsaKey(t, 1024)}), `{"certificate":["The RSA key of the certificate has less than 2048 bits."]}`},
		"one just long":  {of(paper{key: rsaKey(t, 2048)}), ""},
		"P-224":          {of(paper{key: ecKey(t, elliptic.P224())}), otherKey},
		"P-384":          {of(paper{key: ecKey(t, elliptic.P384())}), ""},
		"P-521":          {of(paper{key: ecKey(t, elliptic.P521())}), ""},
		"Edwards' curve": {of(paper{key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}), otherKey},
	} {
		certificate, key, _ := strings.Cut(c.pair, "|")
		if _, got := create("ssl_certificate", own(certificate, key, ""), placeOf("ssl_certificate")); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	spec, _ := create(
		"ssl_certificate", fmt.Sprintf(`{"site":3,"certificate":%q,"private_key":%q}`, cert.text(), cert.keyText(t)),
		placeOf("ssl_certificate"),
	)
	if c := spec.(*hosting.Certificate); c.PrivateKey != "" || c.Certificate != "" { // which an acme one has no use for
		t.Error("kept")
	}
}

func TestWhenOnesOwnCertificateEndsIsNoted(t *testing.T) {
	cert := pairOf(t, paper{until: noon.Add(90 * days)})
	spec, wrong := create("ssl_certificate", own(cert.text(), cert.keyText(t), ""), placeOf("ssl_certificate"))
	c := spec.(*hosting.Certificate)
	if wrong != "" || c.BroughtTo == nil || !c.BroughtTo.Equal(noon.Add(90*days)) || c.ExpiresAt != nil ||
		c.OrderedAt == nil || !c.OrderedAt.Equal(noon) {
		t.Errorf("%s %+v", wrong, c)
	}
}

func TestOnlyTheRenewalOfACertificateChanges(t *testing.T) {
	cert := pairOf(t, paper{})
	spec, _ := create("ssl_certificate", `{"site":3}`, placeOf("ssl_certificate"))
	const not = `["This field cannot be changed."]`
	for _, c := range []asked{
		{`{"auto_renew":false}`, ""},
		{`{"domain":"www.example.com","cert_type":"custom"}`, `{"cert_type":` + not + `,"domain":` + not + `}`},
		{
			fmt.Sprintf(`{"certificate":%q,"private_key":%q}`, cert.text(), cert.keyText(t)),
			`{"certificate":` + not + `,"private_key":` + not + `}`,
		},
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
		if got := string(hosting.Derived(&hosting.Certificate{ExpiresAt: &at}, now, false).AppendJSON(nil)); got != c.want {
			t.Errorf("%s: %s", c.left, got)
		}
	}
	if got := string(hosting.Derived(&hosting.Certificate{}, now, false).
		AppendJSON(nil)); got != `{"is_expired":false,"days_until_expiry":null}` {
		t.Error(got)
	}
}

// A paper is a certificate with its key.
type paper struct {
	names       []string // nil: example.com
	from, until time.Time
	isCA        bool
	by          *paper        // nil: itself
	key         crypto.Signer // nil: a new one of P-256

	like *x509.Certificate
	der  []byte
}

// pairOf makes a certificate and its key, of which enough is told.
func pairOf(t *testing.T, p paper) paper {
	t.Helper()
	if p.key == nil {
		p.key = ecKey(t, elliptic.P256())
	}
	if p.names == nil {
		p.names = []string{"example.com"}
	}
	if p.until.IsZero() {
		p.until = noon.Add(365 * days)
	}
	p.like = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: p.names,
		NotBefore: p.from, NotAfter: p.until, IsCA: p.isCA, BasicConstraintsValid: p.isCA, KeyUsage: x509.KeyUsageCertSign,
	}
	parent, signer := p.like, p.key
	if p.by != nil {
		parent, signer = p.by.like, p.by.key
	}
	var err error
	if p.der, err = x509.CreateCertificate(rand.Reader, p.like, parent, p.key.Public(), signer); err != nil {
		t.Fatal(err)
	}
	return p
}

func ecKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t *testing.T, bits int) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p paper) text() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.der}))
}

func (p paper) keyText(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// own asks for a certificate of one's own.
func own(certificate, key, chain string) string {
	return fmt.Sprintf(`{"site":3,"cert_type":"custom","certificate":%q,"private_key":%q,"chain":%q}`, certificate, key, chain)
}
