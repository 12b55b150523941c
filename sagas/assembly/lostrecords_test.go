package assembly_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// A record is synced once the engine has shown it. One that the engine loses after
// that is made again.
func TestARecordThatTheEngineLosesIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ look, confirmed int }{
		"at once": {1, 1}, "after it was read back": {2, 2},
	} {
		h := newHousehold(t)
		var looks atomic.Int32
		h.engine.tell(func(call, name string) error {
			if call == "find" && name == "site/lost.example.com" && h.engine.creations(name) == 1 && int(looks.Add(1)) == c.look {
				h.engine.forget(name)
			}
			return nil
		}, nil)
		s := h.ask(h.draw("site"), site("lost.example.com"))
		h.carry(s)
		h.goes()
		h.eventually("it is made again", func() bool { return h.engine.creations("site/lost.example.com") == 2 })
		h.quiet()
		h.equal("number", h.has("site", "lost.example.com").ID, *h.resource(s.Ref).EngineID)
		h.equal("sync", h.resource(s.Ref).SyncStatus, "synced")
		h.equal(name+": confirmed", h.often(s.Stream(), "hosting.engine_confirmed"), c.confirmed)
		h.equal(name+": told", h.often(sagas.StreamOf(fmt.Sprintf("engine:site-%d/1", s.ID)), "saga.effect_lost"), c.confirmed-1)
		h.end()
	}
}

// What the engine has accepted and never shows is pending, and keeps its password
// until it is made again.
func TestARecordThatTheEngineNeverShowsIsPendingAndKeepsItsPassword(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	m, handle := h.ask(h.draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.ask(h.draw("mailbox"), mailbox(m.ID, "ana", handle.String()))
	isAnew := func(call, name string) bool {
		return call == "create" && name == "mailbox/ana@example.com" && h.engine.creations(name) == 1
	}
	var meanwhile string
	h.engine.tell(func(call, name string) error {
		if isAnew(call, name) {
			meanwhile = h.resource(box.Ref).SyncStatus
		}
		return nil
	}, func(call, name string) error {
		if isAnew(call, name) {
			h.engine.forget(name)
		}
		return nil
	})
	h.carrying(map[uuid.UUID]string{handle: "pass-word-1"}, m, box)
	h.goes()
	h.stands(box.Ref, hosting.Running)
	h.quiet()
	h.equal("sync meanwhile", meanwhile, "pending")
	made := h.has("mailbox", "ana@example.com")
	h.equal("made", h.engine.creations("mailbox/ana@example.com"), 2)
	h.equal("password", made.Secrets["password"], "pass-word-1")
	h.equal("known as", *h.resource(box.Ref).EngineID, made.ID)
	h.end()
}

// What belongs to an object that the engine has lost waits until that is made again.
func TestAPartWaitsForTheWholeThatTheEngineLostAndMakesAgain(t *testing.T) { // V5
	t.Parallel()
	for _, whole := range []string{"site/", "tenant/"} {
		h := newHousehold(t)
		first := once()
		h.engine.tell(nil, func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, whole) && first() {
				h.engine.forget(name)
			}
			return nil
		})
		s := h.ask(h.draw("site"), site("lost.example.com"))
		handle := uuid.New()
		f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "lost", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true})
		h.carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.goes()
		h.eventually("it is made again", func() bool {
			return h.resource(f.Ref).Status == hosting.Running && h.resource(s.Ref).Status == hosting.Running
		})
		h.quiet()
		for _, ref := range []hosting.Ref{s.Ref, f.Ref} {
			h.equal(whole+": "+ref.Stream().String(), h.resource(ref).SyncStatus, "synced")
		}
		h.equal(whole+": parked", h.count(`select count(*) from saga_run where status = 'parked'`), 0)
		h.end()
	}
}

// A part is asked for while its whole is lost and made again under another number.
// The engine refuses the number that it was asked for with; the next call has the new one.
func TestAPartIsAskedForAgainWhenItsWholeWasMadeAgainMeanwhile(t *testing.T) { // V5
	t.Parallel()
	for whole, part := range map[string]string{"site/": "ftp_account/", "tenant/": "site/"} {
		h := newHousehold(t)
		s := h.ask(h.draw("site"), site("crossed.example.com"))
		handle := uuid.New()
		f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "crossed", Password: handle.String(), Directory: "/", QuotaMB: -1, IsActive: true})
		asked, remade := make(chan struct{}), make(chan struct{})
		comes := func(c chan struct{}) {
			select {
			case <-c:
			case <-t.Context().Done():
			}
		}
		firstAsked := once()
		var read atomic.Int32
		h.engine.tell(func(call, name string) error {
			switch {
			case call == "create" && strings.HasPrefix(name, part) && firstAsked():
				close(asked)
				comes(remade)
			case call == "find" && strings.HasPrefix(name, whole) && h.engine.creations(name) == 1 && read.Add(1) > 1: // the first reads back
				h.engine.forget(name)
				comes(asked)
			}
			return nil
		}, nil)
		h.carrying(map[uuid.UUID]string{handle: "pass-word-1"}, s, f)
		h.goes()
		ref := s.Ref
		if whole == "tenant/" {
			ref = hosting.Ref{Kind: "tenant", ID: h.tenant}
		}
		comes(asked)
		h.eventually("its whole is made again", func() bool { return h.runOf(fmt.Sprintf("engine:%s/1", ref.Stream())).Status == sagas.StatusDone })
		close(remade)
		h.eventually("it is made", func() bool { return h.resource(f.Ref).Status == hosting.Running })
		h.quiet()
		h.equal(whole+": lost", h.often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", ref.Stream())), "saga.effect_lost"), 1)
		h.equal(whole+": parked", h.often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", f.Stream())), "saga.parked")+h.often(sagas.StreamOf(fmt.Sprintf("engine:%s/1", s.Stream())), "saga.parked"), 0)
		h.end()
	}
}
