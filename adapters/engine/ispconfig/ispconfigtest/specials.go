package ispconfigtest

import (
	"slices"
	"strconv"
	"strings"
)

// A special is a function of its own.
type special struct {
	arguments []string
	answer    func(*call) answer
}

var specials map[string]special

func init() {
	specials = map[string]special{
		"server_get_app_version": {nil, func(c *call) answer { return ok(object{{"ispc_app_version", c.engine.version}}) }},
		"server_get_all": {nil, func(*call) answer {
			return ok([]any{object{{"server_id", "1"}, {"server_name", "server1.example.test"}}})
		}},
		"config_value_get":         {[]string{"group", "name"}, (*call).configValue},
		"config_value_add":         {[]string{"group", "name", "value"}, (*call).addConfigValue},
		"config_value_update":      {[]string{"group", "name", "value"}, (*call).changeConfigValue},
		"config_value_delete":      {[]string{"group", "name"}, (*call).removeConfigValue},
		"server_ip_get":            {[]string{"primary_id"}, (*call).addresses},
		"server_get":               {[]string{"server_id", "section"}, (*call).server},
		"system_config_get":        {[]string{"section"}, (*call).systemConfig},
		"client_get_groupid":       {[]string{"client_id"}, (*call).groupID},
		"client_get_by_groupid":    {[]string{"group_id"}, (*call).byGroup},
		"client_get_by_username":   {[]string{"username"}, (*call).byLogin},
		"client_change_password":   {[]string{"client_id", "new_password"}, (*call).changePassword},
		"client_delete_everything": {[]string{"client_id"}, (*call).deleteEverything},
		"sites_web_domain_set_status": {[]string{"primary_id", "status"}, func(c *call) answer {
			return c.status("web_domain", true)
		}},
		"mail_domain_set_status": {[]string{"primary_id", "status"}, func(c *call) answer { return c.status("mail_domain", false) }},
		"dns_zone_set_status":    {[]string{"primary_id", "status"}, func(c *call) answer { return c.status("dns_soa", false) }},
		"dns_zone_get_id":        {[]string{"origin"}, (*call).zoneByPrefix},
		"dns_templatezone_add": {nil, func(c *call) answer {
			c.violate(true, "forbidden")
			return ok(true)
		}},
		"dns_rr_get_all_by_zone": {[]string{"zone_id"}, func(c *call) answer {
			found, _ := c.engine.tables["dns_rr"].match(object{{"zone", c.text("zone_id")}})
			return ok(list(c.engine.tables["dns_rr"], found))
		}},
		"mail_domain_get_by_domain": {[]string{"domain"}, func(c *call) answer {
			if c.text("domain") == "" {
				return ok(false)
			}
			found, _ := c.engine.tables["mail_domain"].match(object{{"domain", c.text("domain")}})
			return ok(list(c.engine.tables["mail_domain"], found))
		}},
		"monitor_jobqueue_count":    {[]string{"server_id"}, func(c *call) answer { return ok(strconv.Itoa(c.queue())) }},
		"sys_datalog_get":           {[]string{"datalog_id", "newer"}, (*call).jobs},
		"sys_datalog_get_by_tstamp": {[]string{"tstamp"}, (*call).jobsSince},
		"quota_get_by_user":         {[]string{"client_id"}, func(c *call) answer { return c.usage("web_domain") }},
		"mailquota_get_by_user":     {[]string{"client_id"}, func(c *call) answer { return c.usage("mail_user") }},
		"databasequota_get_by_user": {[]string{"client_id"}, func(c *call) answer { return c.usage("web_database") }},
		"trafficquota_get_by_user": {[]string{"client_id", "lastdays"}, func(c *call) answer {
			c.violate(c.number("client_id") < 1, "no client")
			return ok(c.engine.traffic)
		}},
	}
}

func (c *call) server() answer {
	return ok(object{
		{"module", "postfix_mysql"},
		{"maildir_path", "/var/vmail/[domain]/[localpart]"},
		{"homedir_path", "/var/vmail"},
		{"maildir_format", "maildir"},
		{"rspamd_password", "rspamd-secret"},
		{"mailuser_uid", "5000"},
		{"mailuser_gid", "5000"},
		{"relayhost_password", "relay-secret"},
	})
}

// serverAddresses are those of the only server.
var serverAddresses = []string{"192.0.2.7", "192.0.2.10", "192.0.2.11", "2001:db8::7"}

func (c *call) addresses() answer {
	filter, _ := c.value("primary_id").(object)
	server, _ := filter.get("server_id")
	all := []any{}
	if s := plain(server); s != nil && *s == "1" {
		for i, address := range serverAddresses {
			all = append(
				all,
				object{
					{"server_ip_id", strconv.Itoa(i + 1)},
					{"server_id", "1"},
					{"client_id", strconv.FormatInt(c.engine.Reserved[address], 10)},
					{"ip_address", address},
					{"virtualhost", "y"},
				},
			)
		}
	}
	return ok(all)
}

