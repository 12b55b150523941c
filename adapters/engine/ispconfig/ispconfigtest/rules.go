package ispconfigtest

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A rule is one complaint of the engine: its key, and when it is made.
type rule struct {
	key    string
	tight  bool // followed by <br> instead of <br />
	breaks func(*Engine, func(string) string) bool
}

type lookup = func(string) string

func empty(column string) func(*Engine, lookup) bool {
	return func(_ *Engine, v lookup) bool { return v(column) == "" }
}

func not(column, pattern string) func(*Engine, lookup) bool {
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }) // long to make, and the program may never need it
	return func(_ *Engine, v lookup) bool { return !re().MatchString(v(column)) }
}

func below(column string, least int) func(*Engine, lookup) bool {
	return func(_ *Engine, v lookup) bool { n, err := strconv.Atoi(v(column)); return err != nil || n < least }
}

var timeEntry = regexp.MustCompile(`^(?:(\d+)(?:-(\d+))?|\*)(?:/([1-9]\d*))?$`)

// noTime is a field of a schedule that the engine does not take: it wants
// ranges that grow, and steps from 2 to below the last value.
func noTime(column string, least, most int) func(*Engine, lookup) bool {
	return func(_ *Engine, v lookup) bool {
		value := strings.ReplaceAll(v(column), " ", "")
		if column == "run_month" && value == "@reboot" {
			return false
		}
		for entry := range strings.SplitSeq(value, ",") {
			m := timeEntry.FindStringSubmatch(entry)
			if m == nil {
				return true
			}
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			step, _ := strconv.Atoi(m[3])
			if m[1] != "" && (from < least || from > most) || m[2] != "" && (to > most || to <= from) || m[3] != "" &&
				(step < 2 || step > most-1) {
				return true
			}
		}
		return false
	}
}

var callable = regexp.MustCompile(`(?i)^https?://([a-z0-9][a-z0-9_-]{0,62}\.)+[a-z0-9-]{2,63}([:/?#]|$)`)

// noCommand is a URL of another scheme or of no host, or has more than a line.
func noCommand(_ *Engine, v lookup) bool {
	command := v("command")
	isURL, _ := regexp.MatchString(`^\w+://`, command)
	return isURL && !callable.MatchString(command) || strings.ContainsAny(command, "\n\r\x00")
}

func outside(e *Engine, v lookup) bool {
	id, _ := strconv.Atoi(v("parent_domain_id"))
	site := e.tables["web_domain"].find(id)
	return site == nil || !strings.HasPrefix(v("dir"), site.text("document_root")) || strings.Contains(v("dir"), "..")
}

func notOfSite(column, of string) func(*Engine, lookup) bool {
	return func(e *Engine, v lookup) bool {
		id, _ := strconv.Atoi(v("parent_domain_id"))
		site := e.tables["web_domain"].find(id)
		return site == nil || site.text(of) != v(column)
	}
}

const mail = `^[^@\s]+@[^@\s]+\.[^@\s]+$`

