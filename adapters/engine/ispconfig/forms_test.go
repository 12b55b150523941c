package ispconfig_test

import (
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// What cannot travel is told by field before anything is kept, and refused by the
// engine's adapter as well.
func TestWhatCannotTravelIsToldByField(t *testing.T) {
	w := inhabited(t)
	long := strings.Repeat("l", 60)
	for _, c := range []struct {
		kind, name string
		field      string
		pairs      []any
		secrets    hosting.Secrets
	}{
		{kind: "tenant", field: "company_name", pairs: []any{"company_name", "A <b> GmbH"}},
		{kind: "tenant", field: "city", pairs: []any{"city", "😀"}},
		{kind: "site", field: "ip_address", pairs: []any{"ip_address", "203.0.113.9"}},
		{kind: "database", field: "db_password", secrets: hosting.Secrets{"db_password": `Quote-d'Or-1`}},
		{kind: "database", field: "db_password", secrets: hosting.Secrets{"db_password": `Quote-d"Or-1`}},
		{kind: "database", field: "db_password", secrets: hosting.Secrets{"db_password": `Back-\slash-1`}},
		{kind: "dns_zone", name: "_msdcs.acme.test.", field: "origin"},
		{kind: "dns_zone", name: "0/25.2.0.192.in-addr.arpa.", field: "origin"},
		{kind: "dns_zone", field: "admin_email", pairs: []any{"admin_email", `a\.b.acme.test.`}},
		{kind: "dns_zone", field: "admin_email", pairs: []any{"admin_email", `o'neill.acme.test.`}},
		{kind: "dns_record", name: "acme.test. 1.acme.test. CNAME 0 1.0/25.2.0.192.in-addr.arpa.", field: "data"},
		{kind: "dns_record", name: "acme.test. a_b.acme.test. A 0 192.0.2.1", field: "name"},
		{kind: "dns_record", name: "acme.test. _s._tcp.acme.test. SRV 1 5 5060 " + long + ".test.", field: "data"},
		{kind: "mailbox", name: long + "@acme.test", field: "local_part"},
		{kind: "mailbox", field: "name", pairs: []any{"name", "Ada <ada>"}},
		{kind: "ftp_account", field: "directory", pairs: []any{"directory", "/web/ñ"}},
		{kind: "shell_user", field: "ssh_public_key", pairs: []any{"ssh_public_key", "ssh-rsa " + strings.Repeat("A", 1020)}},
		{kind: "cron_job", name: "1 0 0 1 1 * echo 😀", field: "command", pairs: []any{"command", "echo 😀"}},
	} {
		o := w.object(c.kind)
		if c.kind == "tenant" {
			o = tenant("t18")
		}
		o = with(o, c.pairs...)
		o.ID, o.Changed, o.Secrets = 0, nil, c.secrets
		if c.name != "" {
			o.Name = c.name
		}
		wrong, err := w.engine.CheckForm(t.Context(), o)
		if err != nil || len(wrong) != 1 || wrong[0].Field != c.field || !strings.HasSuffix(wrong[0].Messages[0], ".") {
			t.Errorf("%s %s: %v, %v", c.kind, c.field, wrong, err)
		}
		_, err = w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
}

// A change is about the fields that it names: what was kept before an engine came
// does not hold up the rest.
func TestOnlyChangedFieldsAreChecked(t *testing.T) {
	w := inhabited(t)
	o := with(w.object("dns_zone"), "ttl", 600, "admin_email", `a\.b.acme.test.`)
	o.Changed = []string{"ttl"}
	if wrong, err := w.engine.CheckForm(t.Context(), o); err != nil || len(wrong) > 0 {
		t.Error(wrong, err)
	}
	w.change(o)
}

// Each object that the tests are about passes its forms.
func TestUsualValuesTravel(t *testing.T) {
	w := inhabited(t)
	for _, kind := range append(kinds, "ssl_certificate", "nothing") {
		if wrong, err := w.engine.CheckForm(t.Context(), w.object(kind)); err != nil || len(wrong) > 0 {
			t.Error(kind, wrong, err)
		}
	}
}

// Mail programs send passwords in UTF-8. The engine hashes the Latin-1 of what it
// is told: what it is told is the character of each byte.
func TestMailboxPasswordsAreHashedAsUTF8(t *testing.T) {
	w := inhabited(t)
	const password = "Pässwörd-漢字-😀-1"
	told := w.object("mailbox")
	told.Name, told.Secrets = "utf8@acme.test", hosting.Secrets{"password": password}
	w.create(told)
	w.fake.Tell("sites_ftp_user_update", `{"client_id": 0, "primary_id": 1, "params": {"password": "`+password+`"}}`)
	if mail, bytes := w.row("mail_user", "email", "utf8@acme.test")["password"], w.rowOf("ftp_account")["password"]; mail != bytes {
		t.Errorf("%s is not the hash of the bytes, %s", mail, bytes)
	}
	told.ID, told.Changed, told.Secrets = w.find("mailbox", told.Name).ID, []string{"password"}, hosting.Secrets{"password": "Ünother-1"}
	w.change(told)
	w.fake.Tell("sites_ftp_user_update", `{"client_id": 0, "primary_id": 1, "params": {"password": "Ünother-1"}}`)
	if mail, bytes := w.row("mail_user", "email", "utf8@acme.test")["password"], w.rowOf("ftp_account")["password"]; mail != bytes {
		t.Errorf("changed: %s is not the hash of the bytes, %s", mail, bytes)
	}
}

func TestAnAddressCanBeTakenAwayFromASite(t *testing.T) {
	w := inhabited(t)
	for _, address := range []string{"192.0.2.7", "*", "2001:db8::7", "*", "192.0.2.10", "2001:db8::7", "192.0.2.7", "*"} {
		w.change(with(w.object("site"), "ip_address", address))
		if found := w.find("site", "acme.test"); string(found.Values["ip_address"]) != `"`+address+`"` {
			t.Errorf("%s, not %s", found.Values["ip_address"], address)
		}
	}
	if row := w.rowOf("site"); row["ip_address"] != "*" || row["ipv6_address"] != "" {
		t.Error(row["ip_address"], row["ipv6_address"])
	}
}

// The engine's own forms of what the panel says are no difference, and nothing is
// written because of them.
func TestOtherFormsOfTheSameAreLeftAlone(t *testing.T) {
	w := inhabited(t)
	w.fake.Tell("dns_a_update", `{"client_id": 0, "primary_id": 100003, "params": {"name": "WWW", "zone": 1}, "update_serial": true}`)
	alias := with(w.object("mail_alias"), "destination", "B@x.test, a@x.test", "alias_type", "forward")
	alias.Name = "all@acme.test"
	alias.ID = w.create(alias)
	again := with(alias, "destination", "a@x.test,b@X.test")
	before := w.fake.Calls("mail_forward_update") + w.fake.Calls("dns_a_update") + w.fake.Calls("dns_aaaa_update") +
		w.fake.Calls("client_update")
	record := w.object("dns_record")
	w.change(record)
	w.change(again)
	six := w.object("dns_record")
	six.Name = "acme.test. six.acme.test. AAAA 0 2001:db8::1"
	w.fake.Tell(
		"dns_aaaa_add",
		`{"client_id": 1, "params": {"server_id": 1, "zone": 1, "name": "six.acme.test.", "type": "AAAA", `+
			`"data": "2001:DB8:0::1", "ttl": 3600, "active": "y"}, "update_serial": true}`,
	)
	six.ID = w.find("dns_record", six.Name).ID
	w.change(six)
	w.change(with(w.object("dns_zone"), "admin_email", "Ada.acme.test."))
	zones := w.fake.Calls("dns_zone_update")
	if w.change(with(w.object("dns_zone"), "admin_email", "ADA.acme.test.")); w.fake.Calls("dns_zone_update") != zones {
		t.Error("a contact in another case is written again")
	}
	client := with(tenant("t17"), "email", "ADA@acme.test", "tax_id", "ES-of-no-authority", "company_name", strings.Repeat("Ñ", 100))
	client.ID, client.Changed = w.client, []string{"email", "tax_id"}
	w.change(client)
	if after := w.fake.Calls("mail_forward_update") + w.fake.Calls("dns_a_update") + w.fake.Calls("dns_aaaa_update") +
		w.fake.Calls("client_update"); after != before {
		t.Errorf("%d writes for nothing", after-before)
	}
	client.Changed = []string{"company_name"}
	w.change(client) // its first 64 characters
	w.change(client)
}

// A domain that signs has the key at the engine that its record names. A key is sent
// once, and asked for again where the engine has another.
func TestAMailDomainSignsWithTheKeyOfItsRecord(t *testing.T) {
	w := inhabited(t)
	o := with(w.object("mail_domain"), "dkim_enabled", true, "dkim_selector", "s1", "dkim_public", "v=DKIM1; k=rsa; p=QUJDRA==")
	refused(t, w.engine.Change(t.Context(), o), domain.Permanent, "secret_needed")
	o.Secrets, o.Changed = hosting.Secrets{"dkim_private": "PEM-KEY-ONE"}, append(o.Changed, "dkim_private")
	w.change(o)
	row := w.rowOf("mail_domain")
	if row["dkim"] != "y" || row["dkim_selector"] != "s1" || row["dkim_private"] != "PEM-KEY-ONE" ||
		row["dkim_public"] != "-----BEGIN PUBLIC KEY-----\nQUJDRA==\n-----END PUBLIC KEY-----\n" {
		t.Error(row)
	}
	o.Secrets = nil
	writes := w.fake.Calls("mail_domain_update")
	w.change(o)
	if w.fake.Calls("mail_domain_update") != writes {
		t.Error("written again")
	}
	another := with(o, "dkim_selector", "s2", "dkim_public", "v=DKIM1; k=rsa; p=RUZHSA==")
	refused(t, w.engine.Change(t.Context(), another), domain.Permanent, "secret_needed")
	off := with(o, "dkim_enabled", false, "dkim_public", "")
	w.change(off)
	if row := w.rowOf("mail_domain"); row["dkim"] != "n" || row["domain"] != "acme.test" {
		t.Error(row)
	}
	fresh := w.object("mail_domain")
	fresh.Name, fresh.Values = "signs.test", values(
		"domain", "signs.test", "is_active", true, "dkim_enabled", true, "dkim_selector", "s1", "dkim_public",
		"v=DKIM1; k=rsa; p=QUJDRA==",
	)
	_, err := w.engine.Create(t.Context(), fresh)
	refused(t, err, domain.Permanent, "secret_needed")
}

// What the client's change has woken is put to sleep again, with columns that every
// update repeats. Each is named once in mail_domain_update: the engine's double
// refuses a body that names one twice, where PHP takes the last without a word.
func TestNoCallNamesAnArgumentTwice(t *testing.T) {
	w := inhabited(t)
	w.fake.Wakes = true
	w.change(with(w.object("mail_domain"), "is_active", false))
	updates := w.fake.Calls("mail_domain_update")
	client := with(tenant("t17"), "city", "Madrid")
	client.ID = w.client
	w.change(client)
	if row := w.rowOf("mail_domain"); row["active"] != "n" || w.fake.Calls("mail_domain_update") == updates {
		t.Error(row["active"], w.fake.Calls("mail_domain_update"), updates)
	}
}
