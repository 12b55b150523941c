//go:build system

package program_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/postgres"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/sealing"
	"hostpanel/tests/processtest"
)

// A mine is a real panel with a database and a mail server of its own, in
// which everything secret and everything personal is a canary.
type mine struct {
	processtest.Home
	*processtest.Process
	demo     serve.Demo
	database string    // folder of the cluster
	root     *pgx.Conn // sees everything
	post     *postOffice
	secrets  flock  // found nowhere in clear
	people   flock  // found in read tables only, until the erasure
	address  string // from which everybody calls
	refusals processtest.SafeBuffer
}

// newMine starts all of it.
func newMine(t *testing.T) *mine {
	t.Helper()
	m := &mine{Home: processtest.OwnHome(t), address: "203.0.113.77"}
	m.people.add("client address", m.address)
	m.openDatabase()
	m.openPost()
	m.Env = append(m.Env,
		"HOSTPANEL_SECRET_KEY="+m.known("secret key", sealing.NewSecretKey()),
		"HOSTPANEL_ADMIN_PASSWORD="+m.secret("password of the first superuser"),
		"HOSTPANEL_TEST_WEBHOOK_SECRET=whsec_"+m.secret("webhook secret"),
		"HOSTPANEL_TRUSTED_PROXIES=127.0.0.1", "HOSTPANEL_LOG_LEVEL=debug", "HOSTPANEL_ABUSE_LIMITS=on",
		"HOSTPANEL_WEBHOOK_NETWORKS=127.0.0.0/8",
	)
	m.Process = m.Start()
	m.demo = m.Demo()
	m.known("password of the tenant's administrator", m.demo.TenantAdmin.Password)
	m.known("storefront key", m.demo.APIKey)
	m.known("second storefront key", m.demo.APIKeyDefault)
	return m
}

// secret draws one.
func (m *mine) secret(name string) string { return m.known(name, "Kx"+rand.Text()) }

// known is one that another caller has drawn.
func (m *mine) known(name, value string) string {
	m.secrets.add(name, value)
	return value
}

// personal draws something that is known about a person.
func (m *mine) personal(name, format string) string {
	value := strings.ToLower(rand.Text()[:14])
	m.people.add(name, value)
	return fmt.Sprintf(format, value)
}

// openDatabase makes a role that owns its database and is no superuser.
func (m *mine) openDatabase() {
	t := m.Home.T
	m.database = t.TempDir()
	cluster, err := postgres.Start(t.Context(), postgres.Options{Dir: passable(t, m.database), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	password := m.secret("database password")
	m.root = connected(t, cluster.URL())
	for _, sql := range []string{
		fmt.Sprintf("create role canary_owner login createrole password '%s'",
			password), "create database canary owner canary_owner",
	} {
		if _, err := m.root.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	place, err := url.Parse(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	place.Path = "/canary"
	m.root = connected(t, place.String())
	place.User = url.UserPassword("canary_owner", password)
	m.Env = append(m.Env, "DATABASE_URL="+place.String())
}

// passable lets Postgres, which runs as another user, into a folder.
func passable(t *testing.T, folder string) string {
	t.Helper()
	for at := folder; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

func (m *mine) openPost() {
	m.post = newPostOffice(m.Home.T, m.secret("SMTP password"))
	m.Env = append(m.Env, "SMTP_URL="+m.post.url)
}

// call asks the panel from the canary's address and keeps what it refuses
// with. Headers come in pairs.
func (m *mine) call(want int, method, path, body string, headers ...string) processtest.Answer {
	m.Process.T.Helper()
	if body != "" {
		headers = append([]string{"Content-Type", processtest.AsJSON}, headers...)
	}
	a := m.Ask(want, method, path, body, append([]string{"X-Forwarded-For", m.address}, headers...)...)
	if a.Status >= 400 {
		head := a.Header.Clone()
		head.Del("Set-Cookie") // a page gives its reader what its forms and scripts need
		fmt.Fprintln(&m.refusals, pageToken.ReplaceAllString(hiddenInput.ReplaceAllString(a.Body, ""), ""), head)
	}
	return a
}

// A postOffice is a mail server that keeps what it is given, by addressee.
type postOffice struct {
	url, password string

	mu      sync.Mutex
	letters []letter
}

type letter struct{ to, text string }

func newPostOffice(t *testing.T, password string) *postOffice {
	t.Helper()
	p := &postOffice{password: password}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &conversation{postOffice: p},
			nil
	}))
	server.Domain, server.AllowInsecureAuth = "mail.test", true
	server.ReadTimeout, server.WriteTimeout = processtest.Patience, processtest.Patience
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	p.url = "smtp://panel:" + password + "@" + listener.Addr().String()
	return p
}

// conversation is one conversation.
type conversation struct {
	*postOffice
	to string
}

func (*conversation) Mail(string, *smtp.MailOptions) error        { return nil }
func (c *conversation) Rcpt(to string, _ *smtp.RcptOptions) error { c.to = to; return nil }
func (*conversation) Reset()                                      {}
func (*conversation) Logout() error                               { return nil }
func (*conversation) AuthMechanisms() []string                    { return []string{sasl.Plain} }

func (c *conversation) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, password string) error {
		if password != c.password {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (c *conversation) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letters = append(c.letters, letter{c.to, string(text)})
	return err
}

// all are the letters so far.
func (p *postOffice) all() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.letters)
}

// to are the mails to an address, oldest first: no notifications.
func (p *postOffice) to(address string) (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.letters {
		if strings.EqualFold(l.to, address) && !strings.Contains(l.text, "List-Unsubscribe:") {
			texts = append(texts, l.text)
		}
	}
	return texts
}

// await returns the nth mail to an address.
func (p *postOffice) await(t *testing.T, address string, nth int) string {
	t.Helper()
	processtest.Eventually(t, fmt.Sprintf("letter %d has come", nth), func() bool { return len(p.to(address)) >= nth })
	return p.to(address)[nth-1]
}
