package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// A database of the panel is two rows of the engine: a user and a database.
// Its natural key is the database's name at the engine ("c17_shop"); the
// user's name stands in engine_user.
var databases = resource{
	kind: "database", table: "web_database", off: members{{"active", "n"}}, limits: []string{"limit_database", "limit_database_user"},
	parents: ofSite, storage: &storage{"databasequota_get_by_user", "database_name", "used_raw", "used_raw"},
	key: "database_id", stems: []string{"sites_database"}, functions: stem("sites_database"),
	on: func(s Servers) int64 { return s.Database }, name: named("database_name"),
	queries: func(name, _ string, s Servers) []query {
		return []query{{"sites_database", members{{"database_name", name}, {"server_id", s.Database}}}}
	},
	reserved: coded(hosting.ReservedDatabase, "reserved_name"),
	turns: func(w *wish) []Turn {
		return []Turn{
			siteTurn(w.server, w.Parents["site"], true),
			{Name: "dbuser/" + w.text("engine_user")},
			{Name: fmt.Sprintf("db/%d/%s", w.server, w.Name)},
		}
	},
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		fixed("type", "mysql"),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }).from("site"),
		natural("database_name"),
		given("database_user_id", func(w *wish) any { return w.user }),
		fixed("database_ro_user_id", 0), fixed("database_charset", "utf8mb4"),
		fixed("remote_access", "n"), fixed("remote_ips", ""),
		storageColumn("database_quota"),
		changing(flag("active", "is_active")),
	},
	forms: []form{
		{
			field: "name", refused: "This name belongs to the server itself.",
			travels: func(w *wish) bool {
				return !hosting.ReservedDatabase(w.Name) && !hosting.ReservedDatabaseUser(w.text("engine_user"))
			},
		},
		{
			field: "db_password", stored: "as a hash of the text with escapes",
			refused: "The hosting server takes no quotes and no backslash in a database password.",
			travels: func(w *wish) bool { return !strings.ContainsAny(w.Secrets["db_password"], "'\"\\\x00\n\r\x1a") },
		},
		strong("db_password", databasePassword),
	},
}

func init() {
	databases.habits = habits{
		prepare: databaseReady, insert: addDatabase, adopt: adoptDatabase, left: removeDatabaseUser,
		remains: strayDatabaseUser, leaving: databaseLeaves,
	}
	register(&databases)
}

var databasePassword = secret("database_password", "db_password")

var databaseUsers = resource{
	kind: "database user", table: "web_database_user", silent: true, key: "database_user_id",
	stems: []string{"sites_database_user"}, functions: stem("sites_database_user"),
	on: func(s Servers) int64 { return s.Database }, name: named("database_user"),
	reserved: coded(hosting.ReservedDatabaseUser, "reserved_login"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"sites_database_user", members{{"database_user", name}}}}
	},
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		natural("database_user"), databasePassword,
	},
}

func init() { register(&databaseUsers) }

func databaseReady(ctx context.Context, e *Engine, w *wish) error {
	if err := underSite(ctx, e, w); err != nil {
		return err
	}
	return limitStorage(ctx, e, w)
}

// addDatabase makes the user, then the database. A refused database leaves no
// user behind.
func addDatabase(ctx context.Context, e *Engine, w *wish) (int64, error) {
	user, fresh, err := e.databaseUser(ctx, w)
	if err != nil {
		return 0, err
	}
	w.user = user
	made, err := e.insert(ctx, &databases, w)
	if err != nil && fresh && (domain.ClassOf(err) == domain.Permanent || domain.LackOf(err) != "") {
		err = errors.Join(err, e.erase(ctx, &databaseUsers, row{"database_user_id": decimal(user)}))
	}
	return made, afterwards(err)
}

