package paneltest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/miekg/dns"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
)

// House is a shop with people, in which numbers of new records begin at 101.
func House(t testing.TB) *Shop {
	t.Helper()
	return house.give(t, Open(t))
}

var house = fixture{make: func(t testing.TB) *Shop {
	s := Open(t).People(t)
	s.Do(t, account.GrantMembership{User: Eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	if _, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['package_id', 'node_id', `+
		`'address_pool_id', 'whitelabel_id', 'tenant_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}}

// Look is how the panel looks to each tenant.
var Look = &hosting.WhiteLabel{
	BrandName: "Brand", PrimaryColor: "#4F46E5", SecondaryColor: "#10B981", SidebarBGColor: "#1F2937",
	SidebarColor: "#F9FAFB", CustomCSS: "h1{letter-spacing:1px}", IsActive: true,
}

// OneOfEach gives a tenant one resource of each kind, all with this id.
func (s *Shop) OneOfEach(t *testing.T, id, tenant int64) {
	t.Helper()
	domain := fmt.Sprintf("n%d.example", id)
	for _, one := range []struct{ kind, body string }{
		{"site", `{"domain":"n1.example"}`},
		{"database", `{"name":"n1","site":1}`},
		{"dns_zone", `{"origin":"n1.example."}`},
		{"dns_record", `{"zone":1,"record_type":"A","name":"@","data":"192.0.2.1"}`},
		{"mail_domain", `{"domain":"n1.example"}`},
		{"mailbox", `{"mail_domain":1,"local_part":"box","password":"{secret}"}`},
		{"mail_alias", `{"mail_domain":1,"source":"info","destination":"a@b.example"}`},
		{"ftp_account", `{"site":1,"username":"n1","password":"{secret}"}`},
		{"shell_user", `{"site":1,"username":"n1","password":"{secret}"}`},
		{"cron_job", `{"site":1,"schedule":"@daily","command":"https://n1.example/"}`},
		{"ssl_certificate", `{"site":1}`},
	} {
		kind, _ := hosting.KindNamed(one.kind)
		place := hosting.Place{
			ID: id, Tenant: tenant, Limits: hosting.NoLimits(),
			NameServers: []string{"ns1.panel.example."},
		}
		place.Parent = field.Values{
			"domain": []byte(`"` + domain + `"`), "origin": []byte(`"` + domain + `."`),
			"ttl": []byte("3600"),
		}
		body := strings.NewReplacer("n1", fmt.Sprint("n", id), ":1", fmt.Sprint(":", id), "{secret}",
			uuid.NewString()).Replace(one.body)
		spec := kind.New()
		if _, err := spec.Fields().DecodeJSON([]byte(body), field.Create); err != nil {
			t.Fatal(one.kind, err)
		}
		hosting.Complete(spec, place)
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: one.kind, ID: id}, Tenant: tenant, Spec: spec.Fields().Values(),
			Subject: uuid.New(),
		})
	}
	s.Machined(t, id, tenant, uuid.Nil)
}

// Variable is a variable of a route's path.
var Variable = regexp.MustCompile(`\{[^{}]*(\{[^{}]*\}[^{}]*)*\}`)

// WithSites is a house in which tenants 1 and 2 each have a site with their own
// id. Tenant 2 may have no database.
func WithSites(t testing.TB) *Shop {
	t.Helper()
	s := House(t)
	without := hosting.NoLimits()
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: without.Fields().Values()})
	s.Do(t, hosting.Change{
		Ref:  hosting.Ref{Kind: "tenant", ID: 2},
		Spec: field.Values{"max_databases": []byte("0"), "max_sites": []byte("-1")},
	})
	for id, domain := range map[int64]string{1: "bread.example", 2: "cheese.example"} {
		site := hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: id, Spec: site.Fields().Values()})
	}
	return s
}

// A ShownJob is an operation as the API shows it.
type ShownJob struct {
	ID     uuid.UUID
	Status string
	Error  string
	Result map[string]any
}

// Done polls an operation until it has ended. It polls with HEAD, which does not
// take the password.
func (s *Shop) Done(t *testing.T, id, who string) ShownJob {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		j := Answered[ShownJob](t, s.Call("GET", "/hosting/api/rest/operations/"+id+"/", "", Bearer(s.Known[who])...))
		if j.Status == "succeeded" || j.Status == "failed" {
			return j
		}
		if time.Now().After(deadline) {
			t.Fatalf("operation %s is still %s", id, j.Status)
		}
	}
}

// Queued is the id of the operation that an answer says is queued.
func Queued(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var job struct {
		JobID string `json:"job_id"`
	}
	Decode(t, w, http.StatusAccepted, &job)
	if want := "/hosting/api/rest/operations/" + job.JobID + "/"; !strings.HasSuffix(w.Header().Get("Location"), want) {
		t.Errorf("it is queued at %q, not at %s", w.Header().Get("Location"), want)
	}
	return job.JobID
}

