package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

const (
	asJSON  = "application/json"
	asForm  = "application/x-www-form-urlencoded"
	ordered = `{"plan_id":%d,"customer_email":%q,"customer_name":"Ana Example","payment_method":"test","domain":%q,"language":"en"}`
)

func TestAnOrderFromThePlanToTheMail(t *testing.T) {
	t.Parallel()
	h := ownHome(t)
	began := time.Now()
	r := h.start()
	t.Logf("a first start, cluster and demo included, took %s", time.Since(began).Round(time.Millisecond))
	d := h.demo()

	plans := r.ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", d.APIKey)
	for _, name := range []string{`"resource_type":"hosting"`, `"resource_type":"vps"`, `"resource_type":"saas"`} {
		if !strings.Contains(plans.body, name) {
			t.Errorf("the plans lack %s: %s", name, plans.body)
		}
	}

	body := fmt.Sprintf(ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	body = strings.Replace(body, "{", `{"customer_address":"Gran Vía 2","customer_city":"Bilbao","customer_postal_code":"48001","customer_country":"ES","customer_tax_id":"B87654321",`, 1)
	headers := []string{"X-API-Key", d.APIKey, "Content-Type", asJSON, "Idempotency-Key", "the-same-request"}
	first := r.ask(201, "POST", "/storefront/api/orders/", body, headers...)
	again := r.ask(201, "POST", "/storefront/api/orders/", body, headers...)
	id, number := first.field(t, "order_id"), first.field(t, "order_number")
	if again.field(t, "order_id") != id || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request made another order: %s and %s", first.body, again.body)
	}

	page := pathOf(t, first.field(t, "payment_url"))
	r.ask(200, "GET", page, "")
	r.ask(303, "POST", page, "action=pay", "Content-Type", asForm)
	r.awaitActive(id, d.APIKey, patience)

	link := linkIn(t, onlyMail(t, h.dir, number))
	r.ask(200, "GET", link, "")
	r.ask(200, "GET", link, "") // looking does not use it up
	set := url.Values{"token": {tokenOf(t, link)}, "password": {"correct horse battery"}, "password_repeat": {"correct horse battery"}}
	if a, err := call(t.Context(), "POST", r.base+"/set-password/", set.Encode(), "Content-Type", asForm); err != nil || a.status >= 400 {
		t.Errorf("the password was not set: %d %v %s", a.status, err, a.body)
	}
	r.ask(400, "GET", link, "")

	h.tellsTheStory(id, number)
	r.ask(200, "GET", "/api/schema/", "")
	r.ask(200, "GET", "/healthz", "")
	if figures := r.ask(200, "GET", "/metrics", ""); !strings.Contains(figures.body, `hostpanel_orders{status="active"} 1`) {
		t.Errorf("the figures do not tell of the order: %s", figures.body)
	}
	r.stop()
	keepsSecrets(t, r.stderr(), d.APIKey, d.Superuser.Password, d.TestWebhookSecret, tokenOf(t, link), "correct horse battery", "ana@customer.example")
	h.isKeptForTheNextStart(d, id)
}

