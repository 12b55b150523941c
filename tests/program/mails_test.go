//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/tests/processtest"
)

// The whole program, and a mail server of the sort that providers run.

const (
	reader    = "ana@customer.example"
	onRefunds = "Reembolso realizado"
)

func TestACustomerHearsByMailWhatTheyWantToHear(t *testing.T) {
	t.Parallel()
	post, h := openMailHost(t), processtest.NewHome(t)
	h.Env = []string{"SMTP_URL=" + post.url, "MAIL_FROM=Panel <panel@host.example>"}
	r := h.Start()
	d := h.Demo()
	one := sell(r, d, "es", reader, "one.example")
	welcome := post.await(reader, 1)[0]
	welcome.isAsPromised(t, r, "es")
	if !strings.Contains(welcome.subject, one.number) || !strings.Contains(welcome.text, "La factura está en el panel.") {
		t.Errorf("%s does not tell of order and invoice:\n%s", welcome.subject, welcome.text)
	}
	if welcome.unsubscribe(t) != "" {
		t.Error("one may unsubscribe from the way to one's own password")
	}
	bearer := firstSignIn(r, processtest.LinkIn(t, welcome.text), reader)
	hears(r, bearer, 2) // of invoice and success
	refunds(r, d, one)
	refund := about(post.await(reader, 2), onRefunds)[0]
	refund.isAsPromised(t, r, "es")
	stop := refund.unsubscribe(t)
	if stop == "" || !strings.Contains(refund.text, one.number) {
		t.Fatalf("%q:\n%s", stop, refund.text)
	}
	processtest.Eventually(t, "the news of the refund is known to have been mailed",
		func() bool { return inbox(r, bearer).mailed() == 1 })
	r.Ask(200, "GET", stop, "") // as scanners do
	if !wishes(r, bearer)["email_on_invoice"] {
		t.Fatal("looking at the page has unsubscribed")
	}
	if page := r.Ask(200, "POST", stop, "List-Unsubscribe=One-Click", "Content-Type", processtest.AsForm, "Origin",
		"https://mail.example"); page.Header.Get("Set-Cookie") != "" {
		t.Errorf("%v", page.Header)
	}
	two := sell(r, d, "es", reader, "two.example")
	refunds(r, d, two) // this brings no mail, but a notification
	hears(r, bearer, 6)
	if mails := post.await(reader, 3); len(about(mails, onRefunds)) != 1 {
		t.Fatalf("after unsubscribing: %v", subjects(mails))
	}

	r.Ask(200, "PATCH", "/notifications/api/v1/preferences/", `{"in_app_enabled":false,"email_on_invoice":true}`,
		append(bearer, "Content-Type", processtest.AsJSON)...)
	refunds(r, d, sell(r, d, "es", reader, "three.example")) // mails, but nothing in the panel
	if mails := post.await(reader, 5); len(about(mails, onRefunds)) != 2 {
		t.Fatalf("without the panel: %v", subjects(mails))
	}
	if told := inbox(r, bearer); len(told) != 6 {
		t.Errorf("told in the panel, which was switched off: %+v", told)
	}

	for _, table := range []string{"notifications", "users"} {
		h.Must("projections", "rebuild", table)
	}
	r.Stop()
	processtest.KeepsSecrets(t, r.Stderr(), reader, mailPassword, stop, strings.Split(stop, "/")[3])
	r = h.Start()
	sell(r, d, "en", "bo@customer.example", "four.example") // what comes later has come, so what is repeated would have
	post.await("bo@customer.example", 1)[0].isAsPromised(t, r, "en")
	post.await(reader, 5)
	isDistinct(t, append(post.to(reader), post.to("bo@customer.example")...))
	r.Stop()
}

// refunds gives a part of an order's payment back, as an operator.
func refunds(r *processtest.Process, d serve.Demo, s sale) {
	r.T.Helper()
	operator := append(asUser(r, d.Superuser), "Content-Type", processtest.AsJSON)
	r.Ask(202, "POST", "/operations/api/v1/orders/"+s.id+"/refund/", `{"amount":"1.00","reason":"a part was missing"}`,
		operator...)
}

