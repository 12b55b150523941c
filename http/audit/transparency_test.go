package audit_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore/tlog"
	"hostpanel/http/audit"
	"hostpanel/paneltest"
)

func TestTheTreeIsShownToThoseWhoMayFetchIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Seal(t)
	const token = "a token of an observer"
	try := func(headers ...string) int { return s.Call("GET", "/audit/log/tile/0/000.p/1", "", headers...).Code }
	if code := try("Authorization", "Bearer "+token); code != http.StatusUnauthorized {
		t.Errorf("an unknown token: %d", code)
	}
	s.Server.Settings.LogAccess = audit.LogAccess{Tokens: []string{"another observer's token", token}}
	s.Rewire(t)
	for _, c := range []struct {
		header string
		want   int
	}{
		{"Bearer " + token, 200},
		{"Bearer " + token[1:], 401},
		{"Basic " + token, 401},
		{"Bearer ", 401},
		{"Bearer " + s.Known["ana"], 403},
		{"Bearer " + s.Known["root"], 200},
	} {
		if code := try("Authorization", c.header); code != c.want {
			t.Errorf("%s: %d", c.header, code)
		}
	}
	if w := s.Call("GET", "/audit/api/v1/streams/user-3/events/", "", "Authorization",
		"Bearer "+token); w.Code != http.StatusUnauthorized {
		t.Errorf("the token of an observer opens events: %d", w.Code)
	}
	s.Server.Settings.LogAccess = audit.LogAccess{Public: true}
	s.Rewire(t)
	w := s.Call("GET", "/audit/log/tile/0/000.p/1", "")
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Cache-Control"), "public") {
		t.Errorf("a public log: %d %v", w.Code, w.Header())
	}
}

func TestAnEventIsProvenWithoutThePanel(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	site := func(id, tenant int64) int64 {
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: tenant,
			Spec: (&hosting.Site{Domain: fmt.Sprintf("bread%d.example", id)}).Fields().Values(),
		})
		position, err := strconv.ParseInt(s.Position(t, fmt.Sprintf("site-%d", id)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return position
	}
	own, foreign := site(7, 1), site(8, 2)
	o := s.Seal(t)
	later := site(9, 1)
	get := func(as string, position int64, want int) string {
		t.Helper()
		w := s.Call("GET", fmt.Sprintf("/audit/api/v1/events/%d/proof/", position), "", "Authorization",
			"Bearer "+s.Known[as])
		if w.Code != want {
			t.Fatal(w.Code, w.Body)
		}
		return w.Body.String()
	}
	policy, err := tlog.LogPolicy(o.VKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{"root", "ana"} {
		proof, err := tlog.ParseProof(get(as, own, http.StatusOK))
		if err != nil {
			t.Fatal(err)
		}
		var at time.Time
		var hash []byte
		if err := s.Owner.QueryRow(t.Context(), `select recorded_at, hash from events where position = $1`, own).Scan(&at,
			&hash); err != nil {
			t.Fatal(err)
		}
		leaf, _ := tlog.LeafOf(at, hash)
		if _, err := proof.Check(leaf, policy); err != nil {
			t.Error(err)
		}
		moved, _ := tlog.LeafOf(at.Add(time.Microsecond), hash)
		if _, err := proof.Check(moved, policy); err == nil {
			t.Error("another time is proven")
		}
	}
	get("root", foreign, http.StatusOK)
	get("ana", foreign, http.StatusNotFound)
	get("root", 1_000_000, http.StatusNotFound)
	if refusal := get("ana", later, http.StatusConflict); !strings.Contains(refusal, "not sealed yet") {
		t.Error(refusal)
	}
}
