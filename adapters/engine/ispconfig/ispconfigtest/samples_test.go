package ispconfigtest_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
)

// What differs from one installation to the next: hashes, keys, moments.
var differing = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`"password":"\$6\$[^"]*"`), `"password":"HASH"`},
	{regexp.MustCompile(`"database_password":"\*[^"]*"`), `"database_password":"HASH"`},
	{regexp.MustCompile(`"id_rsa":"[^"]*"`), `"id_rsa":"KEY"`},
	{regexp.MustCompile(`"ssh_rsa":"ssh-rsa [^"]*"`), `"ssh_rsa":"KEY"`},
	{regexp.MustCompile(`"created_at":"[0-9]*"`), `"created_at":"NOW"`},
	{regexp.MustCompile(`"serial":"2026[0-9]*"`), `"serial":"NOW"`},
}

func levelled(s string) string {
	for _, d := range differing {
		s = d.is.ReplaceAllString(s, d.as)
	}
	return s
}

// P1: the double answers what an installation has answered, byte for byte.
func TestTheDoubleAnswersAsAnInstallationHas(t *testing.T) {
	raw, err := os.ReadFile("testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct{ Function, Arguments, Answer string }
	if err := json.Unmarshal(raw, &samples); err != nil || len(samples) < 40 {
		t.Fatal(len(samples), err)
	}
	e := ispconfigtest.Start(t)
	for _, s := range samples {
		if got, want := levelled(e.Tell(s.Function, s.Arguments)), levelled(s.Answer); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", s.Function, s.Arguments, got, want)
		}
	}
}

// An addition of nothing is answered with everything that is missing, in the
// engine's order.
func TestTheDoubleComplainsInOrder(t *testing.T) {
	e := ispconfigtest.Start(t)
	for function, want := range map[string]string{
		"client_add": `contact_error_empty<br \/>\r\nusername_error_empty<br \/>\r\n` +
			`language_error_empty<br \/>\r\nemail_error_isemail<br \/>\r\nemail_error_empty<br \/>\r\n` +
			`web_php_options_notempty<br \/>\r\nssh_chroot_notempty<br \/>\r\n`,
		"mail_user_add": `email_error_isemail<br \/>\r\nlogin_error_regex<br \/>\r\nquota_error_value<br \/>\r\n`,
		"dns_srv_add":   `data_error_empty<br \/>\r\nsrv_error_regex<br \/>\r\nttl_range_error<br \/>\r\n`,
		"dns_ptr_add": `name_error_regex<br \/>\r\ndata_error_empty<br \/>\r\ndata_error_regex<br \/>\r\n` +
			`ttl_range_error<br \/>\r\n`,
		"dns_caa_add": `ttl_range_error<br \/>\r\n`,
		"sites_ftp_user_add": `quota_size_error_empty<br \/>\r\nquota_size_error_regex<br \/>\r\n` +
			`uid_error_empty<br \/>\r\ninvalid_system_user_or_group_txt<br>\r\ngid_error_empty<br \/>\r\n` +
			`invalid_system_user_or_group_txt<br>\r\ndirectory_error_empty<br \/>\r\ndirectory_error_regex<br \/>\r\n` +
			`directory_error_notinweb<br>\r\n`,
		"mail_catchall_add": `domain_error_empty<br \/>\r\ndomain_error_regex<br \/>\r\ndestination_error_isemail<br \/>\r\n`,
		"sites_cron_add": `server_id_error_empty<br \/>\r\nrun_min_error_format<br>\r\n` +
			`run_hour_error_format<br>\r\nrun_mday_error_format<br>\r\nrun_month_error_format<br>\r\n` +
			`run_wday_error_format<br>\r\ncommand_error_empty<br \/>\r\n`,
		"sites_database_add": `database_name_error_empty<br \/>\r\ndatabase_name_error_regex<br \/>\r\n`,
		"sites_web_domain_add": `no_server_error<br \/>\r\ndomain_error_empty<br>\r\nhd_quota_error_empty<br \/>\r\n` +
			`hd_quota_error_regex<br \/>\r\ntraffic_quota_error_empty<br \/>\r\ntraffic_quota_error_regex<br \/>\r\n` +
			`allow_override_error_empty<br \/>\r\npm_process_idle_timeout_error_regex<br \/>\r\n` +
			`pm_max_requests_error_regex<br \/>\r\nhttp_port_error_regex<br \/>\r\nhttps_port_error_regex<br \/>\r\n`,
	} {
		got := e.Tell(function, `{"client_id": 1, "params": {}}`)
		if got != `{"code":"remote_fault","message":"`+want+`","response":false}` {
			t.Errorf("%s\n got %s\nwant %s", function, got, want)
		}
	}
}
