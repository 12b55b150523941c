package ispconfig_test

import (
	"testing"

	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
)

func TestISPConfigIsAHostingEngine(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) enginetest.Engine {
		w := empty(t)
		return enginetest.Engine{
			EngineServer: w.engine, Settle: w.fake.Tick, Lacks: []string{"cms", "proxy"},
			Books: func() string { return w.fake.Answered() + w.log.String() },
			Lose: func(_ *testing.T, call, kind string) {
				w.fake.Order(ispconfigtest.Fault{Function: writes[call][kind], What: ispconfigtest.After})
			},
		}
	})
}

// writes are the functions by which each kind is written; of a site that is
// switched, another one.
var writes = map[string]map[string]string{
	"create": functions("_add", ""),
	"change": functions("_update", "|sites_web_domain_set_status"),
	"remove": functions("_delete", ""),
}

func functions(verb, ofSites string) map[string]string {
	return map[string]string{
		"tenant": "client" + verb, "site": "sites_web_domain" + verb + ofSites, "database": "sites_database" + verb,
		"dns_zone": "dns_zone" + verb, "dns_record": "dns_a" + verb, "mail_domain": "mail_domain" + verb, "mailbox": "mail_user" + verb,
		"mail_alias": "mail_alias" + verb, "ftp_account": "sites_ftp_user" + verb, "shell_user": "sites_shell_user" + verb, "cron_job": "sites_cron" + verb,
	}
}
