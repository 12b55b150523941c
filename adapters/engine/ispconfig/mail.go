package ispconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A mail domain is always sent with its name as it is stored: an update
// without it renames the domain to nothing, and every mailbox with it.
var mailDomains = resource{
	kind: "mail_domain", table: "mail_domain", key: "domain_id", stems: []string{"mail_domain"}, functions: stem("mail_domain"),
	on: func(s Servers) int64 { return s.Mail }, name: named("domain"),
	turns: func(w *wish) []Turn { return []Turn{{Name: "maildomain/" + w.Name}} },
	columns: []column{
		always(given("server_id", func(w *wish) any { return w.server })),
		always(natural("domain")),
		always(changing(flag("active", "is_active"))),
		dkim("dkim", func(w *wish) any { return yes(w.flag("dkim_enabled")) }).shows("dkim_enabled", func(r row) any { return r.on("dkim") }),
		dkim("dkim_selector", func(w *wish) any { return w.text("dkim_selector") }),
		dkim("dkim_public", func(w *wish) any { return w.text("dkim_public") }),
		secret("dkim_private", "dkim_private"),
	},
}

// dkim is a column that is only sent for domains that sign.
func dkim(name string, value func(*wish) any) column {
	return given(name, func(w *wish) any {
		if !w.flag("dkim_enabled") && (name != "dkim" || w.ID == 0) {
			return nil
		}
		return value(w)
	}).from("dkim_enabled", "dkim_selector", "dkim_public")
}

// A mailbox has no switch of its own: off is what delivers nothing and lets
// nobody in. Its directory is told once and never again, for the engine
// erases what already stands at a path that a mailbox moves to.
var mailboxes = resource{
	kind: "mailbox", table: "mail_user", key: "mailuser_id", stems: []string{"mail_user"}, functions: stem("mail_user"),
	on: func(s Servers) int64 { return s.Mail }, name: named("email"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"mail_user", members{{"email", name}}}}
	},
	turns: addressTurns,
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		always(natural("email")), natural("login"), secret("password", "password"),
		changing(text("name", "name")),
		given("uid", func(w *wish) any { return w.mail.number("mailuser_uid") }),
		given("gid", func(w *wish) any { return w.mail.number("mailuser_gid") }),
		given("maildir", func(w *wish) any { return maildir(w) }),
		given("homedir", func(w *wish) any { return w.mail["homedir_path"] }),
		given("quota", func(w *wish) any { return max(0, w.number("quota_mb")) << 20 }).from("quota_mb").
			shows("quota_mb", func(r row) any { return megabytesOf(r.number("quota")) }),
		fixed("cc", ""), fixed("move_junk", "n"), fixed("autoresponder", "n"),
		changing(flag("postfix", "is_active")),
		barred("disableimap", "imap_enabled"), barred("disablepop3", "pop3_enabled"), barred("disablesmtp", "smtp_enabled"),
		fixed("disabledeliver", "n"), fixed("greylisting", "n"), fixed("purge_trash_days", 0), fixed("purge_junk_days", 0),
	},
}

// barred is a flag of the engine that says the opposite of a field; a mailbox
// that is off is barred from everything.
func barred(name, allowed string) column {
	c := given(name, func(w *wish) any { return yes(!w.flag("is_active") || !w.flag(allowed)) }).from("is_active", allowed)
	c.show = func(r row) (string, any) {
		if !r.on("postfix") {
			return "", nil // what it was before it was switched off is not known
		}
		return allowed, !r.on(name)
	}
	return c
}

func megabytesOf(bytes int64) int64 {
	if bytes == 0 {
		return -1
	}
	return bytes >> 20
}

func maildir(w *wish) string {
	local, at, _ := strings.Cut(w.Name, "@")
	return strings.NewReplacer("[domain]", at, "[localpart]", local).Replace(w.mail["maildir_path"])
}

var login = regexp.MustCompile(`^[_a-z0-9][\w.\-@]{1,63}$`)

func mailboxReady(ctx context.Context, e *Engine, w *wish) error {
	if !login.MatchString(w.Name) {
		return domain.Fail(domain.Permanent, "invalid", errors.New("a mailbox with an address that the engine does not take"))
	}
	if w.ID == 0 && w.Secrets["password"] == "" {
		return secretNeeded("a mailbox")
	}
	if err := underMailDomain(ctx, e, w); err != nil || w.ID != 0 {
		return err
	}
	settings, err := e.rows(ctx, "server_get", members{{"server_id", w.server}, {"section", "mail"}},
		[]string{"maildir_path", "homedir_path", "mailuser_uid", "mailuser_gid"})
	if err != nil {
		return err
	}
	if len(settings) != 1 || settings[0]["maildir_path"] == "" || settings[0].number("mailuser_uid") < 1 {
		return domain.Fail(domain.Permanent, "engine_servers", fmt.Errorf("server %d has no mail settings", w.server))
	}
	w.mail = settings[0]
	return nil
}