func (c *call) systemConfig() answer {
	if c.text("section") != "misc" {
		return ok(false)
	}
	rule := c.engine.Passwords
	return ok(object{
		{"company_name", ""},
		{"maintenance_mode", "n"},
		{"session_timeout", "0"},
		{"min_password_length", strconv.Itoa(rule.Length)},
		{"min_password_strength", strconv.Itoa(rule.Strength)},
		{"show_delete_on_forms", "n"},
	})
}

func (c *call) groupID() answer {
	client := c.number("client_id")
	c.violate(client < 1, "no client")
	if client < 1 {
		return ok(1)
	}
	group, known := c.engine.groups[client]
	if !known {
		return remote("There is no group for this client ID.")
	}
	return ok(group)
}

func (c *call) byGroup() answer {
	for client, group := range c.engine.groups {
		if group == c.number("group_id") {
			return ok(c.engine.tables["client"].show(c.engine.tables["client"].find(client)))
		}
	}
	return remote("There is no user account for this client_id")
}

// byLogin tells of a login, with its hash. Of several with one name it tells of the oldest.
func (c *call) byLogin() answer {
	for _, l := range c.engine.Logins.all {
		if l.name != c.text("username") {
			continue
		}
		group := strconv.Itoa(c.engine.groups[l.client])
		return ok(object{
			{"userid", group},
			{"sys_groupid", group},
			{"username", l.name},
			{"passwort", l.hash},
			{"typ", "user"},
			{"active", "1"},
			{"default_group", group},
			{"client_id", strconv.Itoa(l.client)},
		})
	}
	return remote("There is no user account for this user name.")
}

func (c *call) changePassword() answer {
	r := c.engine.tables["client"].find(c.number("client_id"))
	if r == nil {
		return remote("There is no user account for this client_id")
	}
	r.set("password", hashed(c.text("new_password")))
	return ok(true)
}

func (c *call) deleteEverything() answer {
	e, client := c.engine, c.number("client_id")
	r := e.tables["client"].find(client)
	if r == nil {
		return ok(0)
	}
	for name, t := range e.tables {
		for _, owned := range slices.Clone(t.rows) {
			if name != "client" && owned.text("sys_groupid") == strconv.Itoa(e.groups[client]) {
				t.remove(owned)
				e.note(t, "d", owned, nil)
			}
		}
	}
	e.tables["client"].remove(r)
	e.dismiss(client)
	return ok(1)
}

// status switches a row; only of sites does a server ever hear of it.
func (c *call) status(name string, journals bool) answer {
	c.violate(!journals, "forbidden")
	value, known := map[string]string{"active": "y", "inactive": "n"}[c.text("status")]
	if !known {
		return remote("The status is not available")
	}
	t := c.engine.tables[name]
	r := t.find(c.number("primary_id"))
	if r == nil || r.text("active") == value {
		return ok(0)
	}
	was := r.copy()
	t.put(r, "active", value)
	if journals {
		c.engine.note(t, "u", was, r)
	}
	return ok(1)
}

func (c *call) zoneByPrefix() answer {
	c.violate(true, "forbidden")
	for _, r := range c.engine.tables["dns_soa"].rows {
		if strings.HasPrefix(r.text("origin"), c.text("origin")) {
			return ok(r.text("id"))
		}
	}
	return ok(false)
}

func (c *call) queue() int {
	server := c.number("server_id")
	c.violate(server != 1, "the queue of no server")
	if server > 1 {
		return 0
	}
	return c.engine.waiting(server)
}

func (c *call) jobs() answer {
	all := []any{}
	for _, j := range slices.Backward(c.engine.journal) {
		if j.id == c.number("datalog_id") || c.value("newer") == true && j.id > c.number("datalog_id") {
			all = append(all, j.show())
		}
	}
	return ok(all)
}

func (c *call) jobsSince() answer {
	all := []any{}
	for _, j := range slices.Backward(c.engine.journal) {
		if at, _ := strconv.Atoi(j.at); at >= c.number("tstamp") {
			all = append(all, j.show())
		}
	}
	return ok(all)
}

func (c *call) usage(name string) answer {
	e := c.engine
	c.violate(c.number("client_id") < 1, "no client")
	t := e.tables[name]
	all := []any{}
	for _, r := range t.rows {
		if r.text("sys_groupid") != strconv.Itoa(e.groups[c.number("client_id")]) {
			continue
		}
		row := t.show(r)
		bytes, known := e.used[name+":"+r.text(t.key)]
		var used any
		if known {
			used = int(bytes / 1024)
		}
		all = append(all, append(row, pair{"used", used}, pair{"used_raw", int(bytes)}))
	}
	return ok(all)
}
