package hosting_test

import (
	"strings"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// claims are the names that a resource has claimed.
func claims(w *sagastest.World, ref hosting.Ref) (names string) {
	w.T.Helper()
	w.Must(w.Pool.QueryRow(w.T.Context(), `select coalesce(string_agg(name, ' ' order by name), '') from external_claim where owner = $1`,
		ref.Stream().String()).Scan(&names))
	return names
}

// refusing lets the engine refuse some names for good.
func refusing(h *sagastest.Household, names ...string) {
	h.Engine.Tell(func(call, name string) error {
		for _, refused := range names {
			if (call == "create" || call == "change") && name == "site/"+refused {
				return domain.Fail(domain.Permanent, "invalid", sagastest.ErrLie)
			}
		}
		return nil
	}, nil)
}

func TestAResourceKeepsNoNameButItsOwn(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	refusing(h, "bad.example.com")
	s := h.Ask(h.Draw("site"), sagastest.Site("bad.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Refused)
	h.Equal("refused", claims(h.World, s.Ref), "bad.example.com")
	for _, name := range []string{"good.example.com", "better.example.com"} {
		h.Carry(sagastest.Set(s.Ref, `{"domain":"`+name+`"}`)) // the first of them overtakes the run that is parked
		h.Stands(s.Ref, hosting.Running)
		h.Equal("called otherwise", claims(h.World, s.Ref), name)
	}
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Quiet()
	h.Equal("gone", claims(h.World, s.Ref), "")
}

// refusedTwice is a site that was refused under two names and keeps the claim of the first,
// and another one that wants that name.
func refusedTwice(h *sagastest.Household) (s, other hosting.Request) {
	h.T.Helper()
	refusing(h, "bad.example.com", "worse.example.com")
	s, other = h.Ask(h.Draw("site"), sagastest.Site("bad.example.com")), h.Ask(h.Draw("site"), sagastest.Site("bad.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Refused)
	h.Carry(sagastest.Set(s.Ref, `{"domain":"worse.example.com"}`))
	h.Eventually("it is refused again", func() bool { return h.Resource(s.Ref).SyncStatus == "error" && h.Resource(s.Ref).Wish > 1 })
	return s, other
}

// The engine has refused to rename the site.
func TestANameUnderWhichSomethingIsStaysItsOwn(t *testing.T) { // E-3
	t.Parallel()
	h := sagastest.NewHousehold(t)
	refusing(h, "bad.example.com")
	s, other := h.Ask(h.Draw("site"), sagastest.Site("good.example.com")), h.Ask(h.Draw("site"), sagastest.Site("good.example.com"))
	h.Carry(s)
	h.Goes()
	made := h.Stands(s.Ref, hosting.Running)
	h.Carry(sagastest.Set(s.Ref, `{"domain":"bad.example.com"}`))
	h.Stands(s.Ref, hosting.Refused)
	h.Carry(other)
	h.Equal("the other", h.Stands(other.Ref, hosting.Refused).SyncError, "name_taken")
	h.Equal("still there", h.Has("site", "good.example.com").ID, *made.EngineID)
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Carry(hosting.Push{Ref: other.Ref})
	h.Stands(other.Ref, hosting.Running)
	h.Equal("claims", claims(h.World, other.Ref), "good.example.com")
}

// An order claims for the tenant and the site that it makes.
func TestWhatAnOrderHasMadeIsClaimedByItself(t *testing.T) {
	t.Parallel()
	h := &sagastest.Household{World: sagastest.NewWorld(t).Goes()}
	id := h.Buy(sagastest.OrderForm{Domain: "ordered.example.com"})
	h.Becomes(id, order.StatusActive)
	job := h.Provision(id).Job
	tenant, ref := hosting.Ref{Kind: "tenant", ID: job.Tenant}, hosting.Ref{Kind: "site", ID: job.Site}
	h.Equal("tenant", claims(h.World, tenant), hosting.CustomerNumber(job.Tenant))
	h.Equal("site", claims(h.World, ref), "ordered.example.com")
	h.Carry(sagastest.Set(ref, `{"domain":"renamed.example.com"}`))
	h.Eventually("it is renamed", func() bool { return h.Resource(ref).SyncStatus == "synced" })
	h.Equal("renamed", claims(h.World, ref), "renamed.example.com")
	h.Carry(hosting.Remove{Ref: ref}, hosting.Remove{Ref: tenant})
	h.Stands(tenant, hosting.Gone)
	h.Equal("gone", strings.TrimSpace(claims(h.World, ref)+" "+claims(h.World, tenant)), "")
}

// Claims are kept beside the log; what is rebuilt from it leaves them alone. So
// the first finds what was made for it before, and the other one does not take it.
func TestClaimsOutliveARebuild(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Strict = true
	h.Engine.Tell(nil, func(call, name string) error {
		if call == "create" && name == "site/one.example.com" {
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	first, other := h.Ask(h.Draw("site"), sagastest.Site("one.example.com")), h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
	h.Carry(first)
	h.Goes()
	h.Eventually("it is made, without an answer", func() bool { return h.Engine.Creations("site/one.example.com") == 1 })
	h.End()
	made := h.Has("site", "one.example.com").ID
	loses(h.World)
	h.Equal("claims", claims(h.World, first.Ref), "one.example.com")
	h.Engine.Tell(nil, nil)
	h.Carry(sagastest.Set(first.Ref, `{"domain":"two.example.com"}`))
	h.Carry(other)
	h.Goes()
	h.Equal("the first", *h.Stands(first.Ref, hosting.Running).EngineID, made)
	h.Equal("another one", *h.Stands(other.Ref, hosting.Running).EngineID != made, true)
	h.Quiet()
	h.Equal("claims in the end", claims(h.World, first.Ref)+" "+claims(h.World, other.Ref), "two.example.com one.example.com")
}

// To some engines a DNS record of another type is a new object. Its id was not known
// when the removal was requested.
func TestWhatAChangeHasMadeAnotherObjectOfLeavesAsWell(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Engine.Tell(nil, func(call, name string) error {
		if call != "change" || name != "site/two.example.com" {
			return nil
		}
		h.Engine.Put(name, h.Has("site", "two.example.com"))
		h.Carry(hosting.Remove{Ref: s.Ref})
		return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
	})
	h.Carry(sagastest.Set(s.Ref, `{"domain":"two.example.com"}`))
	h.Stands(s.Ref, hosting.Gone)
	h.Quiet()
	h.Equal("at the engine", len(h.Engine.All()), 1) // the client
	h.Equal("claims", claims(h.World, s.Ref), "")
}

// The worker is stopped until its lease is over, while another resource has the name.
func TestAWorkerWithoutItsLeaseAsksNothingAboutANameOfOthers(t *testing.T) { // E-4, G-1
	t.Parallel()
	h := sagastest.NewHousehold(t)
	_, other := refusedTwice(h)
	h.Frozen.To(true)
	var once sync.Once
	h.Fault.To(func(p sagas.Point, _ sagas.Run) (err error) {
		if p == sagas.BeforeIntent {
			once.Do(func() {
				_, err = h.Pool.Exec(t.Context(), `update saga_run set lease_until = real_now() where status = 'running'`)
			})
		}
		return err
	})
	before := h.Runner.Fenced()
	h.Carry(other)
	h.Eventually("the worker gives up the run", func() bool { return h.Runner.Fenced() > before })
	h.Equal("waits for the name", h.Count(`select count(*) from saga_attempt a join saga_run r on r.id = a.saga_id
		where about = $1 and a.token = 1`, other.Stream().String()), 0)
}