// isAsPromised holds a mail against docs/notifications.md.
func (m received) isAsPromised(t *testing.T, r *processtest.Process, language string) {
	t.Helper()
	from, err := mail.ParseAddress(m.Get("From"))
	if err != nil || from.Address != "panel@host.example" {
		t.Errorf("%s: from %v, %v", m.subject, from, err)
	}
	if at, err := m.Date(); err != nil || time.Since(at).Abs() > time.Hour {
		t.Errorf("%s: of %v, %v", m.subject, at, err)
	}
	if m.Get("Auto-Submitted") != "auto-generated" || m.Get("Content-Language") != language ||
		!regexp.MustCompile(`^<\S+@host\.example>$`).MatchString(m.Get("Message-Id")) {
		t.Errorf("%s: %v", m.subject, m.Header)
	}
	if !strings.Contains(m.html, `<html lang="`+language+`">`) || strings.Contains(m.html, "<script") ||
		strings.Contains(m.html, "<link") || strings.Contains(m.html, "<style") {
		t.Errorf("%s:\n%s", m.subject, m.html)
	}
	links := regexp.MustCompile(`https?://\S+`).FindAllString(m.text, -1)
	if len(links) == 0 {
		t.Errorf("%s leads nowhere:\n%s", m.subject, m.text)
	}
	for _, link := range links {
		if !strings.HasPrefix(link, r.Base+"/") || !strings.Contains(html.UnescapeString(m.html), `href="`+link+`"`) {
			t.Errorf("%s: %s is not ours, or not in both parts:\n%s", m.subject, link, m.html)
		}
	}
	if stop := m.unsubscribe(t); stop != "" && !strings.Contains(m.text, r.Base+stop) {
		t.Errorf("%s: its text does not say how to unsubscribe:\n%s", m.subject, m.text)
	}
}

// isDistinct tells whether no mail was made twice.
func isDistinct(t *testing.T, all []received) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range all {
		if id := m.Get("Message-Id"); seen[id] {
			t.Errorf("%s came twice: %s", id, m.subject)
		} else {
			seen[id] = true
		}
	}
}

// A sale is an order that is active.
type sale struct{ id, number string }

// sell takes a customer's order for a site to its end.
func sell(r *processtest.Process, d serve.Demo, language, customer, domain string) sale {
	r.T.Helper()
	body := strings.Replace(fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, customer, domain), `"language":"en"`,
		fmt.Sprintf(`"language":%q`, language), 1)
	placed := r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type",
		processtest.AsJSON, "Idempotency-Key", domain)
	r.Ask(303, "POST", processtest.PathOf(r.T, placed.Field(r.T, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	r.AwaitActive(placed.Field(r.T, "order_id"), d.APIKey, processtest.Patience)
	return sale{placed.Field(r.T, "order_id"), placed.Field(r.T, "order_number")}
}

// firstSignIn chooses a password with the link of a welcome mail, and returns
// the headers of the user who has signed in with it.
func firstSignIn(r *processtest.Process, link, username string) []string {
	r.T.Helper()
	const chosen = "correct horse battery"
	set := url.Values{"token": {processtest.TokenOf(r.T, link)}, "password": {chosen}, "password_repeat": {chosen}}
	r.Ask(303, "POST", "/set-password/", set.Encode(), "Content-Type", processtest.AsForm)
	return asUser(r, serve.Login{Username: username, Password: chosen})
}

func asUser(r *processtest.Process, who serve.Login) []string {
	r.T.Helper()
	return []string{"Authorization", "Bearer " + r.SignIn(who).Field(r.T, "access")}
}

// news are a user's notifications.
type news []struct {
	ID     string `json:"id"`
	Type   string `json:"notification_type"`
	Title  string
	Mailed bool `json:"is_email_sent"`
}

func (n news) mailed() (count int) {
	for _, one := range n {
		if one.Mailed {
			count++
		}
	}
	return count
}

func inbox(r *processtest.Process, bearer []string) news {
	r.T.Helper()
	var page struct{ Results news }
	a := r.Ask(200, "GET", "/notifications/api/v1/notifications/", "", bearer...)
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil {
		r.T.Fatal(err)
	}
	return page.Results
}

func hears(r *processtest.Process, bearer []string, n int) {
	r.T.Helper()
	processtest.Eventually(r.T, fmt.Sprintf("there are %d notifications", n),
		func() bool { return len(inbox(r, bearer)) == n })
}

func wishes(r *processtest.Process, bearer []string) (all map[string]bool) {
	r.T.Helper()
	a := r.Ask(200, "GET", "/notifications/api/v1/preferences/", "", bearer...)
	if err := json.Unmarshal([]byte(a.Body), &all); err != nil {
		r.T.Fatal(err)
	}
	return all
}
