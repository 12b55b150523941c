package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A place is an engine with a client who has a site.
func inhabited(t *testing.T, options ...sandbox.Option) (e *sandbox.Engine, owner, siteID int64) {
	t.Helper()
	e = sandbox.New(pool(t), options...)
	owner = create(t, e, client("t17"))
	return e, owner, create(t, e, site("acme.test", owner))
}

func under(kind, name string, owner int64, parents map[string]int64, values field.Values) hosting.EngineObject {
	return hosting.EngineObject{Kind: kind, Name: name, Owner: owner, Parents: parents, Values: values}
}

func certificateOf(owner, siteID int64) hosting.EngineObject {
	return under("ssl_certificate", "acme.test", owner, map[string]int64{"site": siteID},
		field.Values{"cert_type": []byte(`"acme"`), "domain": []byte(`"acme.test"`)})
}

func change(t *testing.T, e *sandbox.Engine, o hosting.EngineObject) {
	t.Helper()
	if err := e.Change(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestACertificateIsIssuedAfterAWhile(t *testing.T) {
	e, owner, siteID := inhabited(t, sandbox.Issuing(time.Hour, 90*24*time.Hour))
	id := create(t, e, certificateOf(owner, siteID))
	o, found := find(t, e, "ssl_certificate", "acme.test", "")
	if !found || o.Applied || len(o.Observed) != 0 {
		t.Errorf("%+v", o)
	}
	if again := create(t, e, certificateOf(owner, siteID)); again != id {
		t.Errorf("a second certificate %d of the site", again)
	}
	wantCreated(t, e, "ssl_certificate", "acme.test", 1)
}

// What is valid for long is not ordered again; what ends soon is.
func TestACertificateIsOrderedAgainBeforeItEnds(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		valid time.Duration
		moves bool
	}{{31 * day, false}, {29 * day, true}} {
		p := pool(t)
		e := sandbox.New(p, sandbox.Issuing(0, c.valid))
		owner := create(t, e, client("t17"))
		o := certificateOf(owner, create(t, e, site("acme.test", owner)))
		o.ID = create(t, e, o)
		before := ends(t, e)
		if left := time.Until(before); left > c.valid || left < c.valid-time.Hour {
			t.Errorf("valid for %s", left)
		}
		change(t, sandbox.New(p, sandbox.Issuing(0, 90*day)), o)
		if moved := ends(t, e).After(before); moved != c.moves {
			t.Errorf("of %s: ordered again: %v", c.valid, moved)
		}
	}
}

// What is good for long is ordered again by a change that says which one it
// replaces, once, and can be told from it.
func TestACertificateIsReplaced(t *testing.T) {
	e, owner, siteID := inhabited(t)
	o := certificateOf(owner, siteID)
	o.ID = create(t, e, o)
	before := ends(t, e)
	o.Values["replaces"] = field.AppendTime(nil, before)
	change(t, e, o)
	after := ends(t, e)
	if !after.After(before) {
		t.Errorf("%s after %s", after, before)
	}
	change(t, e, o)
	if again := ends(t, e); !again.Equal(after) {
		t.Errorf("ordered once more: %s", again)
	}
}

func ends(t *testing.T, e *sandbox.Engine) time.Time {
	t.Helper()
	o, found := find(t, e, "ssl_certificate", "acme.test", "")
	var at time.Time
	if err := json.Unmarshal(o.Observed["expires_at"], &at); err != nil || !found || !o.Applied {
		t.Fatalf("%+v, %v", o, err)
	}
	return at
}

func TestAnOrderThatFailsLeavesNoCertificate(t *testing.T) {
	e, owner, siteID := inhabited(t)
	order(t, e, faults.Fault{What: faults.Forget, Call: faults.Create, Kind: "ssl_certificate"})
	create(t, e, certificateOf(owner, siteID))
	if o, found := find(t, e, "ssl_certificate", "acme.test", ""); found {
		t.Errorf("%+v", o)
	}
}

func TestACMSIsInstalledIntoADirectoryThatIsEmpty(t *testing.T) {
	e, owner, siteID := inhabited(t)
	o := under("cms", "acme.test/blog", owner, map[string]int64{"site": siteID}, field.Values{"cms": []byte(`"wordpress"`)})
	_, err := e.Create(t.Context(), o)
	wantFailure(t, err, domain.Permanent, "secret_needed")
	o.Secrets = hosting.Secrets{"admin_password": "canary-1"}
	create(t, e, o)
	_, err = e.Create(t.Context(), o)
	wantFailure(t, err, domain.Permanent, "docroot_not_empty")
	o.Name = "other.test/blog"
	_, err = e.Create(t.Context(), o)
	wantFailure(t, err, domain.Permanent, "drift")
}

func TestPartsOfASiteGoAndAreRenamedWithIt(t *testing.T) {
	e, owner, siteID := inhabited(t)
	create(t, e, certificateOf(owner, siteID))
	installed := under("cms", "acme.test/blog", owner, map[string]int64{"site": siteID}, field.Values{"cms": []byte(`"joomla"`)})
	installed.Secrets = hosting.Secrets{"admin_password": "canary-1"}
	create(t, e, installed)
	create(t, e, under("proxy", "acme.test", owner, nil, field.Values{"upstream": []byte(`"192.0.2.1:80"`)}))

	o := site("acme.example", owner)
	o.ID, o.Former = siteID, "acme.test"
	change(t, e, o)
	parts := map[string]string{"ssl_certificate": "acme.example", "cms": "acme.example/blog", "proxy": "acme.example"}
	for kind, name := range parts {
		if _, found := find(t, e, kind, name, ""); !found {
			t.Errorf("there is no %s of the new name", kind)
		}
	}
	if err := e.Remove(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for kind, name := range parts {
		if left, found := find(t, e, kind, name, ""); found {
			t.Errorf("left: %+v", left)
		}
	}
}

func TestAMailDomainGetsAKeyWhileItSigns(t *testing.T) {
	e, owner, _ := inhabited(t)
	o := under("mail_domain", "acme.test", owner, nil, field.Values{"dkim_enabled": []byte(`true`)})
	o.ID = create(t, e, o)
	key := func() string {
		o, _ := find(t, e, "mail_domain", "acme.test", "")
		return string(o.Observed["dkim_public"])
	}
	first := key()
	if !strings.HasPrefix(first, `"v=DKIM1; k=ed25519; p=`) {
		t.Errorf("key %s", first)
	}
	o.Values = field.Values{"dkim_enabled": []byte(`true`), "is_active": []byte(`false`)}
	if change(t, e, o); key() != first {
		t.Errorf("another key %s", key())
	}
	o.Values = field.Values{"dkim_enabled": []byte(`false`)}
	if change(t, e, o); key() != `""` {
		t.Errorf("still a key: %s", key())
	}
}

func TestAShellUserLivesInTheSitesDirectory(t *testing.T) {
	e, owner, siteID := inhabited(t)
	create(t, e, under("shell_user", "ada", owner, map[string]int64{"site": siteID}, field.Values{"shell": []byte(`"/bin/sh"`)}))
	o, _ := find(t, e, "shell_user", "ada", "")
	s, _ := find(t, e, "site", "acme.test", "")
	root := strings.Trim(string(s.Observed["document_root"]), `"`)
	if home := string(o.Observed["home_directory"]); root == "" || home != `"`+root+`/home/ada"` {
		t.Errorf("home %s", home)
	}
}

func TestANewPasswordReplacesTheFormer(t *testing.T) {
	e, owner, siteID := inhabited(t)
	o := under("ftp_account", "ada", owner, map[string]int64{"site": siteID}, field.Values{"quota_mb": []byte(`5`)})
	o.Secrets = hosting.Secrets{"password": "canary-1"}
	o.ID = create(t, e, o)
	o.Secrets = hosting.Secrets{"password": "canary-2"}
	o.Changed = []string{"password"}
	change(t, e, o)
	o.Secrets = nil
	change(t, e, o)
	for password, good := range map[string]bool{"canary-1": false, "canary-2": true} {
		if is, err := e.Accepts(t.Context(), "ftp_account", "ada", "password", password); err != nil || is != good {
			t.Errorf("%s: %v, %v", password, is, err)
		}
	}
}

func TestAChangeMayBeAppliedLate(t *testing.T) {
	e, owner, siteID := inhabited(t)
	o := site("acme.test", owner)
	o.ID, o.Values = siteID, field.Values{"is_active": []byte(`false`)}
	order(t, e, faults.Fault{What: faults.Late, Call: faults.Change, Name: "acme.test", Delay: time.Hour})
	change(t, e, o)
	if found, _ := find(t, e, "site", "acme.test", ""); found.Applied || string(found.Values["is_active"]) != "false" {
		t.Errorf("%+v", found)
	}
	order(t, e, faults.Fault{What: faults.ClaimsDone, Call: faults.Change})
	o.Values = field.Values{"is_active": []byte(`true`)}
	change(t, e, o)
	if found, _ := find(t, e, "site", "acme.test", ""); string(found.Values["is_active"]) != "false" {
		t.Error("what was only claimed has been done")
	}
}

// A creation is still on its way when the caller's patience ends.
func TestACreationMayArriveAfterItsTimeout(t *testing.T) {
	e := sandbox.New(pool(t))
	order(t, e, faults.Fault{What: faults.TimeoutLate, Call: faults.Create, Delay: time.Hour})
	_, err := e.Create(t.Context(), client("t1"))
	wantFailure(t, err, domain.Unknown, "timeout")
	if o, found := find(t, e, "tenant", "t1", "t1"); found {
		t.Errorf("seen: %+v", o)
	}
	wantCreated(t, e, "tenant", "t1", 1)
}

func TestUsageIsWhatWasMeasured(t *testing.T) {
	e, owner, siteID := inhabited(t)
	if err := e.Measure(t.Context(), "site", "acme.test", 4096, 100); err != nil {
		t.Fatal(err)
	}
	u, err := e.Usage(t.Context(), owner)
	if err != nil || u.StorageBytes() != 4096 || u.Traffic["acme.test"] != 100 {
		t.Errorf("%+v, %v", u, err)
	}
	o := site("acme.test", owner)
	o.ID, o.Values = siteID, field.Values{"is_active": []byte(`false`)}
	change(t, e, o)
	if u, err = e.Usage(t.Context(), owner); err != nil || len(u.Traffic) != 0 || len(u.Storage) != 1 {
		t.Errorf("of a site that is off: %+v, %v", u, err)
	}
	order(t, e, faults.Fault{What: faults.Busy, Call: faults.List, Kind: "usage"})
	_, err = e.Usage(t.Context(), owner)
	wantFailure(t, err, domain.Transient, "busy")
}

func TestListsMayFailToo(t *testing.T) {
	e, owner, _ := inhabited(t)
	order(t, e, faults.Fault{What: faults.ResetBefore, Call: faults.List, Kind: "site"})
	_, err := e.List(t.Context(), "site", owner)
	wantFailure(t, err, domain.Unknown, "reset")
	if all, err := e.List(t.Context(), "tenant", owner); err != nil || len(all) != 1 || all[0].ID != owner {
		t.Errorf("%+v, %v", all, err)
	}
}
