package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/adapters/loopbacktest"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

// canary stands wherever a secret can: no line may have it.
const canary = "canary-7f3a"

// A hoster is a panel that is well, and what a fault changes of it.
type hoster struct {
	t        *testing.T
	settings config.Settings
	world    world
	sendTest string
	fake     *ispconfigtest.Engine
}

func wellHoster(t *testing.T) *hoster {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	database := eventstoretest.Database(t, "doctor, well", func(ctx context.Context, url string) error {
		p := programtest.Open(t, url, dir, false)
		defer p.Close()
		return serve.SetUp(ctx, p, console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	})
	bank, fake := stripetest.Start(t, stripetest.Options{}), ispconfigtest.Start(t)
	return &hoster{
		t: t, fake: fake,
		settings: config.Settings{
			DatabaseURL: database, DataDir: dir, SecretKey: programtest.SecretKey, PublicURL: "https://panel.example.com",
			Engine: "ispconfig", ISPConfigURL: fake.URL, ISPConfigUsername: ispconfigtest.User,
			ISPConfigPassword: ispconfigtest.Password, ISPConfigServerID: "1",
			Payments: append(config.Providers()[1:], &stripe.Settings{
				SecretKey:     stripetest.Key,
				WebhookSecret: stripetest.Secret, APIURL: bank.URL,
			}),
		},
		world: world{
			free:   func(string) (uint64, error) { return 100 << 30, nil },
			lookup: func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil },
		},
	}
}

func (h *hoster) sql(sql string) {
	h.t.Helper()
	_, err := eventstoretest.Owner(h.t, h.settings.DatabaseURL).Exec(h.t.Context(), sql)
	must(h.t, err)
}

// failures are the lines of the checks that have failed, as an operator reads
// them.
func (h *hoster) failures() (lines []string) {
	h.t.Helper()
	var out bytes.Buffer
	tell(console.Console{Out: &out, Err: &out}, examine(h.t.Context(), h.settings, h.sendTest, h.world))
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, canary) || strings.Contains(line, programtest.SecretKey) {
			h.t.Errorf("a secret is shown: %s", line)
		}
		if strings.HasPrefix(line, failed) {
			lines = append(lines, line)
		}
	}
	return lines
}

// faults are planted one at a time. Each is named in one line, with its mend.
var faults = map[string]struct {
	plant      func(*hoster)
	says, mend string
}{
	"a setting cannot be right": {
		func(h *hoster) { h.settings.TaxRate = "much" },
		"HOSTPANEL_TAX_RATE", "docs/configuration.md",
	},
	"the database does not answer": {
		func(h *hoster) {
			h.settings.DatabaseURL = "postgres://me:" + canary + "@" + loopbacktest.Refused(h.t) + "/x"
		},
		"does not answer", "start Postgres there",
	},
	"the database refuses the password": {
		func(h *hoster) {
			u, err := url.Parse(h.settings.DatabaseURL)
			must(h.t, err)
			u.User = url.UserPassword(u.User.Username(), canary)
			h.settings.DatabaseURL = u.String()
		},
		"refuses the user", "correct the user name or the password",
	},
	"the database has no panel in it": {
		func(h *hoster) { h.settings.DatabaseURL = eventstoretest.Database(h.t, "doctor, empty", nil) },
		"no panel in it", "hostpanel migrate",
	},
	"the program may change events": {
		func(h *hoster) { h.sql(`grant update on events to hostpanel_app`) },
		"may change or delete events", "revoke update",
	},
	"rows of tenants are not kept apart": {
		func(h *hoster) {
			h.sql(`do $$ begin execute (
				select format('alter table %I disable row level security', relname) from pg_class where relrowsecurity and
					relkind = 'r' order by 1 limit 1);
			end $$`)
		},
		"does not keep rows apart", "projections rebuild",
	},
	"a read table could not be built": {
		func(h *hoster) { h.sql(`update projections set status = 'failed' where name = 'plans'`) },
		"plans could not be built", "hostpanel projections rebuild plans",
	},
	"the clocks differ": {
		func(h *hoster) {
			h.sql(`create or replace function real_clock() returns timestamptz language sql volatile as 'select ` +
				`clock_timestamp() + interval ''1 hour'''`)
		},
		"differ by 1h0m0s", "NTP",
	},
	"the secret key is another": {
		func(h *hoster) { h.settings.SecretKey = "YW5vdGhlci1rZXktYW5vdGhlci1rZXktMDEyMzQ1Njc=" },
		"secret key", "HOSTPANEL_SECRET_KEY",
	},
	"the payment provider is away": {
		func(h *hoster) {
			h.settings.Payments[len(h.settings.Payments)-1] = &stripe.Settings{
				SecretKey: stripetest.Key,
				APIURL:    "http://" + loopbacktest.Refused(h.t),
			}
		},
		"stripe: ", "mend the way to its API",
	},
	"the payment provider refuses the key": {
		func(h *hoster) {
			s := h.settings.Payments[len(h.settings.Payments)-1].(*stripe.Settings)
			s.SecretKey = "sk_test_" + strings.ReplaceAll(canary, "-", "")
		},
		"stripe: ", "correct the credentials of stripe",
	},
	"the engine refuses the login": {
		func(h *hoster) { h.settings.ISPConfigPassword = canary },
		"engine_credentials", "ISPCONFIG_PASSWORD",
	},
	"the engine does not grant a function": {
		func(h *hoster) {
			h.fake.Order(ispconfigtest.Fault{Function: "sites_cron_get", What: ispconfigtest.Permission})
		},
		"sites_cron_get", "functions of the remote user",
	},
	"the engine is another than before": {
		func(h *hoster) {
			h.sql(`insert into external_claim (server, kind, name, owner) values ('sandbox', 'site', 'ana.example', 'site-7')`)
			h.sql(`insert into resources (kind, id, tenant, status, spec, engine_id, wish, sync_status, requested_for,
				created_at, updated_at, version)
				values ('site', 7, 1, 'running', '{}', 7, 1, 'synced', '', now(), now(), 1)`)
		},
		`another engine than "sandbox", which has resources of this panel (1)`, "set HOSTPANEL_ENGINE=sandbox again",
	},
	"the mail server is away": {
		func(h *hoster) { h.settings.SMTPURL = "smtp://me:" + canary + "@" + loopbacktest.Refused(h.t) },
		"unreachable", "start the mail server",
	},
	"the disk is full": {
		func(h *hoster) { h.world.free = func(string) (uint64, error) { return 3 << 20, nil } },
		"3 MiB are free", "make room",
	},
	"a name server has no address": {
		func(h *hoster) {
			h.world.lookup = func(_ context.Context, host string) ([]string, error) {
				if strings.HasPrefix(host, "ns2.") {
					return nil, errors.New("no such host")
				}
				return []string{"192.0.2.1"}, nil
			}
		},
		"ns2.panel.example.com. has no address", "HOSTPANEL_NAMESERVERS",
	},
	"others can read the data directory": {
		func(h *hoster) { must(h.t, os.Chmod(h.settings.DataDir, 0o755)) },
		"can be read by others", "chmod 0700",
	},
}

