package hosting

import (
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

var shellUsers = Kind{
	Name: "shell_user", Class: "ShellUser", Label: "shell user", Collection: "shell-users",
	EngineID: "hosting_shell_user_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "shell user", "es": "usuario de shell"},
	Plurals: map[string]string{"en": "Shell users", "es": "Usuarios de shell"},
	Shown: words("id tenant tenant_name site site_domain username hosting_shell_user_id ssh_public_key shell chroot " +
		"quota_mb home_directory is_active " +
		"sync_status sync_error created_at updated_at"),
	Names:   siteDomain,
	Unique:  []string{"username"},
	Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
	Filters: []string{"site", "username"}, Search: []string{"username"}, Called: "username",
	NamedBy: []string{"username"}, Quota: "shell_users", Feature: ShellEnabled, Verbs: All, Writers: Member, New: spec[ShellUser],
}

// A ShellUser may log in to the server of a site.
type ShellUser struct {
	Site          int64
	Username      string
	Password      string
	SSHPublicKey  string
	Shell         string
	Chroot        string // what keeps the user within the site
	QuotaMB       int64
	HomeDirectory string // empty until the engine reports it
	IsActive      bool
}

// Fields are the user.
func (u *ShellUser) Fields() field.Set {
	return field.Set{
		field.Ref("site", &u.Site).Required().Once(),
		field.Text("username", &u.Username).Required().Is(field.Username).Is(unreserved).Once(),
		field.Password("password", &u.Password),
		field.Text("ssh_public_key", &u.SSHPublicKey).Is(sshPublicKey).Default(""),
		field.Text("shell", &u.Shell).Among("/bin/bash", "/bin/sh", "/usr/sbin/nologin").Default("/bin/bash"),
		field.Text("chroot", &u.Chroot).Among("jailkit", outside).Default("jailkit").Doc("Only superusers may set none."),
		quotaMB(&u.QuotaMB, noQuota),
		field.Text("home_directory", &u.HomeDirectory).ReadOnly(),
		field.Flag("is_active", &u.IsActive).Default(true),
	}
}

const outside = "none" // of any jail

// unreserved refuses the names that systems have for themselves.
var unreserved = field.Rule{Message: reservedName, Holds: func(s string) bool { return !ReservedLogin(s) }}

const reservedName = "This username is reserved."

// ReservedLogin tells whether a login belongs to a system: a customer who had it would get what
// runs under it. "web7" is the user of the engine's site 7, and "client7" the group of its
// client, whether they exist yet or not.
func ReservedLogin(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(systemNames, name) || ofEngine.MatchString(name)
}

var ofEngine = regexp.MustCompile(`^(web|client)([0-9].*)?$|^(debian|systemd|_)`)

var systemNames = words("root admin administrator daemon bin sys sync games man lp mail news uucp proxy www-data www " +
	"apache nginx backup list irc gnats " +
	"nobody nogroup systemd-network systemd-resolve systemd-timesync systemd-journal messagebus sshd ssh mysql " +
	"mariadb postgres redis memcached bind named " +
	"postfix dovecot dovenull vmail amavis clamav rspamd opendkim ftp proftpd pure-ftpd vsftpd ispconfig ispapps " +
	"ispadmin getmail sudo wheel staff users " +
	"operator halt shutdown adm tty disk kmem dialout fax voice cdrom floppy tape audio dip src shadow utmp video " +
	"sasl plugdev input kvm render crontab " +
	"docker lxd polkitd uuidd tcpdump tss landscape pollinate git ntp ntpsec chrony syslog debian ubuntu statd identd " +
	"courier mongodb wwwrun postgrey mailman munin unbound fcgiwrap snmp freerad avahi sasldb sssd jailkit nginx-cache " +
	"exim elasticsearch memcache rabbitmq jenkins gitlab zabbix nagios prometheus")

func (u *ShellUser) complete(p Place) { completeQuota(&u.QuotaMB, p) }

func (u *ShellUser) check(p Place, wrong *field.Errors) {
	checkQuota(u.QuotaMB, p, wrong)
	if u.Chroot == outside && !p.Operator && text(p.Before, "chroot") != outside {
		wrong.Add("chroot", field.NotAChoice(outside))
	}
	if u.Password == "" && u.SSHPublicKey == "" && !wrong.Has("password") && !wrong.Has("ssh_public_key") {
		wrong.Add(field.NonField, "Provide a password or an SSH public key.")
	}
}
