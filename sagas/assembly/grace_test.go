package assembly_test

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

func TestTheBinIsEmptiedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, byHand(clock.now))
	s, kept := h.ask(h.draw("site"), site("example.com")), h.ask(h.draw("site"), site("kept.example.com"))
	f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	d := h.ask(h.draw("database"), &hosting.Database{Name: "shop", User: "shop", EngineName: "c1_shop", EngineUser: "c1_shop", Site: &s.ID, IsActive: true})
	h.carry(s, kept, f, d)
	h.goes()
	h.stands(f.Ref, hosting.Running)
	h.stands(d.Ref, hosting.Running)
	h.stands(kept.Ref, hosting.Running)
	h.carry(hosting.MoveToBin{Ref: s.Ref}, hosting.Disable{Ref: f.Ref, By: hosting.BySite}, hosting.MoveToBin{Ref: kept.Ref})
	h.stands(s.Ref, hosting.Running)
	h.eventually("it is off", func() bool { return value(h.has("site", "example.com"), "is_active") == "false" })
	h.carry(hosting.Restore{Ref: kept.Ref})
	h.eventually("its run ends", func() bool { return h.runOf(fmt.Sprintf("grace:site-%d/3", kept.ID)).Status == sagas.StatusDone })
	clock.pass(29 * day)
	h.quiet()
	h.equal("after 29 days", h.runOf(fmt.Sprintf("grace:site-%d/3", s.ID)).Status, sagas.StatusReady)
	clock.pass(2 * day)
	h.stands(s.Ref, hosting.Gone)
	h.stands(f.Ref, hosting.Gone)
	h.eventually("the database has no site", func() bool {
		return string(h.resource(d.Ref).Spec["site"]) == "null" && h.resource(d.Ref).SyncStatus == "synced"
	})
	h.equal("site of the database", h.has("database", "c1_shop").Parents["site"], 0)
	h.equal("kept", value(h.has("site", "kept.example.com"), "is_active"), "true")
}

func TestATerminatedTenantIsPurgedWithAllThatIsIts(t *testing.T) {
	t.Parallel()
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, byHand(clock.now))
	s, z := h.ask(h.draw("site"), site("example.com")), h.ask(h.draw("dns_zone"), &hosting.DNSZone{Origin: "example.com.", TTL: 3600, IsActive: true})
	var commands []domain.Command
	for i := range 200 + 1 {
		commands = append(commands, h.ask(h.draw("dns_record"), &hosting.DNSRecord{Zone: z.ID, ZoneOrigin: "example.com.", Type: "A", Name: fmt.Sprintf("h%d", i), Data: "192.0.2.1", TTL: 60, IsActive: true}))
	}
	h.carry(append([]domain.Command{s, z}, commands...)...)
	h.goes()
	h.eventually("all is there", func() bool { return len(h.engine.all()) == 200+4 })
	tenant := hosting.Ref{Kind: "tenant", ID: h.tenant}
	h.carry(hosting.Disable{Ref: s.Ref, By: hosting.BySite}, hosting.MoveToBin{Ref: tenant})
	h.quiet()
	clock.pass(31 * day)
	h.stands(tenant, hosting.Gone)
	h.quiet()
	h.equal("left at the engine", len(h.engine.all()), 0)
}
