package hosting_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/sagas/sagastest"
)

// What the engine has accepted and never shows is pending, and keeps its password
// until it is made again.
func TestARecordThatTheEngineNeverShowsIsPendingAndKeepsItsPassword(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	m, handle := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(m.ID, "ana", handle.String()))
	isAnew := func(call, name string) bool {
		return call == "create" && name == "mailbox/ana@example.com" && h.Engine.Creations(name) == 1
	}
	var meanwhile string
	h.Engine.Tell(func(call, name string) error {
		if isAnew(call, name) {
			meanwhile = h.Resource(box.Ref).SyncStatus
		}
		return nil
	}, func(call, name string) error {
		if isAnew(call, name) {
			h.Engine.Forget(name)
		}
		return nil
	})
	h.Carrying(map[uuid.UUID]string{handle: "pass-word-1"}, m, box)
	h.Goes()
	h.Stands(box.Ref, hosting.Running)
	h.Quiet()
	h.Equal("sync meanwhile", meanwhile, "pending")
	made := h.Has("mailbox", "ana@example.com")
	h.Equal("made", h.Engine.Creations("mailbox/ana@example.com"), 2)
	h.Equal("password", made.Secrets["password"], "pass-word-1")
	h.Equal("known as", *h.Resource(box.Ref).EngineID, made.ID)
	h.End()
}
