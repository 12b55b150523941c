package hosting_test

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestTheBinIsEmptiedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	clock := &sagastest.TestClock{At: time.Now()}
	h := sagastest.NewHousehold(t, sagastest.ByHand(clock.Now))
	s, kept := h.Ask(h.Draw("site"), sagastest.Site("example.com")), h.Ask(h.Draw("site"), sagastest.Site("kept.example.com"))
	f := h.Ask(h.Draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	d := h.Ask(
		h.Draw("database"),
		&hosting.Database{Name: "shop", User: "shop", EngineName: "c1_shop", EngineUser: "c1_shop", Site: &s.ID, IsActive: true},
	)
	h.Carry(s, kept, f, d)
	h.Goes()
	h.Stands(f.Ref, hosting.Running)
	h.Stands(d.Ref, hosting.Running)
	h.Stands(kept.Ref, hosting.Running)
	h.Carry(hosting.MoveToBin{Ref: s.Ref}, hosting.Disable{Ref: f.Ref, By: hosting.BySite}, hosting.MoveToBin{Ref: kept.Ref})
	h.Stands(s.Ref, hosting.Running)
	h.Eventually("it is off", func() bool { return sagastest.Value(h.Has("site", "example.com"), "is_active") == "false" })
	h.Carry(hosting.Restore{Ref: kept.Ref})
	h.Eventually("its run ends", func() bool { return h.RunOf(fmt.Sprintf("grace:site-%d/3", kept.ID)).Status == sagas.StatusDone })
	clock.Pass(29 * sagastest.Day)
	h.Quiet()
	h.Equal("after 29 days", h.RunOf(fmt.Sprintf("grace:site-%d/3", s.ID)).Status, sagas.StatusReady)
	clock.Pass(2 * sagastest.Day)
	h.Stands(s.Ref, hosting.Gone)
	h.Stands(f.Ref, hosting.Gone)
	h.Eventually("the database has no site", func() bool {
		return string(h.Resource(d.Ref).Spec["site"]) == "null" && h.Resource(d.Ref).SyncStatus == "synced"
	})
	h.Equal("site of the database", h.Has("database", "c1_shop").Parents["site"], 0)
	h.Equal("kept", sagastest.Value(h.Has("site", "kept.example.com"), "is_active"), "true")
}

func TestATerminatedTenantIsPurgedWithAllThatIsIts(t *testing.T) {
	t.Parallel()
	sagastest.Purge(t, 7)
}
