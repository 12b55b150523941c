package assembly_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

func TestOnlyTheLastOfManyRequestsIsPushed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	for i := range 9 {
		h.carry(set(s.Ref, fmt.Sprintf(`{"ip_address":"192.0.2.%d"}`, i)))
	}
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.8"`)
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.equal("changed", h.engine.changes("site/example.com"), 0)
	h.equal("requests overtaken", h.count(`select count(*) from saga_run where about = $1 and status = 'done'`, s.Stream().String()), 10)
}

func TestAResourceIsRenamedWhateverTheEngineCallsItByNow(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.engine.strict = true
	s := h.ask(h.draw("site"), site("one.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	lost := make(chan struct{})
	h.engine.tell(nil, func(call, name string) error {
		if call == "change" && name == "site/two.example.com" {
			select {
			case <-lost:
			default:
				close(lost)
				h.carry(set(s.Ref, `{"domain":"three.example.com"}`)) // while the answer gets lost
				return domain.Fail(domain.Unknown, "timeout", errLie)
			}
		}
		return nil
	})
	h.carry(set(s.Ref, `{"domain":"two.example.com"}`))
	h.eventually("it is renamed twice", func() bool { return h.resource(s.Ref).Status == hosting.Running && h.resource(s.Ref).Wish > 3 })
	h.quiet()
	h.equal("number", h.has("site", "three.example.com").ID, *h.resource(s.Ref).EngineID)
	h.equal("sites", len(h.engine.all()), 2) // with the client
}

func TestANameIsUsedAgainOnlyWhenTheOldOneHasLeft(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	old := h.ask(h.draw("site"), site("example.com"))
	h.carry(old)
	h.goes()
	h.stands(old.Ref, hosting.Running)
	busy := true
	h.engine.tell(func(call, _ string) error {
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		if call == "remove" && busy {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	again := h.ask(h.draw("site"), site("example.com"))
	h.carry(hosting.Remove{Ref: old.Ref}, again)
	h.eventually("the new one waits", func() bool {
		return h.count(`select count(*) from saga_run where about = $1 and awaits = $2`, again.Stream().String(), old.Stream().String()) == 1
	})
	h.equal("the old one", h.has("site", "example.com").ID, *h.resource(old.Ref).EngineID)
	h.engine.mu.Lock()
	busy = false
	h.engine.mu.Unlock()
	row := h.stands(again.Ref, hosting.Running)
	h.stands(old.Ref, hosting.Gone)
	h.equal("the new one", h.has("site", "example.com").ID, *row.EngineID)
	h.equal("made", h.engine.creations("site/example.com"), 2)
	h.equal("removed", h.engine.removals("site/example.com"), 1)
}

func TestPartsLeaveBeforeWhatTheyAreAPartOf(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	h.carry(s, f)
	h.goes()
	h.stands(f.Ref, hosting.Running)
	var order []string
	h.engine.tell(nil, func(call, name string) error {
		if call == "remove" {
			order = append(order, name)
		}
		return nil
	})
	h.carry(hosting.Remove{Ref: s.Ref}, hosting.Remove{Ref: f.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("order", order, []string{"ftp_account/ana", "site/example.com"})
}

// A late answer to an earlier request records the engine's id only.
func TestALateAnswerLeavesTheLaterRequestOpen(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	answered, more := make(chan struct{}), make(chan struct{})
	h.fault.to(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.Key == fmt.Sprintf("engine:site-%d/1", s.ID) && c.Step == 0 {
			close(answered)
			<-more
		}
		return nil
	})
	h.goes()
	<-answered
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	close(more)
	h.eventually("the later request is confirmed", func() bool { r := h.resource(s.Ref); return r.SyncStatus == "synced" && r.Wish == 2 })
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.7"`)
	h.equal("events", h.happened(s.Stream()), []string{"hosting.requested", "hosting.changed", "hosting.engine_confirmed", "hosting.engine_confirmed"})
}

// The run of an order creates its resources at the engine. Later changes have runs
// of their own.
func TestWhatAnOrderHasMadeIsChangedLikeEverythingElse(t *testing.T) {
	t.Parallel()
	h := &household{newWorld(t), 0}
	id := h.placed(ordering{domain: "ordered.example.com"})
	_, err := h.Payments.OpenSession(t.Context(), id)
	h.must(err)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/ordered.example.com" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	h.goes()
	h.paid(id)
	h.eventually("the site is asked for", func() bool {
		return h.provision(id).Job.Site != 0 && h.resource(hosting.Ref{Kind: "site", ID: h.provision(id).Job.Site}).Kind != ""
	})
	ref := hosting.Ref{Kind: "site", ID: h.provision(id).Job.Site}
	h.equal("runs of its own", h.count(`select count(*) from saga_run where about <> ''`), 0)
	h.carry(set(ref, `{"ip_address":"192.0.2.3"}`)) // before the order's run has made it
	h.eventually("it waits for the order", func() bool {
		return h.count(`select count(*) from saga_run where about = $1 and awaits = $1`, ref.Stream().String()) == 1
	})
	h.engine.tell(nil, nil)
	h.becomes(id, order.StatusActive)
	h.eventually("it is as wanted", func() bool { return h.resource(ref).SyncStatus == "synced" && h.resource(ref).Wish == 2 })
	h.equal("address", value(h.has("site", "ordered.example.com"), "ip_address"), `"192.0.2.3"`)
	h.equal("made", h.engine.creations("site/ordered.example.com"), 1)
}

// A tenant with machines only has no client at the engine until its first resource
// there.
func TestATenantGetsItsPlaceWithTheFirstThingInIt(t *testing.T) {
	t.Parallel()
	h := &household{newWorld(t).goes(), 0}
	id := h.buy(ordering{kind: "saas"})
	h.becomes(id, order.StatusActive)
	h.tenant = h.provision(id).Job.Tenant
	client := "tenant/" + hosting.CustomerNumber(h.tenant)
	h.equal("clients", h.engine.creations(client), 0)
	one, two := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("two.example.com"))
	h.carry(one, two)
	h.stands(one.Ref, hosting.Running)
	h.stands(two.Ref, hosting.Running)
	h.quiet()
	h.equal("clients", h.engine.creations(client), 1)
	h.equal("asked for", h.often(hosting.Ref{Kind: "tenant", ID: h.tenant}.Stream(), "hosting.push_requested"), 1)
}

// A suspension of many records is one append, with a run for each.
func TestManyRunsStartInOneAppend(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const many = 500
	var ask, halt []domain.Command
	for i := range many {
		s := h.ask(int64(1000+i), site(fmt.Sprintf("s%d.example.com", i)))
		ask, halt = append(ask, s), append(halt, hosting.Disable{Ref: s.Ref, By: hosting.BySite})
	}
	h.carry(ask...)
	begun := time.Now()
	h.carry(halt...)
	t.Logf("%d runs started in %s", many, time.Since(begun))
	h.equal("runs", h.count(`select count(*) from saga_run where about like 'site-%'`), 2*many)
	begun = time.Now()
	h.goes()
	for off := many / 10; off <= many; off += many / 10 { // each wait is for a part of them
		h.eventually(fmt.Sprintf("%d are off", off), func() bool {
			return h.count(`select count(*) from resources where kind = 'site' and sync_status = 'synced' and disabled_by <> '{}'`) >= off
		})
	}
	t.Logf("and were done in %s", time.Since(begun))
	h.equal("made active", cmp.Or(value(h.has("site", "s7.example.com"), "is_active"), "?"), "false")
}
