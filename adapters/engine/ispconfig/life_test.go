package ispconfig_test

import (
	"sync"
	"testing"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

func TestEveryKindIsMadeFoundAndRemoved(t *testing.T) {
	w := inhabited(t)
	for _, kind := range kinds {
		found := w.find(kind, w.object(kind).Name)
		if found.ID != w.made[kind] || found.Owner != w.client || !found.Applied {
			t.Errorf("%+v", found)
		}
		if all, err := w.engine.List(t.Context(), kind, w.client); err != nil || len(all) != 1 || all[0].Name != found.Name {
			t.Errorf("%s: %v %v", kind, all, err)
		}
	}
	if found, ok, err := w.engine.Find(
		t.Context(), "tenant", "t17", "t17",
	); err != nil || !ok || found.ID != w.client || found.Ref != "t17" {
		t.Errorf("%+v %v %v", found, ok, err)
	}
	for i := len(kinds) - 1; i >= 0; i-- {
		for range 2 { // a repetition is a success
			if err := w.engine.Remove(t.Context(), w.object(kinds[i])); err != nil {
				t.Errorf("delete the %s: %v", kinds[i], err)
			}
		}
		if p := places[kinds[i]]; len(w.fake.Rows(p.table, p.column, p.name)) != 0 {
			t.Errorf("the %s is still there", kinds[i])
		}
	}
	if err := w.engine.Remove(t.Context(), hosting.EngineObject{Kind: "tenant", ID: w.client}); err != nil {
		t.Error(err)
	}
	for _, table := range []string{"web_database_user", "dns_rr", "client"} {
		if rows := w.fake.Rows(table, "sys_perm_user", "riud"); len(rows) != 0 {
			t.Errorf("%s: %v", table, rows)
		}
	}
}

// What can be changed of each kind, and the column that shows it.
var changes = []struct {
	kind   string
	pairs  []any
	column string
	want   string
}{
	{"tenant", []any{"company_name", "Acme SL"}, "company_name", "Acme SL"},
	{"tenant", []any{"max_sites", 7}, "limit_web_domain", "7"},
	{"site", []any{"ip_address", "192.0.2.7"}, "ip_address", "192.0.2.7"},
	{"site", []any{"ip_address", "2001:db8::7"}, "ipv6_address", "2001:db8::7"},
	{"site", []any{"is_active", false}, "active", "n"},
	{"site", []any{"is_active", true}, "active", "y"},
	{"database", []any{"is_active", false}, "active", "n"},
	{"dns_zone", []any{"ttl", 600}, "ttl", "600"},
	{"dns_zone", []any{"ns_primary", "ns2.example.test."}, "ns", "ns2.example.test."},
	{"dns_zone", []any{"is_active", false}, "active", "N"},
	{"dns_record", []any{"ttl", 60}, "ttl", "60"},
	{"dns_record", []any{"is_active", false}, "active", "N"},
	{"mail_domain", []any{"is_active", false}, "active", "n"},
	{"mailbox", []any{"quota_mb", 2048}, "quota", "2147483648"},
	{"mailbox", []any{"quota_mb", -1}, "quota", "0"},
	{"mailbox", []any{"pop3_enabled", false}, "disablepop3", "y"},
	{"mailbox", []any{"is_active", false}, "postfix", "n"},
	{"mail_alias", []any{"destination", "info@acme.test"}, "destination", "info@acme.test"},
	{"mail_alias", []any{"is_active", false}, "active", "n"},
	{"ftp_account", []any{"quota_mb", -1}, "quota_size", "-1"},
	{"ftp_account", []any{"directory", "/web/shop"}, "dir", "/var/www/clients/client1/web1/web/shop"},
	{"ftp_account", []any{"is_active", false}, "active", "n"},
	{"shell_user", []any{"shell", "/bin/sh"}, "shell", "/bin/sh"},
	{"shell_user", []any{"chroot", "none"}, "chroot", "no"},
	{"shell_user", []any{"is_active", false}, "active", "n"},
}

func TestEveryFieldCanBeChanged(t *testing.T) {
	w := inhabited(t)
	for _, c := range changes {
		o := w.object(c.kind)
		if c.kind == "tenant" {
			o = tenant("t17")
			o.ID = w.client
		}
		o = with(o, c.pairs...)
		w.change(o)
		if got := w.rowOf(c.kind)[c.column]; got != c.want {
			t.Errorf("%s %v: %s is %q", c.kind, c.pairs, c.column, got)
		}
		before := w.fake.Calls("")
		w.change(o) // W5: what is so already is not sent
		if again := w.fake.Calls("") - before; again > 5 {
			t.Errorf("%s %v: %d calls for nothing", c.kind, c.pairs, again)
		}
	}
}

// W1: the answer to an addition is lost, whatever the kind; the repetition
// adopts what has been made.
func TestWhatWasMadeWithoutAnAnswerIsAdopted(t *testing.T) {
	for kind, function := range map[string]string{
		"tenant": "client_add", "site": "sites_web_domain_add", "database": "sites_database_add",
		"dns_zone": "dns_zone_add", "dns_record": "dns_a_add",
		"mail_domain": "mail_domain_add", "mailbox": "mail_user_add", "mail_alias": "mail_alias_add",
		"ftp_account": "sites_ftp_user_add", "shell_user": "sites_shell_user_add",
	} {
		for _, wrong := range []ispconfigtest.Wrong{
			ispconfigtest.After, ispconfigtest.HTML, ispconfigtest.Empty500, ispconfigtest.Truncated,
			ispconfigtest.Huge,
		} {
			w := empty(t)
			o := w.until(kind)
			w.fake.Order(ispconfigtest.Fault{Function: function, What: wrong})
			_, err := w.engine.Create(t.Context(), o)
			refused(t, err, domain.Unknown, "no_answer")
			id := w.create(o)
			if row := w.rowOf(kind); id < 1 || row["sys_groupid"] != "2" && kind != "tenant" {
				t.Errorf("%s: %d %v", kind, id, row)
			}
		}
	}
}

// until makes everything that comes before a kind, and returns the kind's object.
func (w *world) until(kind string) hosting.EngineObject {
	w.Helper()
	if kind == "tenant" {
		return tenant("t17")
	}
	w.client = w.create(tenant("t17"))
	for _, k := range kinds {
		if k == kind {
			break
		}
		w.made[k] = w.create(w.object(k))
	}
	return w.object(kind)
}

// W2: two processes make the same at once. The engine would let all of them in.
func TestEqualCreationsAtOnceMakeOne(t *testing.T) {
	for _, kind := range append([]string{"tenant"}, kinds...) {
		w := empty(t)
		o := w.until(kind)
		w.config.Turns = ispconfig.Alone()
		engines := []*ispconfig.Engine{w.open(w.config), w.open(w.config)}
		w.fake.Between(func() {})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if _, err := engines[i%2].Create(t.Context(), o); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			})
		}
		all.Wait()
		w.rowOf(kind)
	}
}

