package audit_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

func TestTwoMomentsAreComparedFieldByField(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	site := hosting.Ref{Kind: "site", ID: 7}
	s.Do(t, hosting.Request{Ref: site, Tenant: 1, Spec: (&hosting.Site{Domain: "bread.example"}).Fields().Values()})
	asAna := []string{"Authorization", "Bearer " + s.Known["ana"], "Content-Type", "application/json"}
	for _, body := range []string{
		`{"ssl_enabled":true}`, `{"ip_address":"192.0.2.7"}`,
		`{"ssl_enabled":false,"is_active":true}`,
	} {
		if w := s.Call("PATCH", "/hosting/api/rest/sites/7/", body, asAna...); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	diff := func(query string) (found []struct {
		Field    string
		From, To any
		Version  int
		Actor    struct{ ID, Label string }
	},
	) {
		w := s.Call("GET", "/audit/api/v1/streams/site-7/diff/"+query, "", asAna...)
		if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil || w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		return found
	}
	all := diff("?from=1&to=4")
	if len(all) != 2 || all[0].Field != "ip_address" || all[0].To != "192.0.2.7" || all[0].Version != 3 ||
		all[1].Field != "is_active" || all[1].Version != 4 || all[1].Actor.Label != "Alex Kim" {
		t.Errorf("%+v", all)
	}
	if back := diff("?from=1&to=2"); len(back) != 1 || back[0].Field != "ssl_enabled" || back[0].From != false ||
		back[0].To != true {
		t.Errorf("%+v", back)
	}
	if whole := diff(""); len(whole) < 8 || whole[0].From != nil {
		t.Errorf("%+v", whole)
	}
	for query, want := range map[string]int{
		"state/?as_of=2026-01-01T00:00:00Z&version=1": http.StatusBadRequest,
		"state/?as_of=2020-01-01T00:00:00Z":           http.StatusNotFound,
		"state/?version=5":                            http.StatusNotFound, "state/?version=x": http.StatusBadRequest,
		"diff/?from=yesterday": http.StatusBadRequest,
	} {
		if w := s.Call("GET", "/audit/api/v1/streams/site-7/"+query, "", asAna...); w.Code != want {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}
