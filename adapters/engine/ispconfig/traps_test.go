package ispconfig_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Each trap: what the panel does leaves everything as it should be, and the
// careless call next to it shows that the engine would have done the damage
// (docs/engine-ispconfig.md, "Calls that destroy").

func TestT1SwitchingAMailDomainOffLeavesItsMailboxes(t *testing.T) {
	w := inhabited(t)
	w.change(with(w.object("mail_domain"), "is_active", false))
	if box := w.rowOf("mailbox"); box["maildir"] != "/var/vmail/acme.test/info" {
		t.Error(box)
	}
	w.fake.Tell("mail_domain_update", `{"client_id": 0, "primary_id": 1, "params": {"active": "n"}}`)
	if box := w.row("mail_user", "email", "info@"); box["maildir"] != "" {
		t.Error("the double does not do the damage")
	}
}

func TestT2AChangedClientKeepsItsPassword(t *testing.T) {
	w := inhabited(t)
	hash := w.rowOf("tenant")["password"]
	o := with(tenant("t17"), "city", "Madrid")
	o.ID = w.client
	w.change(o)
	if w.rowOf("tenant")["password"] != hash {
		t.Error("the login is destroyed")
	}
	o.Secrets = hosting.Secrets{"password": "An0ther-" + secret}
	o.Changed = []string{"password"}
	w.change(o)
	changed := w.rowOf("tenant")["password"]
	if changed == hash {
		t.Error("the password did not change")
	}
	w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"city": "Vigo"}}`)
	if w.rowOf("tenant")["password"] == changed {
		t.Error("the double does not do the damage")
	}
}

func TestT3AChangedClientWakesNothing(t *testing.T) {
	w := inhabited(t)
	off := []string{"site", "database", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user"}
	for _, kind := range off {
		w.change(with(w.object(kind), "is_active", false))
	}
	o := with(tenant("t17"), "city", "Madrid")
	o.ID = w.client
	jobs := w.fake.Jobs()
	w.change(o)
	if more := w.fake.Jobs() - jobs; more != 1 || w.rowOf("tenant")["city"] != "Madrid" {
		t.Errorf("%d jobs, not the client's alone: what is off was on meanwhile", more)
	}
	for _, kind := range off {
		row := w.rowOf(kind)
		asleep := row["active"] == "n" || row["postfix"] == "n" && row["disableimap"] == "y" &&
			row["disablepop3"] == "y" && row["disablesmtp"] == "y"
		if !asleep {
			t.Errorf("the %s is awake: %v", kind, row)
		}
	}
	w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"city": "Vigo", "password": ""}}`)
	if w.rowOf("site")["active"] != "y" {
		t.Error("the double does not do the damage")
	}
}

