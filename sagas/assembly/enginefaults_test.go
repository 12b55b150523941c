package assembly_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

func TestWhatTheEngineRefusesIsShownAndTriedAgainWithTheNextRequest(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/bad.example.com" {
			return domain.Fail(domain.Permanent, "invalid", errLie)
		}
		return nil
	}, nil)
	s := h.ask(h.draw("site"), site("bad.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error invalid")
	h.equal("run", h.runOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, sagas.StatusParked)
	h.carry(set(s.Ref, `{"domain":"good.example.com"}`))
	row = h.stands(s.Ref, hosting.Running)
	h.equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.quiet()
	h.equal("the run that was overtaken", h.runOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, sagas.StatusDone)
}

// What the engine has accepted and then would not carry out is no more as it was
// asked for, whatever it said first. The next request tries again.
func TestWhatTheEngineRefusesAfterItHasAcceptedItIsShown(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var mu sync.Mutex
	refuses := true
	h.engine.refused = func(o hosting.EngineObject) bool {
		mu.Lock()
		defer mu.Unlock()
		return refuses && o.Name == "bad.example.com"
	}
	s := h.ask(h.draw("site"), site("bad.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error engine_refused")
	mu.Lock()
	refuses = false
	mu.Unlock()
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.1"}`))
	row = h.stands(s.Ref, hosting.Running)
	h.equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.quiet()
}

// A server that does not let the panel in, or not call a function, is one incident.
// Nothing is parked for it, the queue rests, and all goes on by itself.
func TestWorkWaitsForAServerThatRefusesAccess(t *testing.T) {
	t.Parallel()
	for _, lack := range []string{"login", "sites_web_domain_add"} {
		h := newHousehold(t)
		refuse := func(call, _ string) error {
			if call == "find" {
				return nil
			}
			return &domain.Failure{Class: domain.Transient, Code: "engine_access", Err: errLie, Lacks: lack, Rest: 30 * time.Millisecond, RetryAfter: 60 * time.Millisecond}
		}
		h.engine.tell(refuse, nil)
		var asked []hosting.Request
		for i := range 8 {
			s := h.ask(h.draw("site"), site(fmt.Sprintf("s%d.example.com", i)))
			h.carry(s)
			asked = append(asked, s)
		}
		h.goes()
		trouble := operations.AccessTrouble("engine:one", "engine_access", lack)
		h.eventually("it is reported", func() bool { reported, _ := h.reports(trouble); return reported == 1 })
		h.eventually("the queue rests", func() bool {
			return h.count(`select count(*) from saga_queue where queue = 'engine:one' and open_until > real_now()`) == 1
		})
		h.must(h.Operations.ReviewIncidents(t.Context()))
		h.equal("parked", h.count(`select count(*) from saga_run where status = 'parked'`), 0)
		reported, settled := h.reports(trouble)
		h.equal("reported and settled", fmt.Sprint(reported, settled), "1 0")
		h.engine.tell(nil, nil)
		for _, s := range asked {
			h.stands(s.Ref, hosting.Running)
		}
		h.ends(trouble, 1)
		h.equal("queue", h.count(`select count(*) from saga_queue where queue = 'engine:one' and fails = 0 and open_until is null`), 1)
	}
}

func TestAnOperatorContinuesARefusedRequest(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/full.example.com" {
			return domain.Fail(domain.Permanent, "disk_full", errLie)
		}
		return nil
	}, nil)
	s := h.ask(h.draw("site"), site("full.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Refused)
	h.engine.tell(nil, nil)
	id := sagas.RunID(fmt.Sprintf("engine:site-%d/1", s.ID))
	h.must(h.RetryRun(t.Context(), domain.Metadata{Actor: "operator:1"}, id, "the disk is empty again"))
	h.stands(s.Ref, hosting.Running)
	h.equal("made", h.engine.creations("site/full.example.com"), 1)
}

func TestALostAnswerIsFoundAndNothingIsMadeTwice(t *testing.T) { // F-12
	t.Parallel()
	h := newHousehold(t)
	var mu sync.Mutex
	lost := map[string]bool{}
	h.engine.tell(nil, func(call, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if !lost[call+name] {
			lost[call+name] = true
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.1"}`))
	h.stands(s.Ref, hosting.Running)
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.1"`)
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.equal("removed", h.engine.removals("site/example.com"), 1)
	h.equal("clients", h.engine.creations("tenant/"+hosting.CustomerNumber(h.tenant)), 1)
}

// The engine has created the object, the answer was lost, and the desired state has
// changed since.
func TestWhatWasMadeForAnEarlierRequestIsAdoptedAndBroughtToThePresentOne(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.engine.tell(nil, func(call, name string) error {
		if call == "create" && name == "site/example.com" {
			h.carry(set(s.Ref, `{"ip_address":"192.0.2.9"}`))
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.9"`)
	h.equal("made", h.engine.creations("site/example.com"), 1)
}

func TestWhatTheEngineHasLostIsMadeAnew(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	first := *h.stands(s.Ref, hosting.Running).EngineID
	h.must(h.engine.Remove(t.Context(), hosting.EngineObject{Kind: "site", ID: first}))
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.9"}`))
	row := h.stands(s.Ref, hosting.Running)
	h.equal("number", *row.EngineID, h.has("site", "example.com").ID)
	if *row.EngineID == first {
		t.Error("it is the old one")
	}
}

func TestAnObjectOfAnotherClientIsNeitherTakenNorRemoved(t *testing.T) { // F-13
	t.Parallel()
	h := newHousehold(t)
	h.engine.put("site/taken.example.com", hosting.EngineObject{Kind: "site", Name: "taken.example.com", Owner: 999})
	s := h.ask(h.draw("site"), site("taken.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("why", row.SyncError, "name_taken")
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.equal("still there", h.has("site", "taken.example.com").Owner, 999)
}

func TestAWorkerMayDieAnywhereOnTheWayToTheEngine(t *testing.T) { // F-1
	t.Parallel()
	h := newHousehold(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	dead := map[string]bool{}
	kill := func(at sagas.Point, c sagas.Run) error {
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		if key := string(at) + " " + c.Key; c.Step == 0 && resourceOf(c).Kind == "site" && !dead[key] {
			dead[key] = true
			return sagas.ErrKilled
		}
		return nil
	}
	h.fault.to(kill)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	h.stands(s.Ref, hosting.Running)
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.eventually("it has died at six points of three runs", func() bool { // the last time after the last write
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		delete(dead, fmt.Sprintf("%s engine:%s/1", sagas.Waiting, s.Stream())) // it waits only if the tenant is not there yet
		return len(dead) == 3*6
	})
	h.equal("left", len(h.engine.all()), 1)
}

func TestRunsForTheEngineSurviveARestart(t *testing.T) {
	t.Parallel()
	url := database(t)
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	w.instance = w.node(url)
	h := &household{w, w.draw("tenant")}
	h.engine.tell(func(string, string) error { return domain.Fail(domain.Transient, "away", errLie) }, nil)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(h.newTenant(h.tenant), s)
	h.goes()
	h.eventually("an attempt was made", func() bool { return h.count(`select count(*) from saga_attempt where outcome = 'retry'`) > 0 })
	h.end()
	h.engine.tell(nil, nil)
	h.instance = h.node(url)
	h.loses()
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
}

// An engine may switch everything on along with a change of the tenant.
func TestWhatAnAttemptHasWokenIsPutToSleepAgain(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	off := h.ask(h.draw("site"), site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.carry(off)
	h.goes()
	h.stands(off.Ref, hosting.Running)
	tenant := hosting.Ref{Kind: "tenant", ID: h.tenant}
	for i, how := range []error{
		domain.Fail(domain.Unknown, "timeout", errLie), // and the client is as wanted when we look again
		domain.Fail(domain.Unknown, "woken", errLie),
	} {
		var once sync.Once
		h.engine.tell(nil, func(call, name string) (err error) {
			if call == "change" && name == "tenant/"+hosting.CustomerNumber(h.tenant) {
				once.Do(func() {
					err = how
					h.engine.wake("site/off.example.com")
				})
			}
			return err
		})
		h.carry(set(tenant, fmt.Sprintf(`{"city":"city %d"}`, i)))
		h.eventually("it sleeps", func() bool {
			return h.engine.changes("site/off.example.com") == i+1 && value(h.has("site", "off.example.com"), "is_active") == "false"
		})
		h.quiet()
	}
	h.carry(set(tenant, `{"city":"another"}`))
	h.quiet()
	h.equal("pushed without need", h.engine.changes("site/off.example.com"), 2)
}

// The same, and the name is another one since: what was made gets it.
func TestWhatWasMadeUnderAnEarlierNameIsRenamedAndNotLeftBehind(t *testing.T) {
	t.Parallel()
	for _, then := range []hosting.Status{hosting.Running, hosting.Gone} {
		h := newHousehold(t)
		h.engine.strict = true
		s := h.ask(h.draw("site"), site("one.example.com"))
		h.engine.tell(nil, func(call, name string) error {
			if call != "create" || name != "site/one.example.com" {
				return nil
			}
			h.carry(set(s.Ref, `{"domain":"two.example.com"}`))
			if then == hosting.Gone {
				h.carry(hosting.Remove{Ref: s.Ref})
			}
			return domain.Fail(domain.Unknown, "timeout", errLie)
		})
		h.carry(s)
		h.goes()
		h.stands(s.Ref, then)
		h.quiet()
		if then == hosting.Running {
			h.equal("number", h.has("site", "two.example.com").ID, *h.resource(s.Ref).EngineID)
		}
		h.equal("made", h.engine.creations("site/one.example.com")+h.engine.creations("site/two.example.com"), 1)
		h.equal("at the engine", len(h.engine.all()), map[hosting.Status]int{hosting.Running: 2, hosting.Gone: 1}[then]) // with the client
	}
}

// Another client has taken over the name and the object.
func TestANameThatAnotherClientHasTakenOverStaysTheirs(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.strict = true
	s, other := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("one.example.com"))
	var once sync.Once
	h.engine.tell(nil, func(call, name string) (err error) {
		if call != "create" || name != "site/one.example.com" {
			return nil
		}
		once.Do(func() {
			h.carry(set(s.Ref, `{"domain":"two.example.com"}`))
			h.carry(other)
			err = domain.Fail(domain.Unknown, "timeout", errLie)
		})
		return err
	})
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.stands(other.Ref, hosting.Running)
	h.quiet()
	h.equal("number of the one", h.has("site", "two.example.com").ID, *h.resource(s.Ref).EngineID)
	h.equal("number of the other", h.has("site", "one.example.com").ID, *h.resource(other.Ref).EngineID)
	h.equal("at the engine", len(h.engine.all()), 3) // with the client
}
