package hosting_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func mailbox(domain int64, local, handle string) *hosting.Mailbox {
	return &hosting.Mailbox{
		MailDomain: domain, LocalPart: local, Email: local + "@example.com", Password: handle, QuotaMB: 10,
		IsActive: true,
	}
}

func TestWhatIsAskedForIsMadeAtTheEngine(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s, m, b := h.Ask(h.Draw("site"), sagastest.Site("example.com")), h.Ask(
		h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true},
	), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(m.ID, "ana", b.String()))
	h.Carrying(map[uuid.UUID]string{b: "pass-word-1"}, s, m, box) // the tenant's place is not made yet
	h.Equal("runs", h.Count(`select count(*) from saga_run where about <> ''`), 4)
	h.Goes()
	for _, ref := range []hosting.Ref{s.Ref, m.Ref, box.Ref} {
		row := h.Stands(ref, hosting.Running)
		h.Equal("sync", row.SyncStatus, "synced")
	}
	h.Quiet()
	client := h.Has("tenant", hosting.CustomerNumber(h.Tenant))
	made := h.Has("mailbox", "ana@example.com")
	h.Equal("owner", made.Owner, client.ID)
	h.Equal("parent", made.Parents["mail_domain"], h.Has("mail_domain", "example.com").ID)
	h.Equal("password", made.Secrets["password"], "pass-word-1")
	h.Equal("password in the values", sagastest.Value(made, "password"), "")
	h.Equal("known as", *h.Resource(box.Ref).EngineID, made.ID)
	h.Equal("secrets left", h.Count(`select count(*) from secret_handoff`), 0)
	for name := range h.Engine.All() {
		h.Equal(name, h.Engine.Creations(name), 1)
	}
	h.Equal("in the log", h.Count(`select count(*) from events where data::text like '%pass-word%'`), 0)
	answered, err := h.Tables.For(projections.Caller{Tenant: h.Tenant}).Hosting().Acknowledged(t.Context(), s.Ref, 1)
	h.Equal("acknowledged", answered, true)
	h.Must(err)
}

func TestARequestIsNotAcknowledgedBeforeTheEngineHasAnswered(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	version := h.Carry(s).Versions[s.Stream()]
	acknowledged := func(version int) bool {
		yes, err := h.Tables.For(projections.Caller{Tenant: h.Tenant}).Hosting().Acknowledged(t.Context(), s.Ref, version)
		h.Must(err)
		return yes
	}
	h.Equal("before", acknowledged(version), false)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Equal("after", acknowledged(version), true)
	h.Engine.Tell(func(call, _ string) error {
		if call == "remove" {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	version = h.Carry(hosting.Remove{Ref: s.Ref}).Versions[s.Stream()]
	h.Equal("of the removal", acknowledged(version), false)
	h.Equal("of a later version", acknowledged(version+1), false)
	h.Engine.Tell(nil, nil)
	h.Stands(s.Ref, hosting.Gone)
	h.Equal("after the removal", acknowledged(version), true)
}

func TestAChangeReachesTheEngineAndKeepsThePassword(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	d, b := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.Carrying(map[uuid.UUID]string{b: "pass-word-1"}, d, box)
	h.Goes()
	h.Stands(box.Ref, hosting.Running)
	h.Carry(sagastest.Set(box.Ref, `{"quota_mb":77}`))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("quota", sagastest.Value(h.Has("mailbox", "ana@example.com"), "quota_mb"), "77")
	h.Equal("password sent again", h.Has("mailbox", "ana@example.com").Secrets["password"], "")
	next := uuid.New()
	h.Carrying(map[uuid.UUID]string{next: "pass-word-2"}, sagastest.Set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("password", h.Has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
	h.Quiet()
	h.Equal("secrets left", h.Count(`select count(*) from secret_handoff`), 0)
	h.Equal("made", h.Engine.Creations("mailbox/ana@example.com"), 1)
}

func TestHaltedResourcesAreOffAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	on, off := h.Ask(h.Draw("site"), sagastest.Site("on.example.com")), h.Ask(h.Draw("site"), sagastest.Site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.Carry(on, off)
	h.Goes()
	h.Stands(on.Ref, hosting.Running)
	h.Stands(off.Ref, hosting.Running)
	h.Carry(hosting.Disable{Ref: on.Ref, By: hosting.BySite}, hosting.Disable{Ref: off.Ref, By: hosting.BySite})
	h.Eventually("both are off", func() bool {
		return h.Resource(on.Ref).SyncStatus == "synced" && h.Resource(off.Ref).SyncStatus == "synced"
	})
	h.Equal("on", sagastest.Value(h.Has("site", "on.example.com"), "is_active"), "false")
	h.Equal("active", h.Resource(on.Ref).Active, false)
	h.Carry(hosting.Enable{Ref: on.Ref, By: hosting.BySite}, hosting.Enable{Ref: off.Ref, By: hosting.BySite})
	h.Eventually("both are as they were", func() bool {
		return h.Resource(on.Ref).SyncStatus == "synced" && h.Resource(off.Ref).SyncStatus == "synced"
	})
	h.Equal("on", sagastest.Value(h.Has("site", "on.example.com"), "is_active"), "true")
	h.Equal("off", sagastest.Value(h.Has("site", "off.example.com"), "is_active"), "false")
}

func TestASecretThatIsGoneHasToBeSentAgain(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	d, b := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.Carry(d, box) // without a stored password
	h.Goes()
	row := h.Stands(box.Ref, hosting.Refused)
	h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error secret_needed")
	next := uuid.New()
	h.Carrying(map[uuid.UUID]string{next: "pass-word-2"}, sagastest.Set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("password", h.Has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
}

// The run of the first time finds it in the bin, but not since then.
func TestWhatIsThrownAwayAgainHasThirtyDaysAnew(t *testing.T) {
	t.Parallel()
	clock := &sagastest.TestClock{At: time.Now()}
	h := sagastest.NewHousehold(t, sagastest.ByHand(clock.Now))
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	h.Carry(hosting.MoveToBin{Ref: s.Ref})
	h.Carry(hosting.Restore{Ref: s.Ref})
	ended := fmt.Sprintf("grace:site-%d/2", s.ID)
	h.Fault.To(func(p sagas.Point, c sagas.Run) error { // between the end of the wait and the removal
		if p == sagas.BeforeComplete && c.Key == ended && c.Step == 0 {
			h.Carry(hosting.MoveToBin{Ref: s.Ref})
		}
		return nil
	})
	h.Goes()
	h.Eventually("its run ends", func() bool { return h.RunOf(ended).Status == sagas.StatusDone })
	h.Quiet()
	clock.Pass(29 * sagastest.Day)
	h.Equal("after 29 days", h.Resource(s.Ref).Status, hosting.Running)
	h.Equal("off", sagastest.Value(h.Has("site", "example.com"), "is_active"), "false")
	clock.Pass(2 * sagastest.Day)
	h.Stands(s.Ref, hosting.Gone)
}
