//go:build system

package doctor

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/adapters/loopbacktest"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/eventstore/eventstoretest"
)

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
	"another installation works at the engine": {
		func(h *hoster) {
			h.fake.Tell("config_value_add", `{"group": "hostpanel", "name": "installation", "value": "0123456789 3"}`)
		},
		"another installation of the panel, 0123456789, works here", "hostpanel engine claim",
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

func (h *hoster) sql(sql string) {
	h.t.Helper()
	_, err := eventstoretest.Owner(h.t, h.settings.DatabaseURL).Exec(h.t.Context(), sql)
	must(h.t, err)
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

// Of an ordinary role that cannot make the role of the panel, doctor says so at once: to run
// "hostpanel migrate" first would fail as well.
func TestARoleThatOnlyASuperuserMakesIsToldAtOnce(t *testing.T) {
	c := eventstoretest.Private(t, nil)
	superuser, err := pgx.Connect(t.Context(), c.URL())
	must(t, err)
	defer superuser.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was left open
	_, err = superuser.Exec(t.Context(), `create role landlord login password 'landlord'`)
	must(t, err)
	_, err = superuser.Exec(t.Context(), `create database house owner landlord`)
	must(t, err)
	h := wellHoster(t)
	address, err := url.Parse(c.URL())
	must(t, err)
	address.User, address.Path = url.UserPassword("landlord", "landlord"), "/house"
	h.settings.DatabaseURL = address.String()
	told := strings.Join(h.failures(), "")
	if !strings.Contains(told, `create role hostpanel_app nologin; grant hostpanel_app to "landlord";`) {
		t.Errorf("the failed checks are:\n%s", told)
	}
}
