package http_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
)

// withSites is a house in which tenants 1 and 2 each have a site with their own
// id. Tenant 2 may have no database.
func withSites(t testing.TB) *shop {
	t.Helper()
	s := house(t)
	without := hosting.NoLimits()
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: without.Fields().Values()})
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: field.Values{"max_databases": []byte("0"), "max_sites": []byte("-1")}})
	for id, domain := range map[int64]string{1: "bread.example", 2: "cheese.example"} {
		site := hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
		s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: id, Spec: site.Fields().Values()})
	}
	return s
}

func TestConversationsAboutOperations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/jobs/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := withSites(t)
		return s.handler, s.known
	})
}

type shownJob struct {
	ID     uuid.UUID
	Status string
	Error  string
	Result map[string]any
}

// done polls an operation until it has ended. It polls with HEAD, which does not
// take the password.
func (s *shop) done(t *testing.T, id, who string) shownJob {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		j := answered[shownJob](t, s.call("GET", "/hosting/api/rest/operations/"+id+"/", "", bearer(s.known[who])...))
		if j.Status == "succeeded" || j.Status == "failed" {
			return j
		}
		if time.Now().After(deadline) {
			t.Fatalf("operation %s is still %s", id, j.Status)
		}
	}
}

// queued is the id of the operation that an answer says is queued.
func queued(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var job struct {
		JobID string `json:"job_id"`
	}
	decode(t, w, http.StatusAccepted, &job)
	if want := "/hosting/api/rest/operations/" + job.JobID + "/"; !strings.HasSuffix(w.Header().Get("Location"), want) {
		t.Errorf("it is queued at %q, not at %s", w.Header().Get("Location"), want)
	}
	return job.JobID
}

// A generated password is shown once, to the user who started the operation.
func TestAnInstallationShowsItsPasswordOnce(t *testing.T) {
	t.Parallel()
	s := withSites(t).open(t)
	id := queued(t, s.call("POST", "/hosting/api/rest/sites/1/install_cms/", `{"cms":"wordpress","admin_user":"ben"}`, bearer(s.known["ben"])...))
	path := "/hosting/api/rest/operations/" + id + "/"
	for _, other := range []string{"ana", "root"} {
		j := s.done(t, id, other)
		if j.Status != "succeeded" || j.Result["admin_password"] != nil || j.Result["url"] != "https://bread.example/" || j.Result["admin_user"] != "ben" {
			t.Fatalf("%s: %+v", other, j)
		}
	}
	if head := s.call("HEAD", path, "", bearer(s.known["ben"])...); head.Code != http.StatusOK {
		t.Error(head.Code)
	}
	first := s.call("GET", path, "", bearer(s.known["ben"])...)
	shown := answered[shownJob](t, first)
	if password, _ := shown.Result["admin_password"].(string); len(password) < 22 || first.Header().Get("Cache-Control") != "no-store" || first.Header().Get("ETag") != "" {
		t.Errorf("%+v %v", shown, first.Header())
	}
	second := s.call("GET", path, "", bearer(s.known["ben"])...)
	if again := answered[shownJob](t, second); again.Result["admin_password"] != nil || second.Header().Get("ETag") == "" {
		t.Errorf("%+v %v", again, second.Header())
	}
	if password, _ := shown.Result["admin_password"].(string); strings.Contains(s.logged.String(), password) {
		t.Error("the log knows the password")
	}
	refused := s.call("POST", "/hosting/api/rest/sites/1/install_cms/", `{"cms":"drupal"}`, bearer(s.known["ben"])...)
	if got := fmt.Sprint(refused.Code, refused.Body); got != `409 {"detail":"The document root is not empty.","code":"docroot_not_empty"}` {
		t.Error(got)
	}
}

// A request with wait gets the result, and the tenant shows the time of it.
func TestAComparisonCanBeWaitedFor(t *testing.T) {
	t.Parallel()
	s := withSites(t).open(t)
	settled := func(query string) map[string]any {
		t.Helper()
		return answered[map[string]any](t, s.call("POST", "/hosting/api/rest/tenants/1/sync/?wait=true", query, bearer(s.known["ana"])...))
	}
	var found map[string]any
	for range 2 { // the first comparison may still find pending changes
		found = settled(`{}`)
	}
	if fmt.Sprint(found["tenant"], found["created"], found["missing"], found["drift"]) != "1 0 0 []" || found["job_id"] != nil || found["synced_at"] == nil {
		t.Fatal(found)
	}
	if _, err := s.owner.Exec(t.Context(), `delete from sandbox_engine.objects where kind = 'site' and name = 'bread.example'`); err != nil {
		t.Fatal(err)
	}
	if found = settled(`{"dry_run":true}`); fmt.Sprint(found["created"], found["missing"]) != "1 1" {
		t.Error(found)
	}
	if found = settled(`{}`); fmt.Sprint(found["created"], found["missing"]) != "1 1" {
		t.Error(found)
	}
	tenant := answered[map[string]any](t, s.call("GET", "/hosting/api/rest/tenants/1/", "", bearer(s.known["ana"])...))
	if tenant["last_synced_at"] == nil {
		t.Error(tenant)
	}
}

func TestWithoutItsEngineATenantIsNotCompared(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(), faults.Fault{Call: faults.Find, What: faults.Busy, Times: 10}); err != nil {
		t.Fatal(err)
	}
	w := s.call("POST", "/hosting/api/rest/tenants/1/sync/", "", bearer(s.known["ana"])...)
	if got := fmt.Sprint(w.Code, w.Body, w.Header().Get("Retry-After") != ""); got != `503 {"detail":"The hosting engine is temporarily unavailable.","code":"engine_unavailable"} true` {
		t.Error(got)
	}
}
