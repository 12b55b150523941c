package hosting_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A record is synced once the engine has shown it. One that the engine loses after
// that is made again.
func TestARecordThatTheEngineLosesIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ look, confirmed int }{
		"at once": {1, 1}, "after it was read back": {2, 2},
	} {
		h := sagastest.NewHousehold(t)
		var looks atomic.Int32
		h.Engine.Tell(func(call, name string) error {
			if call == "find" && name == "site/lost.example.com" && h.Engine.Creations(name) == 1 && int(looks.Add(1)) == c.look {
				h.Engine.Forget(name)
			}
			return nil
		}, nil)
		s := h.Ask(h.Draw("site"), sagastest.Site("lost.example.com"))
		h.Carry(s)
		h.Goes()
		h.Eventually("it is made again", func() bool { return h.Engine.Creations("site/lost.example.com") == 2 })
		h.Quiet()
		h.Equal("number", h.Has("site", "lost.example.com").ID, *h.Resource(s.Ref).EngineID)
		h.Equal("sync", h.Resource(s.Ref).SyncStatus, "synced")
		h.Equal(name+": confirmed", h.Often(s.Stream(), "hosting.engine_confirmed"), c.confirmed)
		h.Equal(name+": told", h.Often(sagas.StreamOf(fmt.Sprintf("engine:site-%d/1", s.ID)), "saga.effect_lost"), c.confirmed-1)
		h.End()
	}
}

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

// What belongs to an object that the engine has lost waits until that is made again.
func TestAPartWaitsForTheWholeThatTheEngineLostAndMakesAgain(t *testing.T) { // V5
	t.Parallel()
	for _, whole := range []string{"site/", "tenant/"} {
		h := sagastest.NewHousehold(t)
		first := once()
		h.Engine.Tell(nil, func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, whole) && first() {
				h.Engine.Forget(name)
			}
			return nil
		})
		s := h.Ask(h.Draw("site"), sagastest.Site("lost.example.com"))
		handle := uuid.New()
		f := h.Ask(
			h.Draw("ftp_account"),
			&hosting.FTPAccount{Site: s.ID, Username: "lost", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true},
		)
		h.Carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.Goes()
		h.Eventually("it is made again", func() bool {
			return h.Resource(f.Ref).Status == hosting.Running && h.Resource(s.Ref).Status == hosting.Running
		})
		h.Quiet()
		for _, ref := range []hosting.Ref{s.Ref, f.Ref} {
			h.Equal(whole+": "+ref.Stream().String(), h.Resource(ref).SyncStatus, "synced")
		}
		h.Equal(whole+": parked", h.Count(`select count(*) from saga_run where status = 'parked'`), 0)
		h.End()
	}
}

// A part is asked for while its whole is lost and made again under another number.
// The engine refuses the number that it was asked for with; the next call has the new one.
func TestAPartIsAskedForAgainWhenItsWholeWasMadeAgainMeanwhile(t *testing.T) { // V5
	t.Parallel()
	for whole, part := range map[string]string{"site/": "ftp_account/", "tenant/": "site/"} {
		h := sagastest.NewHousehold(t)
		s := h.Ask(h.Draw("site"), sagastest.Site("crossed.example.com"))
		handle := uuid.New()
		f := h.Ask(
			h.Draw("ftp_account"),
			&hosting.FTPAccount{Site: s.ID, Username: "crossed", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true},
		)
		asked, remade := make(chan struct{}), make(chan struct{})
		comes := func(c chan struct{}) {
			select {
			case <-c:
			case <-t.Context().Done():
			}
		}
		firstAsked := once()
		var read atomic.Int32
		h.Engine.Tell(func(call, name string) error {
			switch {
			case call == "create" && strings.HasPrefix(name, part) && firstAsked():
				close(asked)
				comes(remade)
			case call == "find" && strings.HasPrefix(name, whole) && h.Engine.Creations(name) == 1 && read.Add(1) > 1:
				// the first reads back
				h.Engine.Forget(name)
				comes(asked)
			}
			return nil
		}, nil)
		h.Carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.Goes()
		ref := s.Ref
		if whole == "tenant/" {
			ref = hosting.Ref{Kind: "tenant", ID: h.Tenant}
		}
		comes(asked)
		h.Eventually("its whole is made again", func() bool {
			return h.RunOf(fmt.Sprintf("engine:%s/1", ref.Stream())).Status == sagas.StatusDone
		})
		close(remade)
		h.Eventually("it is made", func() bool { return h.Resource(f.Ref).Status == hosting.Running })
		h.Quiet()
		h.Equal(whole+": lost", h.Often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", ref.Stream())), "saga.effect_lost"), 1)
		h.Equal(
			whole+": parked",
			h.Often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", f.Stream())), "saga.parked")+h.Often(
				sagas.StreamOf(fmt.Sprintf("engine:%s/1", s.Stream())), "saga.parked",
			),
			0,
		)
		h.End()
	}
}
