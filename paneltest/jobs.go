package paneltest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// WithSites is a house in which tenants 1 and 2 each have a site with their own
// id. Tenant 2 may have no database.
func WithSites(t testing.TB) *Shop {
	t.Helper()
	s := House(t)
	without := hosting.NoLimits()
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: without.Fields().Values()})
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: field.Values{"max_databases": []byte("0"), "max_sites": []byte("-1")}})
	for id, domain := range map[int64]string{1: "bread.example", 2: "cheese.example"} {
		site := hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: id, Spec: site.Fields().Values()})
	}
	return s
}

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
