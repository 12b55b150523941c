//go:build system

package program_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

// onISPConfig has what is to be sold from the demo, and sells it on an engine
// that speaks as ISPConfig does.
func onISPConfig(t *testing.T) (processtest.Home, serve.Demo, *ispconfigtest.Engine) {
	t.Helper()
	fake := ispconfigtest.Start(t)
	h := processtest.NewHome(t)
	d := h.Demo()
	// As if the sandbox had never had the demo's tenant:
	_, err := eventstoretest.Owner(t, strings.TrimPrefix(h.At[0], "DATABASE_URL=")).Exec(t.Context(),
		`delete from external_claim`)
	must(t, err)
	h.Env = []string{
		"HOSTPANEL_ENGINE=ispconfig", "ISPCONFIG_URL=" + fake.URL, "ISPCONFIG_USERNAME=" + ispconfigtest.User,
		"ISPCONFIG_PASSWORD=" + ispconfigtest.Password, "ISPCONFIG_SERVER_ID=1", "ISPCONFIG_SITE_ADDRESSES=named",
		"HOSTPANEL_TEST_PAYMENTS=on",
		"HOSTPANEL_ABUSE_LIMITS=off",
	}
	return h, d, fake
}

// ticking lets the engine's server carry out what it has been asked, as its
// daemon does every minute.
func ticking(t *testing.T, fake *ispconfigtest.Engine) {
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() {
		for ctx.Err() == nil {
			fake.Tick()
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
}

func TestAnOrderIsSetUpOnISPConfig(t *testing.T) {
	t.Parallel()
	h, d, fake := onISPConfig(t)
	ticking(t, fake)
	r := h.Serving("--listen", "127.0.0.1:0")
	body := fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	a := r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON,
		"Idempotency-Key", "one")
	r.Ask(303, "POST", processtest.PathOf(t, a.Field(t, "payment_url")), "action=pay", "Content-Type", processtest.AsForm)
	r.AwaitActive(a.Field(t, "order_id"), d.APIKey, processtest.Patience)
	sites, clients := fake.Rows("web_domain", "domain", "ana.example"), fake.Rows("client", "locked", "n")
	if len(sites) != 1 || len(clients) != 1 || sites[0]["active"] != "y" ||
		sites[0]["system_group"] != "client"+clients[0]["client_id"] {
		t.Errorf("the engine has %d sites and %d clients: %v", len(sites), len(clients), sites)
	}
	admin := "Bearer " + r.SignIn(d.TenantAdmin).Field(t, "access")
	if a := r.Ask(200, "GET", "/hosting/api/rest/sites/available_cms/", "", "Authorization",
		admin); strings.TrimSpace(a.Body) != "[]" {
		t.Errorf("offered is what this engine cannot install: %s", a.Body)
	}
	refused := r.Ask(400, "POST", "/hosting/api/rest/databases/", `{"name":"weak","db_password":"qxvzkjwp"}`, "Authorization", admin,
		"Content-Type", processtest.AsJSON)
	if !strings.Contains(refused.Body, `{"db_password":["The hosting server wants a password`) {
		t.Errorf("what the engine would refuse is refused without saying so: %s", refused.Body)
	}
	r.Stop()
	if fake.Calls("logout") == 0 {
		t.Error("the session was not ended")
	}
	processtest.KeepsSecrets(t, r.Stderr(), ispconfigtest.Password, "ana@customer.example")
}

// An engine whose numbers are in the database cannot be replaced by another. Until
// then it can, and the old one goes on in any case.
func TestAnEngineIsNotReplacedWhileItHasResources(t *testing.T) {
	t.Parallel()
	h, d, _ := onISPConfig(t)
	sandbox := h
	sandbox.Env = nil
	r := sandbox.Start()
	headers := []string{
		"Authorization", "Bearer " + r.SignIn(d.Superuser).Field(t, "access"), "Content-Type",
		processtest.AsJSON, "Prefer", "wait=20",
	}
	tenant := r.Ask(201, "POST", "/hosting/api/rest/tenants/", `{"name":"Moves","email":"moves@example.com"}`,
		headers...).Number(t, "id")
	r.Ask(201, "POST", "/hosting/api/rest/sites/", fmt.Sprintf(`{"tenant":%.0f,"domain":"moves.example"}`, tenant),
		headers...)
	r.Stop()
	for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"worker"}} {
		out, complaint, code := h.Command(command...)
		if code != console.Usage || !strings.Contains(complaint, `another engine than "sandbox"`) ||
			!strings.Contains(complaint, "set HOSTPANEL_ENGINE=sandbox again") || strings.Contains(out, "ready") {
			t.Errorf("%v ended with %d:\n%s%s", command, code, out, complaint)
		}
	}
	if out, _, code := h.Command("doctor"); code != console.Failed ||
		!strings.Contains(out, `another engine than "sandbox"`) {
		t.Errorf("doctor ended with %d:\n%s", code, out)
	}
	sandbox.Start().Stop()
}

