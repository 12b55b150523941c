package audit_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// A lookedBack is an event as the audit API shows it.
type lookedBack struct {
	Position int64
	Stream   string
	Version  int
	Type     string
	Tenant   *int64
	Actor    struct{ Type, ID, Label string }
	Cause    *string `json:"causation_id"`

	Correlation string `json:"correlation_id"`
	RecordedAt  string `json:"recorded_at"`

	Text     string
	Data     json.RawMessage
	Erased   []string
	PrevHash *string `json:"prev_hash"`
	Hash     string
}

// lookBack reads a list of events.
func lookBack(t *testing.T, s *paneltest.Shop, as, path string) []lookedBack {
	t.Helper()
	w := s.Call("GET", "/audit/api/v1/"+path, "", "Authorization", "Bearer "+s.Known[as])
	var page struct {
		Count   int
		Results []lookedBack
	}
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body, err)
	}
	return page.Results
}

func TestTheHistoryOfAStreamIsShownWithActorsAndCauses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	site := hosting.Ref{Kind: "site", ID: 7}
	s.Do(t, hosting.Request{Ref: site, Tenant: 1, Spec: (&hosting.Site{Domain: "bread.example"}).Fields().Values()})
	w := s.Call("PATCH", "/hosting/api/rest/sites/7/", `{"ssl_enabled":true}`, "Authorization", "Bearer "+s.Known["ana"],
		"Content-Type", "application/json")
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}

	all := lookBack(t, s, "root", "streams/site-7/events/")
	if len(all) != 2 || all[0].Type != "hosting.requested" || all[1].Type != "hosting.changed" {
		t.Fatalf("%+v", all)
	}
	changed := all[1]
	if changed.Actor.Type != "user" || changed.Actor.ID != "2" || changed.Actor.Label != "Alex Kim" ||
		changed.Text != "to be changed: ssl_enabled" {
		t.Errorf("%+v", changed)
	}
	if changed.Cause == nil || *changed.Cause == "" || changed.PrevHash == nil || *changed.PrevHash != all[0].Hash ||
		all[0].PrevHash != nil {
		t.Errorf("%+v", changed)
	}
	if second := lookBack(t, s, "root", "streams/site-7/events/?page=2&page_size=1"); len(second) != 1 ||
		second[0].Hash != changed.Hash || *second[0].PrevHash != all[0].Hash {
		t.Errorf("the second page is %+v", second)
	}

	for _, e := range lookBack(t, s, "ana", "streams/site-7/events/") {
		if e.PrevHash != nil || *e.Tenant != 1 {
			t.Errorf("an administrator of the tenant is shown %+v", e)
		}
	}
}

func TestAnErasedTextSaysSo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	if first := lookBack(t, s, "root", "streams/user-4/events/")[0]; len(first.Erased) != 0 {
		t.Fatalf("%+v", first)
	}
	if w := s.Operate("DELETE", "users/4/", ""); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	first := lookBack(t, s, "root", "streams/user-4/events/")[0]
	var data struct{ Email, Name string }
	if err := json.Unmarshal(first.Data, &data); err != nil || data.Email+data.Name != "" || len(first.Erased) != 2 ||
		first.Erased[0] != "/email" {
		t.Errorf("%+v %v", first, err)
	}
}

func TestAnAdministratorDoesNotLookBackAtOtherTenants(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	missing := s.Call("GET", "/audit/api/v1/streams/tenant-99/events/", "", "Authorization", "Bearer "+s.Known["ana"])
	if missing.Code != http.StatusNotFound || missing.Body.String() != `{"detail":"Not found."}` {
		t.Fatal(missing.Code, missing.Body)
	}
	for _, stream := range []string{"tenant-2", "tenant-3", "user-1", "user-2", "security-2"} {
		w := s.Call("GET", "/audit/api/v1/streams/"+stream+"/events/", "", "Authorization", "Bearer "+s.Known["ana"])
		if w.Code != missing.Code || w.Body.String() != missing.Body.String() {
			t.Errorf("%s: %d %s", stream, w.Code, w.Body)
		}
	}
}
