package ispconfig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// TestMain lets garbage be collected less often: the double of the engine writes and reads
// far more than the tests keep.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

const secret = "Str0ng-Passw0rd!"

// A world is an engine with what drives it, a tenant on it, and the numbers of
// what the tenant has by kind.
type world struct {
	*testing.T
	fake   *ispconfigtest.Engine
	engine *ispconfig.Engine
	config ispconfig.Config
	client int64
	made   map[string]int64
	log    *locked
	ends   time.Time // of the certificate that is served; zero: none is
}

func (w *world) ask(context.Context, string) (time.Time, error) {
	if w.ends.IsZero() {
		return w.ends, domain.Fail(domain.Transient, "no_handshake", errors.New("no server answers"))
	}
	return w.ends, nil
}

type locked struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func empty(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, fake: ispconfigtest.Start(t), made: map[string]int64{}, log: &locked{}}
	w.config = ispconfig.Config{
		Name: "main", URL: w.fake.URL, User: ispconfigtest.User, Password: ispconfigtest.Password,
		Servers: ispconfig.Servers{Web: 1, Database: 1, DNS: 1, Mail: 1}, NameServers: []string{"ns1.example.test.", "ns2.example.test."},
		Ask: w.ask, Now: w.fake.Now, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	w.engine = w.open(w.config)
	t.Cleanup(w.noSecrets)
	return w
}

func (w *world) open(c ispconfig.Config) *ispconfig.Engine {
	w.Helper()
	e, err := ispconfig.New(c)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// noSecrets reads the log of the whole test.
func (w *world) noSecrets() {
	for _, s := range []string{secret, ispconfigtest.Password, "$6$", "OPENSSH", "INSERT INTO", "PEM-KEY"} {
		if strings.Contains(w.log.String(), s) {
			w.Errorf("the log tells %q", s)
		}
	}
}

// inhabited has a tenant with one of everything but a certificate.
func inhabited(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.client = w.create(tenant("t17"))
	for _, kind := range kinds {
		w.made[kind] = w.create(w.object(kind))
	}
	w.fake.Tick()
	return w
}

// kinds in the order in which they need each other.
var kinds = []string{"site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user"}

func (w *world) create(o hosting.EngineObject) int64 {
	w.Helper()
	id, err := w.engine.Create(w.Context(), o)
	if err != nil {
		w.Fatalf("create a %s: %v", o.Kind, err)
	}
	return id
}

func (w *world) find(kind, name string) hosting.EngineObject {
	w.Helper()
	o, ok, err := w.engine.Find(w.Context(), kind, name, "")
	if err != nil || !ok {
		w.Fatalf("find the %s: %v %v", kind, ok, err)
	}
	return o
}

func (w *world) change(o hosting.EngineObject) {
	w.Helper()
	if err := w.engine.Change(w.Context(), o); err != nil {
		w.Fatalf("change the %s: %v", o.Kind, err)
	}
}

// row is the only row of a table with that value in the column.
func (w *world) row(table, column, value string) map[string]string {
	w.Helper()
	rows := w.fake.Rows(table, column, value)
	if len(rows) != 1 {
		w.Fatalf("%d rows of %s where %s is %s", len(rows), table, column, value)
	}
	return rows[0]
}

func values(pairs ...any) field.Values {
	all := field.Values{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)], _ = json.Marshal(pairs[i+1])
	}
	return all
}

func with(o hosting.EngineObject, pairs ...any) hosting.EngineObject {
	changed := field.Values{}
	for name, v := range o.Values {
		changed[name] = v
	}
	for name, v := range values(pairs...) {
		changed[name] = v
		o.Changed = append(o.Changed, name)
	}
	o.Values, o.Secrets = changed, nil
	return o
}

func tenant(number string) hosting.EngineObject {
	return hosting.EngineObject{
		Kind: "tenant", Name: number, Ref: number, Secrets: hosting.Secrets{"password": secret},
		Values: values("name", "Acme GmbH", "email", "ada@acme.test", "country", "ES", "max_sites", 5, "max_mailboxes", -1),
	}
}

