package enginetest

import (
	"fmt"

	"hostpanel/domain/hosting"
)

const (
	password    = "Str0ng-Passw0rd!"
	newPassword = "An0ther-Passw0rd!"
)

// kinds in the order in which they need each other.
var kinds = []string{
	"site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user",
	"cron_job",
}

// parts are the kinds that belong to an object of another.
var parts = map[string]string{
	"dns_record": "dns_zone", "mailbox": "mail_domain", "mail_alias": "mail_domain", "ftp_account": "site", "shell_user": "site",
	"cron_job": "site",
}

var fields = map[string]string{"dns_zone": "zone", "mail_domain": "mail_domain", "site": "site"}

// number is the customer number and the login of a client.
func (w *world) number(n int) string { return fmt.Sprintf("%st%d", w.tag, n) }

func (w *world) domain() string { return w.tag + ".test" }

func (w *world) command() string { return "https://" + w.domain() + "/cron.php?at=%20" }

// record names the record of www.
func (w *world) record(kind, data string) string {
	return fmt.Sprintf("%s. www.%[1]s. %s 0 %s", w.domain(), kind, data)
}

func (w *world) tenant(n int) hosting.EngineObject {
	return hosting.EngineObject{
		Kind: "tenant", Name: w.number(n), Ref: w.number(n),
		Values: values("name", "Acme GmbH", "email", "ada@acme.test", "country", "ES", "max_sites", 5, "max_mailboxes", -1),
	}
}

// object is the client's one of a kind, as it is asked for.
func (w *world) object(kind string) hosting.EngineObject {
	o := hosting.EngineObject{Kind: kind, ID: w.made[kind], Owner: w.client, Parents: map[string]int64{}}
	if parent, part := parts[kind]; part {
		o.Parents[fields[parent]] = w.made[parent]
	}
	switch kind {
	case "site":
		o.Name, o.Values = w.domain(), values("domain", w.domain(), "ip_address", "*", "is_active", true)
	case "database":
		o.Name, o.Values = w.tag+"_shop", values("engine_user", w.tag+"_shop", "is_active", true)
		o.Parents["site"], o.Secrets = w.made["site"], hosting.Secrets{"db_password": password}
	case "dns_zone":
		o.Name, o.Values = w.domain()+".", values(
			"ns_primary", "ns1.example.test.", "admin_email", "hostmaster."+w.domain()+".", "ttl", 3600, "is_active",
			true,
		)
	case "dns_record":
		o.Name, o.Values = w.record("A", "192.0.2.10"), values(
			"record_type", "A", "name", "www", "data", "192.0.2.10", "priority", 0, "ttl", 3600, "is_active", true,
		)
	case "mail_domain":
		o.Name, o.Values = w.domain(), values("domain", w.domain(), "is_active", true)
	case "mailbox":
		o.Name = "info@" + w.domain()
		o.Values = values(
			"name", "Info", "quota_mb", 100, "is_active", true, "imap_enabled", true, "pop3_enabled", true,
			"smtp_enabled", true,
		)
		o.Secrets = hosting.Secrets{"password": password}
	case "mail_alias":
		o.Name, o.Values = "sales@"+w.domain(), values("destination", "info@"+w.domain(), "alias_type", "alias", "is_active", true)
	case "ftp_account":
		o.Name, o.Values = w.tag+"_ftp", values("directory", "/", "quota_mb", 500, "is_active", true)
		o.Secrets = hosting.Secrets{"password": password}
	case "shell_user":
		o.Name, o.Values = w.tag+"_sh", values(
			"shell", "/bin/bash", "chroot", "jailkit", "quota_mb", -1, "is_active", true, "ssh_public_key", "",
		)
		o.Secrets = hosting.Secrets{"password": password}
	case "cron_job":
		o.Name = fmt.Sprintf("%d */5 3 * * 1-5 %s", w.made["site"], w.command())
		o.Values = values("schedule", "*/5 3 * * 1-5", "command", w.command(), "is_active", true)
	}
	return o
}

// A changing field may change, to another value.
type changing struct {
	kind, field string
	value       any
}

// changeable are the fields that may change; an address only to one that the
// server has.
func (w *world) changeable() []changing {
	if w.Address == "" {
		return changeable
	}
	return append([]changing{{"site", "ip_address", w.Address}}, changeable...)
}

var changeable = []changing{
	{"tenant", "max_sites", 7},
	{"site", "is_active", false},
	{"database", "is_active", false},
	{"dns_zone", "ttl", 600},
	{"dns_zone", "is_active", false},
	{"dns_record", "ttl", 60},
	{"dns_record", "is_active", false},
	{"mail_domain", "is_active", false},
	{"mailbox", "quota_mb", 2048},
	{"mailbox", "pop3_enabled", false},
	{"mailbox", "is_active", false},
	{"mail_alias", "is_active", false},
	{"ftp_account", "quota_mb", -1},
	{"ftp_account", "directory", "/web/shop"},
	{"ftp_account", "is_active", false},
	{"shell_user", "shell", "/bin/sh"},
	{"shell_user", "is_active", false},
	{"cron_job", "is_active", false},
}

// own is the client's object of a kind; of "tenant" the client.
func (w *world) own(kind string) hosting.EngineObject {
	if kind != "tenant" {
		return w.object(kind)
	}
	o := w.tenant(17)
	o.ID = w.client
	return o
}