// ownDirectory makes sure that no other mailbox lives in the directory of a
// new one: who deletes either would erase both.
func ownDirectory(ctx context.Context, e *Engine, w *wish) error {
	there, err := e.seek(ctx, &mailboxes, []query{{"mail_user", members{{"maildir", maildir(w)}}}})
	if err == nil && len(there) > 0 {
		err = domain.Fail(domain.Permanent, "maildir_taken", errors.New("another mailbox has the directory of this one"))
	}
	return err
}

// underMailDomain reads the mail domain that an address belongs to.
func underMailDomain(ctx context.Context, e *Engine, w *wish) error {
	have, err := e.parent(ctx, &mailDomains, w.Parents["mail_domain"], w.group)
	if err != nil {
		return err
	}
	if _, at, _ := strings.Cut(w.Name, "@"); at != have["domain"] {
		return drifted("mail_domain", have.number("domain_id"))
	}
	w.server = have.number("server_id")
	return nil
}

// An alias, a forward and a catch-all are rows of one table with functions of
// their own. The functions that read do not mind which is which.
var aliases = resource{
	kind: "mail_alias", table: "mail_forwarding", key: "forwarding_id",
	stems:     []string{"mail_alias", "mail_forward", "mail_catchall"},
	functions: func(r row) string { return "mail_" + r["type"] },
	on:        func(s Servers) int64 { return s.Mail }, name: named("source"), addresses: known,
	queries: func(name, _ string, _ Servers) []query {
		if strings.HasPrefix(name, "@") {
			return []query{{"mail_catchall", members{{"source", name}, {"type", "catchall"}}}}
		}
		return []query{
			{"mail_alias", members{{"source", name}, {"type", "alias"}}},
			{"mail_forward", members{{"source", name}, {"type", "forward"}}},
		}
	},
	turns: addressTurns,
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		natural("source"),
		given("destination", func(w *wish) any { return destinations(w) }).from("destination", "destinations").
			shows("destination", func(r row) any { return strings.ReplaceAll(r["destination"], ",", ", ") }),
		given("type", func(w *wish) any { return aliasType(w) }).shows("alias_type", func(r row) any { return r["type"] }),
		changing(flag("active", "is_active")),
	},
	replaced: func(w *wish, have row) bool { return aliasType(w) != have["type"] },
}

func known(r row) bool {
	return r["type"] == "alias" || r["type"] == "forward" || r["type"] == "catchall"
}

func addressTurns(w *wish) []Turn {
	_, at, _ := strings.Cut(w.Name, "@")
	return []Turn{{Name: "maildomain/" + at, Shared: true}, {Name: "address/" + w.Name}}
}

func aliasReady(ctx context.Context, e *Engine, w *wish) error {
	if destinations(w) == "" {
		return domain.Fail(domain.Permanent, "invalid", errors.New("an alias without a destination"))
	}
	return underMailDomain(ctx, e, w)
}

// aliasType is the panel's word where it has one: only the panel knows whether
// a destination is a mailbox of its own.
func aliasType(w *wish) string {
	switch {
	case strings.HasPrefix(w.Name, "@"):
		return "catchall"
	case w.text("alias_type") == "alias":
		return "alias"
	}
	return "forward"
}

// destinations are the addresses, joined as the engine wants them.
func destinations(w *wish) string {
	var list []string
	if json.Unmarshal(w.Values["destinations"], &list) != nil || len(list) == 0 {
		list = strings.Split(w.text("destination"), ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return strings.Join(list, ",")
}

func findMailDomain(ctx context.Context, e *Engine, name string) ([]row, error) {
	if name == "" {
		return nil, nil
	}
	return e.rows(ctx, "mail_domain_get_by_domain", members{{"domain", name}}, mailDomains.picks())
}

func mailDomainKeeps(ctx context.Context, e *Engine, have row) (string, error) {
	for _, r := range []*resource{&mailboxes, &aliases} {
		found, err := e.owned(ctx, r, have.number("sys_groupid"))
		if err != nil {
			return "", err
		}
		for _, f := range found {
			if strings.HasSuffix(r.name(f), "@"+have["domain"]) {
				return r.kind, nil
			}
		}
	}
	return "", nil
}

// put sets one of the panel's fields.
func put(all field.Values, name string, value any) {
	all[name], _ = json.Marshal(value) // text, numbers and flags have no errors
}

func values(pairs ...any) field.Values {
	all := field.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		put(all, name, pairs[i+1])
	}
	return all
}
