package smtp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// A policy says whether the conversation must be encrypted by STARTTLS.
type policy string

const (
	required      policy = "required"
	opportunistic policy = "opportunistic" // where the server offers it
	none          policy = "none"
)

// A server is a mail server's address, read.
type server struct {
	host, address  string // address: host and port
	user, password string
	implicit       bool // TLS from the first byte (smtps)
	policy         policy
	hello          string // how we call ourselves
	timeout        time.Duration
	tls            *tls.Config
}

// whole is how long one message may take; the step that sends it has 20 s.
const whole = 15 * time.Second

func parse(address string) (server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return server{}, errors.New("the address of the mail server is not a URL") // the URL has a password, err quotes it
	}
	query := u.Query()
	s := server{host: u.Hostname(), user: u.User.Username(), implicit: u.Scheme == "smtps", hello: query.Get("hello"), timeout: whole}
	s.password, _ = u.User.Password()
	port, known := map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme]
	if !known || s.host == "" {
		return server{}, errors.New("the address of the mail server must begin with smtp://host or smtps://host")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if s.hello == "" {
		s.hello = "localhost"
	}
	s.address = net.JoinHostPort(s.host, port)
	return s, s.configure(query)
}

func (s *server) configure(query url.Values) error {
	for name := range query {
		if !slices.Contains([]string{"tls", "timeout", "ca", "hello"}, name) {
			return fmt.Errorf("mail server: unknown option %q", name)
		}
	}
	if given := query.Get("timeout"); given != "" {
		d, err := time.ParseDuration(given)
		if err != nil || d <= 0 {
			return fmt.Errorf("mail server: timeout %q is not a duration such as 10s", given)
		}
		s.timeout = d
	}
	if err := s.encrypt(query.Get("tls")); err != nil {
		return err
	}
	return s.trust(query.Get("ca"))
}

// encrypt takes the policy; without one TLS is required, but for a server on
// this machine.
func (s *server) encrypt(given string) error {
	s.policy = policy(given)
	switch {
	case given == "" && loopback(s.host):
		s.policy = opportunistic
	case given == "":
		s.policy = required
	case !slices.Contains([]policy{required, opportunistic, none}, s.policy):
		return fmt.Errorf("mail server: tls must be required, opportunistic or none, not %q", given)
	}
	if s.policy == none && s.user != "" && !s.implicit && !loopback(s.host) {
		return errors.New("mail server: a password may not travel without TLS")
	}
	return nil
}

// trust takes the certificates of an authority of one's own from a PEM file.
func (s *server) trust(file string) error {
	s.tls = &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("mail server: read the authority's certificate: %w", err)
	}
	s.tls.RootCAs = x509.NewCertPool()
	if !s.tls.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("mail server: no certificate in %s", file)
	}
	return nil
}

// login takes the strongest way to sign in that the server knows. Passwords
// in the clear leave only through TLS or to this machine.
func (s *server) login(c *smtp.Client) smtp.Auth {
	_, offered := c.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offered))
	switch {
	case slices.Contains(ways, "SCRAM-SHA-256"):
		return smtp.ScramSHA256Auth(s.user, s.password)
	case slices.Contains(ways, "LOGIN") && !slices.Contains(ways, "PLAIN"):
		return smtp.LoginAuth(s.user, s.password, s.host, false)
	}
	return smtp.PlainAuth("", s.user, s.password, s.host, false)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
