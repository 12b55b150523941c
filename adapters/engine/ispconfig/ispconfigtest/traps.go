package ispconfigtest

import (
	"strconv"
	"strings"
)

// rewrite carries out an update with everything that the engine does along
// with it, asked or not.
func (c *call) rewrite(stem string, t *table, r *record, params object) {
	was := r.copy()
	for _, p := range params {
		if !t.has(p.name) || p.name == t.key {
			continue
		}
		if strings.HasSuffix(p.name, "password") {
			continue
		}
		t.put(r, p.name, p.value)
	}
	c.newPassword(t, r, params)
	switch t.name {
	case "mail_domain":
		if _, told := params.get("domain"); !told {
			c.violate(true, "a mail domain without its name")
			c.engine.renameMail(was.text("domain"), "")
			r.set("domain", "")
		}
	case "client":
		if locked, told := params.get("locked"); !told || locked != "" || c.engine.Wakes {
			c.engine.wake(r)
		}
	case "web_domain":
		for column, value := range map[string]string{
			"pm_max_children": "1", "pm_start_servers": "1", "pm_min_spare_servers": "1", "pm_max_spare_servers": "1",
			"log_retention": "30",
		} {
			if _, told := params.get(column); !told {
				r.set(column, value)
			}
		}
	case "web_database":
		if site, told := params.get("parent_domain_id"); told {
			c.engine.follow(r, *plain(site))
		}
	case "mail_user":
		_, moved := params.get("maildir")
		c.violate(moved, "the directory of a mailbox that is there")
	}
}

// newPassword hashes a password that was sent. A client's is hashed again if
// none was.
func (c *call) newPassword(t *table, r *record, params object) {
	for _, column := range []string{"password", "database_password"} {
		if !t.has(column) {
			continue
		}
		sent, told := params.get(column)
		password := ""
		if s := plain(sent); s != nil {
			password = *s
		}
		switch {
		case password != "" && t.name == "web_database_user":
			r.set(column, mysqlHash(password))
		case password != "" && t.name == "mail_user":
			r.set(column, hashed(latin1(password)))
		case password != "":
			r.set(column, hashed(password))
		case !told && t.name == "client":
			r.set(column, hashed(r.text(column)))
		}
	}
}

func (e *Engine) renameMail(from, to string) {
	for _, r := range e.tables["mail_user"].rows {
		if local, at, _ := strings.Cut(r.text("email"), "@"); at == from {
			r.set("email", local+"@"+to)
			r.set("maildir", "")
		}
	}
	for _, r := range e.tables["mail_forwarding"].rows {
		if local, at, _ := strings.Cut(r.text("source"), "@"); at == from {
			r.set("source", local+"@"+to)
		}
	}
}

// wake turns on whatever of a client's is off.
func (e *Engine) wake(client *record) {
	if client.text("locked") != "n" {
		return
	}
	id, _ := strconv.Atoi(client.text("client_id"))
	group := strconv.Itoa(e.groups[id])
	for _, name := range []string{"web_domain", "mail_domain", "mail_forwarding", "web_database", "ftp_user", "shell_user", "cron"} {
		e.wakeAll(name, group, "active", "y")
	}
	e.wakeAll("mail_user", group, "postfix", "y")
	e.wakeAll("mail_user", group, "disablesmtp", "n")
	e.wakeAll("mail_user", group, "disableimap", "n")
	e.wakeAll("mail_user", group, "disablepop3", "n")
}

func (e *Engine) wakeAll(name, group, column, value string) {
	t := e.tables[name]
	for _, r := range t.rows {
		if r.text("sys_groupid") == group {
			was := r.copy()
			r.set(column, value)
			e.note(t, "u", was, r)
		}
	}
}
