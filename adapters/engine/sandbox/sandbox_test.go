package sandbox_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

var _ hosting.EngineServer = (*sandbox.Engine)(nil)

func pool(t *testing.T) *pgxpool.Pool {
	return eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "sandbox_engine", Files: sandbox.Migrations}))
}

func client(name string) hosting.EngineObject {
	return hosting.EngineObject{Kind: "tenant", Name: name, Ref: name, Values: field.Values{"country": []byte(`"ES"`)}}
}

func site(domain string, owner int64) hosting.EngineObject {
	return hosting.EngineObject{
		Kind: "site", Name: domain, Owner: owner,
		Values: field.Values{"ip_address": []byte(`"*"`), "tags": []byte(`["a","b"]`)},
	}
}

func create(t *testing.T, e *sandbox.Engine, o hosting.EngineObject) int64 {
	t.Helper()
	id, err := e.Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func find(t *testing.T, e *sandbox.Engine, kind, name, ref string) (hosting.EngineObject, bool) {
	t.Helper()
	o, found, err := e.Find(t.Context(), kind, name, ref)
	if err != nil {
		t.Fatal(err)
	}
	return o, found
}

func order(t *testing.T, e *sandbox.Engine, f faults.Fault) {
	t.Helper()
	if _, err := e.Faults().Order(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func wantFailure(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	var f *domain.Failure
	if !errors.As(err, &f) || f.Class != class || f.Code != code {
		t.Errorf("got %v, want %s failure %s", err, class, code)
	}
}

func wantCreated(t *testing.T, e *sandbox.Engine, kind, name string, times int) {
	t.Helper()
	if n, err := e.Created(t.Context(), kind, name); err != nil || n != times {
		t.Errorf("%s %s was created %d times, not %d (%v)", kind, name, n, times, err)
	}
}

func TestAnObjectIsFoundByItsNameAndByOurReferenceAsItWasSent(t *testing.T) {
	e := sandbox.New(pool(t))
	owner := create(t, e, client("t17"))
	id := create(t, e, site("acme.test", owner))

	for _, by := range [][2]string{{"t17", ""}, {"", "t17"}, {"t17", "t17"}} {
		if o, found := find(t, e, "tenant", by[0], by[1]); !found || o.ID != owner || o.Ref != "t17" || !o.Applied {
			t.Errorf("by %q: %+v, %v", by, o, found)
		}
	}
	o, found := find(t, e, "site", "acme.test", "")
	if !found || o.ID != id || o.Owner != owner || string(o.Values["tags"]) != `["a","b"]` {
		t.Errorf("site: %+v, %v", o, found)
	}
	if root := string(o.Observed["document_root"]); !strings.HasPrefix(root, `"/var/www/clients/client`) {
		t.Errorf("document root %s", root)
	}
	for _, by := range [][3]string{{"site", "", ""}, {"site", "t17", ""}, {"tenant", "acme.test", ""}, {"site", "acme.tes", ""}} {
		if o, found := find(t, e, by[0], by[1], by[2]); found {
			t.Errorf("by %q: %+v", by, o)
		}
	}
}

func TestTheEngineHasRulesOfItsOwn(t *testing.T) {
	e := sandbox.New(pool(t))
	owner := create(t, e, client("t1"))
	for _, c := range []struct {
		code string
		hosting.EngineObject
	}{
		{"invalid", client("web7")},
		{"invalid", client("a b")},
		{"invalid", client("")},
		{"invalid", hosting.EngineObject{Kind: "tenant", Name: "t2"}}, // no customer number
		{"invalid", site("Acme.test", owner)},
		{"invalid", site("acme.test.", owner)},
		{"invalid", site("münchen.test", owner)},
		{"invalid", site("localhost", owner)},
		{"invalid", site("-a.test", owner)},
		{"owner_missing", site("acme.test", 0)},
		{"owner_missing", site("acme.test", owner+1000)},
		{"name_taken", client("t1")},
		{"not_supported", hosting.EngineObject{Kind: "vm", Name: "vm1"}},
	} {
		_, err := e.Create(t.Context(), c.EngineObject)
		wantFailure(t, err, domain.Permanent, c.code)
	}
	wantCreated(t, e, "tenant", "t1", 1)
	wantCreated(t, e, "site", "acme.test", 0)
}

func TestOfEqualCreationsAtOnceOneSucceeds(t *testing.T) {
	e := sandbox.New(pool(t))
	owner := create(t, e, client("t1"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := e.Create(t.Context(), site("acme.test", owner)); err != nil {
				wantFailure(t, err, domain.Permanent, "name_taken")
			}
		})
	}
	all.Wait()
	wantCreated(t, e, "site", "acme.test", 1)
}

func TestRemovingNeverCascades(t *testing.T) {
	e := sandbox.New(pool(t))
	owner := create(t, e, client("t1"))
	id := create(t, e, site("acme.test", owner))
	wantFailure(t, e.Remove(t.Context(), hosting.EngineObject{Kind: "tenant", ID: owner}), domain.Permanent, "owns_others")
	for _, what := range []struct {
		kind string
		id   int64
	}{{"site", id}, {"site", id}, {"site", owner}, {"tenant", owner}, {"tenant", owner}} {
		if err := e.Remove(t.Context(), hosting.EngineObject{Kind: what.kind, ID: what.id}); err != nil {
			t.Fatalf("remove %v: %v", what, err)
		}
	}
	if left, err := e.Objects(t.Context(), "tenant"); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if again := create(t, e, client("t1")); again <= id {
		t.Errorf("number %d was given twice", again)
	}
	wantCreated(t, e, "tenant", "t1", 2)
}

func TestWhatWasAskedIsAppliedLater(t *testing.T) {
	p := pool(t)
	later := sandbox.New(p, sandbox.Applying(time.Hour))
	create(t, later, client("t1"))
	if o, found := find(t, later, "tenant", "t1", ""); !found || o.Applied {
		t.Errorf("%+v, %v", o, found)
	}
	create(t, sandbox.New(p, sandbox.Applying(50*time.Millisecond)), client("t2"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if o, _ := find(t, later, "tenant", "t2", ""); o.Applied {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("never applied")
		}
	}
}

func TestACreationWithoutAnAnswerIsFoundAgain(t *testing.T) {
	e := sandbox.New(pool(t))
	for _, what := range []faults.What{faults.TimeoutAfter, faults.ResetAfter, faults.ErrorAfter, faults.DeniesDoing} {
		name := "t-" + string(what)
		order(t, e, faults.Fault{What: what, Call: faults.Create, Kind: "tenant"})
		if id, err := e.Create(t.Context(), client(name)); err == nil || id != 0 {
			t.Errorf("%s: answered %d", what, id)
		}
		if _, found := find(t, e, "tenant", name, ""); !found {
			t.Errorf("%s: was not carried out", what)
		}
		wantCreated(t, e, "tenant", name, 1)
	}
	if n, err := e.CreatedFor(t.Context(), "tenant", "t-timeout_after"); err != nil || n != 1 {
		t.Errorf("by reference: %d, %v", n, err)
	}
}

func TestALateObjectIsThereBeforeItIsSeen(t *testing.T) {
	e := sandbox.New(pool(t))
	order(t, e, faults.Fault{What: faults.Late, Call: faults.Create, Delay: time.Hour})
	create(t, e, client("t1"))
	if o, found := find(t, e, "tenant", "t1", "t1"); found {
		t.Errorf("seen: %+v", o)
	}
	if all, err := e.Objects(t.Context(), "tenant"); err != nil || len(all) != 1 {
		t.Errorf("there: %v, %v", all, err)
	}
	_, err := e.Create(t.Context(), client("t1"))
	wantFailure(t, err, domain.Permanent, "name_taken")
}

func TestAForgottenObjectAndOneThatNeverWasAreGone(t *testing.T) {
	e := sandbox.New(pool(t))
	order(t, e, faults.Fault{What: faults.Forget, Call: faults.Create, Name: "t1"})
	order(t, e, faults.Fault{What: faults.ClaimsDone, Call: faults.Create, Name: "t2"})
	forgotten, never := create(t, e, client("t1")), create(t, e, client("t2"))
	if forgotten < 1 || never < 1 || forgotten == never {
		t.Errorf("numbers %d and %d", forgotten, never)
	}
	for _, name := range []string{"t1", "t2"} {
		if o, found := find(t, e, "tenant", name, ""); found {
			t.Errorf("found %+v", o)
		}
	}
	wantCreated(t, e, "tenant", "t1", 1)
	wantCreated(t, e, "tenant", "t2", 0)
	create(t, e, client("t1"))
}

func TestTwoObjectsWithOneReferenceAreAmbiguous(t *testing.T) {
	e := sandbox.New(pool(t))
	one, other := client("t1"), client("t2")
	other.Ref = "t1"
	create(t, e, one)
	create(t, e, other)
	_, _, err := e.Find(t.Context(), "tenant", "", "t1")
	wantFailure(t, err, domain.Permanent, "ambiguous")
}

func TestPasswordsAreKeptAsHashesAlone(t *testing.T) { // C-3
	p := pool(t)
	e := sandbox.New(p)
	o := client("t1")
	o.Values["password"], o.Values["ftp_password"] = []byte(`"canary-1"`), []byte(`"canary-2"`)
	create(t, e, o)
	var everything string
	if err := p.QueryRow(t.Context(), `select o::text from sandbox_engine.objects o`).Scan(&everything); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(everything, "canary") || !strings.Contains(everything, "ftp_password") {
		t.Errorf("stored: %s", everything)
	}
	if back, _ := find(t, e, "tenant", "t1", ""); len(back.Values) != 1 {
		t.Errorf("read back: %v", back.Values)
	}
}

func TestADatabaseThatIsAwayIsAnEngineThatDoesNotAnswer(t *testing.T) {
	p := pool(t)
	e := sandbox.New(p)
	p.Close()
	_, err := e.Create(t.Context(), client("t1"))
	wantFailure(t, err, domain.Transient, "unreachable")
}
