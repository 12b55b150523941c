//go:build system

package census_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// A changing record is changed again and again through its API.
type changingRecord struct {
	path, stream string
	bodies       []string
}

// recordsOf are records of several areas. Their changes need no engine.
var recordsOf = []changingRecord{
	{
		"/hosting/api/rest/sites/1/", "site-1",
		[]string{
			`{"ssl_enabled":true}`, `{"ssl_enabled":false}`, `{"is_active":false}`, `{"is_active":true}`,
			`{"ip_address":"192.0.2.7"}`,
		},
	},
	{
		"/hosting/api/rest/tenants/21/", "tenant-21",
		[]string{`{"name":"Bread"}`, `{"name":"Bread & Co","city":"Cádiz"}`, `{"max_sites":7}`, `{"phone":"+34 600"}`},
	},
	{
		"/hosting/api/rest/mailboxes/1/", "mailbox-1",
		[]string{`{"quota_mb":100}`, `{"quota_mb":200}`, `{"is_active":false}`, `{"is_active":true}`},
	},
	{
		"/hosting/api/rest/dns-records/1/", "dns_record-1",
		[]string{`{"data":"192.0.2.9"}`, `{"ttl":600}`, `{"data":"192.0.2.10"}`},
	},
	{"/hosting/api/rest/cron-jobs/1/", "cron_job-1", []string{`{"schedule":"@hourly"}`, `{"schedule":"@daily"}`}},
	{
		"/operations/api/v1/plans/1/", "plan-1",
		[]string{`{"name":"Web S"}`, `{"name":"Web M","price":"3.50"}`, `{"is_active":false}`, `{"is_active":true}`},
	},
	{
		"/operations/api/v1/widgets/1/", "widget-1",
		[]string{`{"layout":"table"}`, `{"layout":"cards"}`, `{"cta_text":"Buy"}`},
	},
	{
		"/operations/api/v1/users/34/", "user-34",
		[]string{`{"name":"Eve"}`, `{"name":"Eva","language":"es"}`, `{"language":"en"}`},
	},
	{
		"/operations/api/v1/api-keys/OpenKey1/", "api_key-OpenKey1",
		[]string{`{"name":"Shop"}`, `{"rate_limit_per_minute":30}`, `{"name":"Shop 2"}`},
	},
}

// elsewhere are fields that a record has and its stream does not hold, or holds in
// another form.
var elsewhere = []string{"created_at", "updated_at", "tenant_name", "last_login_at"}

func TestAStateAsOfAVersionIsWhatTheAPIAnsweredThen(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	as := []string{"Authorization", c.credentials["superuser"][1], "Content-Type", "application/json"}
	answered := map[string]map[string]any{} // by stream and version
	shown := func(r changingRecord) {
		w := c.Call("GET", r.path, "", as...)
		var record map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &record); err != nil || w.Code != http.StatusOK {
			t.Fatal(r.path, w.Code, w.Body)
		}
		answered[fmt.Sprintf("%s/%d", r.stream, c.VersionOf(t, r.stream))] = record
	}
	for range 60 {
		r := recordsOf[chance.IntN(len(recordsOf))]
		if w := c.Call("PATCH", r.path, r.bodies[chance.IntN(len(r.bodies))], as...); w.Code != http.StatusOK {
			t.Fatal(r.path, w.Code, w.Body)
		}
		shown(r)
	}
	for at, record := range answered {
		stream, version, _ := strings.Cut(at, "/")
		state := stateOf(t, c.Shop, as, stream, "?version="+version)
		same := 0
		for name, value := range record {
			is, has := state[name]
			if !has || contains(elsewhere, name) {
				continue
			}
			if same++; !reflect.DeepEqual(is, value) {
				t.Errorf("%s: %s is %v, and the API answered %v", at, name, is, value)
			}
		}
		if same < 4 {
			t.Errorf("%s: only %d fields of %v are in %v", at, same, record, state)
		}
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// stateOf is the state of a stream as the audit API shows it.
func stateOf(t *testing.T, s *paneltest.Shop, as []string, stream, at string) map[string]any {
	t.Helper()
	w := s.Call("GET", "/audit/api/v1/streams/"+stream+"/state/"+at, "", as...)
	var answer struct{ State map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatal(stream, at, w.Code, w.Body)
	}
	return answer.State
}