// After an erasure no engine has the contact data of the person, whose client goes
// on with neutral data.
func TestAnErasureReachesTheEngine(t *testing.T) {
	t.Parallel()
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		h := processtest.NewHome(t)
		pool, err := pgxpool.New(t.Context(), strings.TrimPrefix(h.At[0], "DATABASE_URL="))
		must(t, err)
		t.Cleanup(pool.Close)
		forgetsItsClient(h, h.Start(), h.Demo(), func() (all string) {
			must(t, pool.QueryRow(t.Context(),
				`select string_agg(sent::text, ' ') from sandbox_engine.objects where kind = 'tenant'`).Scan(&all))
			return all
		})
	})
	t.Run("ispconfig", func(t *testing.T) {
		t.Parallel()
		h, d, fake := onISPConfig(t)
		ticking(t, fake)
		forgetsItsClient(h, h.Serving("--listen", "127.0.0.1:0"), d,
			func() string { return fmt.Sprint(fake.Rows("client", "locked", "n")) })
		clients := fake.Rows("client", "locked", "n")
		number, _, _ := strings.Cut(clients[0]["customer_no"], "@")
		if len(clients) != 1 || clients[0]["contact_name"] != number || clients[0]["email"] != number+"@erased.invalid" {
			t.Errorf("the client has no neutral contact: %v", clients)
		}
	})
}

func forgetsItsClient(h processtest.Home, r *processtest.Process, d serve.Demo, clients func() string) {
	h.T.Helper()
	body := fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "una@customer.example", "una.example")
	a := r.Ask(201, "POST", "/storefront/api/orders/", strings.Replace(body, "Ana Example", "Una Person", 1), "X-API-Key",
		d.APIKey, "Content-Type", processtest.AsJSON, "Idempotency-Key", "one")
	r.Ask(303, "POST", processtest.PathOf(h.T, a.Field(h.T, "payment_url")), "action=pay", "Content-Type",
		processtest.AsForm)
	r.AwaitActive(a.Field(h.T, "order_id"), d.APIKey, processtest.Patience)
	if all := clients(); !strings.Contains(all, "Una Person") || !strings.Contains(all, "una@customer.example") {
		h.T.Fatalf("the engine does not know the customer: %s", all)
	}
	h.Must("user", "erase", "una@customer.example", "--yes")
	processtest.Eventually(h.T, "the engine has forgotten the person", func() bool {
		all := clients()
		return !strings.Contains(all, "Una Person") && !strings.Contains(all, "una@customer.example")
	})
}

// An engine is one installation's. Another one, and an older copy of the database, are
// refused at the start until an operator says that they take the engine over.
func TestOneInstallationWorksAtAnEngine(t *testing.T) {
	t.Parallel()
	first, _, fake := onISPConfig(t)
	first.Serving("--listen", "127.0.0.1:0").Stop()
	copied, other := processtest.NewHome(t), processtest.NewHome(t)
	for _, h := range []*processtest.Home{&copied, &other} {
		h.Demo()
		_, err := eventstoretest.Owner(t, strings.TrimPrefix(h.At[0], "DATABASE_URL=")).Exec(t.Context(), `delete from external_claim`)
		must(t, err)
		h.Env = first.Env
	}
	_, err := eventstoretest.Owner(t, strings.TrimPrefix(other.At[0], "DATABASE_URL=")).Exec(t.Context(),
		`update installation set id = '0123456789'`)
	must(t, err)
	for says, h := range map[string]processtest.Home{"a copy of this panel's database works": copied, "this one is 0123456789": other} {
		for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"worker"}} {
			out, complaint, code := h.Command(command...)
			if code != console.Usage || !strings.Contains(complaint, says) || !strings.Contains(complaint, "hostpanel engine claim") ||
				strings.Contains(out, "ready") {
				t.Errorf("%v ended with %d:\n%s%s", command, code, out, complaint)
			}
		}
	}
	if told := other.Must("engine", "claim", "--yes"); !strings.Contains(told, "and is held by this one, 0123456789") {
		t.Error(told)
	}
	other.Serving("--listen", "127.0.0.1:0").Stop()
	if _, complaint, code := first.Command("serve", "--listen", "127.0.0.1:0"); code != console.Usage {
		t.Errorf("the first one starts all the same: %d %s", code, complaint)
	}
	if _, complaint, code := first.Command("engine", "check", "--yes"); code != console.Usage ||
		!strings.Contains(complaint, "--held-by 0123456789") || fake.Calls("client_add") != 0 {
		t.Errorf("it is tried beside a panel: %d %s", code, complaint)
	}
}

// A mistake is told at once; an engine that is away is waited for.
func TestThePanelLooksAtItsEngineWhenItStarts(t *testing.T) {
	t.Parallel()
	h, _, fake := onISPConfig(t)
	r := h
	r.Env = append(slices.Clone(h.Env), "ISPCONFIG_PASSWORD=wrong")
	if _, complaint, code := r.Command("serve", "--listen", "127.0.0.1:0"); code != console.Usage ||
		!strings.Contains(complaint, "ISPCONFIG_") {
		t.Errorf("a wrong password: %d %s", code, complaint)
	}
	r.Env = append(slices.Clone(h.Env), "ISPCONFIG_SERVER_ID=9")
	if _, complaint, code := r.Command("serve", "--listen", "127.0.0.1:0"); code != console.Usage ||
		!strings.Contains(complaint, "no server 9") {
		t.Errorf("a server that is not there: %d %s", code, complaint)
	}
	r.Env = append(slices.Clone(h.Env), "ISPCONFIG_URL=http://127.0.0.1:1")
	away := r.Serving("--listen", "127.0.0.1:0")
	away.Ask(200, "GET", "/readyz", "")
	away.Stop()
	if !strings.Contains(away.Stderr(), "the hosting engine does not answer") {
		t.Errorf("it says: %s", away.Stderr())
	}
	if fake.Failures() > 1 {
		t.Errorf("%d failures are counted against us", fake.Failures())
	}
}