// A lock by hand is the engine's own: the row keeps it, and the update does not name it.
func TestAClientThatIsLockedByHandStaysLocked(t *testing.T) {
	w := inhabited(t)
	for _, flag := range []string{"locked", "canceled"} {
		w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"`+flag+`": "y", "password": ""}}`)
		o := with(tenant("t17"), "city", "City of "+flag)
		o.ID = w.client
		w.change(o)
		if row := w.rowOf("tenant"); row[flag] != "y" || row["city"] != "City of "+flag {
			t.Errorf("%s: %s, %s", flag, row[flag], row["city"])
		}
	}
}

// An engine that wakes what is off all the same does not keep it awake.
func TestWhatAnEngineWakesAllTheSameIsPutOffAgain(t *testing.T) {
	w := inhabited(t)
	w.fake.Wakes = true
	w.change(with(w.object("site"), "is_active", false))
	o := with(tenant("t17"), "city", "Madrid")
	o.ID = w.client
	jobs := w.fake.Jobs()
	w.change(o)
	if w.rowOf("site")["active"] != "n" || w.fake.Jobs() == jobs+1 {
		t.Error(w.rowOf("site")["active"], w.fake.Jobs()-jobs)
	}
}

func TestT5AnUpdateLeavesTheOwnerAlone(t *testing.T) {
	w := inhabited(t)
	w.create(tenant("t18"))
	w.change(with(w.object("site"), "ip_address", "192.0.2.7"))
	if w.rowOf("site")["sys_groupid"] != "2" {
		t.Error("the site moved")
	}
	w.fake.Tell("sites_web_domain_update", `{"client_id": 2, "primary_id": 1, "params": {"ssi": "y"}}`)
	if w.rowOf("site")["sys_groupid"] != "3" {
		t.Error("the double does not do the damage")
	}
	err := w.engine.Change(t.Context(), with(w.object("site"), "ip_address", "*")) // it is not ours any more
	refused(t, err, domain.Permanent, "drift")
}

func TestT7AndT8NothingGoesIntoTheSiteOfAnotherTenant(t *testing.T) {
	w := inhabited(t)
	other := w.create(tenant("t18"))
	for _, kind := range []string{"database", "ftp_account", "shell_user", "mailbox", "mail_alias"} {
		o := w.object(kind)
		o.Owner, o.Name = other, "x"+o.Name
		o.Values["engine_user"] = []byte(`"c18_x"`)
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "drift")
		o.ID = w.made[kind]
		refused(t, w.engine.Change(t.Context(), o), domain.Permanent, "drift")
		refused(t, w.engine.Remove(t.Context(), o), domain.Permanent, "drift")
	}
	w.fake.Tell("sites_database_add", `{"client_id": 2, "params": {"server_id": 1, "database_name": "c18_y", "parent_domain_id": 1}}`)
	if w.row("web_database", "database_name", "c18_y")["sys_groupid"] != "2" {
		t.Error("the double does not do the damage")
	}
}

func TestT9AndT10NothingIsMadeWithoutAnOwner(t *testing.T) {
	w := inhabited(t)
	for _, owner := range []int64{0, -1, 99} {
		o := w.object("site")
		o.Owner, o.Name = owner, "b.test"
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "owner_missing")
		_, err = w.engine.List(t.Context(), "site", owner)
		refused(t, err, domain.Permanent, "owner_missing")
		_, err = w.engine.Usage(t.Context(), owner)
		refused(t, err, domain.Permanent, "owner_missing")
	}
	if !strings.Contains(w.fake.Tell("client_get_groupid", `{}`), `"response":1}`) {
		t.Error("the double does not do the damage")
	}
}

func TestT11AServerThatIsNotThereIsNeverWrittenTo(t *testing.T) {
	w := empty(t)
	w.config.Servers.Mail = 7
	_, err := w.open(w.config).Create(t.Context(), tenant("t17"))
	lacks(t, err, "engine_servers", "server 7")
	w.config.Servers.Mail = 1
	w.fake.Version("3.3.0")
	_, err = w.open(w.config).Create(t.Context(), tenant("t17"))
	lacks(t, err, "engine_version", "version 3.2.x")
	if w.fake.Calls("client_add") != 0 {
		t.Error("it was written to")
	}
}

// lacks checks for a failure of the engine as a whole: work waits, and none is
// refused.
func lacks(t *testing.T, err error, code, what string) {
	t.Helper()
	refused(t, err, domain.Transient, code)
	if f, _ := errors.AsType[*domain.Failure](err); f == nil || f.Lacks != what || f.Rest <= 0 {
		t.Errorf("it lacks %q, not %q: %v", domain.LackOf(err), what, err)
	}
}

// Whatever the engine refuses of the questions before every write is about the engine
// as a whole. With the engine as it should be the same panel goes on.
func TestAnEngineThatIsNotAsItShouldBeIsWaitedFor(t *testing.T) {
	w := empty(t)
	panel := w.open(w.config)
	w.fake.Version("3.3.0")
	_, err := panel.Create(t.Context(), tenant("t17"))
	lacks(t, err, "engine_version", "version 3.2.x")
	w.fake.Version("3.2.12")
	for _, function := range []string{"server_get_app_version", "server_get_all", "sys_datalog_get_by_tstamp"} {
		w.fake.Order(ispconfigtest.Fault{Function: function, What: ispconfigtest.Missing})
		_, err := panel.Create(t.Context(), tenant("t17"))
		lacks(t, err, "engine_call", "engine_call")
	}
	if _, err := panel.Create(t.Context(), tenant("t17")); err != nil {
		t.Error(err)
	}
}

func TestT12AndT14WhoOwnsSomethingStays(t *testing.T) {
	w := inhabited(t)
	for _, kind := range []string{"tenant", "site", "dns_zone", "mail_domain"} {
		id := w.made[kind]
		if kind == "tenant" {
			id = w.client
		}
		refused(t, w.engine.Remove(t.Context(), hosting.EngineObject{Kind: kind, ID: id}), domain.Permanent, "owns_others")
		w.rowOf(kind)
	}
	w.fake.Tell("client_delete", `{"client_id": 1}`)
	if w.rowOf("site")["sys_groupid"] != "2" {
		t.Error("the double does not do the damage")
	}
}

func TestT13EverythingGoesOnlyByNumberAndReference(t *testing.T) {
	w := inhabited(t)
	err := w.engine.RemoveEverything(t.Context(), hosting.EngineObject{Kind: "tenant", ID: 99, Ref: "t17"})
	refused(t, err, domain.Permanent, "drift")
	w.rowOf("site")
	for range 2 {
		if err := w.engine.RemoveEverything(t.Context(), hosting.EngineObject{Kind: "tenant", ID: w.client, Ref: "t17"}); err != nil {
			t.Error(err)
		}
	}
	if rows := w.fake.Rows("web_domain", "domain", "acme.test"); len(rows) != 0 {
		t.Error(rows)
	}
}

// A site that goes leaves its databases.
func TestT14ADatabaseOutlivesItsSite(t *testing.T) {
	w := inhabited(t)
	for _, kind := range []string{"ftp_account", "shell_user", "site"} {
		if err := w.engine.Remove(t.Context(), w.object(kind)); err != nil {
			t.Error(err)
		}
	}
	if row := w.rowOf("database"); row["parent_domain_id"] != "0" || row["sys_groupid"] != "2" {
		t.Error(row)
	}
}

func TestT16NoMailboxMovesIntoTheDirectoryOfAnother(t *testing.T) {
	w := inhabited(t)
	w.fake.Tell(
		"mail_user_add",
		`{"client_id": 1, "params": {"server_id": 1, "email": "b@acme.test", "login": "b@acme.test", "quota": 0, `+
			`"maildir": "/var/vmail/acme.test/c"}}`,
	)
	o := w.object("mailbox")
	o.Name = "c@acme.test"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "maildir_taken")
}

func TestT17AnUpdatedSiteKeepsItsProcesses(t *testing.T) {
	w := inhabited(t)
	w.fake.Tell(
		"sites_web_domain_update",
		`{"client_id": 0, "primary_id": 1, "params": {"pm_max_children": 20, "pm_start_servers": 3, `+
			`"pm_min_spare_servers": 2, "pm_max_spare_servers": 9, "log_retention": 60}}`,
	)
	w.change(with(w.object("site"), "ip_address", "192.0.2.7", "is_active", false))
	row := w.rowOf("site")
	got := fmt.Sprint(
		row["pm_max_children"], row["pm_start_servers"], row["pm_min_spare_servers"], row["pm_max_spare_servers"],
		row["log_retention"],
	)
	if got != fmt.Sprint("20", "3", "2", "9", "60") || row["active"] != "n" {
		t.Error(got, row["active"])
	}
	w.fake.Tell("sites_web_domain_update", `{"client_id": 0, "primary_id": 1, "params": {"ssi": "y"}}`)
	if w.rowOf("site")["pm_max_children"] != "1" {
		t.Error("the double does not do the damage")
	}
}

// Records of one zone are written one after the other, or steps would be lost.
func TestT21AndT22NoNumberBelowOneIsSent(t *testing.T) {
	w := inhabited(t)
	before := w.fake.Calls("")
	for _, kind := range append([]string{"tenant", "ssl_certificate"}, kinds...) {
		for _, id := range []int64{0, -1} {
			refused(t, w.engine.Remove(t.Context(), hosting.EngineObject{Kind: kind, ID: id}), domain.Permanent, "engine_call")
			if kind != "ssl_certificate" {
				refused(t, w.engine.Change(t.Context(), hosting.EngineObject{Kind: kind, ID: id}), domain.Permanent, "engine_call")
			}
		}
	}
	if w.fake.Calls("") != before {
		t.Error("something was sent")
	}
	if said := w.fake.Tell("mail_user_get", `{"primary_id": -1}`); !strings.Contains(said, "info@acme.test") {
		t.Error("the double does not do the damage")
	}
}

// T23: what is not found is not there, because every filter column is right;
// the double fails every test that sends another.
func TestT23AMisspeltColumnFindsNothing(t *testing.T) {
	w := inhabited(t)
	for _, filter := range []string{
		`{"emial": "info@acme.test"}`, `{"#LIMIT#": 1, "email": "info@acme.test"}`, `{"email": "nobody@acme.test"}`,
	} {
		if said := w.fake.Tell("mail_user_get", `{"primary_id": `+filter+`}`); !strings.Contains(said, `"response":[]`) {
			t.Error(said)
		}
	}
	for _, name := range []string{"INFO@acme.test", "%@acme.test", "info@acme.test%"} {
		if _, ok, err := w.engine.Find(t.Context(), "mailbox", name, ""); ok || err != nil {
			t.Error(name, ok, err)
		}
	}
}

func TestT32AUserIsRemovedAfterTheLastDatabase(t *testing.T) {
	w := inhabited(t)
	w.fake.Tell(
		"sites_database_add",
		`{"client_id": 1, "params": {"server_id": 1, "database_name": "c17_two", "database_user_id": 1, "active": "y"}}`,
	)
	if err := w.engine.Remove(t.Context(), w.object("database")); err != nil {
		t.Error(err)
	}
	w.row("web_database_user", "database_user", "c17_shop")
	two := w.object("database")
	two.Name, two.ID = "c17_two", 2
	if err := w.engine.Remove(t.Context(), two); err != nil {
		t.Error(err)
	}
	if rows := w.fake.Rows("web_database_user", "database_user", "c17_shop"); len(rows) != 0 {
		t.Error(rows)
	}
}

func TestT33ARenamedSiteKeepsItsRootAndAMailboxIsNeverRenamed(t *testing.T) {
	w := inhabited(t)
	o := w.object("site")
	root := w.rowOf("site")["document_root"]
	o.Former, o.Name = o.Name, "new.test"
	w.change(o)
	if row := w.row("web_domain", "domain", "new.test"); row["document_root"] != root {
		t.Error(row)
	}
	box := w.object("mailbox")
	box.Former, box.Name = box.Name, "other@acme.test"
	refused(t, w.engine.Change(t.Context(), box), domain.Permanent, "not_supported")
}

// T34 and E2: what the engine says may hold secrets; it is not repeated. The
// world of every test searches its log.
func TestT34FaultsAreNotRepeated(t *testing.T) {
	w := inhabited(t)
	said := w.fake.Tell("sites_web_domain_add", `{"client_id": 1, "params": {"server_id": 1}}`)
	if !strings.Contains(said, "domain_error_empty") {
		t.Error(said)
	}
	w.fake.Order(ispconfigtest.Fault{Function: "sites_web_domain_get", What: ispconfigtest.HTML})
	_, _, err := w.engine.Find(t.Context(), "site", "acme.test", "")
	refused(t, err, domain.Transient, "no_answer")
	if !strings.Contains(w.fake.Answered(), "OPENSSH") {
		t.Error("the engine never told a secret")
	}
}

// F3: what would be stored as something else is refused before any call.
func TestWhatTheEngineCannotStoreIsRefused(t *testing.T) {
	w := inhabited(t)
	before := w.fake.Calls("")
	for _, name := range []string{"Info 😀", "<b>Info</b>"} {
		err := w.engine.Change(t.Context(), with(w.object("mailbox"), "name", name))
		refused(t, err, domain.Permanent, "invalid")
	}
	if w.fake.Calls("") != before {
		t.Error("something was sent")
	}
}

// R5: what the engine would store or complete wrongly never reaches it.

// The system user of site 7 is web7: a shell user of that name would get the site, made or
// not, and take the system's user along when it is removed.
func TestALoginOfTheSystemIsNeitherMadeNorRemoved(t *testing.T) {
	w := inhabited(t)
	for _, name := range []string{"web2", "Web2", "client1", "www-data", "mysql"} {
		o := w.object("shell_user")
		o.Name, o.Values = name, with(o, "username", name).Values
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
	before := w.fake.Calls("sites_shell_user_add")
	w.fake.Tell("sites_shell_user_update", // as an earlier version made it
		fmt.Sprintf(`{"client_id": 0, "primary_id": %d, "params": {"username": "web2"}}`, w.made["shell_user"]))
	err := w.engine.Remove(t.Context(), hosting.EngineObject{Kind: "shell_user", ID: w.made["shell_user"]})
	refused(t, err, domain.Permanent, "reserved_login")
	if w.fake.Calls("sites_shell_user_add") != before || w.fake.Calls("sites_shell_user_delete") != 0 {
		t.Error("it was written to")
	}
}

// The engine's server drops the database of a row that is removed, its own ones too.
func TestADatabaseOfTheServerIsNeitherMadeNorRemoved(t *testing.T) {
	for name := range strings.FieldsSeq("mysql dbispconfig information_schema Performance_Schema sys phpmyadmin roundcube") {
		w := inhabited(t)
		calls := w.fake.Calls("sites_database_add")
		o := w.object("database")
		o.Name, o.Values = name, with(o, "name", name).Values
		wrong, err := w.engine.CheckForm(t.Context(), o)
		if err != nil || !wrong.Has("name") {
			t.Errorf("%s: %v, %v", name, wrong, err)
		}
		_, err = w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
		rename := func(table, column, id, name string) {
			w.fake.Tell("sites_"+table+"_update", `{"client_id": 0, "primary_id": `+id+`, "params": {"`+column+`": "`+name+`"}}`)
		}
		rename("database", "database_name", fmt.Sprint(w.made["database"]), name)
		row := w.row("web_database", "database_name", name)
		for _, known := range []string{"", name} {
			known := hosting.EngineObject{Kind: "database", ID: w.made["database"], Owner: w.client, Name: known}
			refused(t, w.engine.Remove(t.Context(), known), domain.Permanent, "reserved_name")
		}
		client := tenant("t17")
		client.ID = w.client
		refused(t, w.engine.RemoveEverything(t.Context(), client), domain.Permanent, "reserved_name")
		rename("database", "database_name", row["database_id"], "c17_shop")
		rename("database_user", "database_user", row["database_user_id"], "root")
		err = w.engine.Remove(t.Context(), w.object("database"))
		refused(t, err, domain.Permanent, "reserved_login")
		refused(t, w.engine.RemoveEverything(t.Context(), client), domain.Permanent, "reserved_login")
		if w.fake.Calls("sites_database_add") != calls || w.fake.Count("web_database") != 1 || w.fake.Count("web_database_user") != 1 {
			t.Errorf("%s was written to", name)
		}
	}
	w := inhabited(t)
	o := w.object("database")
	for _, user := range []string{"root", "Mysql", "ispconfig", "ispcsrv2", "phpmyadmin"} {
		o.ID, o.Name = 0, "c17_more"
		o.Values = with(o, "engine_user", user).Values
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
}
