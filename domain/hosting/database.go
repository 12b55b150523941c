package hosting

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
)

var databases = Kind{
	Name: "database", Class: "Database", Label: "database", Collection: "databases", EngineID: "hosting_database_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "database", "es": "base de datos"},
	Plurals: map[string]string{"en": "Databases", "es": "Bases de datos"},
	Shown: words("id tenant tenant_name name hosting_database_id db_user db_password is_active site engine_name engine_user " +
		"sync_status sync_error created_at updated_at"),
	Sets:    [][]string{{"tenant", "name"}, {"tenant", "db_user"}},
	Refs:    []Reference{{Field: "site", Kind: "site"}},
	Filters: []string{"site", "name"}, Search: []string{"name", "db_user"}, Called: "name",
	NamedBy: []string{"engine_name"}, Quota: "databases", Plan: "quota_databases", Generated: "db_password",
	Verbs: Create | Delete, Writers: Member, New: spec[Database],
}

// A Database is a relational one, and the user who may log in to it.
type Database struct {
	Name, User             string
	Password               string
	Site                   *int64
	IsActive               bool
	EngineName, EngineUser string // as the engine knows them, needed to connect
}

const (
	databaseNameMax = 64
	databaseUserMax = 32
)

// Fields are the database.
func (d *Database) Fields() field.Set {
	return field.Set{
		field.Text("name", &d.Name).Required().Is(field.Match(`^[A-Za-z0-9_]{2,64}$`)),
		field.Text("db_user", &d.User).Is(field.Match(`^[A-Za-z0-9_]{2,32}$`)).Doc("The name, cut to 32 characters, when absent."),
		field.Password("db_password", &d.Password).Doc("Made up and shown once when absent."),
		field.NullRef("site", &d.Site).Default(nil),
		field.Flag("is_active", &d.IsActive).Default(true),
		field.Text("engine_name", &d.EngineName).ReadOnly().Doc("The name to connect to."),
		field.Text("engine_user", &d.EngineUser).ReadOnly().Doc("The user to connect as."),
	}
}

func (d *Database) complete(p Place) {
	if !p.New() {
		return
	}
	if d.User == "" && !p.Sent.Has("db_user") {
		d.User = d.Name[:min(len(d.Name), databaseUserMax)]
	}
	d.EngineName = engineName(p.Tenant, d.Name, databaseNameMax)
	d.EngineUser = engineName(p.Tenant, d.User, databaseUserMax)
}

// engineName is a name that belongs to a tenant. One that is too long for the
// engine ends in a digest of itself, so that two stay apart.
func engineName(tenant int64, name string, most int) string {
	const letters = 6
	name = "c" + strconv.FormatInt(tenant, 10) + "_" + name
	if len(name) <= most {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	return name[:most-letters-1] + "_" + hex.EncodeToString(digest[:])[:letters]
}

// ReservedDatabase tells whether a database is the server's own, or of a program beside the
// panel: its removal would take the server down.
func ReservedDatabase(name string) bool {
	return slices.Contains(systemDatabases, strings.ToLower(name))
}

// ReservedDatabaseUser tells whether a login to databases is the server's own.
func ReservedDatabaseUser(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(systemDatabaseUsers, name) || engineDatabaseUser.MatchString(name)
}

var (
	systemDatabases     = words("mysql information_schema performance_schema sys dbispconfig ispconfig phpmyadmin roundcube roundcubemail")
	systemDatabaseUsers = words("root mysql mariadb mysql_sys ispconfig phpmyadmin pma roundcube admin")
	engineDatabaseUser  = regexp.MustCompile(`^ispcsrv[0-9]*$|^debian.sys.maint$|^(mysql|mariadb)[.]`)
)
