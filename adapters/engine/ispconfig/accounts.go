package ispconfig

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// An FTP account lives in the directory of a site and acts as the site's
// system user.
var ftpAccounts = resource{
	kind: "ftp_account", table: "ftp_user", key: "ftp_user_id", stems: []string{"sites_ftp_user"}, functions: stem("sites_ftp_user"),
	on:   func(s Servers) int64 { return s.Web },
	name: named("username"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"sites_ftp_user", members{{"username", name}}}}
	},
	turns: accountTurns("ftp"),
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }),
		natural("username"), secret("password", "password"),
		changing(megabytes("quota_size", "quota_mb")), changing(flag("active", "is_active")),
		given("uid", func(w *wish) any { return w.site["system_user"] }),
		given("gid", func(w *wish) any { return w.site["system_group"] }),
		given("dir", func(w *wish) any { return w.site["document_root"] + strings.TrimSuffix(w.text("directory"), "/") }).
			from("directory").shows("directory", func(r row) any { return belowRoot(r["dir"]) }),
		fixed("quota_files", -1), fixed("ul_ratio", -1), fixed("dl_ratio", -1), fixed("ul_bandwidth", -1), fixed("dl_bandwidth", -1),
	},
}

// A shell user is a site's system user under another name.
var shellUsers = resource{
	kind: "shell_user", table: "shell_user", key: "shell_user_id", stems: []string{"sites_shell_user"}, functions: stem("sites_shell_user"),
	on:   func(s Servers) int64 { return s.Web },
	name: named("username"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"sites_shell_user", members{{"username", name}}}}
	},
	turns: accountTurns("shell"),
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }),
		natural("username"), secret("password", "password"),
		changing(megabytes("quota_size", "quota_mb")), changing(flag("active", "is_active")),
		given("puser", func(w *wish) any { return w.site["system_user"] }),
		given("pgroup", func(w *wish) any { return w.site["system_group"] }),
		changing(text("shell", "shell")),
		given("dir", func(w *wish) any { return w.site["document_root"] }),
		given("chroot", func(w *wish) any { return map[bool]string{true: "no", false: "jailkit"}[w.text("chroot") == "none"] }).
			from("chroot").shows("chroot", func(r row) any { return map[bool]string{true: "jailkit", false: "none"}[r["chroot"] == "jailkit"] }),
		changing(text("ssh_rsa", "ssh_public_key")),
	},
}

func accountTurns(sort string) func(*wish) []Turn {
	return func(w *wish) []Turn {
		return []Turn{siteTurn(w.server, w.Parents["site"], true), {Name: sort + "/" + w.Name}}
	}
}

var root = regexp.MustCompile(`^/.*?/web[0-9]+(/.*)?$`)

// belowRoot is a directory as the panel names it: from the site's own on.
func belowRoot(dir string) string {
	if found := root.FindStringSubmatch(dir); found != nil {
		return either(found[1], "/")
	}
	return dir
}

func ftpReady(ctx context.Context, e *Engine, w *wish) error {
	if d := w.text("directory"); d != "" && !strings.HasPrefix(d, "/") || slices.Contains(strings.Split(d, "/"), "..") {
		return domain.Fail(domain.Permanent, "invalid", errors.New("the directory is not below the site's"))
	}
	if w.Name == "" {
		return domain.Fail(domain.Permanent, "invalid", errors.New("an FTP account without a name"))
	}
	if w.ID == 0 && w.Secrets["password"] == "" {
		return secretNeeded("an FTP account")
	}
	return underSite(ctx, e, w)
}

var shells = []string{"/bin/bash", "/bin/sh", "/usr/sbin/nologin"}

// systemUsers are names that the engine would let a customer take over.
var systemUsers = []string{
	"root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data", "backup", "list", "irc",
	"gnats", "nobody", "sshd", "mysql", "postfix", "dovecot", "vmail", "ispconfig", "ispapps", "getmail", "bind", "clamav", "amavis",
}

func shellReady(ctx context.Context, e *Engine, w *wish) error {
	switch {
	case w.Name == "", slices.Contains(systemUsers, strings.ToLower(w.Name)):
		return domain.Fail(domain.Permanent, "invalid", errors.New("a shell user without a name of its own"))
	case !slices.Contains(shells, w.text("shell")):
		return domain.Fail(domain.Permanent, "invalid", errors.New("a shell that is none of ours"))
	case len(w.text("ssh_public_key")) > 1024:
		return domain.Fail(domain.Permanent, "invalid", errors.New("the engine would cut the public key"))
	case w.ID == 0 && w.Secrets["password"] == "" && w.text("ssh_public_key") == "":
		return secretNeeded("a shell user without a key")
	case w.ID == 0 && w.Secrets["password"] == "": // with a key alone nobody shall get in by an empty password
		w.Secrets = map[string]string{"password": unguessable()}
	}
	return underSite(ctx, e, w)
}

// unguessable is a password that satisfies the engine and that nobody knows.
func unguessable() string { return rand.Text() + "-a1" }

// secretNeeded refuses to make what nobody, or anybody, could use.
func secretNeeded(what string) error {
	return domain.Fail(domain.Permanent, "secret_needed", fmt.Errorf("%s without a password", what))
}

func shellRemarks(have row, observed field.Values) {
	put(observed, "home_directory", have["dir"])
}
