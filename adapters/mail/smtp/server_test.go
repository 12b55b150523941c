package smtp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"
)

// A server is a real mail server in this process. What it does at a stage
// ("MAIL", "RCPT", "DATA", "END") can be changed.
type server struct {
	at   map[string]func(*gosmtp.Conn) error
	port string

	mu       sync.Mutex
	accepted []string
	sealed   bool // the last message came through TLS
	user     string
}

func start(t *testing.T, at map[string]func(*gosmtp.Conn) error) *server {
	return listen(t, at, nil, false)
}

// listen starts a server that encrypts: on demand, or from the first byte.
func listen(t *testing.T, at map[string]func(*gosmtp.Conn) error, encryption *tls.Config, first bool) *server {
	t.Helper()
	s := &server{at: at}
	srv := gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) { return &session{s, c}, nil }))
	srv.Domain, srv.ReadTimeout, srv.WriteTimeout = "mail.test", 30*time.Second, 30*time.Second
	srv.ErrorLog, srv.TLSConfig = quiet{}, encryption
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, s.port, err = net.SplitHostPort(l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if first {
		l = tls.NewListener(l, encryption)
	}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return s
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func (s *server) letters() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

type session struct {
	*server
	conn *gosmtp.Conn
}

func (s *session) stage(name string) error {
	if does := s.at[name]; does != nil {
		return does(s.conn)
	}
	return nil
}

func (s *session) Mail(string, *gosmtp.MailOptions) error { return s.stage("MAIL") }
func (s *session) Rcpt(string, *gosmtp.RcptOptions) error { return s.stage("RCPT") }
func (s *session) Reset()                                 {}
func (s *session) Logout() error                          { return nil }
func (s *session) AuthMechanisms() []string               { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "panel" || password != "right" {
			return &gosmtp.SMTPError{Code: 535, Message: "wrong password for " + user}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.user = user
		return nil
	}), nil
}

func (s *session) Data(r io.Reader) error {
	if err := s.stage("DATA"); err != nil {
		return err
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.stage("END"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, s.sealed = s.conn.TLSConnectionState()
	s.accepted = append(s.accepted, string(content))
	return nil
}

func refuse(code int) func(*gosmtp.Conn) error {
	return func(*gosmtp.Conn) error {
		return &gosmtp.SMTPError{
			Code: code, EnhancedCode: gosmtp.EnhancedCode{code / 100, 1, 1},
			Message: "jose@customer.test is not known here",
		}
	}
}

// saying refuses in a server's own words.
func saying(code int, status gosmtp.EnhancedCode, words string) func(*gosmtp.Conn) error {
	return func(*gosmtp.Conn) error {
		return &gosmtp.SMTPError{Code: code, EnhancedCode: status, Message: words}
	}
}

func drop(c *gosmtp.Conn) error { return c.Conn().Close() }

// authority makes a certificate for 127.0.0.1 and the file that one has to
// trust for it.
func authority(t *testing.T) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, file
}