func TestEachFaultIsNamedInOneLineWithItsMend(t *testing.T) {
	if before := wellHoster(t).failures(); len(before) > 0 {
		t.Fatalf("before the faults:\n%s", strings.Join(before, ""))
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			h := wellHoster(t) // the same rows
			fault.plant(h)
			lines := h.failures()
			if len(lines) != 1 || !strings.Contains(lines[0], fault.says) || !strings.Contains(lines[0], fault.mend) {
				t.Errorf("the failed checks should be one line with %q and %q:\n%s", fault.says, fault.mend,
					strings.Join(lines, ""))
			}
		})
	}
}

func TestAFreshDemoIsWell(t *testing.T) {
	p := programtest.Demo(t)
	must(t, os.Chmod(p.Config.DataDir, 0o700))
	s := config.Settings{
		DatabaseURL: p.Config.DatabaseURL, DataDir: p.Config.DataDir, SecretKey: programtest.SecretKey,
		PublicURL: "http://127.0.0.1:8080",
	}
	for _, f := range examine(t.Context(), s, "", outside) {
		if f.State != ok {
			t.Errorf("%+v", f)
		}
	}
}

func TestTheResultIsAnExitCodeAndJSON(t *testing.T) {
	h := wellHoster(t)
	var out bytes.Buffer
	c := console.Console{Out: &out, Err: &out}
	h.settings.NameServers = "ns1.invalid"
	if err := (Command{JSON: true}).Run(t.Context(), h.settings, c); c.Complain(err) != console.Failed {
		t.Errorf("it ends with %v", err)
	}
	var found []Finding
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || len(found) < 12 || found[len(found)-1].State != failed {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestATestMailIsSentWhenItIsAskedFor(t *testing.T) {
	h := wellHoster(t)
	h.sendTest = "ana@customer.example"
	if lines := h.failures(); len(lines) > 0 {
		t.Fatal(lines)
	}
	mails, err := filepath.Glob(filepath.Join(h.settings.DataDir, "outbox", "*.eml"))
	if err != nil || len(mails) != 1 {
		t.Fatalf("%v, %v", mails, err)
	}
	if text, err := os.ReadFile(mails[0]); err != nil || !bytes.Contains(text, []byte("ana@customer.example")) {
		t.Errorf("%s, %v", text, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