// Everything is a shop that provisions sites with all their parts. Tenant 2 may
// have one site, and no zone.
func Everything(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	s := Open(t, append(options, func(s *Shop) {
		s.Hosting.NameServers = []string{
			"ns1.panel.example.",
			"ns2.panel.example.",
		}
		s.Hosting.SiteAddresses = []string{"192.0.2.10", "2001:db8::10"}
	})...).People(t)
	_, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['site_id', 'dns_zone_id', `+
		`'dns_record_id', 'mail_domain_id', 'ftp_account_id', 'database_id', 'proxy_id']::regclass[]) n`)
	if err != nil {
		t.Fatal(err)
	}
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits()}
	pack.Limits = pack.Limits.With("sites", 1).With("dns_zones", 0)
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: field.Values{"package": []byte("1")}})
	return s
}

// TenantOne is the path of tenant 1 in the API.
const TenantOne = "/hosting/api/rest/tenants/1/"

// PastPeople draws the numbers that the tenants of [Shop.People] have without drawing them.
func (s *Shop) PastPeople(t *testing.T) {
	t.Helper()
	for id := int64(0); id < 10; {
		ids, err := s.NextIDs(t.Context(), "tenant")
		if err != nil {
			t.Fatal(err)
		}
		id = ids[0]
	}
}

// Answers calls as several people, and compares the status codes.
func (s *Shop) Answers(t *testing.T, method, path, body string, want map[string]int) {
	t.Helper()
	for who, status := range want {
		if w := s.Call(method, path, body, Bearer(s.Known[who])...); w.Code != status {
			t.Errorf("%s %s %s as %s: %d, not %d: %s", method, path, body, who, w.Code, status, w.Body)
		}
	}
}

// SubTenantPages is the page of a reseller's sub-tenants.
const SubTenantPages = "/panel/sub-tenants/"

// Branded gives tenant 1 a look of its own.
func (s *Shop) Branded(t testing.TB, look hosting.WhiteLabel) *Shop {
	t.Helper()
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()})
	return s
}

// Bakery is a look with all that there is.
func Bakery() hosting.WhiteLabel {
	look := *Look
	look.BrandName, look.LogoURL, look.FaviconURL = `Bread "&" Co`, "https://cdn.bread.example/logo.png?a=1&b=2",
		"https://icons.example/bread.ico"
	look.FooterText, look.FooterURL, look.CustomCSS = "Baked daily.\nSince <1901>", "https://bread.example/",
		".wl-scope h1{letter-spacing:7px}"
	return look
}

// Until waits until so returns true.
func (s *Shop) Until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Endpoint makes an endpoint of a tenant for all events.
func Endpoint(id, tenant int64) webhook.Create {
	return webhook.Create{
		ID: id, Tenant: tenant, URL: "https://hooks.example.com/in", Events: []string{"*"},
		IsActive: true,
	}
}

// Delivery asks for a delivery to an endpoint.
func Delivery(id uuid.UUID, endpoint, tenant int64, event string) webhook.Request {
	return webhook.Request{ID: id, Endpoint: endpoint, Tenant: tenant, Message: webhook.Message{
		ID: "e-" + id.String(), Type: event, At: time.Now(), Tenant: tenant, Data: []byte(`{}`),
	}}
}

// Hooked gives tenants 1 and 3 an endpoint each. Deliveries are named by their
// status; "foreign" belongs to tenant 3.
func (s *Shop) Hooked(t testing.TB) *Shop {
	t.Helper()
	s.Do(t, Endpoint(1, 1), Endpoint(3, 3))
	for _, name := range []string{"pending", "delivered", "failed", "foreign"} {
		id, of := uuid.New(), int64(1)
		if name == "foreign" {
			of = 3
		}
		s.Known[name] = id.String()
		commands := []domain.Command{Delivery(id, of, of, "site.created")}
		switch name {
		case "delivered":
			commands = append(commands, webhook.Attempted{ID: id, Status: 500, Code: "status_500", At: time.Now()},
				webhook.Confirm{ID: id, Status: 204, At: time.Now()})
		case "failed":
			commands = append(commands, webhook.Attempted{ID: id, Code: "timeout", At: time.Now()},
				webhook.Fail{ID: id, Code: "gave_up", At: time.Now()})
		}
		s.Do(t, commands...)
	}
	if _, err := s.Owner.Exec(t.Context(), `select setval('webhook_endpoint_id', 100)`); err != nil {
		t.Fatal(err)
	}
	return s
}

// TxtRecords are a name server with TXT records.
type TxtRecords struct {
	Mu     sync.Mutex
	texts  map[string][]string
	Failed bool
}

// Publish replaces all records by those of one name.
func (n *TxtRecords) Publish(name string, texts ...string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.texts = map[string][]string{name: texts}
}

// ServeDNS answers a question.
func (n *TxtRecords) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	a, name := new(dns.Msg).SetReply(q), q.Question[0].Name
	for _, text := range n.texts[name] {
		a.Answer = append(a.Answer, &dns.TXT{
			Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET},
			Txt: []string{text},
		})
	}
	if len(a.Answer) == 0 {
		a.Rcode = dns.RcodeNameError
	}
	if n.Failed {
		a.Rcode, a.Answer = dns.RcodeServerFailure, nil
	}
	_ = w.WriteMsg(a)
}

// Resolver starts the server.
func (n *TxtRecords) Resolver(t *testing.T) *net.Resolver {
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