// databaseUser finds the user of an earlier attempt, or makes it.
func (e *Engine) databaseUser(ctx context.Context, w *wish) (number int64, fresh bool, err error) {
	u := *w
	u.Name = w.text("engine_user")
	if u.Name == "" {
		return 0, false, domain.Fail(domain.Permanent, "invalid", errors.New("a database without a user's name"))
	}
	have, found, err := e.ours(ctx, &databaseUsers, &u)
	if err != nil {
		return 0, false, err
	}
	if found { // of an attempt whose answer was lost; the password handed over now is the one that counts
		stays, err := e.keepUser(ctx, w, have)
		if err == nil && stays {
			err = e.push(ctx, &databaseUsers, &u, have)
		}
		if err != nil || stays {
			return have.number("database_user_id"), false, err
		}
	}
	if w.Secrets["db_password"] == "" {
		return 0, false, secretNeeded("a database user")
	}
	number, err = e.add(ctx, &databaseUsers, &u)
	if err != nil {
		return 0, false, err
	}
	return number, true, afterwards(e.verify(ctx, &databaseUsers, &u, number))
}

// keepUser keeps a user that was found, unless the servers may not have been told
// of it and no database lets it in: then it goes, to be made again.
func (e *Engine) keepUser(ctx context.Context, w *wish, have row) (stays bool, err error) {
	p, err := e.journal.progress(ctx, &databaseUsers, have)
	if err != nil || p.known || w.Secrets["db_password"] == "" {
		return true, err
	}
	if used, err := e.api.letsIn(ctx, have.number("database_user_id")); err != nil || used {
		return true, err
	}
	return false, e.erase(ctx, &databaseUsers, have)
}

// letsIn tells whether a database lets a user in.
func (c *connection) letsIn(ctx context.Context, user int64) (bool, error) {
	for _, column := range []string{"database_user_id", "database_ro_user_id"} {
		found, err := c.seek(ctx, &databases, []query{{databases.stems[0], members{{column, user}}}})
		if err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// adoptDatabase brings a database that was found, and its user, to what is wanted.
func adoptDatabase(ctx context.Context, e *Engine, w *wish, have row) error {
	w.user = have.number("database_user_id")
	if err := e.push(ctx, &databases, w, have); err != nil || w.Secrets["db_password"] == "" {
		return err
	}
	user, present, err := e.api.get(ctx, &databaseUsers, w.user)
	switch {
	case err != nil:
		return err
	case !present, user.number("sys_groupid") != w.group:
		return drifted("database user", w.user)
	}
	u := *w
	u.Name = user["database_user"]
	u.Changed = nil
	return e.push(ctx, &databaseUsers, &u, user)
}

// databaseLeaves keeps a database whose user is the server's own, which would go with it.
func databaseLeaves(ctx context.Context, e *Engine, have row) error {
	number := have.number("database_user_id")
	if number < 1 {
		return nil
	}
	user, present, err := e.api.get(ctx, &databaseUsers, number)
	if err != nil || !present {
		return err
	}
	return databaseUsers.keep(user)
}

// removeDatabaseUser removes the user of a database that is gone, unless
// another database still lets it in.
func removeDatabaseUser(ctx context.Context, e *Engine, gone row) error {
	number := gone.number("database_user_id")
	if number < 1 {
		return nil
	}
	if used, err := e.api.letsIn(ctx, number); err != nil || used {
		return err
	}
	have, present, err := e.api.get(ctx, &databaseUsers, number)
	if err != nil || !present {
		return err
	}
	if have["sys_groupid"] != gone["sys_groupid"] {
		return drifted("database user", number)
	}
	return e.erase(ctx, &databaseUsers, have)
}

// strayDatabaseUser removes the user whose database is gone already: of a
// removal that was cut short, or a creation that never came to the database.
func strayDatabaseUser(ctx context.Context, e *Engine, o hosting.EngineObject) error {
	w := &wish{EngineObject: o}
	name := w.text("engine_user")
	if name == "" || o.Owner < 1 {
		return nil
	}
	group, err := e.owners.groupOf(ctx, o.Owner)
	if err != nil {
		return err
	}
	found, err := e.look(ctx, &databaseUsers, name, "")
	if err != nil || len(found) != 1 || found[0].number("sys_groupid") != group {
		return err
	}
	return removeDatabaseUser(ctx, e, found[0])
}
