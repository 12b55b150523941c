//go:build system

package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	panel "hostpanel/http"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// The conversations in testdata/examples are those that the API document shows.
func TestConversationsOfTheExamples(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) *paneltest.Shop{
		"accounts": func(t *testing.T) *paneltest.Shop { return paneltest.Open(t).People(t).InABrowser(t, paneltest.Root) },
		"audit":    func(t *testing.T) *paneltest.Shop { s := paneltest.Open(t).People(t); s.Indexed(t); return s },
		"billing":  func(t *testing.T) *paneltest.Shop { return billedForExamples(t, paneltest.Open(t).People(t).Stock(t)) },
		"hosting": func(t *testing.T) *paneltest.Shop {
			return provable(t, withNameServers(paneltest.House(t).Told(t).Hooked(t)))
		},
		"notifications": func(t *testing.T) *paneltest.Shop { return paneltest.Open(t).People(t).Told(t) },
		"operations": func(t *testing.T) *paneltest.Shop {
			s := paneltest.Office(t)
			s.Enrolled(t,
				paneltest.Eve)
			return s
		},
		"orders": busyDesk,
		"storefront": func(t *testing.T) *paneltest.Shop {
			return signing(paneltest.Open(t).Stock(t).People(t), exampleWebhook)
		},
	} {
		routetest.Run(t, "testdata/examples/"+name+".http", func(t *testing.T) (http.Handler, routetest.Known) {
			s := begin(t)
			return s.Handler, s.Known
		})
	}
}

func TestManyGuessesAtOnceAreNoWayAroundTheLimit(t *testing.T) {
	s := paneltest.Open(t).People(t)
	refused, throttled, hashes := 0, 0, credentials.PasswordHashes()
	for _, w := range s.AtOnce(15, func(int) *httptest.ResponseRecorder {
		return s.Try("192.0.2.1:1", "ana@example.com",
			"wrong")
	}) {
		switch w.Code {
		case http.StatusUnauthorized:
			refused++
		case http.StatusTooManyRequests:
			throttled++
		}
	}
	if refused != 5 || throttled != 10 || credentials.PasswordHashes()-hashes != 5 {
		t.Fatalf("%d refused, %d throttled, %d hashes", refused, throttled, credentials.PasswordHashes()-hashes)
	}
}

func TestTheAPIDescribesItself(t *testing.T) {
	t.Parallel()
	server := declared()
	handler := routetest.Read(t, server.Document()).Watch(t, server.Handler())
	for path, part := range map[string]string{
		"/api/schema/": `"openapi":"3.1.0"`, "/api/schema/?format=yaml": "openapi: ",
		"/api/schema/swagger-ui/": "/storefront/api/orders/",
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

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
		"tenant_usage", "machine_usage") // a round of measuring looks at all tenants and machines
}

func TestAStreamEndsWithTheRightsOfItsCaller(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).People(t)
	s.Server.Settings.Heartbeat = 20 * time.Millisecond
	s.Start(t)
	placed := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	following := s.Stream(t, "/storefront/api/orders/"+placed.ID+"/events/", "X-API-Key", s.Known["key"])
	of := map[string]*paneltest.EventStream{}
	for _, who := range []string{"ana", "ben", "eve"} {
		of[who] = s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known[who])...)
	}
	brief := s.Stream(t, paneltest.NoticeStream,
		paneltest.Bearer(s.Token(t, paneltest.Eve, paneltest.With{"exp": time.Now().Add(2 * time.Second).Unix()}))...)
	s.Do(t, account.Deactivate{User: paneltest.Ana, At: time.Now()})
	of["ana"].Ends()
	s.Do(t, account.EndSessions{User: paneltest.Ben, At: time.Now()})
	of["ben"].Ends()
	s.Do(t, paneltest.Revoke("OpenKey1"))
	s.Server.ForgetKey("OpenKey1")
	following.Ends()
	brief.Ends()
	s.Raise(t, paneltest.Eve, "Eve may still listen")
	of["eve"].Is("notification", "still")
}

// The time limits for requests and answers do not apply to streams.
func TestAStreamOutlivesThePatienceForAnswers(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Server.Settings.Heartbeat = 20 * time.Millisecond
	moment := 200 * time.Millisecond
	s.Server.Settings.Patience = panel.Patience{Header: moment, Request: moment, Answer: moment}
	s.Start(t)
	h := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])...)
	for began := time.Now(); time.Since(began) < time.Second; {
		select {
		case <-h.Events:
		case err := <-h.Ended:
			t.Fatal(err)
		}
	}
	s.Raise(t, paneltest.Ben, "still there")
	h.Is("notification", "still there")
}

