//go:build system

package faults_test

import (
	"encoding/json"
	"fmt"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// What customers ask for at random, by kind.

// wholes are the kinds that others are a part of; a database may have a site.
var wholes = map[string]string{
	"database": "site", "dns_record": "dns_zone", "mailbox": "mail_domain", "mail_alias": "mail_domain",
	"ftp_account": "site", "shell_user": "site",
	"cron_job":        "site",
	"ssl_certificate": "site", "proxy": "site",
}

var specs = map[string]func(*customers, *thing) field.Values{
	"site": func(c *customers, one *thing) field.Values {
		return values(&hosting.Site{Domain: one.name + ".test", IPAddress: "*", IsActive: c.flag()})
	},
	"database": func(c *customers, one *thing) field.Values {
		name := fmt.Sprintf("c%d_%s", one.tenant, one.name)
		return values(
			&hosting.Database{
				Name: one.name, User: one.name, EngineName: name, EngineUser: name, Site: &one.parent.ref.ID,
				Password: "new", IsActive: true,
			},
		)
	},
	"dns_zone": func(_ *customers, one *thing) field.Values {
		origin := one.name + ".test."
		return values(
			&hosting.DNSZone{Origin: origin, NSPrimary: "ns1.example.test.", AdminEmail: "hostmaster." + origin, TTL: 3600, IsActive: true},
		)
	},
	"dns_record": func(c *customers, one *thing) field.Values {
		return values(&hosting.DNSRecord{
			Zone: one.parent.ref.ID, ZoneOrigin: one.parent.name + ".test.", Type: "A", Name: one.name,
			Data: c.address(), TTL: 3600, IsActive: c.flag(),
		})
	},
	"mail_domain": func(_ *customers, one *thing) field.Values {
		return values(&hosting.MailDomain{Domain: one.name + ".test", DKIMSelector: "default", IsActive: true})
	},
	"mailbox": func(c *customers, one *thing) field.Values {
		at := one.parent.name + ".test"
		return values(&hosting.Mailbox{
			MailDomain: one.parent.ref.ID, MailDomainName: at, LocalPart: one.name, Email: one.name + "@" + at, Password: "new",
			QuotaMB: 10, IMAP: true, POP3: true, SMTP: true, IsActive: c.flag(),
		})
	},
	"mail_alias": func(_ *customers, one *thing) field.Values {
		at := one.parent.name + ".test"
		return values(&hosting.MailAlias{
			MailDomain: one.parent.ref.ID, MailDomainName: at, Source: "to-" + one.name, Email: "to-" + one.name + "@" + at,
			Destinations: []string{"ana@example.com"}, IsActive: true,
		})
	},
	"ftp_account": func(_ *customers, one *thing) field.Values {
		return values(
			&hosting.FTPAccount{Site: one.parent.ref.ID, Username: one.name, Password: "new", Directory: "/", QuotaMB: -1, IsActive: true},
		)
	},
	"ssl_certificate": func(c *customers, one *thing) field.Values {
		certificate := &hosting.Certificate{Site: one.parent.ref.ID, Type: hosting.Acme, AutoRenew: c.flag()}
		hosting.Complete(
			certificate,
			hosting.Place{ID: one.ref.ID, Tenant: one.tenant, At: time.Now(), Parent: one.parent.asked, Limits: hosting.NoLimits()},
		)
		return values(certificate)
	},
	"proxy": func(c *customers, one *thing) field.Values {
		return values(
			&hosting.Proxy{
				Site: one.parent.ref.ID, Domain: one.name + ".test", Upstream: hosting.UpstreamOf(c.address()),
				IsActive: c.flag(),
			},
		)
	},
	"cron_job": func(c *customers, one *thing) field.Values {
		return values(
			&hosting.CronJob{
				Site: one.parent.ref.ID, Schedule: c.schedule(),
				Command: "https://" + one.parent.name + ".test/" + one.name, IsActive: c.flag(),
			},
		)
	},
	"shell_user": func(_ *customers, one *thing) field.Values {
		return values(&hosting.ShellUser{
			Site: one.parent.ref.ID, Username: one.name, Password: "new", Shell: "/bin/bash", Chroot: "jailkit",
			QuotaMB: -1, IsActive: true,
		})
	},
}

func values(spec hosting.Spec) field.Values { return spec.Fields().Values() }

func (c *customers) flag() bool { return c.chance.IntN(3) > 0 }

func (c *customers) schedule() string {
	return pick(c, []string{"@daily", "0 0 * * *", "*/5 * * * *", "0 3 1 * 1-5"})
}

func (c *customers) address() string { return fmt.Sprintf("192.0.2.%d", c.chance.IntN(250)) }

// A change is one change of a resource's desired state.
type changing = func(*customers, *thing) field.Values

var changes = map[string][]changing{
	"site":        {active, one("ip_address", (*customers).address)},
	"database":    {active, password("db_password")},
	"dns_zone":    {active, one("ttl", (*customers).number)},
	"dns_record":  {active, one("ttl", (*customers).number), one("data", (*customers).address), anotherType},
	"mail_domain": {active, one("dkim_enabled", (*customers).flag)},
	"mailbox":     {active, one("quota_mb", (*customers).number), one("pop3_enabled", (*customers).flag), password("password")},
	"mail_alias":  {active, destination},
	"ftp_account": {active, one("quota_mb", (*customers).number), password("password")},
	"shell_user":  {active, password("password")},
	"cron_job":    {active, one("schedule", (*customers).schedule)},
	"proxy":       {active, one("upstream", (*customers).address)},

	"ssl_certificate": {one("auto_renew", (*customers).flag)},
}

func (c *customers) number() int { return 60 + c.chance.IntN(1000) }

func one[T any](name string, value func(*customers) T) changing {
	return func(c *customers, _ *thing) field.Values {
		raw, _ := json.Marshal(value(c)) // texts, numbers and flags have no errors
		return field.Values{name: raw}
	}
}

var active = one("is_active", (*customers).flag)

func password(name string) changing {
	return func(*customers, *thing) field.Values { return field.Values{name: []byte(`"new"`)} }
}

// anotherType turns an address into a text; its data go along.
func anotherType(c *customers, r *thing) field.Values {
	if string(r.asked["record_type"]) == `"TXT"` {
		return field.Values{"record_type": []byte(`"A"`), "data": fmt.Appendf(nil, "%q", c.address())}
	}
	return field.Values{"record_type": []byte(`"TXT"`), "data": fmt.Appendf(nil, "%q", c.address())}
}

func destination(c *customers, _ *thing) field.Values {
	to := &hosting.MailAlias{Destinations: []string{fmt.Sprintf("to%d@example.com", c.chance.IntN(9)), "ana@example.com"}}
	return field.Values{"destination": values(to)["destination"]}
}
