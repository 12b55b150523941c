package hosting_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

type tenantPage struct {
	Count          int
	Next, Previous *string
	Results        []struct{ ID int64 }
}

// ids lists the tenants that root sees under a query.
func ids(t *testing.T, s *paneltest.Shop, query string) string {
	t.Helper()
	page := paneltest.Answered[tenantPage](t,
		s.Call("GET", "/hosting/api/rest/tenants/?"+query, "", paneltest.Bearer(s.Known["root"])...))
	var all []string
	for _, one := range page.Results {
		all = append(all, fmt.Sprint(one.ID))
	}
	return fmt.Sprintf("%d: %s", page.Count, strings.Join(all, " "))
}

func TestListsAreFilteredSearchedAndOrderedByOneMechanism(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	between := url.QueryEscape(time.Now().UTC().Format(time.RFC3339Nano))
	s.Tenant(t, 4, `100% "pure" honey_`)
	s.Tenant(t, 5, "Äpfel")
	for query, want := range map[string]string{
		"":                                      "5: 5 4 3 2 1", // newest first
		"ordering=id":                           "5: 1 2 3 4 5",
		"ordering=-name,id":                     "5: 5 3 2 1 4",
		"ordering=unknown":                      "5: 5 4 3 2 1",
		"ordering=unknown,created_at":           "5: 1 2 3 4 5",
		"unknown=1&tenant=2":                    "5: 5 4 3 2 1",
		"search=cheese":                         "1: 2",
		"search=office+EXAMPLE":                 "5: 5 4 3 2 1",
		"search=bread,cheese":                   "0: ",
		"search=%22bread+%26+co%22":             "1: 1",
		"search=100%25":                         "1: 4",
		"search=%25":                            "1: 4",
		"search=_":                              "1: 4",
		"search=%5C":                            "0: ",
		"search=%C3%A4PFEL":                     "1: 5",
		"id__in=1,3,999&ordering=id":            "2: 1 3",
		"id__in=":                               "5: 5 4 3 2 1",
		"slug=t2":                               "1: 2",
		"slug=T2":                               "0: ",
		"status=active&ordering=id&page_size=2": "5: 1 2",
		"status=active&ordering=id&page_size=2&page=3":    "5: 5",
		"status=active&ordering=id&page_size=2&page=last": "5: 5",
		"status=suspended":                           "0: ",
		"is_active=true&ordering=id":                 "5: 1 2 3 4 5",
		"is_active=no":                               "0: ",
		"is_active=perhaps":                          "5: 5 4 3 2 1",
		"created_at__gte=" + between:                 "2: 5 4",
		"created_at__lt=" + between:                  "3: 3 2 1",
		"updated_at__gt=" + between + "&search=pure": "1: 4",
		"created_at__lte=2020-01-01T00:00":           "0: ",
	} {
		if got := ids(t, s, query); got != want {
			t.Errorf("%q: %s, not %s", query, got, want)
		}
	}
}

func TestPagesOfAListKeepTheirQuestion(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	page := paneltest.Answered[tenantPage](t,
		s.Call("GET", "/hosting/api/rest/tenants/?page=2&page_size=1&search=e&ordering=name", "",
			paneltest.Bearer(s.Known["root"])...))
	const path = paneltest.PublicURL + "/hosting/api/rest/tenants/?ordering=name&"
	if page.Next == nil || *page.Next != path+"page=3&page_size=1&search=e" || page.Previous == nil ||
		*page.Previous != path+"page_size=1&search=e" {
		t.Fatalf("%+v", page)
	}
}

func TestATenantThatIsLeavingCannotBeActivated(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Do(t, hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: 2}})
	for _, name := range []string{"ana", "root"} {
		if w := s.Call("POST", "/hosting/api/rest/tenants/2/activate/", "",
			paneltest.Bearer(s.Known[name])...); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// The process may end between the change and its answer.
func TestAnAnswerThatWasNeverGivenIsMadeFromTheRecord(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for path, body := range map[string]string{
		"/hosting/api/rest/tenants/2/activate/": "",
		"/api/me/":                              `{"name":"Ana María"}`,
	} {
		method := map[bool]string{true: "POST", false: "PATCH"}[body == ""]
		again := func() (int, string, http.Header) {
			w := s.Call(method, path, body, append(paneltest.Bearer(s.Known["ana"]), "Idempotency-Key", "once")...)
			return w.Code, w.Body.String(), w.Header()
		}
		_, first, _ := again()
		facts := s.Count(t, `select count(*) from events`)
		if _, err := s.Owner.Exec(t.Context(),
			`update once_keys set body = null, etag = null, running_until = null`); err != nil {
			t.Fatal(err)
		}
		status, second, header := again()
		if status != http.StatusOK || second != first || header.Get("Idempotent-Replayed") != "true" ||
			header.Get("Location") != "" || header.Get("ETag") == "" {
			t.Errorf("%s: %d %s %v, not %s", path, status, second, header, first)
		}
		if n := s.Count(t, `select count(*) from events`); n != facts {
			t.Errorf("%s: %d facts more", path, n-facts)
		}
	}
}

// What a service without hosting has made waits for nothing at the engine.
func TestATenantWithoutHostingIsNotInProgress(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	machines, resells, hosts := hosting.Limits{}, hosting.SaaSLimits{MaxHostingAccounts: 3}, hosting.NoLimits()
	for id, spec := range map[int64]*hosting.Tenant{
		71: {Name: "Machines", Slug: "t71", Limits: machines},
		72: {Name: "Resells", Slug: "t72", Limits: hosts, SaaS: resells},
		73: {Name: "Hosts", Slug: "t73", Limits: hosts},
	} {
		spec.Status, spec.IsActive, spec.Email, spec.Language = hosting.InService, true, "office@example.com", "en"
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values(), For: "order:" + uuid.NewString(),
		})
		wants := map[bool]string{true: "pending", false: "synced"}[id == 73]
		path := "/hosting/api/rest/tenants/" + strconv.FormatInt(id, 10) + "/"
		record := s.Call("GET", path, "", paneltest.Bearer(s.Known["root"])...).Body.String()
		if !strings.Contains(record, `"sync_status":"`+wants+`"`) {
			t.Errorf("%s is not %s: %s", spec.Name, wants, record)
		}
		page := s.Visiting(t, paneltest.Root).Get("/storefront/tenants/" + strconv.FormatInt(id, 10) + "/").Body.String()
		if strings.Contains(page, "In progress") != (id == 73) {
			t.Errorf("the page of %s shows its state otherwise", spec.Name)
		}
	}
}
