package ispconfig_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// steps of client_add: nothing yet, row, key, job, group, login.
const clientSteps = 6

// A client_add outlasts its caller at each of its steps. The panel tries again meanwhile
// and lets the half-made client be. When the engine has made it, it is the client.
func TestASlowClientAddIsNeverUndoneUnderTheEngine(t *testing.T) {
	for step := 1; step <= clientSteps; step++ {
		w := empty(t)
		reached, resume := w.fake.Stall("client_add", step)
		ctx, giveUp := context.WithCancel(t.Context())
		gaveUp := make(chan error)
		go func() {
			_, err := w.engine.Create(ctx, tenant("t17"))
			gaveUp <- err
		}()
		<-reached
		giveUp()
		if err := <-gaveUp; domain.ClassOf(err) != domain.Unknown {
			t.Errorf("step %d: %v", step, err)
		}
		if step > 1 && step < clientSteps {
			w.fake.Pass(10 * time.Minute)
			_, err := w.engine.Create(t.Context(), tenant("t17"))
			refused(t, err, domain.Waiting, "being_made")
			if found, is, err := w.engine.Find(t.Context(), "tenant", "t17", "t17"); err != nil || !is || found.Applied || !found.Partial {
				t.Errorf("step %d: %+v, %t, %v", step, found, is, err)
			}
		}
		resume()
		for w.fake.Logins.Count("t17") == 0 {
			time.Sleep(time.Millisecond)
		}
		w.usable()
	}
}

// usable wants one client with one login, for which the engine makes something.
func (w *world) usable() {
	w.Helper()
	w.client = w.create(tenant("t17"))
	w.made["site"] = w.create(w.object("site"))
	if n := w.fake.Logins.Count("t17"); n != 1 || len(w.fake.Torn()) > 0 {
		w.Errorf("%d logins, %q", n, w.fake.Torn())
	}
	w.fake.Tick()
	if found := w.find("tenant", "t17"); !found.Applied || found.Partial {
		w.Errorf("%+v", found)
	}
}

// The caller's own limit does not end a client_add before its minute is over.
func TestAClientAddHasAMinute(t *testing.T) {
	w := empty(t)
	if err := w.engine.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	reached, resume := w.fake.Stall("client_add", 3)
	ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	over := make(chan error)
	go func() {
		_, err := w.engine.Create(ctx, tenant("t17"))
		over <- err
	}()
	<-reached
	<-ctx.Done()
	resume()
	if err := <-over; err != nil && domain.ClassOf(err) != domain.Unknown || w.fake.Logins.Count("t17") != 1 {
		t.Errorf("%v, %d logins", err, w.fake.Logins.Count("t17"))
	}
	w.usable()
}

// PHP has ended in the middle. The half-made client goes when PHP's limit is over, as far
// as this process has seen it, and another is made.
func TestAHalfMadeClientGoesWhenItsMakerCannotRunAnyMore(t *testing.T) {
	for step := 1; step < clientSteps; step++ {
		w := empty(t)
		if _, _, err := w.engine.Find(t.Context(), "tenant", "t17", "t17"); err != nil || w.engine.Check(t.Context()) != nil {
			t.Fatal(err)
		}
		mend := w.fake.Cut(step + 1) // the look before is a step
		if _, err := w.engine.Create(t.Context(), tenant("t17")); err == nil {
			t.Error("PHP has not ended")
		}
		mend()
		tries := 0
		for {
			_, err := w.engine.Create(t.Context(), tenant("t17"))
			if err == nil {
				break
			}
			f, _ := errors.AsType[*domain.Failure](err)
			if f == nil || f.Code != "being_made" || tries > 100 {
				t.Fatalf("step %d: %v", step, err)
			}
			tries++
			w.fake.Pass(time.Minute)
		}
		if half := step < clientSteps-1; half != (tries > 0) {
			t.Errorf("step %d: %d tries", step, tries)
		}
		w.usable()
	}
}

// A site that the engine is still making is let be, too.
func TestASlowSiteIsNeverUndoneUnderTheEngine(t *testing.T) {
	w := empty(t)
	w.client = w.create(tenant("t17"))
	reached, resume := w.fake.Stall("sites_web_domain_add", 2)
	ctx, giveUp := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() {
		_, err := w.engine.Create(ctx, w.object("site"))
		gaveUp <- err
	}()
	<-reached
	giveUp()
	if err := <-gaveUp; domain.ClassOf(err) != domain.Unknown {
		t.Error(err)
	}
	_, err := w.engine.Create(t.Context(), w.object("site"))
	refused(t, err, domain.Waiting, "being_made")
	resume()
	for w.rowOf("site")["document_root"] == "" {
		time.Sleep(time.Millisecond)
	}
	w.create(w.object("site"))
	w.fake.Tick()
	if found := w.find("site", "acme.test"); !found.Applied {
		t.Errorf("%+v", found)
	}
}

