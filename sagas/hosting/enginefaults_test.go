package hosting_test

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
	"hostpanel/sagas/sagastest"
)

func TestWhatTheEngineRefusesIsShownAndTriedAgainWithTheNextRequest(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Tell(func(call, name string) error {
		if call == "create" && name == "site/bad.example.com" {
			return domain.Fail(domain.Permanent, "invalid", sagastest.ErrLie)
		}
		return nil
	}, nil)
	s := h.Ask(h.Draw("site"), sagastest.Site("bad.example.com"))
	h.Carry(s)
	h.Goes()
	row := h.Stands(s.Ref, hosting.Refused)
	h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error invalid")
	h.Equal("run", h.RunOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, sagas.StatusParked)
	h.Carry(sagastest.Set(s.Ref, `{"domain":"good.example.com"}`))
	row = h.Stands(s.Ref, hosting.Running)
	h.Equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.Quiet()
	h.Equal("the run that was overtaken", h.RunOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, sagas.StatusDone)
}

// A server that does not let the panel in, or not call a function, is one incident.
// Nothing is parked for it, the queue rests, and all goes on by itself.
func TestWorkWaitsForAServerThatRefusesAccess(t *testing.T) {
	t.Parallel()
	for _, lack := range []string{"login", "sites_web_domain_add"} {
		h := sagastest.NewHousehold(t)
		refuse := func(call, _ string) error {
			if call == "find" {
				return nil
			}
			return &domain.Failure{
				Class: domain.Transient, Code: "engine_access", Err: sagastest.ErrLie, Lacks: lack,
				Rest: 30 * time.Millisecond, RetryAfter: 60 * time.Millisecond,
			}
		}
		h.Engine.Tell(refuse, nil)
		var asked []hosting.Request
		for i := range 8 {
			s := h.Ask(h.Draw("site"), sagastest.Site(fmt.Sprintf("s%d.example.com", i)))
			h.Carry(s)
			asked = append(asked, s)
		}
		h.Goes()
		trouble := operations.AccessTrouble("engine:one", "engine_access", lack)
		h.Eventually("it is reported", func() bool { reported, _ := sagastest.Reports(h.World, trouble); return reported == 1 })
		h.Eventually("the queue rests", func() bool {
			return h.Count(`select count(*) from saga_queue where queue = 'engine:one' and open_until > real_now()`) == 1
		})
		h.Must(h.Operations.ReviewIncidents(t.Context()))
		h.Equal("parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
		reported, settled := sagastest.Reports(h.World, trouble)
		h.Equal("reported and settled", fmt.Sprint(reported, settled), "1 0")
		h.Engine.Tell(nil, nil)
		for _, s := range asked {
			h.Stands(s.Ref, hosting.Running)
		}
		sagastest.Ends(h.World, trouble, 1)
		h.Equal("queue", h.Count(`select count(*) from saga_queue where queue = 'engine:one' and fails = 0 and open_until is null`), 1)
	}
}

func TestAnOperatorContinuesARefusedRequest(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Tell(func(call, name string) error {
		if call == "create" && name == "site/full.example.com" {
			return domain.Fail(domain.Permanent, "disk_full", sagastest.ErrLie)
		}
		return nil
	}, nil)
	s := h.Ask(h.Draw("site"), sagastest.Site("full.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Refused)
	h.Engine.Tell(nil, nil)
	id := sagas.RunID(fmt.Sprintf("engine:site-%d/1", s.ID))
	h.Must(h.Runner.Operators.RetryRun(t.Context(), domain.Metadata{Actor: "operator:1"}, id, "the disk is empty again"))
	h.Stands(s.Ref, hosting.Running)
	h.Equal("made", h.Engine.Creations("site/full.example.com"), 1)
}

func TestALostAnswerIsFoundAndNothingIsMadeTwice(t *testing.T) { // F-12
	t.Parallel()
	h := sagastest.NewHousehold(t)
	var mu sync.Mutex
	lost := map[string]bool{}
	h.Engine.Tell(nil, func(call, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if !lost[call+name] {
			lost[call+name] = true
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.1"}`))
	h.Stands(s.Ref, hosting.Running)
	h.Equal("address", sagastest.Value(h.Has("site", "example.com"), "ip_address"), `"192.0.2.1"`)
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Quiet()
	h.Equal("made", h.Engine.Creations("site/example.com"), 1)
	h.Equal("removed", h.Engine.Removals("site/example.com"), 1)
	h.Equal("clients", h.Engine.Creations("tenant/"+hosting.CustomerNumber(h.Tenant)), 1)
}

// The engine has created the object, the answer was lost, and the desired state has
// changed since.
func TestWhatWasMadeForAnEarlierRequestIsAdoptedAndBroughtToThePresentOne(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Engine.Tell(nil, func(call, name string) error {
		if call == "create" && name == "site/example.com" {
			h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.9"}`))
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Quiet()
	h.Equal("address", sagastest.Value(h.Has("site", "example.com"), "ip_address"), `"192.0.2.9"`)
	h.Equal("made", h.Engine.Creations("site/example.com"), 1)
}

func TestWhatTheEngineHasLostIsMadeAnew(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	h.Goes()
	first := *h.Stands(s.Ref, hosting.Running).EngineID
	h.Must(h.Engine.Remove(t.Context(), hosting.EngineObject{Kind: "site", ID: first}))
	h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.9"}`))
	row := h.Stands(s.Ref, hosting.Running)
	h.Equal("number", *row.EngineID, h.Has("site", "example.com").ID)
	if *row.EngineID == first {
		t.Error("it is the old one")
	}
}

func TestAnObjectOfAnotherClientIsNeitherTakenNorRemoved(t *testing.T) { // F-13
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Put("site/taken.example.com", hosting.EngineObject{Kind: "site", Name: "taken.example.com", Owner: 999})
	s := h.Ask(h.Draw("site"), sagastest.Site("taken.example.com"))
	h.Carry(s)
	h.Goes()
	row := h.Stands(s.Ref, hosting.Refused)
	h.Equal("why", row.SyncError, "name_taken")
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Equal("still there", h.Has("site", "taken.example.com").Owner, 999)
}

// An engine may switch everything on along with a change of the tenant.
func TestWhatAnAttemptHasWokenIsPutToSleepAgain(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	off := h.Ask(h.Draw("site"), sagastest.Site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.Carry(off)
	h.Goes()
	h.Stands(off.Ref, hosting.Running)
	tenant := hosting.Ref{Kind: "tenant", ID: h.Tenant}
	for i, how := range []error{
		domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie), // and the client is as wanted when we look again
		domain.Fail(domain.Unknown, "woken", sagastest.ErrLie),
	} {
		var once sync.Once
		h.Engine.Tell(nil, func(call, name string) (err error) {
			if call == "change" && name == "tenant/"+hosting.CustomerNumber(h.Tenant) {
				once.Do(func() {
					err = how
					h.Engine.Wake("site/off.example.com")
				})
			}
			return err
		})
		h.Carry(sagastest.Set(tenant, fmt.Sprintf(`{"city":"city %d"}`, i)))
		h.Eventually("it sleeps", func() bool {
			return h.Engine.Changes("site/off.example.com") == i+1 && sagastest.Value(
				h.Has("site", "off.example.com"), "is_active",
			) == "false"
		})
		h.Quiet()
	}
	h.Carry(sagastest.Set(tenant, `{"city":"another"}`))
	h.Quiet()
	h.Equal("pushed without need", h.Engine.Changes("site/off.example.com"), 2)
}

// Another client has taken over the name and the object.
func TestANameThatAnotherClientHasTakenOverStaysTheirs(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Strict = true
	s, other := h.Ask(h.Draw("site"), sagastest.Site("one.example.com")), h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
	var once sync.Once
	h.Engine.Tell(nil, func(call, name string) (err error) {
		if call != "create" || name != "site/one.example.com" {
			return nil
		}
		once.Do(func() {
			h.Carry(sagastest.Set(s.Ref, `{"domain":"two.example.com"}`))
			h.Carry(other)
			err = domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		})
		return err
	})
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Stands(other.Ref, hosting.Running)
	h.Quiet()
	h.Equal("number of the one", h.Has("site", "two.example.com").ID, *h.Resource(s.Ref).EngineID)
	h.Equal("number of the other", h.Has("site", "one.example.com").ID, *h.Resource(other.Ref).EngineID)
	h.Equal("at the engine", len(h.Engine.All()), 3) // with the client
}

// Its customer believes that it is gone: operators are told until it is.
func TestARemovalThatTheEngineRefusesIsAnIncident(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("stays.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Engine.Tell(func(call, _ string) error {
		if call == "remove" {
			return domain.Fail(domain.Permanent, "drift", sagastest.ErrLie)
		}
		return nil
	}, nil)
	h.Carry(hosting.Remove{Ref: s.Ref})
	trouble := operations.StuckTrouble(s.Tenant, "site", s.ID, "drift")
	h.Eventually("it is reported", func() bool { reported, _ := sagastest.Reports(h.World, trouble); return reported == 1 })
	h.Must(h.Operations.ReviewIncidents(t.Context()))
	_, settled := sagastest.Reports(h.World, trouble)
	h.Equal("settled", settled, 0)
	h.Engine.Tell(nil, nil)
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	sagastest.Ends(h.World, trouble, 1)
}

// What is refused for a change stands on its record: no incident.
func TestAChangeThatTheEngineRefusesIsNoIncident(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	refusing(h, "bad.example.com")
	s := h.Ask(h.Draw("site"), sagastest.Site("bad.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Refused)
	h.Quiet()
	reported, _ := sagastest.Reports(h.World, operations.StuckTrouble(s.Tenant, "site", s.ID, "name_taken"))
	h.Equal("reported", reported, 0)
}