const recordName = "acme.test. www.acme.test. A 0 192.0.2.10"

// object is the tenant's one of the kind, as it is asked for.
func (w *world) object(kind string) hosting.EngineObject {
	o := hosting.EngineObject{Kind: kind, ID: w.made[kind], Owner: w.client, Parents: map[string]int64{}}
	switch kind {
	case "site":
		o.Name, o.Values = "acme.test", values("ip_address", "*", "is_active", true)
	case "database":
		o.Name, o.Values = "c17_shop", values("engine_user", "c17_shop", "is_active", true)
		o.Parents["site"], o.Secrets = w.made["site"], hosting.Secrets{"db_password": secret}
	case "dns_zone":
		o.Name, o.Values = "acme.test.", values(
			"ns_primary", "ns1.example.test.", "admin_email", "hostmaster.acme.test.", "ttl", 3600, "is_active", true,
		)
	case "dns_record":
		o.Name, o.Values = recordName, values("ttl", 3600, "is_active", true)
		o.Parents["zone"] = w.made["dns_zone"]
	case "mail_domain":
		o.Name, o.Values = "acme.test", values("is_active", true)
	case "mailbox":
		o.Name = "info@acme.test"
		o.Values = values(
			"name", "Info", "quota_mb", 100, "is_active", true, "imap_enabled", true, "pop3_enabled", true,
			"smtp_enabled", true,
		)
		o.Parents["mail_domain"], o.Secrets = w.made["mail_domain"], hosting.Secrets{"password": secret}
	case "mail_alias":
		o.Name, o.Values = "sales@acme.test", values("destination", "info@acme.test", "alias_type", "alias", "is_active", true)
		o.Parents["mail_domain"] = w.made["mail_domain"]
	case "ftp_account":
		o.Name, o.Values = "c17_ftp", values("directory", "/", "quota_mb", 500, "is_active", true)
		o.Parents["site"], o.Secrets = w.made["site"], hosting.Secrets{"password": secret}
	case "shell_user":
		o.Name, o.Values = "c17_sh", values(
			"shell", "/bin/bash", "chroot", "jailkit", "quota_mb", -1, "is_active", true, "ssh_public_key", "",
		)
		o.Parents["site"], o.Secrets = w.made["site"], hosting.Secrets{"password": secret}
	case "cron_job":
		o.Name, o.Values = "1 0 0 1 1 * https://acme.test/", values(
			"schedule", "0 0 1 1 *", "command", "https://acme.test/", "is_active", true,
		)
		o.Parents["site"] = w.made["site"]
	}
	return o
}

// where a kind's rows stand, and the column and value of its name.
var places = map[string]struct{ table, column, name string }{
	"tenant":      {"client", "customer_no", "t17"},
	"site":        {"web_domain", "domain", "acme.test"},
	"database":    {"web_database", "database_name", "c17_shop"},
	"dns_zone":    {"dns_soa", "origin", "acme.test."},
	"dns_record":  {"dns_rr", "name", "www.acme.test."},
	"mail_domain": {"mail_domain", "domain", "acme.test"},
	"mailbox":     {"mail_user", "email", "info@acme.test"},
	"mail_alias":  {"mail_forwarding", "source", "sales@acme.test"},
	"ftp_account": {"ftp_user", "username", "c17_ftp"},
	"shell_user":  {"shell_user", "username", "c17_sh"},
}

func (w *world) rowOf(kind string) map[string]string {
	w.Helper()
	p := places[kind]
	return w.row(p.table, p.column, p.name)
}

// refused wants a failure of the class and code.
func refused(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	f, ok := errors.AsType[*domain.Failure](err)
	if !ok || f.Class != class || f.Code != code {
		t.Errorf("%s %s was expected, not: %v", class, code, err)
	}
	if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "INSERT")) {
		t.Errorf("the failure tells too much: %v", err)
	}
}
