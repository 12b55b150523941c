package http_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"hostpanel/domain/hosting"
)

const senderPath = "/hosting/api/rest/whitelabel/1/sender/"

// A tenant publishes a record at its domain, and asks for it to be looked at.
func TestATenantProvesTheDomainThatItsMailsComeFrom(t *testing.T) {
	t.Parallel()
	s := everything(t)
	look := hosting.WhiteLabel{
		BrandName: "Bread", EmailFromEmail: "hello@bread.example", SenderRecord: "hostpanel-verify=ABC", IsActive: true,
		PrimaryColor: "#111111", SecondaryColor: "#222222", SidebarBGColor: "#333333", SidebarColor: "#444444",
	}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()})
	name := &txtRecords{}
	s.hosting.Resolver = name.resolver(t)
	ask := func(method string, want int) map[string]any {
		t.Helper()
		w := s.call(method, senderPath, "", append(bearer(s.known["ana"]), "Content-Type", "application/json")...)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != want || err != nil {
			t.Fatalf("%s: %d %s, %v", method, w.Code, w.Body, err)
		}
		return got
	}
	if got := ask("GET", http.StatusOK); got["record"] != look.SenderRecord || got["domain"] != "bread.example" || got["is_proven"] != false {
		t.Errorf("before: %v", got)
	}
	refused := func(want string) {
		t.Helper()
		got, _ := ask("POST", http.StatusBadRequest)["email_from_address"].([]any)
		if len(got) != 1 || got[0] != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	refused("Its domain is none of the tenant's active mail domains.")
	mail := hosting.MailDomain{Domain: "bread.example", DKIMSelector: "default", IsActive: true}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 1}, Tenant: 1, Spec: mail.Fields().Values()})
	const missing = "No TXT record hostpanel-verify=ABC was found at bread.example."
	refused(missing)
	name.publish("bread.example.", "v=spf1 -all", "hostpanel-verify=XYZ")
	refused(missing)
	name.fail(true)
	if got := ask("POST", http.StatusServiceUnavailable); got["detail"] != "The name servers of bread.example did not answer. Try again later." {
		t.Errorf("away: %v", got)
	}
	name.fail(false)
	name.publish("bread.example.", "v=spf1 -all", "hostpanel-verify=ABC")
	for _, method := range []string{"POST", "GET", "POST"} {
		if got := ask(method, http.StatusOK); got["is_proven"] != true {
			t.Errorf("%s: %v", method, got)
		}
	}
	s.call("PATCH", "/hosting/api/rest/whitelabel/1/", `{"email_from_address":"hello@milk.example"}`, append(bearer(s.known["ana"]), "Content-Type", "application/json")...)
	if got := ask("GET", http.StatusOK); got["is_proven"] != false || got["domain"] != "milk.example" {
		t.Errorf("another domain: %v", got)
	}
}

func TestANewBrandHasARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	s := everything(t)
	w := s.call("POST", "/hosting/api/rest/whitelabel/", `{"brand_name":"Bread","email_from_address":"hello@bread.example"}`, append(bearer(s.known["ana"]), "Content-Type", "application/json")...)
	at := w.Header().Get("Location")
	at = at[strings.Index(at, "/hosting/"):]
	got := s.call("GET", at+"sender/", "", bearer(s.known["ana"])...)
	if _, token, _ := strings.Cut(got.Body.String(), `"record":"hostpanel-verify=`); len(token) < 26 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := s.call("POST", at+"sender/", "", bearer(s.known["ben"])...); got.Code != http.StatusForbidden {
		t.Errorf("a member: %d %s", got.Code, got.Body)
	}
}

// txtRecords are a name server with TXT records.
type txtRecords struct {
	mu     sync.Mutex
	texts  map[string][]string
	failed bool
}

func (n *txtRecords) publish(name string, texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = map[string][]string{name: texts}
}

func (n *txtRecords) fail(failed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = failed
}

func (n *txtRecords) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, name := new(dns.Msg).SetReply(q), q.Question[0].Name
	for _, text := range n.texts[name] {
		a.Answer = append(a.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{text}})
	}
	if len(a.Answer) == 0 {
		a.Rcode = dns.RcodeNameError
	}
	if n.failed {
		a.Rcode, a.Answer = dns.RcodeServerFailure, nil
	}
	_ = w.WriteMsg(a)
}

// resolver starts the server.
func (n *txtRecords) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: c, Handler: n}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}