// A login without a client is burned: the engine refuses it, and no client has it. The
// client gets another one, by which it is found, changed and removed.
func TestABurnedLoginIsReplaced(t *testing.T) {
	w := empty(t)
	w.fake.Logins.Burn("t17")
	w.fake.Logins.Burn("t17-2")
	w.client = w.create(tenant("t17"))
	if row := w.row("client", "customer_no", "t17"); row["username"] != "t17-3" {
		t.Errorf("the login %q", row["username"])
	}
	w.made["site"] = w.create(w.object("site"))
	again := w.open(w.config) // another process
	o := with(tenant("t17"), "max_sites", 9)
	o.ID = w.client
	if err := again.Change(t.Context(), o); err != nil {
		t.Error(err)
	}
	w.fake.Tick()
	found, is, err := again.Find(t.Context(), "tenant", "t17", "t17")
	if err != nil || !is || !found.Applied || !hosting.IsLogin(found.Name, "t17") || string(found.Observed["username"]) != `"t17-3"` {
		t.Errorf("%+v, %t, %v", found, is, err)
	}
	if id, err := again.Create(t.Context(), tenant("t17")); err != nil || id != w.client {
		t.Errorf("%d, %v", id, err)
	}
	site := w.object("site")
	for _, o := range []hosting.EngineObject{site, {Kind: "tenant", ID: w.client, Name: "t17", Ref: "t17"}} {
		if err := again.Remove(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
}

// A login of a client that is there is another's.
func TestTheLoginOfAnotherClientIsTaken(t *testing.T) {
	w := empty(t)
	w.create(tenant("t18"))
	o := tenant("t17")
	o.Name = "t18"
	_, err := w.engine.Create(t.Context(), o)
	refused(t, err, domain.Permanent, "name_taken")
}

// A second login of the name came to be while the client was made. The engine shows only
// the first, whose client is gone. The client is whole for each process that asks.
func TestAClientWithTwoLoginsOfItsNameIsWhole(t *testing.T) {
	w := inhabited(t)
	w.fake.Logins.Burn("t17")
	for range 2 {
		w.fake.Tick()
		engine := w.open(w.config)
		if found, is, err := engine.Find(t.Context(), "tenant", "t17", "t17"); err != nil || !is || !found.Applied || found.Partial {
			t.Errorf("%+v, %t, %v", found, is, err)
		}
		o := with(tenant("t17"), "max_sites", 7)
		o.ID = w.client
		if err := engine.Change(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if w.rowOf("tenant")["client_id"] != fmt.Sprint(w.client) {
		t.Error("it is another client")
	}
}

// The login of a client that the panel has a number of was looked at when it was made.
// What became of it since keeps no change from the engine.
func TestAChangeOfAClientDoesNotDependOnItsLogin(t *testing.T) {
	w := inhabited(t)
	w.fake.Logins.Lose("t17")
	o := with(tenant("t17"), "max_sites", 7)
	o.ID = w.client
	for _, engine := range []*ispconfig.Engine{w.engine, w.open(w.config)} {
		if err := engine.Change(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if w.rowOf("tenant")["limit_web_domain"] != "7" {
		t.Error("the client is not changed")
	}
}

// What an interrupted check of an engine has left is removed, burned logins of each of its
// checks included. The login of a client that is there stays.
func TestCleaningRemovesBurnedLogins(t *testing.T) {
	w := empty(t)
	w.create(tenant("hptryt17"))
	kept := w.create(tenant("t18"))
	for _, login := range []string{"hptry3t18", "hptry3t18", "hptryt17-2"} {
		w.fake.Logins.Burn(login)
	}
	if left := enginetest.Clean(t.Context(), enginetest.Engine{EngineServer: w.engine}, "hptry"); len(left) > 0 {
		t.Error(left)
	}
	for login, want := range map[string]int{"hptry3t18": 0, "hptryt17": 0, "hptryt17-2": 0, "t18": 1} {
		if n := w.fake.Logins.Count(login); n != want {
			t.Errorf("%d logins %s", n, login)
		}
	}
	if err := w.engine.FreeLogin(t.Context(), "t18"); err != nil || w.row("client", "username", "t18")["client_id"] != fmt.Sprint(kept) {
		t.Errorf("a client that is there is touched: %v", err)
	}
}

// No removal takes a client away under the engine's hands either.
func TestASlowClientIsNotRemoved(t *testing.T) {
	w := empty(t)
	reached, resume := w.fake.Stall("client_add", 4)
	ctx, giveUp := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() {
		_, err := w.engine.Create(ctx, tenant("t17"))
		gaveUp <- err
	}()
	<-reached
	giveUp()
	<-gaveUp //nolint:errcheck // it has no answer
	half := w.find("tenant", "t17")
	refused(t, w.engine.Remove(t.Context(), half), domain.Waiting, "being_made")
	resume()
	for w.fake.Logins.Count("t17") == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := w.engine.Remove(t.Context(), half); err != nil || w.fake.Logins.Count("t17") > 0 {
		t.Errorf("%v, %d logins", err, w.fake.Logins.Count("t17"))
	}
}
