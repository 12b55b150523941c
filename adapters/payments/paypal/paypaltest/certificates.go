package paypaltest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Where the certificate is that signs webhooks, and the name in it.
const (
	CertificatePath = "/v1/notifications/certs/"
	CertificateURL  = "https://" + CertificateHost + CertificatePath + "CERT-test"
	Signer          = "messageverificationcerts.sandbox.paypal.com"
)

// authorities sign certificates: a root that tests trust, and one below
// it.
type authorities struct {
	pool      *x509.CertPool
	between   *x509.Certificate
	signer    crypto.Signer   // of what is below
	key       *rsa.PrivateKey // of webhooks
	leaf, tls []byte          // PEM of the chain of webhooks; of the host
	tlsKey    crypto.PrivateKey
}

// authority is one for all of a program's tests: keys take their time.
var authority = sync.OnceValue(func() *authorities {
	a := &authorities{pool: x509.NewCertPool()}
	rootKey := ecKey()
	root := parsed(certify(ca("Test Root"), ca("Test Root"), rootKey.Public(), rootKey))
	a.pool.AddCert(root)
	betweenKey := ecKey()
	a.between, a.signer = parsed(certify(ca("Test Authority"), root, betweenKey.Public(), rootKey)), betweenKey
	a.key = NewKey()
	a.leaf = a.issue(Leaf(Signer), a.key)
	hostKey := ecKey()
	a.tls, a.tlsKey = a.issue(Leaf(CertificateHost), hostKey), hostKey
	return a
})

// NewKey makes a key like that of PayPal's certificates.
func NewKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func ecKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// NewOtherKey makes a key that is not an RSA key.
func NewOtherKey() crypto.Signer { return ecKey() }

// Leaf is a certificate for a name, yet to be signed.
func Leaf(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func ca(name string) *x509.Certificate {
	c := Leaf(name)
	c.DNSNames, c.ExtKeyUsage = nil, nil
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	return c
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	return n
}

func certify(c, by *x509.Certificate, key crypto.PublicKey, signer crypto.Signer) []byte {
	der, err := x509.CreateCertificate(rand.Reader, c, by, key, signer)
	if err != nil {
		panic(fmt.Sprintf("paypaltest: make a certificate: %v", err))
	}
	return der
}

func parsed(der []byte) *x509.Certificate {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return c
}

// Issue signs a certificate by the authority that tests trust, and returns
// its chain.
func Issue(leaf *x509.Certificate, key crypto.Signer) []byte { return authority().issue(leaf, key) }

func (a *authorities) issue(leaf *x509.Certificate, key crypto.Signer) []byte {
	der := certify(leaf, a.between, key.Public(), a.signer)
	return append(pemOf(der), pemOf(a.between.Raw)...)
}

// SelfSigned signs a certificate by itself: the right name, and no key behind
// it.
func SelfSigned(leaf *x509.Certificate, key crypto.Signer) []byte {
	return pemOf(certify(leaf, leaf, key.Public(), key))
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Serve puts something at CertificatePath + name and returns its address.
func (p *PayPal) Serve(name string, what http.HandlerFunc) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.served[CertificatePath+name] = what
	return "https://" + CertificateHost + CertificatePath + name
}

// ServeText is Serve for a file.
func (p *PayPal) ServeText(name string, text []byte) string {
	return p.Serve(name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
}

// quiet keeps the log of tests free of handshakes that were meant to fail.
var quiet = log.New(io.Discard, "", 0)

// serveCertificates is PayPal's host of certificates.
func serveCertificates(p *PayPal) *httptest.Server {
	a := authority()
	p.ServeText("CERT-test", a.leaf)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := p.strike("certificate")
		p.mu.Lock()
		serve, found := p.served[r.URL.Path]
		p.mu.Unlock()
		switch {
		case f != nil && f.What == Slow:
			p.rest(r.Context(), f.For)
		case f != nil:
			p.suffer(w, r, f, func(*http.Request) reply { return absent() })
			return
		}
		if !found {
			http.NotFound(w, r)
			return
		}
		serve(w, r)
	}))
	own, err := tls.X509KeyPair(a.tls, keyPEM(a.tlsKey))
	if err != nil {
		panic(err)
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = quiet
	s.StartTLS()
	return s
}

func keyPEM(key crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