// The complaints of each function in the order of the samples.
var rules = map[string][]rule{
	"client": {
		{"contact_error_empty", false, empty("contact_name")},
		{"username_error_empty", false, empty("username")},
		{"language_error_empty", false, empty("language")},
		{"email_error_isemail", false, not("email", mail)},
		{"email_error_empty", false, empty("email")},
		{"web_php_options_notempty", false, empty("web_php_options")},
		{"ssh_chroot_notempty", false, empty("ssh_chroot")},
	},
	"sites_web_domain": {
		{"no_server_error", false, empty("server_id")},
		{"domain_error_empty", true, empty("domain")},
		{"hd_quota_error_empty", false, empty("hd_quota")},
		{"hd_quota_error_regex", false, not("hd_quota", `^-?[0-9]+$`)},
		{"traffic_quota_error_empty", false, empty("traffic_quota")},
		{"traffic_quota_error_regex", false, not("traffic_quota", `^-?[0-9]+$`)},
		{"allow_override_error_empty", false, empty("allow_override")},
		{"pm_process_idle_timeout_error_regex", false, not("pm_process_idle_timeout", `^[0-9]+$`)},
		{"pm_max_requests_error_regex", false, not("pm_max_requests", `^[0-9]+$`)},
		{"http_port_error_regex", false, not("http_port", `^[0-9]+$`)},
		{"https_port_error_regex", false, not("https_port", `^[0-9]+$`)},
	},
	"sites_database_user": {
		{"database_user_error_empty", false, empty("database_user")},
		{"database_user_error_regex", false, not("database_user", `^[a-zA-Z0-9_]{2,64}$`)},
	},
	"sites_database": {
		{"database_name_error_empty", false, empty("database_name")},
		{"database_name_error_regex", false, not("database_name", `^[a-zA-Z0-9_]{2,64}$`)},
	},
	"sites_ftp_user": {
		{"quota_size_error_empty", false, empty("quota_size")},
		{"quota_size_error_regex", false, not("quota_size", `^-?[0-9]+$`)},
		{"uid_error_empty", false, empty("uid")},
		{"invalid_system_user_or_group_txt", true, notOfSite("uid", "system_user")},
		{"gid_error_empty", false, empty("gid")},
		{"invalid_system_user_or_group_txt", true, notOfSite("gid", "system_group")},
		{"directory_error_empty", false, empty("dir")},
		{"directory_error_regex", false, not("dir", `^/`)},
		{"directory_error_notinweb", true, outside},
	},
	"sites_shell_user": {
		{"invalid_username_txt", true, not("username", `^[\w.\-]{1,32}$`)},
		{"quota_size_error_empty", false, empty("quota_size")},
		{"uid_error_empty", false, empty("puser")},
		{"invalid_system_user_or_group_txt", true, notOfSite("puser", "system_user")},
		{"uid_error_empty", false, empty("pgroup")},
		{"invalid_system_user_or_group_txt", true, notOfSite("pgroup", "system_group")},
		{"shell_error_empty", false, empty("shell")},
		{"shell_error_regex", false, not("shell", `^/[a-zA-Z0-9/\-]+$`)},
		{"directory_error_empty", false, empty("dir")},
		{"directory_error_regex", false, not("dir", `^/`)},
		{"directory_error_notinweb", true, outside},
	},
	"dns_zone": {
		{"server_id_error_empty", false, empty("server_id")},
		{"origin_error_empty", false, empty("origin")},
		{"origin_error_regex", false, not("origin", `^[a-zA-Z0-9.\-/]{1,255}\.[a-zA-Z0-9\-]{2,63}\.?$`)},
		{"ns_error_regex", false, not("ns", `^[a-zA-Z0-9.\-]{1,255}$`)},
		{"mbox_error_empty", false, empty("mbox")},
		{"mbox_error_regex", false, not("mbox", `^[a-zA-Z0-9.\-_+]{0,255}\.$`)},
		{"refresh_range_error", false, below("refresh", 60)},
		{"retry_range_error", false, below("retry", 60)},
		{"expire_range_error", false, below("expire", 60)},
		{"minimum_range_error", false, below("minimum", 60)},
		{"ttl_range_error", false, below("ttl", 60)},
	},
	"dns_a":     record1(`^[a-zA-Z0-9.\-*]{0,64}$`, "ip_error_wrong", `^\d{1,3}(\.\d{1,3}){3}$`),
	"dns_aaaa":  record1(`^[a-zA-Z0-9.\-*]{0,64}$`, "ip_error_wrong", `^[0-9a-fA-F:.]+$`),
	"dns_cname": record1(`^[a-zA-Z0-9.\-*_]{0,255}$`, "data_error_regex", `^[a-zA-Z0-9.\-_]{1,255}$`),
	"dns_mx":    record1(`^[a-zA-Z0-9.\-*]{0,255}$`, "data_error_regex", `^[a-zA-Z0-9.\-]{1,255}$`),
	"dns_ns":    record1(`^[_a-zA-Z0-9.\-]{0,255}$`, "data_error_regex", `^[a-zA-Z0-9.\-]{1,255}$`),
	"dns_txt":   record1(`^(\*\.|[a-zA-Z0-9.\-_]){0,255}$`, "", ""),
	"dns_srv":   record1(`^[a-zA-Z0-9.\-_]{0,255}$`, "srv_error_regex", `^[\w.\-]{0,64}\s[\w.\-]{0,64}\s[\w.\-]{0,64}$`),
	"dns_ptr":   record1(`^[a-zA-Z0-9.\-]{1,256}$`, "data_error_regex", `^[a-zA-Z0-9.\-]{1,256}$`),
	"dns_caa": {
		{"name_error_regex", false, not("name", `^[a-zA-Z0-9.\-_*]{0,255}$`)}, {"ttl_range_error", false, below("ttl", 60)},
	},
	"mail_domain": {
		{"domain_error_empty", false, empty("domain")}, {"domain_error_regex", false, not("domain", `^[a-z0-9.\-]{2,253}$`)},
	},
	"mail_user": {
		{"email_error_isemail", false, not("email", `^[^@\s+]+@[^@\s]+\.[^@\s]+$`)},
		{"login_error_regex", false, not("login", `^[_a-z0-9][\w.\-+@]{1,63}$`)},
		{"quota_error_value", false, below("quota", 0)},
	},
	"mail_alias": {
		{"email_error_isemail", false, not("source", mail)}, {"destination_error_isemail", false, not("destination", mail)},
	},
	"mail_forward": {{"email_error_isemail", false, not("source", mail)}},
	"mail_catchall": {
		{"domain_error_empty", false, empty("source")},
		{"domain_error_regex", false, not("source", `^@[a-z0-9.\-]{2,253}$`)},
		{"destination_error_isemail", false, not("destination", mail)},
	},
	"sites_cron": {
		{"server_id_error_empty", false, empty("server_id")},
		{"run_min_error_format", true, noTime("run_min", 0, 59)},
		{"run_hour_error_format", true, noTime("run_hour", 0, 23)},
		{"run_mday_error_format", true, noTime("run_mday", 1, 31)},
		{"run_month_error_format", true, noTime("run_month", 1, 12)},
		{"run_wday_error_format", true, noTime("run_wday", 0, 7)},
		{"command_error_empty", false, empty("command")},
		{"command_error_format", true, noCommand},
	},
}

