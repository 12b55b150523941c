package audit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// twoTenantsSites are changes by an administrator and by a superuser in two tenants.
func twoTenantsSites(t *testing.T) *paneltest.Shop {
	t.Helper()
	s := paneltest.Open(t).People(t)
	for id := int64(1); id <= 3; id++ {
		site := hosting.Ref{Kind: "site", ID: id}
		s.Do(t, hosting.Request{
			Ref: site, Tenant: id,
			Spec: (&hosting.Site{Domain: fmt.Sprintf("s%d.example", id)}).Fields().Values(),
		})
		as := map[bool]string{true: "ana", false: "root"}[id == 1]
		w := s.Call("PATCH", fmt.Sprintf("/hosting/api/rest/sites/%d/", id), `{"ssl_enabled":true}`, "Authorization",
			"Bearer "+s.Known[as], "Content-Type", "application/json", "X-Request-ID", fmt.Sprint("request-", id))
		if w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	s.Indexed(t)
	return s
}

func positionsOf(events []lookedBack) (all []int64) {
	for _, e := range events {
		all = append(all, e.Position)
	}
	return all
}

func TestEventsAreFoundByWhatIsKnownOfThem(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	all := lookBack(t, s, "root", "events/?page_size=100")
	if !slices.IsSortedFunc(all, func(a, b lookedBack) int { return int(b.Position - a.Position) }) || len(all) < 15 {
		t.Fatal(positionsOf(all))
	}
	last := all[0]
	for query, want := range map[string]func(lookedBack) bool{
		"type=hosting.changed": func(e lookedBack) bool { return e.Type == "hosting.changed" },
		"stream=site-2":        func(e lookedBack) bool { return e.Stream == "site-2" },
		"tenant=2":             func(e lookedBack) bool { return e.Tenant != nil && *e.Tenant == 2 },
		"actor=user:2": func(e lookedBack) bool {
			return e.Actor.Type == "user" &&
				e.Actor.ID == "2"
		},
		"correlation=" + last.Correlation:          func(e lookedBack) bool { return e.Correlation == last.Correlation },
		"recorded_at__gte=" + last.RecordedAt:      func(e lookedBack) bool { return e.RecordedAt >= last.RecordedAt },
		"recorded_at__lte=" + all[5].RecordedAt:    func(e lookedBack) bool { return e.RecordedAt <= all[5].RecordedAt },
		"type=hosting.changed&tenant=3&actor=none": func(lookedBack) bool { return false },
	} {
		wanted := positionsOf(slices.DeleteFunc(slices.Clone(all), func(e lookedBack) bool { return !want(e) }))
		if got := positionsOf(lookBack(t, s, "root", "events/?page_size=100&"+query)); !slices.Equal(got, wanted) ||
			strings.HasSuffix(query, "none") != (len(got) == 0) {
			t.Errorf("%s: %v, not %v", query, got, wanted)
		}
	}
	var paged []int64
	for path := "/audit/api/v1/events/?page_size=4"; path != ""; {
		w := s.Call("GET", path, "", "Authorization", "Bearer "+s.Known["root"])
		var page struct {
			Until   int64 `json:"until_position"`
			Next    string
			Results []lookedBack
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Until != last.Position {
			t.Fatal(err, w.Body)
		}
		paged, path = append(paged, positionsOf(page.Results)...), strings.TrimPrefix(page.Next, s.Public)
	}
	if !slices.Equal(paged, positionsOf(all)) {
		t.Errorf("in pages: %v, not %v", paged, positionsOf(all))
	}
}

func TestAnEmptiedIndexIsFilledAgain(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	before := positionsOf(lookBack(t, s, "root", "events/?page_size=100"))
	if err := s.Audit.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest := lookBack(t, s, "root", "events/"); len(rest) != 0 {
		t.Fatalf("%+v", rest)
	}
	s.Indexed(t)
	if after := positionsOf(lookBack(t, s, "root", "events/?page_size=100")); !slices.Equal(after, before) {
		t.Errorf("%v, not %v", after, before)
	}
}

// Whatever an administrator asks for, only events of the own tenant come back.
func TestAnAdministratorFindsNothingOfOtherTenants(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	all := lookBack(t, s, "root", "events/?page_size=100")
	queries := []string{
		"", "tenant=2", "tenant=0", "stream=site-2", "stream=user-1", "type=account.opened",
		"actor=operator:1", "type=hosting.changed",
	}
	for _, e := range all {
		queries = append(queries, "correlation="+e.Correlation, fmt.Sprint("before=", e.Position+1))
	}
	seen := 0
	for _, query := range queries {
		w := s.Call("GET", "/audit/api/v1/events/?page_size=100&"+query, "", "Authorization", "Bearer "+s.Known["ana"])
		for _, foreign := range []string{
			"s2.example", "s3.example", "root@example.com", "ben@example.com", `"site-2"`,
			`"tenant-2"`, `"user-`, "Cheese",
		} {
			if strings.Contains(w.Body.String(), foreign) {
				t.Errorf("%s: %s is in %s", query, foreign, w.Body)
			}
		}
		for _, e := range lookBack(t, s, "ana", "events/?page_size=100&"+query) {
			if seen++; e.Tenant == nil || *e.Tenant != 1 || e.PrevHash != nil {
				t.Errorf("%s: %+v", query, e)
			}
		}
	}
	if seen == 0 {
		t.Error("nothing was found at all")
	}
	missing := s.Call("GET", "/audit/api/v1/events/999999/why/", "", "Authorization", "Bearer "+s.Known["ana"])
	for _, e := range all {
		w := s.Call("GET", fmt.Sprintf("/audit/api/v1/events/%d/why/", e.Position), "", "Authorization",
			"Bearer "+s.Known["ana"])
		own := e.Tenant != nil && *e.Tenant == 1
		if own != (w.Code == http.StatusOK) || !own && (w.Code != missing.Code || w.Body.String() != missing.Body.String()) {
			t.Errorf("why %d: %d %s", e.Position, w.Code, w.Body)
		}
	}
	w := s.Call("GET", "/audit/api/v1/verify/", "", "Authorization", "Bearer "+s.Known["ana"])
	if !strings.Contains(w.Body.String(), `"head_position":null,"head_hash":null`) {
		t.Error(w.Body)
	}
}

// Before the first verification no caller is told that the log is as it was written.
func TestALogThatWasNotVerifiedYetIsPending(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Indexed(t)
	says := func(status string) {
		t.Helper()
		for _, who := range []string{"root", "ana"} {
			w := s.Call("GET", "/audit/api/v1/verify/", "", "Authorization", "Bearer "+s.Known[who])
			if !strings.Contains(w.Body.String(), `"status":"`+status+`"`) {
				t.Errorf("%s is told %s", who, w.Body)
			}
		}
	}
	says("pending")
	if worked, err := s.Operations.VerifyPart(t.Context()); !worked || err != nil {
		t.Fatal(worked, err)
	}
	says("ok")
}

// The answers about why an event happened.
type whyAnswer struct {
	Root           struct{ Kind, ID string }
	Chain, Effects []lookedBack
	Calls          []struct{ Key, Step, State string }
}

func why(t *testing.T, s *paneltest.Shop, as string, position int64) (why whyAnswer) {
	t.Helper()
	w := s.Call("GET", fmt.Sprintf("/audit/api/v1/events/%d/why/", position), "", "Authorization", "Bearer "+s.Known[as])
	if err := json.Unmarshal(w.Body.Bytes(), &why); err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	return why
}

func TestACauseLeadsBackToItsRootAndDownToTheCalls(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	order := s.Bought(t, "why.example")
	s.Indexed(t)
	history := lookBack(t, s, "root", "streams/order-"+order.ID+"/events/")
	paid := history[slices.IndexFunc(history, func(e lookedBack) bool { return e.Type == "order.payment_confirmed" })]
	down := why(t, s, "root", paid.Position)
	if down.Root.Kind != "webhook" && down.Root.Kind != "deadline" && down.Root.Kind != "request" {
		t.Errorf("%+v", down.Root)
	}
	steps := map[string]bool{}
	for _, call := range down.Calls {
		steps[call.Step] = true
	}
	if !steps["tenant.engine"] || !steps["site"] {
		t.Errorf("the calls are %+v", down.Calls)
	}
	active := history[slices.IndexFunc(history, func(e lookedBack) bool { return e.Type == "order.activated" })]
	if !slices.Contains(positionsOf(down.Effects), active.Position) {
		t.Errorf("%d is not among %v", active.Position, positionsOf(down.Effects))
	}
	up := why(t, s, "root", active.Position)
	if !slices.Contains(positionsOf(up.Chain), paid.Position) || up.Root != down.Root ||
		up.Chain[0].Position != active.Position {
		t.Errorf("%v of %+v", positionsOf(up.Chain), up.Root)
	}
}
