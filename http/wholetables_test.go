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
	"hostpanel/paneltest"
)

// A panel answers as fast in its tenth year as on its first day. What a request asks of the
// database is found by an index, even if it was planned before there were any rows.
func TestARequestReadsNoWholeTable(t *testing.T) {
	seen, url := &eventstoretest.Statements{}, paneltest.Database(t)
	watch := &eventstoretest.Tracer{Statement: seen.Note}
	s := paneltest.Over(t, url, eventstoretest.Traced(t, eventstoretest.Pool(t, url), 4, watch),
		eventstoretest.Traced(t, eventstoretest.Readers(t, url), 2, watch)).Stock(t)
	s.Tenant(t, 1, "Bread & Co")
	s.Person(t, paneltest.Ana, "ana@example.com", false)
	s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: 1, Role: account.Admin, At: time.Now()})
	if _, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['tenant_id', 'user_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	s.Start(t).AtWork(t)
	admin := paneltest.Bearer(s.Token(t, paneltest.Ana, nil))
	made := map[string]int64{}
	for _, one := range []struct{ kind, body, change string }{
		{"sites", `{"domain":"bread.example"}`, `{"is_active":false}`},
		{"databases", `{"name":"shop","site":{sites}}`, ""},
		{"dns-zones", `{"origin":"bread.example."}`, `{"ttl":7200}`},
		{"dns-records", `{"zone":{dns-zones},"record_type":"A","name":"new","data":"192.0.2.1"}`, `{"data":"192.0.2.2"}`},
		{"mail-domains", `{"domain":"bread.example"}`, `{"is_active":false}`},
		{"mailboxes", `{"mail_domain":{mail-domains},"local_part":"ana","password":"a good pass-word 1"}`, `{"quota_mb":99}`},
		{
			"mail-aliases", `{"mail_domain":{mail-domains},"source":"info","destination":"a@b.example"}`,
			`{"destination":"c@b.example"}`,
		},
		{"ftp-accounts", `{"site":{sites},"username":"ana","password":"a good pass-word 1"}`, `{"is_active":false}`},
		{"cron-jobs", `{"site":{sites},"schedule":"@daily","command":"https://bread.example/"}`, `{"schedule":"@hourly"}`},
	} {
		var record struct{ ID int64 }
		for kind, id := range made {
			one.body = strings.ReplaceAll(one.body, "{"+kind+"}", strconv.FormatInt(id, 10))
		}
		path := "/hosting/api/rest/" + one.kind + "/"
		w := s.Call("POST", path, one.body, admin...)
		if err := json.Unmarshal(w.Body.Bytes(), &record); err != nil || w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", one.kind, w.Code, w.Body)
		}
		made[one.kind] = record.ID
		path += strconv.FormatInt(record.ID, 10) + "/"
		if w := s.Call("GET", path, "", admin...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if one.change == "" {
			continue // its kind does not change
		}
		if w := s.Call("PATCH", path, one.change, admin...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, kind := range []string{"cron-jobs", "dns-records", "mailboxes", "sites"} {
		if w := s.Call("DELETE", fmt.Sprintf("/hosting/api/rest/%s/%d/?force=true", kind, made[kind]), "",
			admin...); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
	seen.ReadNoWholeTable(t, s.Pool(), "engine_comparison", "log_verification", "plans", "widgets", "projections",
		"readers",
		"tenant_usage") // a round of measuring looks at all tenants
}
