package billing_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/paneltest"
	"hostpanel/sagas/hosting/traffic"
)

// withScreens is a shop in which tenant 1 has a virtual server with a screen.
func withScreens(t *testing.T, options ...func(*paneltest.Shop)) (*paneltest.Shop, *paneltest.Screens, string) {
	t.Helper()
	screens := paneltest.NewScreens(100)
	s := paneltest.Open(t).People(t)
	s.Server.Screens, s.Server.Settings.Heartbeat = screens, 20*time.Millisecond
	for _, o := range options {
		o(s)
	}
	s.Start(t)
	service := s.Running(t, 1)
	s.Machined(t, 991, 1, service)
	return s, screens, service.String()
}

// signedIn are the headers of a call from a page in a browser.
func signedIn(s *paneltest.Shop, b *paneltest.Browser) []string {
	b.Get("/account/")
	return []string{
		"Cookie", "session=" + b.Cookies["session"], caller.CSRFHeader, b.Csrf(), "Origin", s.Public,
		"Sec-Fetch-Site", "same-origin",
	}
}

func TestAConsoleShowsTheScreenToWhoMayUseTheMachine(t *testing.T) {
	t.Parallel()
	s, screens, service := withScreens(t)
	for who, status := range map[string]int{"": 401, "eve": 403, "gone": 401} {
		w := s.Call("POST", servicesAPI+service+"/vm/console/", `{}`, paneltest.Bearer(s.Known[who])...)
		if w.Code != status {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	if w := s.Call("POST", servicesAPI+uuid.NewString()+"/vm/console/", `{}`, paneltest.Bearer(s.Known["ben"])...); w.Code != 404 {
		t.Errorf("no service: %d %s", w.Code, w.Body)
	}
	for _, who := range []string{"ben", "ana", "root"} {
		address, ticket := s.AsksForConsole(t, service, paneltest.Bearer(s.Known[who])...)
		c, status, refusal := paneltest.OpensConsole(t, address, ticket)
		if c == nil {
			t.Fatalf("%s: %d %s", who, status, refusal)
		}
		if name := c.Sees(); name != "vm77" {
			t.Errorf("%s sees %q", who, name)
		}
		c.Presses('k')
		if key := <-screens.Keys; key != 'k' {
			t.Errorf("the machine got %d", key)
		}
		c.Leaves()
		if n := s.Count(t, `select count(*) from events where name = 'hosting.console_opened'
			and actor = $1`, map[string]string{"ben": "user:3", "ana": "user:2", "root": "operator:1"}[who]); n != 1 {
			t.Errorf("%d events tell of %s", n, who)
		}
		for what, sql := range map[string]string{
			"events": `select count(*) from events where position($1 in events::text) > 0`,
			"tokens": `select count(*) from one_time_tokens where position($1 in one_time_tokens::text) > 0`,
		} {
			if s.Count(t, sql, ticket) != 0 {
				t.Errorf("the ticket stands in the %s", what)
			}
		}
		if strings.Contains(s.Logged.String(), ticket) || strings.Contains(s.Logged.String(), paneltest.ScreenPassword) {
			t.Error("a secret stands in the lines of the log")
		}
	}
	screens.Wait()
}

func TestATicketOpensOneConsoleOnceForItsSessionAlone(t *testing.T) {
	t.Parallel()
	s, _, service := withScreens(t)
	ben := s.Visiting(t, paneltest.Ben)
	page := signedIn(s, ben)
	cookie, origin := slices.Clip(page[:2]), page[4:]
	opens := func(what string, want int, address, ticket string, headers ...string) {
		t.Helper()
		c, status, refusal := paneltest.OpensConsole(t, address, ticket, headers...)
		if status != want {
			t.Errorf("%s: %d %s", what, status, refusal)
		}
		if c != nil {
			c.Sees()
		}
	}
	address, ticket := s.AsksForConsole(t, service, page...)
	other := s.Visiting(t, paneltest.Ben)
	opens("no ticket", 403, address, "", page...)
	opens("another session of the user", 403, address, ticket,
		append([]string{"Cookie", "session=" + other.Cookies["session"]}, origin...)...)
	opens("no session", 403, address, ticket, origin...)
	opens("a page of another site", 403, address, ticket, append(cookie, "Origin", "https://evil.example")...)
	opens("a page of another site, as the browser says", 403, address, ticket, append(cookie, "Sec-Fetch-Site", "cross-site")...)
	opens("the path of another service", 404, strings.Replace(address, service, uuid.NewString(), 1), ticket, page...)
	if w := s.Call("GET", servicesAPI+service+"/vm/console/ws/?ticket="+ticket, "", page...); w.Code != http.StatusUpgradeRequired {
		t.Errorf("no WebSocket: %d %s", w.Code, w.Body)
	}
	opens("the page itself", 101, address, ticket, page...)
	opens("the same ticket", 403, address, ticket, page...)

	_, older := s.AsksForConsole(t, service, page...)
	_, newer := s.AsksForConsole(t, service, page...)
	opens("a ticket that a newer one has ended", 403, address, older, page...)
	if _, err := s.Owner.Exec(t.Context(), `update one_time_tokens set expires_at = real_now() where used_at is null`); err != nil {
		t.Fatal(err)
	}
	opens("a ticket that has expired", 403, address, newer, page...)

	// Another process of the panel shares the database alone.
	_, ticket = s.AsksForConsole(t, service, page...)
	elsewhere := httptest.NewServer(s.Server.Handler())
	defer elsewhere.Close()
	opens("another process", 101, strings.Replace(address, s.Public[len("http"):], elsewhere.URL[len("http"):], 1), ticket, page...)
}

func TestAConsoleEndsWithTheRightToIt(t *testing.T) {
	t.Parallel()
	s, screens, service := withScreens(t)
	vm, tenant := hosting.Ref{Kind: "vm", ID: 991}, hosting.Ref{Kind: "tenant", ID: 1}
	browser := s.Visiting(t, paneltest.Ben)
	bearer := paneltest.Bearer(s.Known["ben"])
	grant := account.GrantMembership{User: paneltest.Ben, Tenant: 1, Role: account.Member, At: time.Now()}
	for _, c := range []struct {
		why   string
		by    []string
		does  func()
		after func()
		want  websocket.StatusCode
	}{
		{"the screen ends", bearer, screens.SwitchOff, nil, websocket.StatusNormalClosure},
		{
			"the machine is suspended", bearer, func() { s.Do(t, hosting.Disable{Ref: vm, By: hosting.ByOrder}) },
			func() { s.Do(t, hosting.Enable{Ref: vm, By: hosting.ByOrder}) }, 4403,
		},
		{
			"the tenant is out of service", bearer, func() { s.Do(t, hosting.SuspendService{Ref: tenant, By: hosting.ByInvoice}) },
			func() {
				s.Until(t, "the machine is off with its tenant", func() bool {
					return s.Count(t, `select count(*) from resources where kind = 'vm' and disabled_by = '{tenant}'`) == 1
				})
				s.Do(t, hosting.ResumeService{Ref: tenant, By: hosting.ByInvoice})
			}, 4403,
		},
		{
			"the user leaves the tenant", bearer, func() {
				s.Do(t, account.RevokeMembership{User: paneltest.Ben, Tenant: 1, At: time.Now()})
			}, func() { s.Do(t, grant) }, 4401,
		},
		{
			"the user signs out", signedIn(s, browser), func() {
				if err := s.Vault().EndSession(t.Context(), browser.Cookies["session"]); err != nil {
					t.Fatal(err)
				}
			}, nil, 4401,
		},
		{"all sessions end", bearer, func() { s.Do(t, account.Deactivate{User: paneltest.Ben, At: time.Now()}) }, nil, 4401},
	} {
		address, ticket := s.AsksForConsole(t, service, c.by...)
		console, status, refusal := paneltest.OpensConsole(t, address, ticket, c.by...)
		if console == nil {
			t.Fatalf("%s: %d %s", c.why, status, refusal)
		}
		console.Sees()
		c.does()
		if code := console.Ends(); code != c.want {
			t.Errorf("%s: closed with %d, not %d", c.why, code, c.want)
		}
		if c.after != nil {
			w := s.Call("POST", servicesAPI+service+"/vm/console/", `{}`, bearer...)
			if w.Code == http.StatusCreated {
				t.Errorf("%s: a ticket is still issued", c.why)
			}
			c.after()
			s.Until(t, "the machine may be used", func() bool {
				return s.Count(t, `select count(*) from resources where tenant = 1 and disabled_by <> '{}'`) == 0
			})
		}
	}
	screens.Wait()
}

func TestAConsoleThatIsNotUsedEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		idle, life time.Duration
		want       websocket.StatusCode
	}{
		"idle": {idle: 200 * time.Millisecond, want: 4408},
		"life": {life: 200 * time.Millisecond, want: 4409},
	} {
		s, screens, service := withScreens(t, func(s *paneltest.Shop) {
			s.Server.Settings.Consoles.Idle, s.Server.Settings.Consoles.Life = c.idle, c.life
		})
		address, ticket := s.AsksForConsole(t, service, paneltest.Bearer(s.Known["ben"])...)
		console, _, _ := paneltest.OpensConsole(t, address, ticket)
		console.Sees()
		go console.Asks() // a browser's own requests are no use of it
		if code := console.Ends(); code != c.want {
			t.Errorf("%s: closed with %d", name, code)
		}
		screens.Wait()
	}
}