// tellsTheStory looks at the order from the command line.
func (h home) tellsTheStory(id, number string) {
	h.t.Helper()
	for _, look := range []struct {
		args []string
		says []string
	}{
		{[]string{"history", "order-" + id}, []string{"order-" + id, "Ana Example orders Web S", "2.99 EUR arrived", "setup starts", "active"}},
		{[]string{"history", number, "--why"}, []string{"why order-" + id + "/", "run provision/1 begins", "2.99 EUR arrived", "root: the webhook test/"}},
		{[]string{"history", "order-" + id + "/1", "--why"}, []string{"why order-" + id + "/1 happened", "Ana Example orders Web S", "root: the request "}},
		{[]string{"history", number, "--why", "--json"}, []string{`"type": "saga.started"`, `"cause": "event:saga-`, `"cause": "webhook:test/`}},
		{[]string{"history", number, "--state"}, []string{"as of ", "customer_name", "Ana Example", `"active"`}},
		{[]string{"history", number, "--state", "--version", "1", "--json"}, []string{`"version": 1`, `"status": "pending"`}},
		{[]string{"history", number, "--diff", "1", "3"}, []string{"session", "payments."}},
		{[]string{"history", number, "--graph", filepath.Join(os.TempDir(), "hostpanel-why-"+id+".svg")}, []string{".svg: ", " events and "}},
		{[]string{"history", number, "--version", "1"}, []string{"1 event", "Ana Example orders Web S"}},
		{[]string{"history", number, "--as-of", time.Now().Add(time.Minute).UTC().Format(time.RFC3339), "--json"}, []string{`"type": "order.activated"`, `"actor"`}},
		{[]string{"orders", "list", "--status", "active"}, []string{number, "ana@customer.example"}},
		{[]string{"orders", "show", number}, []string{id, "Gran Vía 2, 48001 Bilbao, ES", "B87654321", "tenant.engine", "activate", "done"}},
		{[]string{"webhooks", "list"}, []string{"checkout.session.completed", "done", id}},
		{[]string{"webhooks", "replay", "--state", "done", "--dry-run"}, []string{"1 webhook would be replayed"}},
		{[]string{"webhooks", "replay", "1"}, []string{"1 webhook replayed"}},
		{[]string{"verify"}, []string{"intact: ", " events, head "}},
	} {
		out := h.must(look.args...)
		for _, want := range look.says {
			if !strings.Contains(out, want) {
				h.t.Errorf("hostpanel %s does not say %q:\n%s", strings.Join(look.args, " "), want, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			h.t.Errorf("hostpanel %s colours a pipe", strings.Join(look.args, " "))
		}
	}
	for _, args := range [][]string{{"orders", "list", "--json"}, {"orders", "show", id, "--json"}, {"webhooks", "list", "--json"}, {"verify", "--json"}} {
		if out := h.must(args...); !json.Valid([]byte(out)) {
			h.t.Errorf("hostpanel %s prints no JSON: %s", strings.Join(args, " "), out)
		}
	}
	if out, complaint, code := h.command("orders", "retry", number, "--reason", "for the test"); code != console.Failed {
		h.t.Errorf("an active order was retried: %d %s%s", code, out, complaint)
	}
}

// isKeptForTheNextStart serves the directory once more.
func (h home) isKeptForTheNextStart(before serve.Demo, order string) {
	h.t.Helper()
	began := time.Now()
	r := h.start()
	h.t.Logf("a later start took %s", time.Since(began).Round(time.Millisecond))
	after := h.demo()
	if after.BaseURL != r.base {
		h.t.Errorf("demo.json says %s, but we are reached at %s", after.BaseURL, r.base)
	}
	after.BaseURL, after.Shop.URL = before.BaseURL, before.Shop.URL
	if after != before {
		h.t.Errorf("the demo has changed from %+v to %+v", before, after)
	}
	r.awaitActive(order, before.APIKey, patience)
	r.stop()
}

func (r *running) awaitActive(order, key string, within time.Duration) {
	r.t.Helper()
	eventually(r.t, "order "+order+" is active", within, func() bool {
		path := "/storefront/api/orders/" + order + "/"
		a, err := call(r.t.Context(), "GET", r.base+path, "", "X-API-Key", key)
		if err == nil && a.status == 429 { // many look at once
			time.Sleep(a.pause())
			return false
		}
		if err != nil || a.status != 200 {
			r.t.Fatalf("GET %s: status %d, %v: %s\n%s", path, a.status, err, a.body, r.stderr())
		}
		return a.field(r.t, "status") == "active"
	})
}

func TestAMachineIsSoldToo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	for plan, body := range map[string]string{
		"vps":  fmt.Sprintf(`{"plan_id":%d,"customer_email":"bo@customer.example","customer_name":"Bo","payment_method":"test","os_choice":"ubuntu-24.04"}`, d.Plans.VPS),
		"saas": fmt.Sprintf(`{"plan_id":%d,"customer_email":"cy@customer.example","customer_name":"Cy","payment_method":"test","billing_period":"yearly"}`, d.Plans.SaaS),
	} {
		a := r.ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKeyDefault, "Content-Type", asJSON, "Idempotency-Key", plan)
		r.ask(303, "POST", pathOf(t, a.field(t, "payment_url")), "action=pay", "Content-Type", asForm)
		r.awaitActive(a.field(t, "order_id"), d.APIKeyDefault, patience)
	}
	r.stop()
}

func TestASecondServeOnADataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	h := ownHome(t)
	r := h.start()
	out, complaint, code := h.command("serve", "--demo", "--listen", "127.0.0.1:0")
	if code != console.Failed || out != "" || !strings.Contains(complaint, "another process serves this data directory") || !strings.Contains(complaint, h.dir) {
		t.Errorf("the second serve ended with %d: %s%s", code, out, complaint)
	}
	r.ask(200, "GET", "/readyz", "")
	r.stop()
}

func TestAWorkerWorksBesideServe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	w := h.launch("worker", "--public-url", r.base, "--test-payments", "on")
	eventually(t, "the worker is ready", patience, func() bool { return strings.Contains(w.stderr(), "the worker is ready") })
	w.stop()
	r.stop()
}

func TestACommandOnAnEmptyDatabaseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := ownHome(t)
	if _, complaint, code := h.command("verify"); code != console.Usage || !strings.Contains(complaint, "--data-dir") {
		t.Errorf("verify without a panel ended with %d: %s", code, complaint)
	}
	h.at = databaseAt(eventstoretest.Database(t, "empty", func(context.Context, string) error { return nil }))
	if _, complaint, code := h.command("verify"); code != console.Failed || !strings.Contains(complaint, `run "hostpanel migrate"`) {
		t.Errorf("verify ended with %d: %s", code, complaint)
	}
	if out := h.must("migrate"); !strings.Contains(out, "up to date") {
		t.Errorf("migrate says %q", out)
	}
	if out := h.must("verify"); !strings.Contains(out, "intact: 0 events") {
		t.Errorf("verify says %q", out)
	}
	if out := h.must("orders", "list"); !strings.HasPrefix(out, "order") {
		t.Errorf("the list of no orders is %q", out)
	}
}

func pathOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		t.Fatalf("%q is no link", link)
	}
	return u.RequestURI()
}

func tokenOf(t *testing.T, path string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("%q has no token", path)
	}
	return u.Query().Get("token")
}

// onlyMail is the text of the one mail about an order.
func onlyMail(t *testing.T, dir, number string) string {
	t.Helper()
	mails := mailsAbout(t, dir, number)
	if len(mails) != 1 {
		t.Fatalf("%d mails about %s instead of one", len(mails), number)
	}
	return mails[0]
}

func mailsAbout(t *testing.T, dir, number string) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if m := readMail(t, path); strings.Contains(m.Header.Get("Subject"), number) {
			texts = append(texts, plainText(t, m))
		}
	}
	return texts
}

// sendings are how often each message has been sent: letters about orders and
// accounts, and notifications.
func sendings(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, path := range files {
		times[readMail(t, path).Header.Get("Message-Id")]++
	}
	return times
}

// plainText is a mail as those see it who read no HTML.
func plainText(t *testing.T, m *mail.Message) string {
	t.Helper()
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextPart()
	if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("the mail begins with no plain text: %v", err)
	}
	text, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readMail(t *testing.T, path string) *mail.Message {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	m, err := mail.ReadMessage(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

var oneTimeLink = regexp.MustCompile(`https?://\S+/set-password/\?token=[A-Za-z0-9_-]+`)

// linkIn is the path of the one-time link in a mail, which has no password.
func linkIn(t *testing.T, text string) string {
	t.Helper()
	links := oneTimeLink.FindAllString(text, -1)
	if len(links) != 1 || regexp.MustCompile(`(?i)password:[ \t]*\S`).MatchString(text) {
		t.Fatalf("the mail should have one link and no password:\n%s", text)
	}
	return pathOf(t, links[0])
}

func keepsSecrets(t *testing.T, log string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if s == "" || strings.Contains(log, s) {
			t.Errorf("%q stands in the log", s)
		}
	}
}
