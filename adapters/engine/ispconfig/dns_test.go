package ispconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hostpanel/domain"
)

func TestT6ARecordDoesNotMoveItsZone(t *testing.T) {
	w := inhabited(t)
	other := w.create(tenant("t18"))
	o := w.object("dns_record")
	o.Owner, o.Name = other, "acme.test. b.acme.test. A 0 192.0.2.11"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "drift")
	w.change(with(w.object("dns_record"), "ttl", 60))
	if w.rowOf("dns_zone")["sys_groupid"] != "2" {
		t.Error("the zone moved")
	}
	w.fake.Tell(
		"dns_a_add",
		`{"client_id": 2, "update_serial": true, "params": {"server_id": 1, "zone": 1, "name": "b", "type": "A", `+
			`"data": "192.0.2.1", "ttl": 60}}`,
	)
	if w.rowOf("dns_zone")["sys_groupid"] != "3" {
		t.Error("the double does not do the damage")
	}
}

func TestT18AndT19EveryRecordRaisesTheSerialOnce(t *testing.T) {
	w := inhabited(t)
	serial := func() string { return w.rowOf("dns_zone")["serial"] }
	before := serial()
	w.change(with(w.object("dns_record"), "ttl", 60))
	w.change(with(w.object("dns_zone"), "ttl", 600))
	for range 2 {
		if err := w.engine.Remove(t.Context(), w.object("dns_record")); err != nil {
			t.Error(err)
		}
	}
	if want := before[:9] + string(before[9]+3); serial() != want {
		t.Errorf("%s, not %s", serial(), want)
	}
	if w.fake.Calls("dns_a_delete") != 1 {
		t.Error("a record that is gone was deleted again")
	}
	if said := w.fake.Tell("dns_a_delete", `{"primary_id": 100001, "update_serial": true}`); !strings.HasPrefix(said, "{") &&
		!strings.Contains(said, "Primary ID fehlt!") {
		t.Error(said)
	}
}

func TestT19ParallelRecordsAreAsManySteps(t *testing.T) {
	w := inhabited(t)
	before := w.rowOf("dns_zone")["serial"]
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			o := w.object("dns_record")
			o.Name = fmt.Sprintf("acme.test. n%d.acme.test. A 0 192.0.2.%d", i, i)
			if _, err := w.engine.Create(t.Context(), o); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var a, b int
	_, _ = fmt.Sscan(before, &a)
	_, _ = fmt.Sscan(w.rowOf("dns_zone")["serial"], &b)
	if b-a != 20 {
		t.Errorf("%d steps", b-a)
	}
}

func TestT20AZoneIsSwitchedOffWithAJob(t *testing.T) {
	w := inhabited(t)
	w.change(with(w.object("dns_zone"), "is_active", false))
	if w.find("dns_zone", "acme.test.").Applied {
		t.Error("there is no job")
	}
	w.fake.Tick()
	if !w.find("dns_zone", "acme.test.").Applied {
		t.Error("the job is not carried out")
	}
	w.fake.Tell("mail_domain_set_status", `{"primary_id": 1, "status": "inactive"}`)
	if strings.Contains(w.fake.Tell("monitor_jobqueue_count", `{"server_id": 1}`), `"1"`) {
		t.Error("the double writes a job")
	}
}

