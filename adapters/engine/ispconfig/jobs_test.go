package ispconfig_test

import (
	"slices"
	"testing"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
)

// A1: what was accepted is applied when the queue has been empty since.
func TestAcceptedIsNotApplied(t *testing.T) {
	w := inhabited(t)
	w.change(with(w.object("site"), "ip_address", "192.0.2.7"))
	if w.find("site", "acme.test").Applied {
		t.Error("it was not carried out")
	}
	w.fake.Tick()
	if !w.find("site", "acme.test").Applied {
		t.Error("it has been carried out")
	}
}

// A1: a queue that never runs dry is counted against what came after.
func TestABusyQueueIsCounted(t *testing.T) {
	w := inhabited(t)
	for _, kind := range []string{"site", "ftp_account"} {
		o := with(w.object(kind), "is_active", false)
		w.change(o)
		w.fake.Noise(5)
		if w.find(kind, o.Name).Applied {
			t.Error("it was not carried out")
		}
		w.fake.TickUntil(6)
		if w.find(kind, o.Name).Applied {
			t.Error("the job before it has been carried out")
		}
		w.fake.TickUntil(5)
		if !w.find(kind, o.Name).Applied {
			t.Error("it has been carried out")
		}
		w.fake.TickUntil(2)
		if !w.find(kind, o.Name).Applied {
			t.Error("and more")
		}
	}
	// the job of a new row does not name it
	o := w.object("ftp_account")
	o.Name = "c17_new"
	w.create(o)
	w.fake.Noise(3)
	if w.find("ftp_account", "c17_new").Applied {
		t.Error("it was not carried out")
	}
	w.fake.TickUntil(3)
	other := w.open(w.config) // a process that has not written it
	if found, _, err := other.Find(t.Context(), "ftp_account", "c17_new", ""); err != nil || !found.Applied {
		t.Error(found, err)
	}
}

// A2: "ok" says nothing, an error says that the server refused it. That is a
// state of the object, which is found, changed and removed as any other.
func TestAServerThatRefusesIsHeard(t *testing.T) {
	w := inhabited(t)
	w.fake.FailJobs("web_domain")
	w.change(with(w.object("site"), "ip_address", "192.0.2.7"))
	if found := w.find("site", "acme.test"); found.Applied || found.Refused {
		t.Error("it was not carried out", found)
	}
	w.fake.Tick()
	for range 2 {
		if found := w.find("site", "acme.test"); found.Applied || !found.Refused || found.ID != w.made["site"] {
			t.Error(found)
		}
	}
	w.fake.FailJobs("")
	w.change(with(w.object("site"), "ip_address", "192.0.2.10"))
	w.fake.Tick()
	if found := w.find("site", "acme.test"); !found.Applied || found.Refused {
		t.Error(found)
	}
}

// What the server has refused it is told once more when it is asked for again.
func TestARefusedChangeIsToldAgain(t *testing.T) {
	w := inhabited(t)
	for _, kind := range kinds {
		o := w.object(kind)
		o.Secrets = nil
		w.fake.FailJobs(places[kind].table)
		w.change(with(o, "is_active", false))
		w.fake.Tick()
		if found := w.find(kind, o.Name); !found.Refused {
			t.Errorf("%s: %+v", kind, found)
		}
		w.fake.FailJobs("")
		w.change(with(o, "is_active", false))
		w.fake.Tick()
		if found := w.find(kind, o.Name); !found.Applied || found.Refused || string(found.Values["is_active"]) != "false" {
			t.Errorf("%s: %+v", kind, found)
		}
		w.change(o)
	}
	w.fake.Tick()
	w.fake.FailJobs("dns_rr")
	w.change(with(w.object("dns_record"), "ttl", 60))
	w.fake.Tick()
	if err := w.engine.Remove(t.Context(), w.object("dns_record")); err != nil {
		t.Error(err)
	}
}

