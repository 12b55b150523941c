package ispconfigtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A call is one function with its arguments.
type call struct {
	engine    *Engine
	function  string
	arguments object
	quiet     bool // a direct call, which no rule checks
}

func (c *call) value(name string) any { v, _ := c.arguments.get(name); return v }

func (c *call) text(name string) string {
	if s := plain(c.value(name)); s != nil {
		return *s
	}
	return ""
}

func (c *call) number(name string) int { n, _ := strconv.Atoi(c.text(name)); return n }

func (c *call) params() object { p, _ := c.value("params").(object); return p }

// stems of the functions that add, read, update and delete rows, and where.
var stems = map[string]string{
	"client": "client", "sites_web_domain": "web_domain", "sites_database_user": "web_database_user", "sites_database": "web_database",
	"sites_ftp_user": "ftp_user", "sites_shell_user": "shell_user", "sites_cron": "cron", "dns_zone": "dns_soa",
	"dns_a": "dns_rr", "dns_aaaa": "dns_rr", "dns_cname": "dns_rr", "dns_mx": "dns_rr", "dns_txt": "dns_rr", "dns_ns": "dns_rr",
	"dns_srv": "dns_rr", "dns_caa": "dns_rr", "dns_ptr": "dns_rr",
	"mail_domain": "mail_domain", "mail_user": "mail_user",
	"mail_alias": "mail_forwarding", "mail_forward": "mail_forwarding", "mail_catchall": "mail_forwarding",
}

func (c *call) answer() answer {
	if special, is := specials[c.function]; is {
		c.judge(special.arguments)
		return special.answer(c)
	}
	for _, verb := range []struct {
		suffix    string
		arguments []string
		answer    func(*call, string, *table) answer
	}{
		{"_add", []string{"client_id", "reseller_id", "params", "update_serial"}, (*call).add},
		{"_get", []string{"primary_id", "client_id", "cron_id"}, (*call).get},
		{"_update", []string{"client_id", "reseller_id", "primary_id", "cron_id", "params", "update_serial"}, (*call).update},
		{"_delete", []string{"primary_id", "client_id", "cron_id", "update_serial"}, (*call).remove},
	} {
		stem, is := strings.CutSuffix(c.function, verb.suffix)
		if name, known := stems[stem]; is && known {
			c.judge(verb.arguments)
			return verb.answer(c, stem, c.engine.tables[name])
		}
	}
	return fault("invalid_method", "Method "+c.function+" does not exist")
}

// id is the argument that names a row.
func (c *call) id(stem string) any {
	switch stem {
	case "client":
		return c.value("client_id")
	case "sites_cron":
		return c.value("cron_id")
	}
	return c.value("primary_id")
}

func (c *call) get(stem string, t *table) answer {
	switch v := c.id(stem).(type) {
	case object:
		found, unknown := t.match(v)
		c.violate(len(unknown) > 0, "unknown filter column "+strings.Join(unknown, ", "))
		return ok(list(t, found))
	default:
		n := 0
		if s := plain(v); s != nil {
			n, _ = strconv.Atoi(*s)
		}
		c.violate(n < 1, "a number below one")
		switch {
		case n == -1:
			return ok(list(t, t.rows))
		case n < 1:
			return remote("The ID has to be > 0 or -1.")
		}
		r := t.find(n)
		if r == nil {
			return ok(nil)
		}
		return ok(t.show(r))
	}
}

func list(t *table, rows []*record) any {
	all := []any{}
	for _, r := range rows {
		all = append(all, t.show(r))
	}
	return all
}

func (c *call) remove(stem string, t *table) answer {
	number, whole := c.id(stem).(json.Number)
	id := 0
	if whole {
		id, _ = strconv.Atoi(number.String())
	}
	c.violate(id < 1, "a number that is none")
	r := t.find(id)
	serial := c.value("update_serial") == true
	if r == nil && t.name == "dns_rr" && serial {
		return html()
	}
	e := c.engine
	if r == nil {
		if stem == "client" {
			e.dismiss(id) // a group and a login go without a client, too
		}
		return ok(0)
	}
	if stem == "client" {
		c.violate(e.ownsRows(id), "client_delete of a client who owns rows")
		e.dismiss(id)
	}
	t.remove(r)
	e.note(t, "d", r, nil)
	if t.name == "web_database_user" {
		for _, d := range e.tables["web_database"].rows {
			if d.text("database_user_id") == strconv.Itoa(id) {
				c.violate(true, "the user of a database that is used")
				d.values["database_user_id"] = nil
			}
		}
	}
	if t.name == "dns_rr" && serial {
		e.raise(r.text("zone"))
	}
	return ok(1)
}

func (e *Engine) ownsRows(client int) bool {
	for name, t := range e.tables {
		for _, r := range t.rows {
			if name != "client" && r.text("sys_groupid") == strconv.Itoa(e.groups[client]) {
				return true
			}
		}
	}
	return false
}

// raise counts a zone's serial up, with a job.
func (e *Engine) raise(zone string) {
	id, _ := strconv.Atoi(zone)
	r := e.tables["dns_soa"].find(id)
	if r == nil {
		return
	}
	was := r.copy()
	today := e.now.Format("20060102")
	serial := r.text("serial")
	n, _ := strconv.Atoi(serial)
	first, _ := strconv.Atoi(today + "01")
	switch {
	case n/100 < first/100:
		n = first
	case n%100 == 99:
		day := e.now.AddDate(0, 0, 1).Format("20060102")
		n, _ = strconv.Atoi(day + "00")
	default:
		n++
	}
	r.set("serial", strconv.Itoa(n))
	e.note(e.tables["dns_soa"], "u", was, r)
}

// judge writes down what no caller should ever send.
func (c *call) judge(known []string) {
	for _, a := range c.arguments {
		c.violate(a.name != "session_id" && !slices.Contains(known, a.name), "unknown argument "+a.name)
	}
}

func (c *call) violate(is bool, what string) {
	if is && !c.quiet {
		c.engine.violations = append(c.engine.violations, c.function+": "+what)
	}
}