func record1(name, dataKey, data string) []rule {
	all := []rule{{"name_error_regex", false, not("name", name)}, {"data_error_empty", false, empty("data")}}
	if dataKey != "" {
		all = append(all, rule{dataKey, false, not("data", data)})
	}
	return append(all, rule{"ttl_range_error", false, below("ttl", 60)})
}

// complaints are the keys of all broken rules, joined as the engine does it.
func (e *Engine) complaints(stem string, value lookup) string {
	var out strings.Builder
	for _, r := range rules[stem] {
		if !r.breaks(e, value) {
			continue
		}
		out.WriteString(r.key)
		if r.tight {
			out.WriteString("<br>\r\n")
		} else {
			out.WriteString("<br />\r\n")
		}
	}
	return out.String()
}

// taken tells what the engine says of an equal row.
func (e *Engine) taken(stem string, params object) string {
	v := func(c string) string {
		x, _ := params.get(c)
		s := plain(x)
		if s == nil {
			return ""
		}
		return *s
	}
	there := func(table string, filter object) bool {
		found, _ := e.tables[table].match(filter)
		return len(found) > 0
	}
	switch stem {
	case "client":
		out := ""
		if v("customer_no") != "" && there("client", object{{"customer_no", v("customer_no")}}) {
			out = "customer_no_error_unique<br />\r\n"
		}
		if there("client", object{{"username", v("username")}}) {
			out += "username_error_unique<br>\r\n"
		}
		if e.Logins.isTaken(v("username")) {
			out += "Duplicate username<br />"
		}
		return out
	case "sites_database":
		if there("web_database", object{{"database_name", v("database_name")}, {"server_id", v("server_id")}}) {
			return "There is already a database with that name on the same server."
		}
	case "mail_alias":
		if there("mail_user", object{{"email", v("source")}, {"postfix", "y"}}) {
			return "There is already a mailbox with this email address."
		}
	case "mail_catchall":
		if there("mail_forwarding", object{{"source", v("source")}}) {
			return "domain_error_unique<br />\r\n"
		}
	}
	for _, u := range []struct{ stem, table, column, key string }{
		{"sites_web_domain", "web_domain", "domain", "domain_error_unique"},
		{"sites_database_user", "web_database_user", "database_user", "database_user_error_unique"},
		{"sites_ftp_user", "ftp_user", "username", "username_error_unique"},
		{"sites_shell_user", "shell_user", "username", "username_error_unique"},
		{"dns_zone", "dns_soa", "origin", "origin_error_unique"},
		{"mail_domain", "mail_domain", "domain", "domain_error_unique"},
		{"mail_user", "mail_user", "email", "email_error_unique"},
	} {
		if u.stem == stem && there(u.table, object{{u.column, v(u.column)}}) {
			return u.key + "<br />\r\n"
		}
	}
	return ""
}
