package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"hostpanel/domain"
)

// A mailbox has no switch of its own: off is a mailbox that accepts no mail and
// no login. Its directory is told once and never again, for the engine erases
// what already stands at a path that a mailbox moves to.
var mailboxes = resource{
	kind: "mailbox", table: "mail_user", lower: true, flag: "postfix", limits: []string{"limit_mailbox"},
	off:     members{{"postfix", "n"}, {"disableimap", "y"}, {"disablepop3", "y"}, {"disablesmtp", "y"}},
	storage: &storage{"mailquota_get_by_user", "email", "used_raw", "used_raw"},
	key:     "mailuser_id", stems: []string{"mail_user"}, functions: stem("mail_user"),
	on: func(s Servers) int64 { return s.Mail }, name: named("email"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"mail_user", members{{"email", name}}}}
	},
	turns: addressTurns,
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		always(natural("email")), natural("login"), mailPassword,
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
	forms: []form{
		{
			field: "local_part", sent: "as the address, which is the login",
			refused: "The hosting server takes addresses of up to 64 characters.",
			travels: func(w *wish) bool { return login.MatchString(w.Name) },
		},
		storable("name"),
		sending(strong("password", mailPassword), "each byte of its UTF-8 as a character").
			storing("hashed as Latin-1, which gives the bytes back"),
	},
}

// mailPassword is a mailbox's password. The engine turns it into Latin-1 before it
// hashes it, and mail programs send UTF-8: each byte goes as the character of its
// number.
var mailPassword = column{name: "password", changes: true, fields: []string{"password"}, secret: func(w *wish) (string, bool) {
	password := w.Secrets["password"]
	characters := make([]rune, 0, len(password))
	for i := range len(password) {
		characters = append(characters, rune(password[i]))
	}
	return string(characters), password != ""
}}

func init() {
	mailboxes.habits = habits{prepare: mailboxReady, before: ownDirectory}
	register(&mailboxes)
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
	if w.ID == 0 && w.Secrets["password"] == "" {
		return secretNeeded("a mailbox")
	}
	if err := underMailDomain(ctx, e, w); err != nil || w.ID != 0 {
		return err
	}
	settings, err := e.api.rows(ctx, "server_get", members{{"server_id", w.server}, {"section", "mail"}},
		[]string{"maildir_path", "homedir_path", "mailuser_uid", "mailuser_gid"})
	if err != nil {
		return err
	}
	if len(settings) != 1 || settings[0]["maildir_path"] == "" || settings[0].number("mailuser_uid") < 1 {
		return lacking(
			"engine_servers", fmt.Sprintf("mail settings of server %d", w.server),
			fmt.Errorf("server %d has no mail settings", w.server),
		)
	}
	w.mail = settings[0]
	return nil
}

// ownDirectory makes sure that no other mailbox lives in the directory of a
// new one: who deletes either would erase both.
func ownDirectory(ctx context.Context, e *Engine, w *wish) error {
	there, err := e.api.seek(ctx, &mailboxes, []query{{"mail_user", members{{"maildir", maildir(w)}}}})
	if err == nil && len(there) > 0 {
		err = domain.Fail(domain.Permanent, "maildir_taken", errors.New("another mailbox has the directory of this one"))
	}
	return err
}