// A hundred clients connect and disconnect while events arrive, and leave no
// goroutine or subscription behind.
func TestAHundredListenersComeAndGo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Start(t)
	people := []string{"ana", "ben", "eve"}
	stop, telling := make(chan struct{}), sync.WaitGroup{}
	telling.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				s.Raise(t, []int64{paneltest.Ana, paneltest.Ben, paneltest.Eve}[n%3], fmt.Sprint(n))
			}
		}
	})
	var coming sync.WaitGroup
	for n := range 100 {
		coming.Go(func() {
			for range 2 {
				h := s.Dial(t, paneltest.NoticeStream, paneltest.Bearer(s.Known[people[n%3]])...)
				if h.Answer.StatusCode == http.StatusOK {
					h.Next()
				} else if h.Answer.StatusCode != http.StatusTooManyRequests {
					t.Error(h.Answer.Status)
				}
				h.Close()
			}
		})
	}
	coming.Wait()
	close(stop)
	telling.Wait()
	s.Until(t, "everything has gone", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return s.Server.Streams() == 0 && s.Listeners.Load() == 0 && connections() == 0
	})
}

// Links that lead far into a list name the record beside the page. Those near its
// beginning, and those of a list in another order, do not.
func TestLinksFarIntoAListNameTheRecordBesideThePage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	if _, err := s.Owner.Exec(t.Context(), `insert into notifications (id, user_id, notification_type, title, message, url, metadata,
			unread_since, created_at, updated_at, version)
		select gen_random_uuid(), $1, 'info', '', '', '', '{}', at, at, at, 1
		from generate_series(1, 1250) n, lateral (select now() - n * interval '1s' as at) moment`, paneltest.Ben); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Owner.Exec(t.Context(), `insert into inboxes (user_id, total, unread) values ($1, 1250, 1250) on `+
		`conflict (user_id) do update set total = 1250`, paneltest.Ben); err != nil {
		t.Fatal(err)
	}
	get := func(link string) (page listPage) {
		t.Helper()
		w := s.Call("GET", link, "", paneltest.Bearer(s.Token(t, paneltest.Ben, nil))...)
		if err := json.Unmarshal(w.Body.Bytes(), &page); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", link, w.Code, w.Body)
		}
		return page
	}
	walk := func(from string, on func(listPage) string) (ids, marks []string) {
		for link := from; link != ""; {
			page := get(link)
			for _, one := range page.Results {
				ids = append(ids, one.ID)
			}
			if link = on(page); strings.Contains(link, "after=") || strings.Contains(link, "before=") {
				marks = append(marks, link)
			}
			if page.Count != 1250 {
				t.Fatalf("%s: %d", link, page.Count)
			}
		}
		return ids, marks
	}
	const list = "/notifications/api/v1/notifications/?page_size=100"
	forward, marked := walk(list, func(p listPage) string { return p.Next })
	if len(forward) != 1250 || len(marked) != 3 || !strings.Contains(marked[0], "after="+forward[999]+"&page=11&") {
		t.Errorf("%d records, links %v", len(forward), marked)
	}
	back, marked := walk(list+"&page=last", func(p listPage) string { return p.Previous })
	if len(marked) != 2 || !strings.Contains(marked[0], "before="+forward[1200]+"&page=12&") {
		t.Errorf("links back %v", marked)
	}
	slices.Sort(back)
	if sorted := slices.Sorted(slices.Values(forward)); !slices.Equal(back, sorted) {
		t.Errorf("%d records backwards are not the %d forward", len(back), len(forward))
	}
	if _, marked := walk(list+"&ordering=created_at", func(p listPage) string { return p.Next }); marked != nil {
		t.Errorf("links of a list in another order: %v", marked)
	}
	if page := get(list + "&page=12&after=no-id"); page.Results[0].ID != forward[1100] {
		t.Errorf("beside no record: %v", page.Results[0])
	}
}

func TestNoOperatorOverwritesWhatAnotherHasChanged(t *testing.T) {
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	set := func(name, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{name: []byte(value)}
	}
	keeps(b, "change_plan", "/storefront/plans/1/", "/storefront/plans/1/", func() {
		s.Do(t, storefront.ChangePlan{Plan: 1, Spec: set("position", "7"), At: time.Now()})
	}, []string{"price", "21.50"}, []string{"position", "7"})
	b.Get("/storefront/widgets/new/")
	made := b.Send("create_widget", "name", "Shop", "plans", "1").Header().Get("Location")
	keeps(b, "change_widget", made, made, func() {
		s.Do(t, storefront.ChangeWidget{Widget: 101, Spec: set("layout", `"table"`), At: time.Now()})
	}, []string{"name", "Another shop"}, []string{"layout", "table"})
}