func TestT29AZoneHasItsFinalDot(t *testing.T) {
	w := inhabited(t)
	for _, name := range []string{"b.test", "B.test."} {
		o := w.object("dns_zone")
		o.Name = name
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
}

func TestT30ARecordWithTheNumberOfAZoneIsNoticed(t *testing.T) {
	w := inhabited(t)
	for range 100_010 { // zones have numbers of their own, which come this far some day
		w.fake.Skip("dns_soa")
	}
	zone := w.object("dns_zone")
	zone.Name = "b.test."
	zone.Values["admin_email"] = []byte(`"hostmaster.b.test."`)
	var err error
	for i := 0; i < 200 && err == nil; i++ {
		o := w.object("dns_record")
		o.Name = fmt.Sprintf("acme.test. n%d.acme.test. A 0 192.0.2.1", i)
		if i == 0 {
			w.create(zone)
		}
		_, err = w.engine.Create(t.Context(), o)
	}
	refused(t, err, domain.Permanent, "record_ids")
}

func TestRecordsThatTheEngineWouldSpoilAreRefused(t *testing.T) {
	w := inhabited(t)
	good := []string{
		"AAAA 0 2001:db8::1", "MX 10 mail.acme.test.", "NS 0 ns9.example.test.", "TXT 0 v=spf1 mx -all 100%",
		"SRV 10 5 5060 sip.acme.test.",
		`CAA 0 0 issue "letsencrypt.org"`, `CAA 0 0 issuemail ";"`, "PTR 0 host.acme.test.", "MX 0 .", "SRV 10 0 0 .",
	}
	for _, rest := range good {
		o := w.object("dns_record")
		o.Name = "acme.test. sub.acme.test. " + rest
		id := w.create(o)
		if found := w.find("dns_record", o.Name); found.ID != id {
			t.Error(rest, found)
		}
	}
	for _, name := range []string{
		"acme.test. @ A 0 192.0.2.1", "acme.test. www A 0 192.0.2.1", "acme.test. a_b.acme.test. A 0 192.0.2.1",
		"acme.test. x.acme.test. CNAME 0 undotted", "acme.test. x.acme.test. MX 10 mail", "acme.test. x.acme.test. SRV 1 5060 sip.",
		"acme.test. x.acme.test. CAA 0 ", "acme.test. x.acme.test. TXT 0 ", "acme.test. x.acme.test. MX 10 a_b.test.",
		"acme.test. x.acme.test. SRV 10 5 5060 " + strings.Repeat("x", 60) + ".test.",
		"acme.test. " + strings.Repeat("x", 55) + ".acme.test. A 0 192.0.2.1",
	} {
		o := w.object("dns_record")
		o.Name = name
		_, err := w.engine.Create(t.Context(), o)
		refused(t, err, domain.Permanent, "invalid")
	}
	o := w.object("dns_record")
	o.Name = "acme.test. x.acme.test. SPF 0 v"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "not_supported")
}

// A zone is told to lack what was removed, or switched off, by hand of its name servers. A
// change brings it back, once, and the secondaries hear of it.
func TestAZoneWithoutOneOfItsNameServersIsToldAndRepaired(t *testing.T) {
	w := inhabited(t)
	zone := w.object("dns_zone")
	names := func() (on []string) {
		for _, r := range w.fake.Rows("dns_rr", "type", "NS") {
			if r["active"] == "Y" {
				on = append(on, r["data"])
			}
		}
		slices.Sort(on)
		return on
	}
	before := names()
	if found := w.find("dns_zone", "acme.test."); len(found.Lacks) > 0 || len(before) != 2 {
		t.Fatalf("%v lacks %v", before, found.Lacks)
	}
	for _, byHand := range []string{
		`dns_ns_delete {"primary_id": %s, "update_serial": true}`,
		`dns_ns_update {"client_id": 0, "primary_id": %s, "params": {"zone": 1, "active": "n"}, "update_serial": true}`,
	} {
		for _, all := range []bool{false, true} {
			for i, r := range w.fake.Rows("dns_rr", "type", "NS") {
				if i == 0 || all {
					function, arguments, _ := strings.Cut(fmt.Sprintf(byHand, r["id"]), " ")
					w.fake.Tell(function, arguments)
				}
			}
			listed, err := w.engine.List(t.Context(), "dns_zone", w.client)
			if err != nil || len(listed) != 1 || len(listed[0].Lacks) != 2-len(names()) ||
				!slices.Equal(w.find("dns_zone", "acme.test.").Lacks, listed[0].Lacks) {
				t.Errorf("%v: %+v, %v", names(), listed, err)
			}
			serial := w.rowOf("dns_zone")["serial"]
			w.change(zone)
			now, rows := names(), w.fake.Rows("dns_rr", "type", "NS")
			if !slices.Equal(now, before) || w.rowOf("dns_zone")["serial"] <= serial || len(rows) != 2 {
				t.Errorf("%v after serial %s", now, serial)
			}
		}
	}
}
