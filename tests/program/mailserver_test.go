//go:build system

package program_test

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
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"hostpanel/domain/order"
	"hostpanel/tests/processtest"
)

// A mailHost is a mail server as providers run them: it takes nothing before
// the conversation is encrypted and the client has signed in. It can be told to
// refuse a recipient, and to lose its connections at the worst moment.
type mailHost struct {
	t   *testing.T
	url string // for SMTP_URL

	mu      sync.Mutex
	unknown map[string]bool // addresses that are refused
	losing  bool            // the connection, when it has the message and before it says so
	asked   map[string]int  // the attempts to write to an address
	taken   []taken
}

// taken is a message that the server has got.
type taken struct{ to, raw string }

const mailPassword = "the password of the mail server"

func openMailHost(t *testing.T) *mailHost {
	t.Helper()
	h := &mailHost{t: t, unknown: map[string]bool{}, asked: map[string]int{}}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session,
		error,
	) {
		return &mailTalk{mailHost: h, conn: c}, nil
	}))
	var authority string
	server.TLSConfig, authority = ownAuthority(t)
	server.Domain, server.ErrorLog = "mail.test", quietLog{}
	server.ReadTimeout, server.WriteTimeout = processtest.Patience, processtest.Patience
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	h.url = "smtp://panel:" + strings.ReplaceAll(mailPassword, " ", "%20") + "@" + listener.Addr().String() +
		"?tls=required&ca=" + authority
	return h
}

type quietLog struct{}

func (quietLog) Printf(string, ...any) {}
func (quietLog) Println(...any)        {}

// ownAuthority makes a certificate for this machine, and the file that one has
// to trust for it.
func ownAuthority(t *testing.T) (config *tls.Config, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, file
}

// mailTalk is one conversation.
type mailTalk struct {
	*mailHost
	conn   *smtp.Conn
	signed bool
	to     string
}

func (*mailTalk) AuthMechanisms() []string { return []string{sasl.Plain} }
func (*mailTalk) Reset()                   {}
func (*mailTalk) Logout() error            { return nil }

func (m *mailTalk) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "panel" || password != mailPassword {
			return smtp.ErrAuthFailed
		}
		m.signed = true
		return nil
	}), nil
}

func (m *mailTalk) Mail(string, *smtp.MailOptions) error {
	if _, encrypted := m.conn.TLSConnectionState(); !encrypted || !m.signed {
		m.t.Error("a client wanted to send a mail in the clear, or without signing in")
		return smtp.ErrAuthRequired
	}
	return nil
}

func (m *mailTalk) Rcpt(to string, _ *smtp.RcptOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.to = to
	m.asked[to]++
	if m.unknown[to] {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: to + " is not known here"}
	}
	return nil
}

func (m *mailTalk) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = append(m.taken, taken{m.to, string(raw)})
	if m.losing {
		return m.conn.Conn().Close()
	}
	return err
}

// knows says whether the server knows an address from now on.
func (h *mailHost) knows(address string, does bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unknown[address] = !does
}

// loses says whether connections are lost from now on.
func (h *mailHost) loses(does bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.losing = does
}

// asks is the attempts to write to an address.
func (h *mailHost) asks(address string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[address]
}

// to are the mails to an address, in the order in which they came, but for those that ask
// which tenant an order joins: who pays at once is not asked any more.
func (h *mailHost) to(address string) (all []received) {
	h.mu.Lock()
	mails := slices.Clone(h.taken)
	h.mu.Unlock()
	for _, m := range mails {
		if m.to != address {
			continue
		}
		if one := readReceived(h.t, m.raw); !strings.Contains(one.text, order.JoinPath) {
			all = append(all, one)
		}
	}
	return all
}

// await returns the mails to an address when there are so many.
func (h *mailHost) await(address string, n int) []received {
	h.t.Helper()
	processtest.Eventually(h.t, "enough mails have come to "+address, func() bool { return len(h.to(address)) >= n })
	all := h.to(address)
	if len(all) != n {
		h.t.Fatalf("%d mails instead of %d: %v", len(all), n, subjects(all))
	}
	return all
}

// A received is a mail as its reader's program shows it.
type received struct {
	mail.Header
	subject, text, html string
}

func subjects(all []received) (texts []string) {
	for _, m := range all {
		texts = append(texts, m.subject)
	}
	return texts
}

// about are the mails with this subject.
func about(all []received, subject string) (found []received) {
	for _, m := range all {
		if m.subject == subject {
			found = append(found, m)
		}
	}
	return found
}

// readReceived takes a mail apart, and holds it against what mail programs
// rely on: two parts, the plain one first, in UTF-8.
func readReceived(t *testing.T, raw string) received {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v:\n%s", err, raw)
	}
	r := received{Header: m.Header}
	if r.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v:\n%s", kind, err, raw)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []struct {
		kind string
		at   *string
	}{{"text/plain", &r.text}, {"text/html", &r.html}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatalf("no %s: %v", want.kind, err)
		}
		kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || kind != want.kind || !strings.EqualFold(params["charset"], "utf-8") {
			t.Fatalf("%s %v instead of %s, %v", kind, params, want.kind, err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		*want.at = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("the mail has more than two parts: %v", err)
	}
	return r
}

var angled = regexp.MustCompile(`^<(\S+)>$`)

// unsubscribe is the path that the mail gives mail programs to unsubscribe; ""
// if there is none.
func (r received) unsubscribe(t *testing.T) string {
	t.Helper()
	link := angled.FindStringSubmatch(r.Get("List-Unsubscribe"))
	if link == nil || r.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		if r.Get("List-Unsubscribe")+r.Get("List-Unsubscribe-Post") != "" {
			t.Errorf("%s: half a way to unsubscribe: %v", r.subject, r.Header)
		}
		return ""
	}
	return processtest.PathOf(t, link[1])
}