// The journal is read forward: each job once, and no more than one answer holds.
func TestTheJournalIsReadForward(t *testing.T) {
	w := inhabited(t)
	w.find("site", "acme.test")
	begun := w.fake.Calls("sys_datalog_get_by_tstamp")
	w.fake.Noise(3000)
	w.fake.Tick()
	w.find("site", "acme.test")
	before := w.fake.Told("")
	for range 20 {
		w.change(with(w.object("site"), "ip_address", "192.0.2.7"))
		w.find("site", "acme.test")
		w.fake.Tick()
		w.find("site", "acme.test")
		w.change(with(w.object("site"), "ip_address", "*"))
	}
	if told := w.fake.Told("") - before; told > 40*40_000 {
		t.Errorf("%d bytes for 40 changes", told)
	}
	if n := w.fake.Calls("sys_datalog_get_by_tstamp") - begun; n != 0 {
		t.Errorf("the journal was begun %d times more", n)
	}
}

// A journal that is longer than an answer is begun nearer to its end, and goes
// on from there.
func TestALongJournalIsReadFromNearItsEnd(t *testing.T) {
	w := inhabited(t)
	for range 2 {
		w.fake.Bulk(9, 64<<10)
		w.fake.Pass(4 * time.Minute)
	}
	w.fake.Tick()
	other := w.open(w.config)
	other.Bound(1 << 20)
	change := with(w.object("site"), "ip_address", "192.0.2.7")
	if err := other.Change(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if found, _, err := other.Find(t.Context(), "site", "acme.test", ""); err != nil || found.Applied {
		t.Error(found, err)
	}
	w.fake.Bulk(17, 64<<10) // between two looks
	w.fake.Pass(4 * time.Minute)
	w.fake.Noise(3)
	if found, _, err := other.Find(t.Context(), "site", "acme.test", ""); err != nil || found.Applied {
		t.Error(found, err)
	}
	w.fake.Tick()
	if found, _, err := other.Find(t.Context(), "site", "acme.test", ""); err != nil || !found.Applied {
		t.Error(found, err)
	}
}

func (w *world) certificate() hosting.EngineObject {
	return hosting.EngineObject{
		Kind: "ssl_certificate", Owner: w.client, Name: "acme.test", Parents: map[string]int64{"site": w.made["site"]},
		Values: values("cert_type", "acme"),
	}
}

// A4: an order is two flags, and their being there still when it has been applied.
func TestACertificateIsOrderedOnceAndIssued(t *testing.T) {
	w := inhabited(t)
	for range 3 {
		w.create(w.certificate())
	}
	if n := w.fake.Calls("sites_web_domain_update"); n != 1 {
		t.Errorf("%d orders", n)
	}
	if w.find("ssl_certificate", "acme.test").Applied {
		t.Error("it is issued already")
	}
	w.fake.Tick()
	if found := w.find("ssl_certificate", "acme.test"); !found.Applied || string(found.Values["cert_type"]) != `"acme"` {
		t.Error(found)
	}
	o := w.certificate()
	o.ID = w.made["site"]
	for range 2 {
		if err := w.engine.Remove(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if row := w.rowOf("site"); row["ssl"] != "n" || row["ssl_letsencrypt"] != "n" || row["pm_max_children"] != "10" {
		t.Error(row)
	}
}

// Until when a certificate is valid is what its web server shows, once the
// order has been applied.
func TestUntilWhenACertificateIsValidIsSeenFromOutside(t *testing.T) {
	w := inhabited(t)
	w.ends = time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC)
	w.create(w.certificate())
	if seen := w.find("ssl_certificate", "acme.test").Observed["expires_at"]; seen != nil {
		t.Errorf("%s before it is issued", seen)
	}
	w.fake.Tick()
	if seen := w.find("ssl_certificate", "acme.test").Observed["expires_at"]; string(seen) != `"2026-05-30T12:00:00Z"` {
		t.Errorf("%s", seen)
	}
	w.ends = time.Time{}
	if found := w.find("ssl_certificate", "acme.test"); !found.Applied || len(found.Observed) != 0 {
		t.Error(found)
	}
}

// To order again the flags have to be down in between; unless the engine has
// renewed by itself.
func TestACertificateIsReplaced(t *testing.T) {
	w := inhabited(t)
	old := time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC)
	w.ends = old
	w.create(w.certificate())
	w.fake.Tick()
	o := w.certificate()
	o.ID = w.made["site"]
	o.Values["replaces"] = []byte(`"2026-05-30T12:00:00Z"`)
	refused(t, w.engine.Change(t.Context(), o), domain.Waiting, "withdrawn")
	refused(t, w.engine.Change(t.Context(), o), domain.Waiting, "site_pending")
	if row := w.rowOf("site"); row["ssl"] != "n" || row["ssl_letsencrypt"] != "n" {
		t.Error(row)
	}
	w.fake.Tick()
	if err := w.engine.Change(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if row := w.rowOf("site"); row["ssl"] != "y" || row["ssl_letsencrypt"] != "y" {
		t.Error(row)
	}
	w.fake.Tick()
	w.ends = old.Add(60 * 24 * time.Hour)
	calls := w.fake.Calls("sites_web_domain_update")
	if err := w.engine.Change(t.Context(), o); err != nil || w.fake.Calls("sites_web_domain_update") != calls {
		t.Errorf("ordered although it is new: %v", err)
	}
}

func TestAnOrderThatFailedLeavesNoCertificate(t *testing.T) {
	w := inhabited(t)
	w.fake.FailOrders(true)
	w.create(w.certificate())
	w.fake.Tick()
	if _, ok, err := w.engine.Find(t.Context(), "ssl_certificate", "acme.test", ""); ok || err != nil {
		t.Error(ok, err)
	}
}

func TestACertificateNeedsASiteThatIsServed(t *testing.T) {
	w := inhabited(t)
	w.change(with(w.object("site"), "ip_address", "192.0.2.7"))
	_, err := w.engine.Create(t.Context(), w.certificate())
	refused(t, err, domain.Waiting, "site_pending")
	w.change(with(w.object("site"), "is_active", false))
	w.fake.Tick()
	_, err = w.engine.Create(t.Context(), w.certificate())
	refused(t, err, domain.Permanent, "site_inactive")
	other := w.certificate()
	other.Owner = w.create(tenant("t18"))
	_, err = w.engine.Create(t.Context(), other)
	refused(t, err, domain.Permanent, "drift")
}

func TestACertificateOfTheCustomersOwnIsInstalled(t *testing.T) {
	w := inhabited(t)
	o := w.certificate()
	o.Values = values("cert_type", "custom")
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "invalid")
	o.Secrets = hosting.Secrets{"certificate": "PEM-CERT", "private_key": "PEM-KEY"}
	w.create(o)
	if row := w.rowOf("site"); row["ssl"] != "y" || row["ssl_letsencrypt"] != "n" || row["ssl_key"] != "PEM-KEY" ||
		row["ssl_action"] != "save" || row["ssl_domain"] != "acme.test" {
		t.Error(row)
	}
}

// R6: what the engine does not know is not zero.
func TestUsageTellsWhatIsKnown(t *testing.T) {
	w := inhabited(t)
	unknown := func(m hosting.Measure) bool { return m.Kind == "site" && m.Bytes == nil }
	if u, err := w.engine.Usage(t.Context(), w.client); err != nil || len(u.Traffic) != 0 || !slices.ContainsFunc(u.Storage, unknown) {
		t.Errorf("%+v %v", u, err)
	}
	w.fake.Used("web_domain", 1, 126418944)
	w.fake.Used("mail_user", 1, 5242880)
	w.fake.Used("web_database", 1, 7340032)
	w.fake.Traffic("acme.test", 987654321)
	u, err := w.engine.Usage(t.Context(), w.client)
	if err != nil || u.StorageBytes() != 126418944+5242880+7340032 || u.Traffic["acme.test"] != 987654321 || !u.ReadAt.Equal(w.fake.Now()) {
		t.Errorf("%+v %v", u, err)
	}
}

// The turns of processes that share a database.
func TestTurnsAreTakenAcrossProcesses(t *testing.T) {
	pool := eventstoretest.Pool(t, eventstoretest.URL(t))
	one, other := ispconfig.Together(pool), ispconfig.Together(pool)
	release, err := one.Take(t.Context(), ispconfig.Turn{Name: "a", Shared: true}, ispconfig.Turn{Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := other.Take(t.Context(), ispconfig.Turn{Name: "a", Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	shared()
	got := make(chan func(), 1)
	go func() {
		after, err := other.Take(t.Context(), ispconfig.Turn{Name: "b"})
		if err != nil {
			t.Error(err)
		}
		got <- after
	}()
	select {
	case <-got:
		t.Error("both have the turn")
	case <-time.After(50 * time.Millisecond):
	}
	release()
	(<-got)()
}
