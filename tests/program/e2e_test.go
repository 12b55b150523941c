//go:build system

package program_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

func TestAnOrderFromThePlanToTheMail(t *testing.T) {
	t.Parallel()
	h := processtest.OwnHome(t)
	began := time.Now()
	r := h.Start()
	t.Logf("a first start, cluster and demo included, took %s", time.Since(began).Round(time.Millisecond))
	d := h.Demo()

	plans := r.Ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", d.APIKey)
	for _, name := range []string{`"resource_type":"hosting"`, `"resource_type":"vps"`, `"resource_type":"saas"`} {
		if !strings.Contains(plans.Body, name) {
			t.Errorf("the plans lack %s: %s", name, plans.Body)
		}
	}

	body := fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	body = strings.Replace(body, "{", `{"customer_address":"Gran Vía 2","customer_city":"Bilbao",`+
		`"customer_postal_code":"48001","customer_country":"ES","customer_tax_id":"B87654321",`, 1)
	headers := []string{"X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON, "Idempotency-Key", "the-same-request"}
	first := r.Ask(201, "POST", "/storefront/api/orders/", body, headers...)
	again := r.Ask(201, "POST", "/storefront/api/orders/", body, headers...)
	id, number := first.Field(t, "order_id"), first.Field(t, "order_number")
	if again.Field(t, "order_id") != id || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request made another order: %s and %s", first.Body, again.Body)
	}

	page := processtest.PathOf(t, first.Field(t, "payment_url"))
	r.Ask(200, "GET", page, "")
	r.Ask(303, "POST", page, "action=pay", "Content-Type", processtest.AsForm)
	r.AwaitActive(id, d.APIKey, processtest.Patience)

	link := processtest.LinkIn(t, processtest.OnlyMail(t, h.Dir, number))
	r.Ask(200, "GET", link, "")
	r.Ask(200, "GET", link, "") // looking does not use it up
	set := url.Values{
		"token": {processtest.TokenOf(t, link)}, "password": {"correct horse battery"},
		"password_repeat": {"correct horse battery"},
	}
	if a, err := processtest.Call(t.Context(), "POST", r.Base+"/set-password/", set.Encode(), "Content-Type",
		processtest.AsForm); err != nil || a.Status >= 400 {
		t.Errorf("the password was not set: %d %v %s", a.Status, err, a.Body)
	}
	r.Ask(400, "GET", link, "")

	tellsTheStory(h, id, number)
	r.Ask(200, "GET", "/api/schema/", "")
	r.Ask(200, "GET", "/healthz", "")
	if figures := r.Ask(200, "GET", "/metrics", ""); !strings.Contains(figures.Body,
		`hostpanel_orders{status="active"} 1`) {
		t.Errorf("the figures do not tell of the order: %s", figures.Body)
	}
	r.Stop()
	processtest.KeepsSecrets(t, r.Stderr(), d.APIKey, d.Superuser.Password, d.TestWebhookSecret,
		processtest.TokenOf(t, link), "correct horse battery", "ana@customer.example")
	isKeptForTheNextStart(h, d, id)
}

