package ispconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// A URL is called; anything else runs in the site's jail. What a crontab would
// take for the end of a line is escaped.
func TestACronJobIsWrittenAsACrontabReadsIt(t *testing.T) {
	w := empty(t)
	w.client = w.create(
		hosting.EngineObject{
			Kind: "tenant", Name: "t17", Ref: "t17",
			Values: values("name", "Acme", "email", "ada@acme.test", "max_cron_jobs", 4),
		},
	)
	site := w.create(
		hosting.EngineObject{Kind: "site", Owner: w.client, Name: "acme.test", Values: values("ip_address", "*", "is_active", true)},
	)
	if client := w.fake.Rows("client", "customer_no", "t17"); client[0]["limit_cron"] != "4" {
		t.Errorf("the client may have %s jobs", client[0]["limit_cron"])
	}
	for command, want := range map[string][2]string{
		"https://acme.test/cron?at=%20%": {"url", `https://acme.test/cron?at=\%20\%`},
		`date +%F \%`:                    {"chrooted", `date +\%F \\%`},
		"HTTPS://acme.test/":             {"url", "HTTPS://acme.test/"},
	} {
		o := hosting.EngineObject{
			Kind: "cron_job", Owner: w.client, Name: fmt.Sprintf("%d 0-30/10 * 1,15 * 0 %s", site, command),
			Parents: map[string]int64{"site": site},
		}
		o.Values = values("schedule", "0-30/10 * 1,15 * 0", "command", command, "is_active", true)
		id := w.create(o)
		row := w.fake.Rows("cron", "id", fmt.Sprint(id))[0]
		if row["type"] != want[0] || row["command"] != want[1] || row["run_min"] != "0-30/10" ||
			row["run_mday"] != "1,15" || row["log"] != "n" {
			t.Errorf("%s: %v", command, row)
		}
		if found, is, err := w.engine.Find(t.Context(), "cron_job", o.Name, ""); err != nil || !is || found.ID != id ||
			string(found.Values["command"]) != string(o.Values["command"]) {
			t.Errorf("%s: %+v, %v", command, found, err)
		}
	}
}

// The engine takes equal jobs one beside the other: only a look before, under
// the name's lock, keeps them apart.
func TestTheDoubleTakesEqualCronJobs(t *testing.T) {
	e := ispconfigtest.Start(t)
	job := `{"client_id": 0, "params": {"server_id": 1, "run_min": "0", "run_hour": "0", "run_mday": "*", ` +
		`"run_month": "@reboot", "run_wday": "*", "command": "true"}}`
	if one, two := e.Tell("sites_cron_add", job), e.Tell("sites_cron_add", job); one == two {
		t.Errorf("%s, %s", one, two)
	}
	for _, wrong := range []string{
		`"run_min": "*/59"`, `"run_min": "*/1"`, `"run_hour": "5-5"`, `"run_mday": "0"`, `"run_wday": "8"`, `"run_wday": "mon"`,
		`"command": "ftp://acme.test/"`, `"command": "https://localhost/"`, `"command": "a\nb"`,
	} {
		said := e.Tell("sites_cron_update", `{"client_id": 0, "cron_id": 1, "params": {`+wrong+`}}`)
		if said[:22] != `{"code":"remote_fault"` {
			t.Errorf("%s: %s", wrong, said)
		}
	}
}

// A cron job or a DNS record has no name but its values. One that was changed at the engine
// by hand is repaired and removed, as what has our number, owner and parent.
func TestWhatWasChangedByHandIsRepairedAndRemoved(t *testing.T) {
	w := inhabited(t)
	w.made["cron_job"] = w.create(w.cronJob())
	for _, c := range []struct {
		o      hosting.EngineObject
		update string
		table  string
		column string
	}{
		{
			w.cronJob(), `sites_cron_update {"client_id": 0, "cron_id": %d, "params": {"run_min": "7", "command": "https://evil.test/"}}`,
			"cron", "id",
		},
		{
			w.object("dns_record"),
			`dns_a_update {"client_id": 0, "primary_id": %d, "params": {"zone": 1, "data": "192.0.2.66"}, "update_serial": true}`,
			"dns_rr", "id",
		},
	} {
		before := w.row(c.table, c.column, fmt.Sprint(c.o.ID))
		function, arguments, _ := strings.Cut(fmt.Sprintf(c.update, c.o.ID), " ")
		byHand := func() {
			w.fake.Tell(function, arguments)
			changed := w.row(c.table, c.column, fmt.Sprint(c.o.ID))
			if changed["command"]+changed["data"] == before["command"]+before["data"] {
				t.Fatalf("%s is not changed", c.o.Kind)
			}
		}
		byHand()
		w.change(c.o)
		if now := w.row(c.table, c.column, fmt.Sprint(c.o.ID)); now["command"] != before["command"] || now["data"] != before["data"] ||
			now["run_min"] != before["run_min"] {
			t.Errorf("%s is not repaired: %v", c.o.Kind, now)
		}
		byHand()
		for field := range c.o.Parents {
			elsewhere := c.o
			elsewhere.Parents = map[string]int64{field: 4711}
			refused(t, w.engine.Remove(t.Context(), elsewhere), domain.Permanent, "drift")
		}
		if err := w.engine.Remove(t.Context(), c.o); err != nil || len(w.fake.Rows(c.table, c.column, fmt.Sprint(c.o.ID))) > 0 {
			t.Errorf("%s is not removed: %v", c.o.Kind, err)
		}
	}
}

func (w *world) cronJob() hosting.EngineObject {
	o := w.object("cron_job")
	o.Name = fmt.Sprintf("%d 0 0 1 1 * https://acme.test/", w.made["site"])
	return o
}
