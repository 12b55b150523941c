package ispconfigtest

import (
	"crypto/sha1" //nolint:gosec // the hash of MySQL's own passwords
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sent are the columns that an addition has to send with a value, and repeated
// those of an update.
var sent = map[string]string{
	"client": "customer_no contact_name company_name username password email language country usertheme " +
		"web_php_options ssh_chroot limit_client locked canceled default_webserver web_servers limit_cron_type " +
		"mail_servers db_servers dns_servers limit_database_quota limit_web_domain limit_mailbox",
	"web_domain": "server_id domain hd_quota traffic_quota allow_override pm_process_idle_timeout " +
		"pm_max_requests http_port https_port ip_address ipv6_address type parent_domain_id vhost_type cgi ssi " +
		"suexec errordocs subdomain ssl ssl_letsencrypt php stats_type pm pm_max_children pm_start_servers " +
		"pm_min_spare_servers pm_max_spare_servers log_retention active",
	"web_database_user": "server_id database_user database_password",
	"web_database": "server_id type parent_domain_id database_name database_user_id database_ro_user_id " +
		"database_charset remote_access remote_ips database_quota active",
	"ftp_user": "server_id parent_domain_id username password quota_size active uid gid dir quota_files " +
		"ul_ratio dl_ratio ul_bandwidth dl_bandwidth",
	"shell_user":  "server_id parent_domain_id username password quota_size active puser pgroup shell dir chroot ssh_rsa",
	"cron":        "server_id parent_domain_id type command run_min run_hour run_mday run_month run_wday log active",
	"dns_soa":     "server_id origin ns mbox serial refresh retry expire minimum ttl active xfer also_notify update_acl",
	"dns_rr":      "server_id zone name type data aux ttl active",
	"mail_domain": "server_id domain active",
	"mail_user": "server_id email login password name uid gid maildir homedir quota cc move_junk autoresponder " +
		"postfix disableimap disablepop3 disablesmtp disabledeliver greylisting purge_trash_days purge_junk_days",
	"mail_forwarding": "server_id source destination type active",
}

var repeated = map[string]string{
	"client": "password", "mail_domain": "server_id domain active", "dns_rr": "zone", "mail_user": "email", "dns_soa": "serial",
	"web_domain": "pm_max_children pm_start_servers pm_min_spare_servers pm_max_spare_servers log_retention",
}

var neverSent = []string{"_primary_id", "document_root", "system_user", "system_group"}

func (c *call) inspect(t *table, params object, needed string) {
	names := map[string]bool{}
	for _, p := range params {
		c.violate(names[p.name], "column "+p.name+" twice")
		names[p.name] = true
	}
	for _, p := range params {
		c.violate(!t.has(p.name), "unknown column "+p.name)
		c.violate(slices.Contains(neverSent, p.name), "column "+p.name)
		text, is := p.value.(string)
		c.violate(t.flags[p.name] && (!is || text != "y" && text != "n") && !isEmptyFlag(t, p), "flag "+p.name+" that is none")
	}
	for column := range strings.FieldsSeq(needed) {
		_, there := params.get(column)
		c.violate(!there, "no column "+column)
	}
}

// isEmptyFlag reports whether a client's flag is sent as an empty text. The engine stores it as
// `n`, and starts no action.
func isEmptyFlag(t *table, p pair) bool {
	return t.name == "client" && (p.name == "locked" || p.name == "canceled") && p.value == ""
}

func merged(r *record, params object) lookup {
	return func(column string) string {
		if v, given := params.get(column); given {
			if s := plain(v); s != nil {
				return *s
			}
			return ""
		}
		if r == nil {
			return ""
		}
		return r.text(column)
	}
}

func (c *call) add(stem string, t *table) answer {
	e, params := c.engine, c.params()
	if !c.quiet {
		e.pause(c.function)
	}
	c.inspect(t, params, sent[t.name])
	if keys := e.complaints(stem, merged(nil, params)); keys != "" {
		return remote(keys)
	}
	if said := e.Passwords.refuse(t, params); said != "" {
		return remote(said)
	}
	group, fine := c.groupFor(stem)
	if !fine {
		return remote("Invalid client_id " + c.text("client_id"))
	}
	if said := e.taken(stem, params); said != "" {
		return remote(said)
	}
	if e.between != nil {
		hook := e.between
		e.mu.Unlock()
		hook()
		e.mu.Lock()
	}
	if said := e.indexed(t, params); said != "" {
		return remote(said)
	}
	v := merged(nil, params)
	r := t.insert(params, or(v("server_id"), "0"), group)
	if t.name == "dns_rr" {
		lowerRecord(r)
	}
	e.hash(t, r, v)
	c.step()
	if t.name == "client" { // its key of SSH takes the engine longest
		r.set("created_at", strconv.FormatInt(e.now.Unix(), 10))
		c.step()
	}
	if t.name == "web_domain" {
		e.house(r, v, c)
		c.step()
	}
	if t.name == "web_database" {
		e.follow(r, v("parent_domain_id"))
	}
	e.note(t, "i", nil, r)
	c.step()
	if t.name == "client" {
		c.admit(r)
	}
	if t.name == "dns_rr" && c.value("update_serial") == true {
		c.moveZone(r.text("zone"), group)
		e.raise(r.text("zone"))
	}
	return ok(r.text(t.key))
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// groupFor is the group that a new row will belong to.
func (c *call) groupFor(stem string) (int, bool) {
	if stem == "client" {
		return 1, true
	}
	client := c.number("client_id")
	c.violate(client < 1, "a row without an owner")
	if client < 1 {
		return 1, true
	}
	group, known := c.engine.groups[client]
	return group, known && c.engine.Logins.has(client)
}

// indexed is the complaint of the database itself, which is all that stands
// between two equal rows, of two tables only.
func (e *Engine) indexed(t *table, params object) string {
	v := merged(nil, params)
	for _, r := range t.rows {
		twice := t.name == "dns_soa" && r.text("origin") == v("origin") ||
			t.name == "web_domain" && r.text("domain") == v("domain") && r.text("server_id") == v("server_id") &&
				r.text("ip_address") == v("ip_address")
		if twice {
			return fmt.Sprintf(
				"Duplicate entry '%s' for key 'origin' INSERT INTO `%s` (`secret`) VALUES ('%s')",
				v("origin")+v("domain"), t.name, v("password"),
			)
		}
	}
	return ""
}

// hash stores passwords as the engine does.
func (e *Engine) hash(t *table, r *record, v lookup) {
	switch t.name {
	case "client":
		r.set("password", hashed(v("password")))
	case "web_database_user":
		r.set("database_password", mysqlHash(v("database_password")))
	case "ftp_user", "shell_user":
		r.set("password", hashed(v("password")))
	case "mail_user":
		r.set("password", hashed(latin1(v("password"))))
	}
}

// mysqlHash hashes the text as it is escaped for SQL, which is what the engine does.
func mysqlHash(password string) string {
	escaped := strings.NewReplacer("\\", `\\`, "'", `\'`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`).Replace(password)
	inner := sha1.Sum([]byte(escaped))
	outer := sha1.Sum(inner[:])
	return fmt.Sprintf("*%X", outer)
}

// latin1 is a text in the character set in which mailbox passwords are hashed.
func latin1(s string) string {
	var b []byte
	for _, c := range s {
		if c > 0xFF {
			c = '?'
		}
		b = append(b, byte(c))
	}
	return string(b)
}

// house gives a new site its directory and its user, in a step of its own.
func (e *Engine) house(r *record, v lookup, c *call) {
	if v("server_id") != "1" {
		return
	}
	id := r.text("domain_id")
	r.set("sys_perm_group", "ru")
	client := c.text("client_id")
	root := fmt.Sprintf("/var/www/clients/client%s/web%s", client, id)
	r.set("document_root", root)
	r.set("php_open_basedir", strings.Join([]string{
		root + "/web", root + "/private", root + "/tmp", "/var/www/" + v("domain") + "/web",
		"/srv/www/" + v("domain") + "/web", "/usr/share/php/8.2",
		"/usr/share/php", "/tmp", "/usr/share/phpmyadmin", "/etc/phpmyadmin", "/var/lib/phpmyadmin", "/dev/random", "/dev/urandom",
	}, ":"))
	r.set("system_user", "web"+id)
	r.set("system_group", "client"+client)
	r.set("is_subdomainwww", map[bool]string{true: "1", false: "0"}[v("subdomain") == "www"])
}

func hashed(password string) string {
	if password == "" {
		return ""
	}
	return fmt.Sprintf("$6$hash-of-%x", len(password)) + strconv.FormatUint(sum(password), 36)
}

func sum(s string) (n uint64) {
	for _, b := range []byte(s) {
		n = n*1099511628211 + uint64(b)
	}
	return n
}

// follow gives a database to the owner of the site that it is put under.
func (e *Engine) follow(r *record, site string) {
	if site == "" || site == "0" {
		return
	}
	id, _ := strconv.Atoi(site)
	group := "0"
	if s := e.tables["web_domain"].find(id); s != nil {
		group = s.text("sys_groupid")
	}
	r.set("sys_groupid", group)
}

// moveZone gives a zone to the client that writes a record into it.
func (c *call) moveZone(zone string, group int) {
	id, _ := strconv.Atoi(zone)
	if r := c.engine.tables["dns_soa"].find(id); r != nil && c.number("client_id") > 0 {
		c.violate(r.text("sys_groupid") != strconv.Itoa(group), "a record by another owner than the zone's")
		r.set("sys_groupid", strconv.Itoa(group))
	}
}

func (c *call) update(stem string, t *table) answer {
	e, params := c.engine, c.params()
	c.inspect(t, params, repeated[t.name])
	c.violate(stem != "client" && c.number("client_id") != 0, "an update that names an owner")
	id := 0
	if s := plain(c.id(stem)); s != nil {
		id, _ = strconv.Atoi(*s)
	}
	c.violate(id < 1, "a number below one")
	r := t.find(id)
	for _, p := range params {
		is := stem == "client" && (p.name == "locked" || p.name == "canceled")
		c.violate(is && (!isEmptyFlag(t, p) || r == nil || r.text(p.name) != "n"), p.name)
	}
	if keys := e.complaints(stem, merged(r, params)); keys != "" {
		return remote(keys)
	}
	if said := e.Passwords.refuse(t, params); said != "" {
		return remote(said)
	}
	if r == nil {
		return ok(0)
	}
	was := r.copy()
	c.rewrite(stem, t, r, params)
	if t.name == "dns_rr" {
		lowerRecord(r)
	}
	if group, known := e.groups[c.number("client_id")]; known && stem != "client" {
		r.set("sys_groupid", strconv.Itoa(group))
	}
	changed := serialised(t.columns, was.values) != serialised(t.columns, r.values)
	c.step()
	e.note(t, "u", was, r)
	c.step()
	if t.name == "dns_rr" && c.value("update_serial") == true {
		if _, told := params.get("zone"); !told {
			return html()
		}
		c.moveZone(r.text("zone"), e.groups[c.number("client_id")])
		e.raise(r.text("zone"))
	}
	return ok(map[bool]int{true: 1, false: 0}[changed])
}