// Every link of the page leads to something on it, and each call is there once.
func TestTheReferenceIsWholeWithoutScripts(t *testing.T) {
	t.Parallel()
	b := paneltest.Open(t).Browser(t)
	b.Get(paneltest.ReferencePath)
	ids := map[string]int{}
	for d := range b.Page.Descendants() {
		if id := paneltest.Attribute(d, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d parts have the id %s", n, id)
		}
	}
	for _, a := range paneltest.Elements(b.Page, "a") {
		if to, inside := strings.CutPrefix(paneltest.Attribute(a, "href"), "#"); inside && ids[to] == 0 {
			t.Errorf("#%s leads nowhere", to)
		}
	}
	text := paneltest.TextOf(b.Page)
	for _, part := range []string{
		"site.created", "certificate.expiring", "webhook", "Version",
		"Credentials: Authorization: Bearer", "No credentials.", "Too many calls.",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	for _, described := range operationsIn(t, b.Server.Document()) {
		if !slices.ContainsFunc(paneltest.Elements(b.Page, "details"), func(op *html.Node) bool {
			return paneltest.Attribute(op, "data-method") == described.method &&
				paneltest.Attribute(op, "data-path") == described.path
		}) {
			t.Errorf("%s %s is not on the page", described.method, described.path)
		}
	}
}

// What names no language is in that of the installation. An order through a widget is
// in the widget's, unless the customer's site asks for another.
func TestTheDefaultLanguageIsASetting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ setting, want string }{{"", "es"}, {"en", "en"}} {
		t.Run(test.setting, func(t *testing.T) {
			s := paneltest.Office(t, func(s *paneltest.Shop) { s.Server.Settings.Language = test.setting })
			s.Do(t, storefront.ChangeWidget{Widget: 1, Spec: field.Values{"language": []byte(`"pt"`)}})
			for path, body := range map[string]string{
				paneltest.Operations + "users/":   `{"email":"new@example.com"}`,
				paneltest.Operations + "widgets/": `{"name":"New"}`,
				"/hosting/api/rest/tenants/":      `{"name":"New","email":"new@example.com"}`,
			} {
				var made struct{ Language string }
				paneltest.Decode(t, s.Call("POST", path, body, paneltest.Bearer(s.Known["root"])...), http.StatusCreated, &made)
				if made.Language != test.want {
					t.Errorf("%s: %q", path, made.Language)
				}
			}
			const form = `{"plan_id":2,"customer_email":"ana@example.com","customer_name":"Ana","payment_method":"test"`
			for body, want := range map[string]string{
				form + `}`: test.want,
				form + `,"widget_id":"allplansallplans"}`:                 "pt",
				form + `,"widget_id":"allplansallplans","language":"de"}`: "de",
			} {
				placed := paneltest.Read(t, s.Order(t, http.StatusCreated, body))
				o, err := s.For(projections.System).Orders().OrderByNumber(t.Context(), placed.Number)
				if err != nil || o.Language != want {
					t.Errorf("%s: %q, %v", body, o.Language, err)
				}
			}
			if !bytes.Contains(s.Server.Document(), []byte(`"default":"`+test.want+`","description":"That of the widget`)) {
				t.Error("the API document has another default")
			}
		})
	}
}

func TestAWrongPasswordAnUnknownAndAnInactiveUserAreTheSameWork(t *testing.T) {
	s := paneltest.Open(t).People(t)
	seen := watched(t, s)
	tries := []struct{ email, password string }{
		{"ana@example.com", "wrong"},
		{"nobody@example.com", "wrong"},
		{"nobody@example.com", paneltest.GoodPassword},
		{"gone@example.com", "wrong"},
		{"gone@example.com", paneltest.GoodPassword},
	}
	s.Try("192.0.2.1:1", "first@example.com", "wrong") // connections learn the statements
	var before []string
	for i, try := range tries {
		var work []string
		for n := range 3 { // keys are cached for a moment: the fewest statements are those with a cached key
			hashes, events := credentials.PasswordHashes(), s.Count(t, `select count(*) from events`)
			seen.Taken()
			if w := s.Try(fmt.Sprintf("198.18.%d.1:1", 3*i+n), try.email, try.password); w.Code != http.StatusUnauthorized {
				t.Fatalf("%s: %d %s", try.email, w.Code, w.Body)
			}
			if done := seen.Taken(); work == nil || len(done) < len(work) {
				work = done
			}
			if hashed, added := credentials.PasswordHashes()-hashes,
				s.Count(t, `select count(*) from events`)-events; hashed != 1 || added != 1 {
				t.Errorf("%s: %d hashes, %d events", try.email, hashed, added)
			}
		}
		if before != nil && !slices.Equal(work, before) || len(work) == 0 {
			t.Errorf("%s: %d statements, others %d:\n%s\nothers:\n%s", try.email, len(work), len(before),
				strings.Join(work, "\n"), strings.Join(before, "\n"))
		}
		before = work
	}
}
