package assembly_test

import (
	"strings"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// claims are the names that a resource has claimed.
func (w *world) claims(ref hosting.Ref) (names string) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.t.Context(), `select coalesce(string_agg(name, ' ' order by name), '') from external_claim where owner = $1`,
		ref.Stream().String()).Scan(&names))
	return names
}

// refusing lets the engine refuse some names for good.
func (h *household) refusing(names ...string) {
	h.engine.tell(func(call, name string) error {
		for _, refused := range names {
			if (call == "create" || call == "change") && name == "site/"+refused {
				return domain.Fail(domain.Permanent, "invalid", errLie)
			}
		}
		return nil
	}, nil)
}

// The engine owes the answer to the making of the first when it is renamed, and
// has yet to carry that out when another one takes the name.
func TestANameThatChangesHandsLeavesItsObjectWithTheFirst(t *testing.T) { // E-4
	t.Parallel()
	for _, how := range []string{"asked for", "renamed"} {
		h := newHousehold(t)
		h.engine.strict = true
		first, other := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("one.example.com"))
		if how == "renamed" {
			other = h.ask(other.ID, site("three.example.com"))
			h.carry(other)
		}
		var once sync.Once
		takes := func() {
			if how == "renamed" {
				h.carry(set(other.Ref, `{"domain":"one.example.com"}`))
			} else {
				h.carry(other)
			}
			h.eventually("the other one has got its turn", func() bool {
				return h.count(`select count(*) from saga_run where about = $1 and awaits = $2`, other.Stream().String(), first.Stream().String()) == 1 ||
					h.resource(other.Ref).SyncStatus == "synced"
			})
		}
		h.engine.tell(func(call, name string) error {
			if call == "change" && name == "site/two.example.com" && h.resource(first.Ref).EngineID == nil {
				once.Do(takes)
			}
			return nil
		}, func(call, name string) error {
			if call != "create" || name != "site/one.example.com" || h.resource(first.Ref).Wish > 1 {
				return nil
			}
			h.carry(set(first.Ref, `{"domain":"two.example.com"}`))
			return domain.Fail(domain.Unknown, "timeout", errLie)
		})
		h.carry(first)
		h.goes()
		h.eventually("both are as wanted", func() bool {
			return h.resource(first.Ref).SyncStatus == "synced" && h.resource(other.Ref).SyncStatus == "synced"
		})
		h.quiet()
		h.equal(how+", the first", h.has("site", "two.example.com").ID, *h.resource(first.Ref).EngineID)
		h.equal(how+", the other", h.has("site", "one.example.com").ID, *h.resource(other.Ref).EngineID)
		h.equal(how+", at the engine", len(h.engine.all()), 3) // with the client
		h.equal(how+", claims of the first", h.claims(first.Ref), "two.example.com")
		h.equal(how+", claims of the other", h.claims(other.Ref), "one.example.com")
		h.end()
	}
}

