package hosting

import "hostpanel/domain/field"

// certificateQuota is what certificates count as. A package allows any number
// of them, or none.
const certificateQuota = "ssl_certificates"

// Unlimited is the limit of whoever has none.
const Unlimited = -1

// Limits are how much of everything a tenant may have: -1 is without limit,
// 0 is none.
type Limits struct {
	Sites, Databases, StorageMB, TrafficMB int64
	MailDomains, Mailboxes, MailAliases    int64
	FTPAccounts, ShellUsers, DNSZones      int64

	NoSSL bool // no certificates: of a package without them
}

// Fields are the limits as a tenant has them: not its own to set.
func (l *Limits) Fields() field.Set {
	set := l.fields()
	for i := range set {
		set[i] = set[i].ReadOnly()
	}
	return set
}

func (l *Limits) fields() field.Set {
	return field.Set{
		limit("max_sites", &l.Sites, 1_000_000),
		limit("max_databases", &l.Databases, 1_000_000),
		limit("max_storage_mb", &l.StorageMB, 1<<30),
		limit("max_traffic_mb", &l.TrafficMB, 1<<30),
		limit("max_mail_domains", &l.MailDomains, 1_000_000),
		limit("max_mailboxes", &l.Mailboxes, 1_000_000),
		limit("max_mail_aliases", &l.MailAliases, 1_000_000),
		limit("max_ftp_accounts", &l.FTPAccounts, 1_000_000),
		limit("max_shell_users", &l.ShellUsers, 1_000_000),
		limit("max_dns_zones", &l.DNSZones, 1_000_000),
	}
}

func limit(name string, at *int64, most int64) field.Field {
	return field.Int(name, at).Between(Unlimited, most).Default(Unlimited)
}

// Of is the limit of that name: "sites". What nobody limits has none.
func (l *Limits) Of(name string) int64 {
	if name == certificateQuota && l.NoSSL {
		return 0
	}
	f, limited := l.fields().Named("max_" + name)
	if !limited {
		return Unlimited
	}
	n, _ := f.Value().(int64)
	return n
}

// NoLimits are those of a tenant without a package.
func NoLimits() Limits {
	return Limits{
		Sites: Unlimited, Databases: Unlimited, StorageMB: Unlimited, TrafficMB: Unlimited,
		MailDomains: Unlimited, Mailboxes: Unlimited, MailAliases: Unlimited,
		FTPAccounts: Unlimited, ShellUsers: Unlimited, DNSZones: Unlimited,
	}
}

// PackageFrom turns what a hosting plan promises ("quota_sites": 5) into the
// limits of a tenant. What a plan does not speak of has no limit.
func PackageFrom(quotas map[string]int64) Limits {
	l := NoLimits()
	for _, rule := range []struct {
		quota  string
		factor int64
		limits []*int64
	}{
		{"quota_sites", 1, []*int64{&l.Sites}},
		{"quota_databases", 1, []*int64{&l.Databases}},
		{"quota_storage_gb", 1024, []*int64{&l.StorageMB}},
		{"quota_mailboxes", 1, []*int64{&l.Mailboxes}},
		{"quota_domains", 1, []*int64{&l.MailDomains, &l.DNSZones}},
		{"quota_ftp_users", 1, []*int64{&l.FTPAccounts}},
	} {
		quota, promised := quotas[rule.quota]
		if !promised || quota == Unlimited {
			continue
		}
		for _, at := range rule.limits {
			*at = quota * rule.factor
		}
	}
	return l
}

// SaaSLimits are what a sub-tenant of a SaaS plan may have.
type SaaSLimits struct {
	MaxVMs, MaxHostingAccounts, MaxAgents int64
	WhiteLabel                            bool
}

func (l *SaaSLimits) Fields() field.Set {
	return field.Set{
		field.Int("saas_max_vms", &l.MaxVMs).ReadOnly().Default(0),
		field.Int("saas_max_hosting_accounts", &l.MaxHostingAccounts).ReadOnly().Default(0),
		field.Int("saas_max_agents", &l.MaxAgents).ReadOnly().Default(0),
		field.Flag("saas_whitelabel", &l.WhiteLabel).ReadOnly().Default(false),
	}
}