// tellsTheStory looks at the order from the command line.
func tellsTheStory(h processtest.Home, id, number string) {
	h.T.Helper()
	for _, look := range []struct {
		args []string
		says []string
	}{
		{[]string{"history", "order-" + id}, []string{
			"order-" + id, "Ana Example orders Web S", "2.99 EUR arrived",
			"setup starts", "active",
		}},
		{[]string{"history", number, "--why"}, []string{
			"why order-" + id + "/", "run provision/1 begins", "2.99 EUR arrived",
			"root: the webhook test/",
		}},
		{[]string{"history", "order-" + id + "/1", "--why"}, []string{
			"why order-" + id + "/1 happened",
			"Ana Example orders Web S", "root: the request ",
		}},
		{[]string{"history", number, "--why", "--json"}, []string{
			`"type": "saga.started"`, `"cause": "event:saga-`,
			`"cause": "webhook:test/`,
		}},
		{[]string{"history", number, "--state"}, []string{"as of ", "customer_name", "Ana Example", `"active"`}},
		{[]string{"history", number, "--state", "--version", "1", "--json"}, []string{`"version": 1`, `"status": "pending"`}},
		{[]string{"history", number, "--diff", "1", "3"}, []string{"session", "payments."}},
		{
			[]string{"history", number, "--graph-file", filepath.Join(os.TempDir(), "hostpanel-why-"+id+".svg")},
			[]string{".svg: ", " events and "},
		},
		{[]string{"history", number, "--version", "1"}, []string{"1 event", "Ana Example orders Web S"}},
		{
			[]string{"history", number, "--as-of", time.Now().Add(time.Minute).UTC().Format(time.RFC3339), "--json"},
			[]string{`"type": "order.activated"`, `"actor"`},
		},
		{[]string{"orders", "list", "--status", "active"}, []string{number, "ana@customer.example"}},
		{[]string{"orders", "show", number}, []string{
			id, "Gran Vía 2, 48001 Bilbao, ES", "B87654321", "tenant.engine",
			"activate", "done",
		}},
		{[]string{"webhooks", "list"}, []string{"checkout.session.completed", "done", id}},
		{[]string{"webhooks", "replay", "--state", "done", "--dry-run"}, []string{"1 webhook would be replayed"}},
		{[]string{"webhooks", "replay", "1"}, []string{"1 webhook replayed"}},
		{[]string{"verify"}, []string{"intact: ", " events, head "}},
	} {
		out := h.Must(look.args...)
		for _, want := range look.says {
			if !strings.Contains(out, want) {
				h.T.Errorf("hostpanel %s does not say %q:\n%s", strings.Join(look.args, " "), want, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			h.T.Errorf("hostpanel %s colours a pipe", strings.Join(look.args, " "))
		}
	}
	for _, args := range [][]string{
		{"orders", "list", "--json"},
		{"orders", "show", id, "--json"},
		{"webhooks", "list", "--json"},
		{"verify", "--json"},
	} {
		if out := h.Must(args...); !json.Valid([]byte(out)) {
			h.T.Errorf("hostpanel %s prints no JSON: %s", strings.Join(args, " "), out)
		}
	}
	if out, complaint, code := h.Command("orders", "retry", number, "--reason", "for the test"); code != console.Failed {
		h.T.Errorf("an active order was retried: %d %s%s", code, out, complaint)
	}
}

// isKeptForTheNextStart serves the directory once more.
func isKeptForTheNextStart(h processtest.Home, before serve.Demo, order string) {
	h.T.Helper()
	began := time.Now()
	r := h.Start()
	h.T.Logf("a later start took %s", time.Since(began).Round(time.Millisecond))
	after := h.Demo()
	if after.BaseURL != r.Base {
		h.T.Errorf("demo.json says %s, but we are reached at %s", after.BaseURL, r.Base)
	}
	after.BaseURL, after.Shop.URL = before.BaseURL, before.Shop.URL
	if after != before {
		h.T.Errorf("the demo has changed from %+v to %+v", before, after)
	}
	r.AwaitActive(order, before.APIKey, processtest.Patience)
	r.Stop()
}

func TestAMachineIsSoldToo(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	for plan, body := range map[string]string{
		"vps": fmt.Sprintf(`{"plan_id":%d,"customer_email":"bo@customer.example","customer_name":"Bo",`+
			`"payment_method":"test","os_choice":"ubuntu-24.04"}`, d.Plans.VPS),
		"saas": fmt.Sprintf(`{"plan_id":%d,"customer_email":"cy@customer.example","customer_name":"Cy",`+
			`"payment_method":"test","billing_period":"yearly"}`, d.Plans.SaaS),
	} {
		a := r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKeyDefault, "Content-Type",
			processtest.AsJSON, "Idempotency-Key", plan)
		r.Ask(303, "POST", processtest.PathOf(t, a.Field(t, "payment_url")), "action=pay", "Content-Type", processtest.AsForm)
		r.AwaitActive(a.Field(t, "order_id"), d.APIKeyDefault, processtest.Patience)
	}
	r.Stop()
}

func TestASecondServeOnADataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	h := processtest.OwnHome(t)
	r := h.Start()
	out, complaint, code := h.Command("serve", "--demo", "--listen", "127.0.0.1:0")
	if code != console.Failed || out != "" || !strings.Contains(complaint, "another process serves this data directory") ||
		!strings.Contains(complaint, h.Dir) {
		t.Errorf("the second serve ended with %d: %s%s", code, out, complaint)
	}
	r.Ask(200, "GET", "/readyz", "")
	r.Stop()
}

func TestAWorkerWorksBesideServe(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	w := h.Launch("worker", "--public-url", r.Base, "--test-payments", "on")
	processtest.Eventually(t, "the worker is ready", func() bool {
		return strings.Contains(w.Stderr(),
			"the worker is ready")
	})
	w.Stop()
	r.Stop()
}

func TestACommandOnAnEmptyDatabaseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := processtest.OwnHome(t)
	if _, complaint, code := h.Command("verify"); code != console.Usage || !strings.Contains(complaint, "--data-dir") {
		t.Errorf("verify without a panel ended with %d: %s", code, complaint)
	}
	h.At = processtest.DatabaseAt(eventstoretest.Database(t, "empty", func(context.Context, string) error { return nil }))
	if _, complaint, code := h.Command("verify"); code != console.Failed ||
		!strings.Contains(complaint, `run "hostpanel migrate"`) {
		t.Errorf("verify ended with %d: %s", code, complaint)
	}
	if out := h.Must("migrate"); !strings.Contains(out, "up to date") {
		t.Errorf("migrate says %q", out)
	}
	if out := h.Must("verify"); !strings.Contains(out, "intact: 0 events") {
		t.Errorf("verify says %q", out)
	}
	if out := h.Must("orders", "list"); !strings.HasPrefix(out, "order") {
		t.Errorf("the list of no orders is %q", out)
	}
}
