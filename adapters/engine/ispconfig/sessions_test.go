package ispconfig_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain"
)

// S1: fifty at once find the session gone.
func TestASessionThatDiesUnderManyIsReplacedOnce(t *testing.T) {
	w := inhabited(t)
	w.fake.EndSessions()
	logins := w.fake.Calls("login")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, ok, err := w.engine.Find(t.Context(), "site", "acme.test", ""); err != nil || !ok {
				t.Error(ok, err)
			}
		})
	}
	all.Wait()
	if n := w.fake.Calls("login") - logins; n != 1 {
		t.Errorf("%d logins", n)
	}
}

// S2: no call ever meets a session that has expired by its age.
func TestASessionIsRenewedAheadOfItsEnd(t *testing.T) {
	w := inhabited(t)
	for range 180 {
		w.fake.Pass(time.Minute)
		w.find("site", "acme.test")
		if w.fake.Failures() != 0 {
			t.Fatal("a call met a dead session")
		}
	}
	if n := w.fake.Calls("login"); n < 6 || n > 9 {
		t.Errorf("%d logins in three hours", n)
	}
	if w.fake.Calls("logout") != w.fake.Calls("login")-1 {
		t.Error("old sessions are left open")
	}
	if err := w.engine.Close(t.Context()); err != nil || w.fake.Calls("logout") != w.fake.Calls("login") {
		t.Error("the last session is left open", err)
	}
}

// S3: a wrong password is tried once in five minutes, which never adds up to a
// lock-out. It is noticed by itself when the password is right.
func TestAWrongPasswordIsTriedSeldom(t *testing.T) {
	w := empty(t)
	w.fake.Password("Another-Secret-0815!")
	for range 20 {
		for range 5 {
			_, _, err := w.engine.Find(t.Context(), "site", "acme.test", "")
			refused(t, err, domain.Transient, "engine_credentials")
			if f, _ := errors.AsType[*domain.Failure](err); f.Lacks != "login" || f.Rest <= 5*time.Minute {
				t.Fatalf("%+v", f)
			}
		}
		if w.fake.Failures() > 1 {
			t.Fatalf("%d failures", w.fake.Failures())
		}
		w.fake.Pass(5*time.Minute + 11*time.Second)
	}
	if w.fake.Calls("") != 20 {
		t.Errorf("%d calls", w.fake.Calls(""))
	}
	w.fake.Password(ispconfigtest.Password)
	if _, _, err := w.engine.Find(t.Context(), "site", "acme.test", ""); err != nil {
		t.Error(err)
	}
}

// A function that the remote user lacks is named, and asked for again.
func TestAFunctionThatIsMissingIsNamed(t *testing.T) {
	w := inhabited(t)
	w.fake.Forbid("sites_cron_add")
	job := w.object("site")
	job.Kind, job.Name, job.Parents["site"] = "cron_job", decimal(w.made["site"])+" 0 3 * * * https://acme.test/", w.made["site"]
	job.ID, job.Values = 0, values("schedule", "0 3 * * *", "command", "https://acme.test/", "is_active", true)
	_, err := w.engine.Create(t.Context(), job)
	refused(t, err, domain.Transient, "engine_permission")
	if domain.LackOf(err) != "sites_cron_add" {
		t.Error(err)
	}
	w.change(with(w.object("site"), "ip_address", "192.0.2.7")) // which does not need it
	w.fake.Forbid()
	w.create(job)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// S4: while we are locked out nothing is sent, for five minutes and ten seconds.
func TestALockOutIsWaitedFor(t *testing.T) {
	w := inhabited(t)
	for range 10 { // another program behind the same address
		stranger := w.config
		stranger.Password = "wrong"
		_, _, _ = w.open(stranger).Find(t.Context(), "site", "acme.test", "")
	}
	_, _, err := w.engine.Find(t.Context(), "site", "acme.test", "")
	refused(t, err, domain.Transient, "engine_locked")
	before := w.fake.Calls("")
	for range 61 {
		w.fake.Pass(5 * time.Second)
		_, _, err := w.engine.Find(t.Context(), "site", "acme.test", "")
		refused(t, err, domain.Transient, "engine_locked")
	}
	if w.fake.Calls("") != before {
		t.Error("something was sent")
	}
	w.fake.Pass(6 * time.Second)
	w.find("site", "acme.test")
}

// S5: sessions that die again and again stop us long before the engine does.
func TestTheThirdDeadSessionOpensTheCircuit(t *testing.T) {
	w := inhabited(t)
	engines := []*ispconfig.Engine{w.engine, w.open(w.config)}
	worst := 0
	for i := range 40 {
		w.fake.EndSessions()
		_, _, _ = engines[i%2].Find(t.Context(), "site", "acme.test", "")
		worst = max(worst, w.fake.Failures())
		w.fake.Pass(20 * time.Second)
	}
	if worst >= 10 || worst == 0 {
		t.Errorf("%d failures", worst)
	}
	w.fake.EndSessions()
	_, _, err := w.engine.Find(t.Context(), "site", "acme.test", "")
	if err == nil {
		t.Error("the circuit is closed")
	}
}

// While the engine is under maintenance only new logins fail.
func TestMaintenanceIsWaitedFor(t *testing.T) {
	w := empty(t)
	w.fake.Order(ispconfigtest.Fault{Function: "login", What: ispconfigtest.Maintenance})
	_, err := w.engine.Create(t.Context(), tenant("t17"))
	refused(t, err, domain.Transient, "engine_maintenance")
	w.fake.Pass(61 * time.Second)
	w.create(tenant("t17"))
}

// An engine that cannot be reached has done nothing.
func TestAnEngineThatIsAwayHasDoneNothing(t *testing.T) {
	w := empty(t)
	w.config.URL = "http://127.0.0.1:1"
	_, err := w.open(w.config).Create(t.Context(), tenant("t17"))
	refused(t, err, domain.Transient, "engine_unreachable")
}

// K5: without turns equal additions really become several rows.
func TestTheDoubleLetsEqualRowsIn(t *testing.T) {
	w := inhabited(t)
	w.fake.Between(func() {
		w.fake.Between(nil)
		w.fake.Tell("sites_ftp_user_add", ftp)
	})
	w.fake.Tell("sites_ftp_user_add", ftp)
	if n := len(w.fake.Rows("ftp_user", "username", "twin")); n != 2 {
		t.Errorf("%d rows", n)
	}
	_, _, err := w.engine.Find(t.Context(), "ftp_account", "twin", "")
	refused(t, err, domain.Permanent, "ambiguous")
	if !strings.Contains(w.fake.Tell("sites_ftp_user_add", ftp), "username_error_unique") {
		t.Error("a third is let in too")
	}
}

const ftp = `{"client_id": 1, "params": {"server_id": 1, "parent_domain_id": 1, "username": "twin", "quota_size": -1, ` +
	`"uid": "web1", "gid": "client1", "dir": "/var/www/clients/client1/web1"}}`
