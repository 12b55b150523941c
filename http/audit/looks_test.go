package audit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// A lookShown is a look as the audit API shows it.
type lookShown struct {
	Stream   string
	Tenant   *int64
	Actor    struct{ Type, ID, Label string }
	LookedAt time.Time `json:"looked_at"`
}

func looksShown(t *testing.T, s *paneltest.Shop, as, query string) (all []lookShown) {
	t.Helper()
	w := s.Call("GET", "/audit/api/v1/looks/"+query, "", "Authorization", "Bearer "+s.Known[as])
	var page struct{ Results []lookShown }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body, err)
	}
	return page.Results
}

// seenBy are "operator:1 site-1", in the order of the text.
func seenBy(all []lookShown) (texts []string) {
	for _, l := range all {
		texts = append(texts, l.Actor.Type+":"+l.Actor.ID+" "+l.Stream)
	}
	slices.Sort(texts)
	return texts
}

func TestWhoLooksIsRecordedOnceForEachStreamAndHour(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	reads := map[string]int{
		"streams/site-1/events/": http.StatusOK, "streams/site-1/state/": http.StatusOK,
		"streams/site-1/diff/":   http.StatusOK,
		"streams/site-2/events/": http.StatusNotFound, "streams/site-99/state/": http.StatusNotFound,
		"verify/": http.StatusOK, "looks/": http.StatusOK,
	}
	for path, want := range reads {
		for range 2 {
			if w := s.Call("GET", "/audit/api/v1/"+path, "", "Authorization", "Bearer "+s.Known["ana"]); w.Code != want {
				t.Fatal(path, w.Code, w.Body)
			}
		}
	}
	if got := seenBy(looksShown(t, s, "root", "")); !slices.Equal(got, []string{"user:2 site-1"}) {
		t.Fatal(got)
	}
	o := s.Seal(t)
	for _, path := range []string{
		"streams/site-2/events/", "events/?stream=site-3",
		"events/" + s.Position(t, "user-3") + "/why/", "events/" + s.Position(t, "user-2") + "/proof/",
	} {
		if w := s.Call("GET", "/audit/api/v1/"+path, "", "Authorization",
			"Bearer "+s.Known["root"]); w.Code != http.StatusOK {
			t.Fatal(path, w.Code, w.Body)
		}
	}
	for _, path := range []string{
		"checkpoint", "tile/entries/000.p/" + fmt.Sprint(o.Size),
		"tile/0/000.p/" + fmt.Sprint(o.Size),
	} {
		if w := s.Call("GET", "/audit/log/"+path, "", "Authorization", "Bearer "+s.Known["root"]); w.Code != http.StatusOK {
			t.Fatal(path, w.Code, w.Body)
		}
	}
	all := looksShown(t, s, "root", "")
	if got := seenBy(all); !slices.Equal(got,
		[]string{"operator:1 site-2", "operator:1 site-3", "operator:1 user-2", "operator:1 user-3", "user:2 site-1"}) {
		t.Error(got)
	}
	for _, l := range all {
		if l.Stream == "site-1" && (l.Actor.Label != "Alex Kim" || *l.Tenant != 1) ||
			l.Stream == "user-2" && l.Tenant != nil {
			t.Errorf("%+v", l)
		}
	}
	if _, err := s.Owner.Exec(t.Context(), `update log_looks set hour = hour - interval '1 hour', created_at = `+
		`created_at - interval '1 hour' where stream = 'site-1'`); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		"?stream=site-1": 1, "?actor=operator:1": 4, "?tenant=2": 1, "?page_size=2": 2, "?page_size=2&page=3": 1,
		"?looked_at__lte=" + time.Now().Add(-30*time.Minute).UTC().Format(time.RFC3339): 1,
		"?looked_at__gte=" + time.Now().Add(-30*time.Minute).UTC().Format(time.RFC3339): 4,
	} {
		if got := looksShown(t, s, "root", query); len(got) != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
}

func TestAdministratorsSeeTheLooksAtStreamsOfTheirTenant(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	for _, stream := range []string{"site-1", "site-2", "user-2"} {
		lookBack(t, s, "root", "streams/"+stream+"/events/")
	}
	all := looksShown(t, s, "ana", "")
	if len(all) != 1 || all[0].Stream != "site-1" || all[0].Actor.ID != "1" || all[0].Actor.Label != "" {
		t.Errorf("%+v", all)
	}
	if all := looksShown(t, s, "ana", "?tenant=2"); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if w := s.Call("GET", "/audit/api/v1/looks/", "", "Authorization",
		"Bearer "+s.Known["ben"]); w.Code != http.StatusForbidden {
		t.Error(w.Code, w.Body)
	}
}

// A look that the database does not take keeps no answer back. It is logged, and
// recorded later with its own moment.
func TestALookThatIsNotRecordedIsRecordedLater(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := s.Owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`alter table log_looks rename to away`)
	for range 2 {
		if all := lookBack(t, s, "root", "streams/user-2/events/"); len(all) == 0 {
			t.Fatal("the history is kept back")
		}
	}
	if log := s.Logged.String(); !strings.Contains(log, "was not recorded yet") ||
		!strings.Contains(log, `"actor":"operator:1","streams":["user-2"]`) {
		t.Error(log)
	}
	exec(`alter table away rename to log_looks`)
	before := time.Now()
	if err := s.Audit.RecordLooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := looksShown(t, s, "root", ""); len(all) != 1 || all[0].Stream != "user-2" || !all[0].LookedAt.Before(before) {
		t.Errorf("%+v", all)
	}

	exec(`insert into log_looks (stream, actor, hour, created_at) values ('user-3', 'user:2', now(), now() - interval ` +
		`'364 days'), ('user-4', 'user:2', now(), now() - interval '366 days')`)
	if err := s.Audit.SweepLooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := seenBy(looksShown(t, s, "root", "")); !slices.Equal(all, []string{"operator:1 user-2", "user:2 user-3"}) {
		t.Error(all)
	}
}

// Superusers see under a history who has looked at it; others do not.
func TestThePagesTellWhoHasLooked(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	ours := paneltest.Past(s.Visiting(t, paneltest.Ana).Get("/panel/sites/1/").Body.String())
	if ours == "" || strings.Contains(ours, "Seen by") {
		t.Error(ours)
	}
	page := paneltest.Past(s.Visiting(t, paneltest.Root).Get("/storefront/tenants/1/").Body.String())
	paneltest.Has(t, page, "Seen by", "<dt>Alex Kim</dt>")
	if got := seenBy(looksShown(t, s, "root", "")); !slices.Equal(got, []string{"operator:1 tenant-1", "user:2 site-1"}) {
		t.Error(got)
	}
}
