//go:build system

package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// Simultaneous requests never exceed the package's limit. The refused ones are
// told the limit.
func TestAHundredRequestsAtOnceDoNotPassALimit(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	pack := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits()}
	pack.Limits = pack.Limits.With("sites", 5)
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: pack.Fields().Values()})
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"package": []byte("1")}})
	answers := make([]*httptest.ResponseRecorder, 100)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = as(s, "ben", "POST", "sites/", fmt.Sprintf(`{"domain":"s%d.example"}`, i)) })
	}
	all.Wait()
	made := 0
	for _, w := range answers {
		switch {
		case w.Code == http.StatusCreated:
			made++
		case w.Code != http.StatusBadRequest ||
			w.Body.String() != `{"non_field_errors":["Limit reached: sites (5 of 5)."]}` ||
			w.Header().Get("X-Error-Code") != "quota_exceeded":
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if there := s.Count(t, `select count(*) from resources where kind = 'site'`); made != 5 || there != 5 {
		t.Errorf("%d were made, %d are there", made, there)
	}
}

func TestAHundredRequestsAtOnceMakeNoSubTenantTooMany(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	const room, requests = 7, 100
	reseller(t, s, room, false)
	var made, full atomic.Int64
	var all errgroup.Group
	for i := range requests {
		all.Go(func() error {
			for {
				w := s.Call("POST", tenantsAPI, fmt.Sprintf(`{"name":"Client %d","email":"client@example.com"}`, i),
					paneltest.Bearer(s.Known["ana"])...)
				switch w.Code {
				case http.StatusCreated:
					made.Add(1)
				case http.StatusBadRequest:
					if want := `{"non_field_errors":["Limit reached: hosting_accounts (7 of 7)."]}`; w.Body.String() != want ||
						w.Header().Get("X-Error-Code") != "quota_exceeded" {
						return fmt.Errorf("%s", w.Body)
					}
					full.Add(1)
				case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
					time.Sleep(10 * time.Millisecond)
					continue
				default:
					return fmt.Errorf("%d %s", w.Code, w.Body)
				}
				return nil
			}
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if there := s.Count(t, `select count(*) from resources where kind = 'tenant' and parent = 1`); made.Load() != room ||
		there != room || full.Load() != requests-room {
		t.Errorf("%d made, %d there, %d refused", made.Load(), there, full.Load())
	}
	stats := paneltest.Answered[map[string]json.RawMessage](t,
		s.Call("GET", paneltest.TenantOne+"stats/", "", paneltest.Bearer(s.Known["ana"])...))
	got := fmt.Sprintf("%s %s %s", stats["hosting_accounts"], stats["vms"], stats["agents"])
	if got != `{"used":7,"limit":7} {"used":0,"limit":7} {"used":0,"limit":2}` {
		t.Error(got)
	}
	// Who removes one may make another; operators are not limited.
	page := paneltest.Answered[tenantPage](t,
		s.Call("GET", tenantsAPI+"?search=client", "", paneltest.Bearer(s.Known["ana"])...))
	s.Answers(t, "DELETE", fmt.Sprint(tenantsAPI, page.Results[0].ID, "/"), "", map[string]int{"ana": 204})
	s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 201})
	s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 400})
	s.Answers(t, "POST", tenantsAPI, `{"name":"Client","email":"client@example.com","parent":1}`,
		map[string]int{"root": 201})
}

// Every kind has its pages, in both languages: the list, the form, a record and its form.
func TestThePagesOfEveryKindAreForEverybody(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Hosting.NameServers = []string{"ns1.panel.example."}
	s.People(t)
	s.OneOfEach(t, 1, 1)
	look := hosting.WhiteLabel{
		BrandName: "Brand", PrimaryColor: "#4F46E5", SecondaryColor: "#10B981",
		SidebarBGColor: "#1F2937", SidebarColor: "#F9FAFB", IsActive: true,
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()},
		paneltest.Endpoint(1, 1))
	s.Do(t, hosting.Decline{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Code: "password_weak"})
	for _, language := range []string{"en", "es"} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		b := s.Visiting(t, paneltest.Ana)
		pages := 0
		for _, kind := range append(hosting.Kinds,
			hosting.Kind{Collection: "webhook-endpoints", Plurals: map[string]string{}, Verbs: hosting.All}) {
			if !kind.HasPages() {
				continue
			}
			for _, path := range []string{"", "new/", "1/", "1/edit/"} {
				if path == "1/edit/" && kind.Verbs&hosting.Patch == 0 {
					continue
				}
				pages++
				w := b.Get("/panel/" + kind.Collection + "/" + path)
				if w.Code != http.StatusOK {
					t.Errorf("%s%s: %d %s", kind.Collection, path, w.Code, w.Body)
				}
				b.IsForEverybody(t, language, w.Body.String())
				if path == "1/" && !strings.Contains(paneltest.Past(w.Body.String()), "<li id=") {
					t.Errorf("the page of one of %s has no history", kind.Collection)
				}
			}
		}
		if pages < 40 {
			t.Errorf("only %d pages", pages)
		}
		paneltest.Has(t, b.Get("/panel/mailboxes/1/").Body.String(),
			map[string]string{
				"en": "The server wants a stronger password.",
				"es": "El servidor exige una contraseña más fuerte.",
			}[language])
	}
}
