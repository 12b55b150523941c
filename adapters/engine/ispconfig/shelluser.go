package ispconfig

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A shell user is a site's system user under another name.
var shellUsers = resource{
	kind: "shell_user", table: "shell_user", off: members{{"active", "n"}}, limits: []string{"limit_shell_user"},
	parents: ofSite, needs: true,
	key: "shell_user_id", stems: []string{"sites_shell_user"}, functions: stem("sites_shell_user"),
	on:   func(s Servers) int64 { return s.Web },
	name: named("username"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"sites_shell_user", members{{"username", name}}}}
	},
	turns: accountTurns("shell"), reserved: coded(hosting.ReservedLogin, "reserved_login"),
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }),
		natural("username"), accountPassword,
		changing(megabytes("quota_size", "quota_mb")), changing(flag("active", "is_active")),
		given("puser", func(w *wish) any { return w.site["system_user"] }),
		given("pgroup", func(w *wish) any { return w.site["system_group"] }),
		changing(text("shell", "shell")),
		given("dir", func(w *wish) any { return w.site["document_root"] }),
		given("chroot", func(w *wish) any { return map[bool]string{true: "no", false: "jailkit"}[w.text("chroot") == "none"] }).
			from("chroot").shows("chroot", func(r row) any {
			return map[bool]string{true: "jailkit", false: "none"}[r["chroot"] == "jailkit"]
		}),
		changing(text("ssh_rsa", "ssh_public_key")),
	},
	forms: []form{
		{
			field: "username", refused: "This username belongs to the server itself.",
			travels: func(w *wish) bool { return !hosting.ReservedLogin(w.Name) },
		},
		{
			field: "ssh_public_key", refused: "The hosting server takes keys of up to 1024 characters.",
			travels: func(w *wish) bool { return len(w.text("ssh_public_key")) <= mostKey },
		},
		strong("password", accountPassword),
	},
}

const mostKey = 1024 // characters that the engine stores

func init() {
	shellUsers.habits = habits{prepare: shellReady, remarks: shellRemarks}
	register(&shellUsers)
}

var shells = []string{"/bin/bash", "/bin/sh", "/usr/sbin/nologin"}

func shellReady(ctx context.Context, e *Engine, w *wish) error {
	switch {
	case w.Name == "":
		return domain.Fail(domain.Permanent, "invalid", errors.New("a shell user without a name of its own"))
	case !slices.Contains(shells, w.text("shell")):
		return domain.Fail(domain.Permanent, "invalid", errors.New("a shell that is none of ours"))
	case w.ID == 0 && w.Secrets["password"] == "" && w.text("ssh_public_key") == "":
		return secretNeeded("a shell user without a key")
	case w.ID == 0 && w.Secrets["password"] == "": // with a key alone an empty password must not log in
		w.Secrets = map[string]string{"password": unguessable()}
	}
	return underSite(ctx, e, w)
}

// shellRemarks reports the home directory that the server creates. The row has the site's directory.
func shellRemarks(have row, observed field.Values) {
	put(observed, "home_directory", have["dir"]+"/home/"+have["username"])
}