// W3: what has another owner is taken, and nothing is written.
func TestANameOfAnotherClientIsTaken(t *testing.T) {
	w := inhabited(t)
	other := w.create(tenant("t18"))
	for _, kind := range []string{"site", "dns_zone", "mail_domain"} {
		o := w.object(kind)
		o.Owner = other
		before := w.rowOf(kind)
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "name_taken")
		if after := w.rowOf(kind); after["sys_groupid"] != before["sys_groupid"] {
			t.Error("the row moved")
		}
	}
	o := tenant("t19")
	o.Name = "t17"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "name_taken")
}

// W4: it is not clear which of two rows is meant.
func TestTwoRowsOfOneNameAreLeftAlone(t *testing.T) {
	w := inhabited(t)
	w.fake.Tell(
		"mail_alias_add",
		`{"client_id": 1, "params": {"server_id": 1, "source": "sales@acme.test", "destination": "info@acme.test", `+
			`"type": "alias", "active": "y"}}`,
	)
	_, _, err := w.engine.Find(t.Context(), "mail_alias", "sales@acme.test", "")
	refused(t, err, domain.Permanent, "ambiguous")
	_, err = w.engine.Create(t.Context(), w.object("mail_alias"))
	refused(t, err, domain.Permanent, "ambiguous")
}

// A database that the engine refuses leaves no user behind.
func TestARefusedDatabaseLeavesNoUser(t *testing.T) {
	w := inhabited(t)
	w.fake.Order(ispconfigtest.Fault{Function: "sites_database_add", What: ispconfigtest.Permission})
	o := w.object("database")
	o.Name, o.Values = "c17_blog", values("engine_user", "c17_blog", "is_active", true)
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Unknown, "engine_permission") // the user was made, and removed
	if rows := w.fake.Rows("web_database_user", "database_user", "c17_blog"); len(rows) != 0 {
		t.Error(rows)
	}
}