func TestAScreenThatCannotBeHadIsToldByTheCode(t *testing.T) {
	t.Parallel()
	s, screens, service := withScreens(t)
	screens.Refuse(true)
	address, ticket := s.AsksForConsole(t, service, paneltest.Bearer(s.Known["ben"])...)
	console, _, _ := paneltest.OpensConsole(t, address, ticket)
	if code := console.Ends(); code != 4502 {
		t.Errorf("closed with %d", code)
	}
}

// It counts the goroutines of the whole process, so no other story runs meanwhile.
func TestTheProgramStopsThoughConsolesAreOpenAndLeavesNothing(t *testing.T) {
	s, screens, service := withScreens(t)
	bearer := paneltest.Bearer(s.Known["ben"])
	var open []*paneltest.Console
	for range 4 {
		address, ticket := s.AsksForConsole(t, service, bearer...)
		c, status, refusal := paneltest.OpensConsole(t, address, ticket)
		if c == nil {
			t.Fatal(status, refusal)
		}
		c.Sees()
		open = append(open, c)
	}
	address, ticket := s.AsksForConsole(t, service, bearer...)
	if _, status, refusal := paneltest.OpensConsole(t, address, ticket); status != http.StatusTooManyRequests {
		t.Errorf("a fifth console of a user: %d %s", status, refusal)
	}
	if n := s.Server.Streams(); n != len(open) {
		t.Errorf("%d consoles are open", n)
	}
	codes := make(chan websocket.StatusCode, len(open))
	for _, c := range open {
		go func() { codes <- c.Ends() }()
	}
	s.Close()
	for range open {
		if code := <-codes; code != websocket.StatusGoingAway {
			t.Errorf("closed with %d", code)
		}
	}
	screens.Wait()
	if n := s.Server.Streams(); n != 0 {
		t.Errorf("%d consoles are still open", n)
	}
	stacks := make([]byte, 4<<20)
	if text := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(text, "hostpanel/http/billing/rfb.") ||
		strings.Contains(text, "hostpanel/http/route.(*exchange).hold") {
		t.Errorf("goroutines are left:\n%s", text)
	}
}

// From the order to the screen and the usage that the hypervisor tells.
func TestAMachineThatWasOrderedHasAConsoleAndIsRead(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t)
	traffic.Add(traffic.Deps{
		Runner: s.Runner, Store: s.Store, Tables: s.Tables, Machines: s.Reconciler, Times: traffic.Times{Poll: 20 * time.Millisecond},
	})
	s.Start(t)
	service := rents(t, s).ID
	bearer := paneltest.Bearer(s.Known["ben"])
	address, ticket := s.AsksForConsole(t, service, bearer...)
	c, status, refusal := paneltest.OpensConsole(t, address, ticket)
	if c == nil {
		t.Fatal(status, refusal)
	}
	if name := c.Sees(); name == "" {
		t.Error("the screen has no name")
	}
	s.Until(t, "it was read", func() bool {
		text := s.Call("GET", servicesAPI+service+"/vm/usage/", "", bearer...).Body.String()
		return strings.Contains(text, `"month":"`) && !strings.Contains(text, `"read_at":null`)
	})
}
