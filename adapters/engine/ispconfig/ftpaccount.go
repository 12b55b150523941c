package ispconfig

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
)

// An FTP account lives in the directory of a site and acts as the site's
// system user.
var ftpAccounts = resource{
	kind: "ftp_account", table: "ftp_user", off: members{{"active", "n"}}, limits: []string{"limit_ftp_user"},
	parents: ofSite, needs: true,
	key: "ftp_user_id", stems: []string{"sites_ftp_user"}, functions: stem("sites_ftp_user"),
	on:   func(s Servers) int64 { return s.Web },
	name: named("username"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"sites_ftp_user", members{{"username", name}}}}
	},
	turns: accountTurns("ftp"),
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }),
		natural("username"), accountPassword,
		changing(megabytes("quota_size", "quota_mb")), changing(flag("active", "is_active")),
		given("uid", func(w *wish) any { return w.site["system_user"] }),
		given("gid", func(w *wish) any { return w.site["system_group"] }),
		given("dir", func(w *wish) any { return w.site["document_root"] + strings.TrimSuffix(w.text("directory"), "/") }).
			from("directory").shows("directory", func(r row) any { return belowRoot(r["dir"]) }),
		fixed("quota_files", -1), fixed("ul_ratio", -1), fixed("dl_ratio", -1), fixed("ul_bandwidth", -1), fixed("dl_bandwidth", -1),
	},
	forms: []form{
		sending(matching("directory", `^(/[a-zA-Z0-9 ._/-]{0,79})?$`,
			"The hosting server takes letters, digits, spaces and . _ - / in a directory, and up to 80 "+
				"characters."), "below the site's own"),
		strong("password", accountPassword),
	},
}

func init() {
	ftpAccounts.habits = habits{prepare: ftpReady}
	register(&ftpAccounts)
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
