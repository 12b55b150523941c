package hosting_test

import (
	"fmt"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestOnlyTheLastOfManyRequestsIsPushed(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	for i := range 9 {
		h.Carry(sagastest.Set(s.Ref, fmt.Sprintf(`{"ip_address":"192.0.2.%d"}`, i)))
	}
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Quiet()
	h.Equal("address", sagastest.Value(h.Has("site", "example.com"), "ip_address"), `"192.0.2.8"`)
	h.Equal("made", h.Engine.Creations("site/example.com"), 1)
	h.Equal("changed", h.Engine.Changes("site/example.com"), 0)
	h.Equal("requests overtaken", h.Count(`select count(*) from saga_run where about = $1 and status = 'done'`, s.Stream().String()), 10)
}

func TestAResourceIsRenamedWhateverTheEngineCallsItByNow(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	h.Engine.Strict = true
	s := h.Ask(h.Draw("site"), sagastest.Site("one.example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	lost := make(chan struct{})
	h.Engine.Tell(nil, func(call, name string) error {
		if call == "change" && name == "site/two.example.com" {
			select {
			case <-lost:
			default:
				close(lost)
				h.Carry(sagastest.Set(s.Ref, `{"domain":"three.example.com"}`)) // while the answer gets lost
				return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
			}
		}
		return nil
	})
	h.Carry(sagastest.Set(s.Ref, `{"domain":"two.example.com"}`))
	h.Eventually("it is renamed twice", func() bool { return h.Resource(s.Ref).Status == hosting.Running && h.Resource(s.Ref).Wish > 3 })
	h.Quiet()
	h.Equal("number", h.Has("site", "three.example.com").ID, *h.Resource(s.Ref).EngineID)
	h.Equal("sites", len(h.Engine.All()), 2) // with the client
}

func TestANameIsUsedAgainOnlyWhenTheOldOneHasLeft(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	old := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(old)
	h.Goes()
	h.Stands(old.Ref, hosting.Running)
	busy := true
	h.Engine.Tell(func(call, _ string) error {
		h.Engine.Mu.Lock()
		defer h.Engine.Mu.Unlock()
		if call == "remove" && busy {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	again := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(hosting.Remove{Ref: old.Ref}, again)
	h.Eventually("the new one waits", func() bool {
		return h.Count(
			`select count(*) from saga_run where about = $1 and awaits = $2`, again.Stream().String(),
			old.Stream().String(),
		) == 1
	})
	h.Equal("the old one", h.Has("site", "example.com").ID, *h.Resource(old.Ref).EngineID)
	h.Engine.Mu.Lock()
	busy = false
	h.Engine.Mu.Unlock()
	row := h.Stands(again.Ref, hosting.Running)
	h.Stands(old.Ref, hosting.Gone)
	h.Equal("the new one", h.Has("site", "example.com").ID, *row.EngineID)
	h.Equal("made", h.Engine.Creations("site/example.com"), 2)
	h.Equal("removed", h.Engine.Removals("site/example.com"), 1)
}

func TestPartsLeaveBeforeWhatTheyAreAPartOf(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	f := h.Ask(h.Draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	h.Carry(s, f)
	h.Goes()
	h.Stands(f.Ref, hosting.Running)
	var order []string
	h.Engine.Tell(nil, func(call, name string) error {
		if call == "remove" {
			order = append(order, name)
		}
		return nil
	})
	h.Carry(hosting.Remove{Ref: s.Ref}, hosting.Remove{Ref: f.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Quiet()
	h.Equal("order", order, []string{"ftp_account/ana", "site/example.com"})
}

// A late answer to an earlier request records the engine's id only.
func TestALateAnswerLeavesTheLaterRequestOpen(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	answered, more := make(chan struct{}), make(chan struct{})
	h.Fault.To(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.Key == fmt.Sprintf("engine:site-%d/1", s.ID) && c.Step == 0 {
			close(answered)
			<-more
		}
		return nil
	})
	h.Goes()
	<-answered
	h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	close(more)
	h.Eventually("the later request is confirmed", func() bool { r := h.Resource(s.Ref); return r.SyncStatus == "synced" && r.Wish == 2 })
	h.Quiet()
	h.Equal("address", sagastest.Value(h.Has("site", "example.com"), "ip_address"), `"192.0.2.7"`)
	h.Equal(
		"events", h.Happened(s.Stream()),
		[]string{"hosting.requested", "hosting.changed", "hosting.engine_confirmed", "hosting.engine_confirmed"},
	)
}

// A tenant with machines only has no client at the engine until its first resource
// there.
func TestATenantGetsItsPlaceWithTheFirstThingInIt(t *testing.T) {
	t.Parallel()
	h := &sagastest.Household{World: sagastest.NewWorld(t).Goes()}
	id := h.Buy(sagastest.OrderForm{Kind: "saas"})
	h.Becomes(id, order.StatusActive)
	h.Tenant = h.Provision(id).Job.Tenant
	client := "tenant/" + hosting.CustomerNumber(h.Tenant)
	h.Equal("clients", h.Engine.Creations(client), 0)
	one, two := h.Ask(h.Draw("site"), sagastest.Site("one.example.com")), h.Ask(h.Draw("site"), sagastest.Site("two.example.com"))
	h.Carry(one, two)
	h.Stands(one.Ref, hosting.Running)
	h.Stands(two.Ref, hosting.Running)
	h.Quiet()
	h.Equal("clients", h.Engine.Creations(client), 1)
	h.Equal("asked for", h.Often(hosting.Ref{Kind: "tenant", ID: h.Tenant}.Stream(), "hosting.push_requested"), 1)
}
