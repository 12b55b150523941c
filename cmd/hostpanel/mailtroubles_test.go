package main

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
)

func TestAnAddressThatIsRefusedGetsNoMoreNews(t *testing.T) {
	t.Parallel()
	post, h := openMailHost(t), newHome(t)
	h.env = []string{"SMTP_URL=" + post.url}
	r := h.start()
	d := h.demo()
	admin, operator := r.asUser(d.TenantAdmin), append(r.asUser(d.Superuser), "Content-Type", asJSON)
	address := d.TenantAdmin.Username
	user := r.numberOf(operator, address)
	tenant := fmt.Sprintf("/hosting/api/rest/tenants/%d/", d.TenantAdmin.Tenant)
	said := 0
	says := func(status string) string { // what the tenant's administrator is told of
		t.Helper()
		r.ask(200, "PATCH", tenant, `{"status":"`+status+`"}`, operator...)
		said++
		r.hears(admin, said)
		return r.inbox(admin)[0].ID
	}

	post.knows(address, false)
	first := says("suspended")
	eventually(t, "operators see that the address is refused", patience, func() bool { return r.refusedAt(operator, user) != "" })
	h.givesUp(first, "recipient_refused")
	tried := post.asks(address)
	h.givesUp(says("active"), "address_refused")
	if again := post.asks(address); tried != 1 || again != tried {
		t.Errorf("%d tries at an address that is refused, then %d", tried, again)
	}

	r.ask(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`, address), "Content-Type", asJSON)
	eventually(t, "a mail that a user has asked for is tried", patience, func() bool { return post.asks(address) == tried+1 })
	if r.refusedAt(operator, user) == "" {
		t.Error("a second refusal ended the first one")
	}

	post.knows(address, true) // a mail that gets through says that all is well
	r.ask(200, "POST", "/api/password-reset/", fmt.Sprintf(`{"email":%q}`, address), "Content-Type", asJSON)
	post.await(address, 1)
	eventually(t, "the refusal is over", patience, func() bool { return r.refusedAt(operator, user) == "" })
	says("suspended")
	post.await(address, 2)

	post.knows(address, false)
	h.givesUp(says("active"), "recipient_refused")
	const moved = "moved@demo.example" // and so does another address
	r.ask(200, "PATCH", fmt.Sprintf("/operations/api/v1/users/%d/", user), fmt.Sprintf(`{"email":%q}`, moved), operator...)
	if at := r.refusedAt(operator, user); at != "" {
		t.Errorf("the new address is refused since %s", at)
	}
	admin = r.asUser(serve.Login{Username: moved, Password: d.TenantAdmin.Password})
	says("suspended")
	post.await(moved, 1)
	post.await(address, 2)
	r.stop()
	keepsSecrets(t, r.stderr(), address, moved, mailPassword)
}

// L-3: where the answer to a mail is lost, it is unknown whether it was sent.
// It is the same mail that comes a second time, and never a third time.
func TestAMailServerThatNeverAnswersGetsEachMailTwiceAtMost(t *testing.T) {
	t.Parallel()
	post := openMailHost(t)
	post.loses(true)
	p, r := servedHere(t, config.Settings{SMTPURL: post.url}, func(times *assembly.Times) {
		times.MailBase, times.MailCap, times.LateBase, times.LateCap = 10*time.Millisecond, 50*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond
		times.MailUnanswered, times.Break, times.BreakMax = 300*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond
	})
	r.sell(home{t: t, dir: p.Config.DataDir}.demo(), "en", reader, "ana.example")
	count := func(sql string) (n int) {
		t.Helper()
		if err := p.Pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	eventually(t, "all three mails are given up", patience, func() bool {
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
func servedHere(t *testing.T, s config.Settings, hurry func(*assembly.Times)) (*program.Program, *running) {
	t.Helper()
	s.DatabaseURL, s.DataDir, s.Listen = eventstoretest.URL(t), t.TempDir(), "127.0.0.1:0"
	s.SecretKey = programtest.SecretKey
	cfg, err := config.New(s, true)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Times = assembly.Defaults
	hurry(&cfg.Times)
	r := &running{t: t}
	p, err := program.Open(t.Context(), cfg, redact.NewLog(&r.log, slog.LevelInfo), program.Serving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Store.Attach(eventstoretest.Caused())
	here := shop{T: t, Program: p}
	here.serveUntilTheEnd()
	r.base = p.PublicURL()
	return p, r
}

// numberOf is the number of the account with this address.
func (r *running) numberOf(operator []string, address string) int64 {
	r.t.Helper()
	var found struct{ Results []struct{ ID int64 } }
	a := r.ask(200, "GET", "/operations/api/v1/users/?search="+url.QueryEscape(address), "", operator...)
	if err := json.Unmarshal([]byte(a.body), &found); err != nil || len(found.Results) != 1 {
		r.t.Fatalf("%v: %s", err, a.body)
	}
	return found.Results[0].ID
}

// refusedAt is since when mail servers refuse the user's address; "": they do not.
func (r *running) refusedAt(operator []string, user int64) string {
	r.t.Helper()
	a := r.ask(200, "GET", fmt.Sprintf("/operations/api/v1/users/%d/", user), "", operator...)
	if !strings.Contains(a.body, `"email_refused_at":`) {
		r.t.Fatalf("operators do not see whether an address is refused: %s", a.body)
	}
	return a.field(r.t, "email_refused_at")
}

// givesUp waits until the mail of a notification is given up for that reason.
func (h home) givesUp(notification, code string) {
	h.t.Helper()
	var out string
	eventually(h.t, "the mail is given up: "+code, patience, func() bool {
		out = h.must("history", "notification-"+notification, "--json")
		return strings.Contains(out, "notification.mail_given_up") && strings.Contains(out, `"`+code+`"`)
	})
}
