package libvirttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// StartWithTLS starts a server that listens on a port of the loopback too, and returns its
// address as virsh has it. stranger is the address with a certificate of another authority.
func StartWithTLS(t testing.TB) (s *Server, address, stranger string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(at)
	s = begin(t, "tls:"+port, func(s *Server) {
		newAuthority(t, filepath.Join(s.Folder, "pki"))
		newAuthority(t, filepath.Join(s.Folder, "other"))
	})
	for range 200 { // its sockets are there one after the other
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", at); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	url := "qemu+tls://" + at + "/system?pkipath=" + s.Folder
	return s, url + "/pki", url + "/other"
}

// newAuthority writes the certificates of an authority, a server and a client to a folder.
func newAuthority(t testing.TB, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newCertificate(t, filepath.Join(folder, "ca"), authority, authority, nil)
	for i, name := range []string{"server", "client"} {
		newCertificate(t, filepath.Join(folder, name), &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}, authority, key)
	}
}

// newCertificate writes a certificate and its key; without an issuer's key it signs itself.
func newCertificate(t testing.TB, path string, c, issuer *x509.Certificate, by *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	c.NotBefore = time.Now().Add(-time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, issuer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		path + "cert.pem": {Type: "CERTIFICATE", Bytes: der}, path + "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key
}
