//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
	"hostpanel/tests/processtest"
)

func TestAnAddressThatIsRefusedGetsNoMoreNews(t *testing.T) {
	t.Parallel()
	post, h := openMailHost(t), processtest.NewHome(t)
	h.Env = []string{"SMTP_URL=" + post.url}
	r := h.Start()
	d := h.Demo()
	admin, operator := asUser(r, d.TenantAdmin), append(asUser(r, d.Superuser), "Content-Type", processtest.AsJSON)
	address := d.TenantAdmin.Username
	user := numberOf(r, operator, address)
	tenant := fmt.Sprintf("/hosting/api/rest/tenants/%d/", d.TenantAdmin.Tenant)
	said := 0
	says := func(status string) string { // what the tenant's administrator is told of
		t.Helper()
		r.Ask(200, "PATCH", tenant, `{"status":"`+status+`"}`, operator...)
		said++
		hears(r, admin, said)
		return inbox(r, admin)[0].ID
	}

	post.knows(address, false)
	first := says("suspended")
	processtest.Eventually(t, "operators see that the address is refused",
		func() bool { return refusedAt(r, operator, user) != "" })
	givesUp(h, first, "recipient_refused")
	tried := post.asks(address)
	givesUp(h, says("active"), "address_refused")
	if again := post.asks(address); tried != 1 || again != tried {
		t.Errorf("%d tries at an address that is refused, then %d", tried, again)
	}

	r.Ask(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`, address), "Content-Type", processtest.AsJSON)
	processtest.Eventually(t, "a mail that a user has asked for is tried",
		func() bool { return post.asks(address) == tried+1 })
	if refusedAt(r, operator, user) == "" {
		t.Error("a second refusal ended the first one")
	}

	post.knows(address, true) // a mail that gets through says that all is well
	r.Ask(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`, address), "Content-Type", processtest.AsJSON)
	post.await(address, 1)
	processtest.Eventually(t, "the refusal is over", func() bool { return refusedAt(r, operator, user) == "" })
	says("suspended")
	post.await(address, 2)

	post.knows(address, false)
	givesUp(h, says("active"), "recipient_refused")
	const moved = "moved@demo.example" // and so does another address
	r.Ask(200, "PATCH", fmt.Sprintf("/operations/api/v1/users/%d/", user), fmt.Sprintf(`{"email":%q}`, moved), operator...)
	if at := refusedAt(r, operator, user); at != "" {
		t.Errorf("the new address is refused since %s", at)
	}
	admin = asUser(r, serve.Login{Username: moved, Password: d.TenantAdmin.Password})
	says("suspended")
	post.await(moved, 1)
	post.await(address, 2)
	r.Stop()
	processtest.KeepsSecrets(t, r.Stderr(), address, moved, mailPassword)
}

// L-3: where the answer to a mail is lost, it is unknown whether it was sent.
// It is the same mail that comes a second time, and never a third time.
func TestAMailServerThatNeverAnswersGetsEachMailTwiceAtMost(t *testing.T) {
	t.Parallel()
	post := openMailHost(t)
	post.loses(true)
	p, r := servedHere(t, config.Settings{SMTPURL: post.url}, func(times *assembly.Times) {
		times.MailBase, times.MailCap = 10*time.Millisecond, 50*time.Millisecond
		times.LateBase, times.LateCap = 10*time.Millisecond, 50*time.Millisecond
		times.MailUnanswered, times.Break, times.BreakMax = 300*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond
	})
	sell(r, processtest.Home{T: t, Dir: p.Config.DataDir}.Demo(), "en", reader, "ana.example")
	count := func(sql string) (n int) {
		t.Helper()
		if err := p.Pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	processtest.Eventually(t, "all three mails are given up", func() bool {
		return count(`select count(*) from events where name in ('notification.mail_given_up', 'order.welcome_mail_given_up')`) == 3
	})
	times := map[string]int{}
	for _, m := range post.to(reader) {
		times[m.subject+" "+m.Get("Message-Id")]++
	}
	for mail, n := range times {
		if n != 2 {
			t.Errorf("%s was sent %d times", mail, n)
		}
	}
	if sent := count(`select count(*) from notifications where is_email_sent`); len(times) != 3 || sent != 0 {
		t.Errorf("%v; %d are said to have been sent", times, sent)
	}
	if refused := count(`select count(*) from events where name = 'account.address_refused'`); refused != 0 {
		t.Error("a server that says nothing has refused an address")
	}
}

// servedHere is the demo, served in this process, where times may be shorter.
func servedHere(t *testing.T, s config.Settings, hurry func(*assembly.Times)) (*program.Program, *processtest.Process) {
	t.Helper()
	s.DatabaseURL, s.DataDir, s.Listen = eventstoretest.URL(t), t.TempDir(), "127.0.0.1:0"
	s.SecretKey = programtest.SecretKey
	cfg, err := config.New(s, true)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Times = assembly.Defaults
	hurry(&cfg.Times)
	r := &processtest.Process{T: t}
	p, err := program.Open(t.Context(), cfg, redact.NewLog(&r.Log, slog.LevelInfo), program.Serving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Store.Attach(eventstoretest.Caused())
	here := shop{T: t, Program: p}
	here.serveUntilTheEnd()
	r.Base = p.PublicURL()
	return p, r
}

// numberOf is the number of the account with this address.
func numberOf(r *processtest.Process, operator []string, address string) int64 {
	r.T.Helper()
	var found struct{ Results []struct{ ID int64 } }
	a := r.Ask(200, "GET", "/operations/api/v1/users/?search="+url.QueryEscape(address), "", operator...)
	if err := json.Unmarshal([]byte(a.Body), &found); err != nil || len(found.Results) != 1 {
		r.T.Fatalf("%v: %s", err, a.Body)
	}
	return found.Results[0].ID
}

// refusedAt is since when mail servers refuse the user's address; "": they do not.
func refusedAt(r *processtest.Process, operator []string, user int64) string {
	r.T.Helper()
	a := r.Ask(200, "GET", fmt.Sprintf("/operations/api/v1/users/%d/", user), "", operator...)
	if !strings.Contains(a.Body, `"email_refused_at":`) {
		r.T.Fatalf("operators do not see whether an address is refused: %s", a.Body)
	}
	return a.Field(r.T, "email_refused_at")
}

// givesUp waits until the mail of a notification is given up for that reason.
func givesUp(h processtest.Home, notification, code string) {
	h.T.Helper()
	var out string
	processtest.Eventually(h.T, "the mail is given up: "+code, func() bool {
		out = h.Must("history", "notification-"+notification, "--json")
		return strings.Contains(out, "notification.mail_given_up") && strings.Contains(out, `"`+code+`"`)
	})
}
