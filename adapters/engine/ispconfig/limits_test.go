package ispconfig_test

import (
	"fmt"
	"testing"

	"hostpanel/domain/hosting"
)

// A tenant's limit is that of each of its sites and databases, now and later.
func TestTheStorageLimitReachesTheEngine(t *testing.T) {
	w := inhabited(t)
	limits := func(of string, want string) {
		t.Helper()
		if site, database := w.rowOf("site")["hd_quota"], w.rowOf("database")["database_quota"]; site != want || database != want {
			t.Errorf("%s: %s and %s, not %s", of, site, database, want)
		}
	}
	limits("without a limit", "-1")
	client := tenant("t17")
	client.ID = w.client
	w.change(with(w.object("site"), "is_active", false))
	w.change(with(client, "max_storage_mb", 5000))
	limits("a limit", "5000")
	if row := w.rowOf("site"); row["active"] != "n" || row["pm_max_children"] != "10" || row["traffic_quota"] != "-1" {
		t.Error(row)
	}
	w.change(with(client, "max_storage_mb", 0))
	limits("none at all", "1") // 0 would be without limit
	w.change(with(client, "max_storage_mb", 700))
	more := w.object("site")
	more.ID, more.Name = 0, "more.test"
	w.create(more)
	if row := w.row("web_domain", "domain", "more.test"); row["hd_quota"] != "700" {
		t.Error(row["hd_quota"])
	}
	w.fake.Tell("sites_web_domain_update", `{"client_id": 0, "primary_id": 1, "params": {"hd_quota": -1}}`)
	w.change(with(client, "max_storage_mb", 700)) // which the client has already
	limits("tampered with", "700")
	w.change(with(client, "max_storage_mb", -1))
	limits("without one again", "-1")
}

// By setting, each site and each database has a share of its tenant's limit. What has the whole
// gets its share with the next change.
func TestAShareOfTheStorageLimitIsGivenToEach(t *testing.T) {
	w := inhabited(t)
	client := tenant("t17")
	client.ID = w.client
	w.change(with(client, "max_storage_mb", 5000))
	w.config.StorageShare = 30
	w.engine = w.open(w.config)
	limits := func(site, database string) {
		t.Helper()
		if s, d := w.rowOf("site")["hd_quota"], w.rowOf("database")["database_quota"]; s != site || d != database {
			t.Errorf("%s and %s, not %s and %s", s, d, site, database)
		}
	}
	limits("5000", "5000")
	w.change(with(w.object("site"), "is_active", true))
	limits("1500", "5000")
	for limit, want := range map[int]string{5001: "1500", 2: "1", 0: "1", -1: "-1", 1000: "300"} {
		w.change(with(client, "max_storage_mb", limit))
		limits(want, want)
		if row := w.rowOf("tenant"); row["limit_web_quota"] != fmt.Sprint(limit) {
			t.Errorf("the client has %s of %d", row["limit_web_quota"], limit)
		}
	}
}

// A client's own settings lead to servers that are there.
func TestAClientHasItsServers(t *testing.T) {
	w := inhabited(t)
	for _, of := range []string{"default_webserver", "default_mailserver", "default_dbserver", "default_dnsserver"} {
		if row := w.rowOf("tenant"); row[of] != "1" {
			t.Errorf("%s is %q", of, row[of])
		}
	}
}

// The engine's own panel offers a client what the panel sells: its servers, shell commands
// and the storage of databases.
func TestTheEnginesOwnPanelOffersWhatIsSold(t *testing.T) {
	w := inhabited(t)
	offers := func(of string, want map[string]string) {
		t.Helper()
		row := w.rowOf("tenant")
		for column, value := range want {
			if row[column] != value {
				t.Errorf("%s: %s is %q, not %q", of, column, row[column], value)
			}
		}
	}
	sold := map[string]string{
		"web_servers": "1", "mail_servers": "1", "db_servers": "1", "dns_servers": "1", "limit_cron_type": "chrooted",
	}
	offers("a new client", sold)
	offers("without a limit", map[string]string{"limit_database_quota": "-1"})
	client := tenant("t17")
	client.ID = w.client
	tell := func(params string) {
		w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"password": "", `+params+`}}`)
	}
	tell(`"mail_servers": "", "db_servers": "", "dns_servers": "", "limit_cron_type": "url", "limit_database_quota": 0`)
	if seen := string(w.find("tenant", "t17").Values["max_storage_mb"]); seen != "-1" {
		t.Errorf("a client of before differs by its storage: %s", seen)
	}
	w.change(with(client, "max_storage_mb", 5000))
	offers("a client of before", sold)
	offers("a limit", map[string]string{"limit_database_quota": "5000"})
	tell(`"mail_servers": "2,1", "limit_cron_type": "full"`)
	w.change(with(client, "max_storage_mb", 700))
	offers("what an operator added", map[string]string{"mail_servers": "2,1", "limit_cron_type": "full", "limit_database_quota": "700"})
}

// Limits that were changed at the engine are seen, also where two of its columns
// keep one of ours, and changed back.
func TestAClientsLimitsAreReadBack(t *testing.T) {
	w := inhabited(t)
	client := tenant("t17")
	client.ID = w.client
	for params, want := range map[string]string{`"limit_web_domain": 500`: "500"} {
		w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"password": "", `+params+`}}`)
		if seen := string(w.find("tenant", "t17").Values["max_sites"]); seen != want {
			t.Errorf("%s: %s", params, seen)
		}
	}
	w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"password": "", "limit_database_user": 77}}`)
	if seen := string(w.find("tenant", "t17").Values["max_databases"]); seen != "null" {
		t.Errorf("two columns that differ are %s", seen)
	}
	w.change(client)
	if row := w.rowOf("tenant"); row["limit_web_domain"] != "5" || row["limit_database_user"] != row["limit_database"] {
		t.Error(row["limit_web_domain"], row["limit_database_user"])
	}
}

// The key of a certificate of the customer's own goes with it.
func TestAWithdrawnCertificateLeavesNoKey(t *testing.T) {
	w := inhabited(t)
	o := w.certificate()
	o.Values, o.Secrets = values("cert_type", "custom"), hosting.Secrets{
		"certificate": "PEM-CERT", "private_key": "PEM-KEY", "chain": "PEM-CHAIN",
	}
	w.create(o)
	w.fake.Tick()
	o.ID = w.made["site"]
	for range 2 {
		if err := w.engine.Remove(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if row := w.rowOf("site"); row["ssl"] != "n" || row["ssl_cert"]+row["ssl_key"]+row["ssl_bundle"] != "" {
		t.Error(row["ssl"], row["ssl_cert"], row["ssl_key"], row["ssl_bundle"])
	}
}
