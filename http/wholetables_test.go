package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/eventstore/eventstoretest"
)

// A panel answers as fast in its tenth year as on its first day. What a request asks of the
// database is found by an index, even if it was planned before there were any rows.
func TestARequestReadsNoWholeTable(t *testing.T) {
	seen, url := &eventstoretest.Statements{}, database(t)
	watch := &eventstoretest.Tracer{Statement: seen.Note}
	s := shopOver(t, url, eventstoretest.Traced(t, eventstoretest.Pool(t, url), 4, watch), eventstoretest.Traced(t, eventstoretest.Readers(t, url), 2, watch)).stock(t)
	s.tenant(t, 1, "Bread & Co")
	s.person(t, ana, "ana@example.com", false)
	s.do(t, account.GrantMembership{User: ana, Tenant: 1, Role: account.Admin, At: time.Now()})
	if _, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['tenant_id', 'user_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	s.open(t).atWork(t)
	admin := bearer(s.token(t, ana, nil))
	made := map[string]int64{}
	for _, one := range []struct{ kind, body, change string }{
		{"sites", `{"domain":"bread.example"}`, `{"is_active":false}`},
		{"databases", `{"name":"shop","site":{sites}}`, ""},
		{"dns-zones", `{"origin":"bread.example."}`, `{"ttl":7200}`},
		{"dns-records", `{"zone":{dns-zones},"record_type":"A","name":"new","data":"192.0.2.1"}`, `{"data":"192.0.2.2"}`},
		{"mail-domains", `{"domain":"bread.example"}`, `{"is_active":false}`},
		{"mailboxes", `{"mail_domain":{mail-domains},"local_part":"ana","password":"a good pass-word 1"}`, `{"quota_mb":99}`},
		{"mail-aliases", `{"mail_domain":{mail-domains},"source":"info","destination":"a@b.example"}`, `{"destination":"c@b.example"}`},
		{"ftp-accounts", `{"site":{sites},"username":"ana","password":"a good pass-word 1"}`, `{"is_active":false}`},
		{"cron-jobs", `{"site":{sites},"schedule":"@daily","command":"https://bread.example/"}`, `{"schedule":"@hourly"}`},
	} {
		var record struct{ ID int64 }
		for kind, id := range made {
			one.body = strings.ReplaceAll(one.body, "{"+kind+"}", strconv.FormatInt(id, 10))
		}
		path := "/hosting/api/rest/" + one.kind + "/"
		w := s.call("POST", path, one.body, admin...)
		if err := json.Unmarshal(w.Body.Bytes(), &record); err != nil || w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", one.kind, w.Code, w.Body)
		}
		made[one.kind] = record.ID
		path += strconv.FormatInt(record.ID, 10) + "/"
		if w := s.call("GET", path, "", admin...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if one.change == "" {
			continue // its kind does not change
		}
		if w := s.call("PATCH", path, one.change, admin...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, kind := range []string{"cron-jobs", "dns-records", "mailboxes", "sites"} {
		if w := s.call("DELETE", fmt.Sprintf("/hosting/api/rest/%s/%d/?force=true", kind, made[kind]), "", admin...); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
	seen.ReadNoWholeTable(t, s.Pool(), "engine_comparison", "log_verification", "plans", "widgets", "projections", "readers",
		"tenant_usage") // a round of measuring looks at all tenants
}