// Another type is another row; the look-up tells its number.
func TestARecordOfAnotherTypeIsReplaced(t *testing.T) {
	w := inhabited(t)
	o := w.object("dns_record")
	o.Former = o.Name
	o.Name = "acme.test. www.acme.test. CNAME 0 acme.test."
	w.change(o)
	w.change(o) // once more, with the number of a row that is gone
	if found := w.find("dns_record", o.Name); found.ID == o.ID {
		t.Error("the same row")
	}
	if row := w.rowOf("dns_record"); row["type"] != "CNAME" || row["data"] != "acme.test." {
		t.Error(row)
	}
	alias := with(w.object("mail_alias"), "alias_type", "forward", "destination", "a@x.test, b@y.test")
	w.change(alias)
	if row := w.rowOf("mail_alias"); row["type"] != "forward" || row["destination"] != "a@x.test,b@y.test" {
		t.Error(row)
	}
}

func TestWhatTheEngineHasNotIsNotSupported(t *testing.T) {
	w := empty(t)
	_, err := w.engine.Create(t.Context(), hosting.EngineObject{Kind: "proxy", Name: "acme.test"})
	refused(t, err, domain.Permanent, "not_supported")
}

// What a removal that was cut short has left of a database is removed by the next.
func TestTheUserOfADatabaseThatIsGoneIsRemoved(t *testing.T) {
	w := inhabited(t)
	w.fake.Order(ispconfigtest.Fault{Function: "sites_database_user_delete", What: ispconfigtest.Before})
	err := w.engine.Remove(t.Context(), w.object("database"))
	refused(t, err, domain.Unknown, "no_answer")
	w.row("web_database_user", "database_user", "c17_shop")
	if err := w.engine.Remove(t.Context(), w.object("database")); err != nil {
		t.Error(err)
	}
	if rows := w.fake.Rows("web_database_user", "database_user", "c17_shop"); len(rows) != 0 {
		t.Error(rows)
	}
}

// Once something has been written the failure must not say "certainly not
// done".
func TestAReadThatFailsAfterAWriteIsUnknown(t *testing.T) {
	w := inhabited(t)
	w.fake.Order(ispconfigtest.Fault{Function: "sites_ftp_user_get", What: ispconfigtest.Nothing})
	w.fake.Order(ispconfigtest.Fault{Function: "sites_ftp_user_get", What: ispconfigtest.Empty500})
	o := w.object("ftp_account")
	o.Name = "c17_two"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Unknown, "unconfirmed")
	w.row("ftp_user", "username", "c17_two")
}

// F2: names are looked up and written as the engine stores them, or not at all.
func TestNamesThatTheEngineWouldStoreOtherwiseAreRefused(t *testing.T) {
	w := inhabited(t)
	for _, name := range []string{"münchen.test", "Acme.test", "a%.test", "a b.test"} {
		o := w.object("site")
		o.Name = name
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
}

// R4: off is four flags, and on again is what they were.
func TestAMailboxIsSwitchedOffByFourFlags(t *testing.T) {
	w := inhabited(t)
	before := w.rowOf("mailbox")
	o := with(w.object("mailbox"), "is_active", false)
	w.change(o)
	off := w.rowOf("mailbox")
	for column, was := range before {
		want := map[string]string{"postfix": "n", "disableimap": "y", "disablepop3": "y", "disablesmtp": "y"}[column]
		if want == "" {
			want = was
		}
		if off[column] != want {
			t.Errorf("%s is %q", column, off[column])
		}
	}
	w.change(with(w.object("mailbox"), "is_active", true))
	for column, is := range w.rowOf("mailbox") {
		if is != before[column] {
			t.Errorf("%s is %q", column, is)
		}
	}
}

// The engine's server makes each shell user a home below the site's directory, which its row
// does not name.
func TestAShellUserHasAHomeBelowItsSite(t *testing.T) {
	w := inhabited(t)
	root := w.rowOf("site")["document_root"]
	if home := string(w.find("shell_user", "c17_sh").Observed["home_directory"]); root == "" || home != `"`+root+`/home/c17_sh"` {
		t.Errorf("home %s", home)
	}
}