func TestAResourceKeepsNoNameButItsOwn(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.refusing("bad.example.com")
	s := h.ask(h.draw("site"), site("bad.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Refused)
	h.equal("refused", h.claims(s.Ref), "bad.example.com")
	for _, name := range []string{"good.example.com", "better.example.com"} {
		h.carry(set(s.Ref, `{"domain":"`+name+`"}`)) // the first of them overtakes the run that is parked
		h.stands(s.Ref, hosting.Running)
		h.equal("called otherwise", h.claims(s.Ref), name)
	}
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("gone", h.claims(s.Ref), "")
}

// refusedTwice is a site that was refused under two names and keeps the claim of the first,
// and another one that wants that name.
func (h *household) refusedTwice() (s, other hosting.Request) {
	h.t.Helper()
	h.refusing("bad.example.com", "worse.example.com")
	s, other = h.ask(h.draw("site"), site("bad.example.com")), h.ask(h.draw("site"), site("bad.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Refused)
	h.carry(set(s.Ref, `{"domain":"worse.example.com"}`))
	h.eventually("it is refused again", func() bool { return h.resource(s.Ref).SyncStatus == "error" && h.resource(s.Ref).Wish > 1 })
	return s, other
}

// It was refused under two names, and wants a third by now.
func TestANameUnderWhichNothingWasMadeIsFreeForOthers(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s, other := h.refusedTwice()
	h.refusing("worse.example.com")
	h.carry(other)
	h.stands(other.Ref, hosting.Running)
	h.equal("claims of the other", h.claims(other.Ref), "bad.example.com")
	h.equal("claims of the one", h.claims(s.Ref), "worse.example.com")
}

// The engine has refused to rename the site.
func TestANameUnderWhichSomethingIsStaysItsOwn(t *testing.T) { // E-3
	t.Parallel()
	h := newHousehold(t)
	h.refusing("bad.example.com")
	s, other := h.ask(h.draw("site"), site("good.example.com")), h.ask(h.draw("site"), site("good.example.com"))
	h.carry(s)
	h.goes()
	made := h.stands(s.Ref, hosting.Running)
	h.carry(set(s.Ref, `{"domain":"bad.example.com"}`))
	h.stands(s.Ref, hosting.Refused)
	h.carry(other)
	h.equal("the other", h.stands(other.Ref, hosting.Refused).SyncError, "name_taken")
	h.equal("still there", h.has("site", "good.example.com").ID, *made.EngineID)
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.carry(hosting.Push{Ref: other.Ref})
	h.stands(other.Ref, hosting.Running)
	h.equal("claims", h.claims(other.Ref), "good.example.com")
}

// An order claims for the tenant and the site that it makes.
func TestWhatAnOrderHasMadeIsClaimedByItself(t *testing.T) {
	t.Parallel()
	h := &household{newWorld(t).goes(), 0}
	id := h.buy(ordering{domain: "ordered.example.com"})
	h.becomes(id, order.StatusActive)
	job := h.provision(id).Job
	tenant, ref := hosting.Ref{Kind: "tenant", ID: job.Tenant}, hosting.Ref{Kind: "site", ID: job.Site}
	h.equal("tenant", h.claims(tenant), hosting.CustomerNumber(job.Tenant))
	h.equal("site", h.claims(ref), "ordered.example.com")
	h.carry(set(ref, `{"domain":"renamed.example.com"}`))
	h.eventually("it is renamed", func() bool { return h.resource(ref).SyncStatus == "synced" })
	h.equal("renamed", h.claims(ref), "renamed.example.com")
	h.carry(hosting.Remove{Ref: ref}, hosting.Remove{Ref: tenant})
	h.stands(tenant, hosting.Gone)
	h.equal("gone", strings.TrimSpace(h.claims(ref)+" "+h.claims(tenant)), "")
}

// Claims are kept beside the log; what is rebuilt from it leaves them alone. So
// the first finds what was made for it before, and the other one does not take it.
func TestClaimsOutliveARebuild(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.strict = true
	h.engine.tell(nil, func(call, name string) error {
		if call == "create" && name == "site/one.example.com" {
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	first, other := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("one.example.com"))
	h.carry(first)
	h.goes()
	h.eventually("it is made, without an answer", func() bool { return h.engine.creations("site/one.example.com") == 1 })
	h.end()
	made := h.has("site", "one.example.com").ID
	h.loses()
	h.equal("claims", h.claims(first.Ref), "one.example.com")
	h.engine.tell(nil, nil)
	h.carry(set(first.Ref, `{"domain":"two.example.com"}`))
	h.carry(other)
	h.goes()
	h.equal("the first", *h.stands(first.Ref, hosting.Running).EngineID, made)
	h.equal("another one", *h.stands(other.Ref, hosting.Running).EngineID != made, true)
	h.quiet()
	h.equal("claims in the end", h.claims(first.Ref)+" "+h.claims(other.Ref), "two.example.com one.example.com")
}

// Each is to be called as the other is, by way of a name in between, and the
// engine does nothing before all of it has been asked for.
func TestTwoExchangeTheirNames(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.strict = true
	one, two := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("two.example.com"))
	h.carry(one, two)
	h.goes()
	numbers := []int64{*h.stands(one.Ref, hosting.Running).EngineID, *h.stands(two.Ref, hosting.Running).EngineID}
	h.quiet()
	h.engine.tell(func(call, _ string) error {
		if call == "change" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	h.carry(set(one.Ref, `{"domain":"between.example.com"}`))
	h.carry(set(two.Ref, `{"domain":"one.example.com"}`))
	h.carry(set(one.Ref, `{"domain":"two.example.com"}`))
	h.engine.tell(nil, nil)
	for _, ref := range []hosting.Ref{one.Ref, two.Ref} {
		h.eventually("it is as wanted", func() bool { return h.resource(ref).SyncStatus == "synced" })
	}
	h.quiet()
	h.equal("numbers", []int64{h.has("site", "two.example.com").ID, h.has("site", "one.example.com").ID}, numbers)
	h.equal("claims", h.claims(one.Ref)+" "+h.claims(two.Ref), "two.example.com one.example.com")
}

// To some engines a DNS record of another type is a new object. Its id was not known
// when the removal was requested.
func TestWhatAChangeHasMadeAnotherObjectOfLeavesAsWell(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("one.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.engine.tell(nil, func(call, name string) error {
		if call != "change" || name != "site/two.example.com" {
			return nil
		}
		h.engine.put(name, h.has("site", "two.example.com"))
		h.carry(hosting.Remove{Ref: s.Ref})
		return domain.Fail(domain.Unknown, "timeout", errLie)
	})
	h.carry(set(s.Ref, `{"domain":"two.example.com"}`))
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("at the engine", len(h.engine.all()), 1) // the client
	h.equal("claims", h.claims(s.Ref), "")
}

// The worker is stopped until its lease is over, while another resource has the name.
func TestAWorkerWithoutItsLeaseAsksNothingAboutANameOfOthers(t *testing.T) { // E-4, G-1
	t.Parallel()
	h := newHousehold(t)
	_, other := h.refusedTwice()
	h.frozen.to(true)
	var once sync.Once
	h.fault.to(func(p sagas.Point, _ sagas.Run) (err error) {
		if p == sagas.BeforeIntent {
			once.Do(func() {
				_, err = h.pool.Exec(t.Context(), `update saga_run set lease_until = real_now() where status = 'running'`)
			})
		}
		return err
	})
	before := h.Fenced()
	h.carry(other)
	h.eventually("the worker gives up the run", func() bool { return h.Fenced() > before })
	h.equal("waits for the name", h.count(`select count(*) from saga_attempt a join saga_run r on r.id = a.saga_id where about = $1 and a.token = 1`, other.Stream().String()), 0)
}
