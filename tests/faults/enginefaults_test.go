//go:build system

package faults_test

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestAWorkerMayDieAnywhereOnTheWayToTheEngine(t *testing.T) { // F-1
	t.Parallel()
	h := sagastest.NewHousehold(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	dead := map[string]bool{}
	kill := func(at sagas.Point, c sagas.Run) error {
		h.Engine.Mu.Lock()
		defer h.Engine.Mu.Unlock()
		if key := string(at) + " " + c.Key; c.Step == 0 && kindOf(c) == "site" && !dead[key] {
			dead[key] = true
			return sagas.ErrKilled
		}
		return nil
	}
	h.Fault.To(kill)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	h.Carry(s)
	h.Goes()
	h.Stands(s.Ref, hosting.Running)
	h.Carry(sagastest.Set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	h.Stands(s.Ref, hosting.Running)
	h.Carry(hosting.Remove{Ref: s.Ref})
	h.Stands(s.Ref, hosting.Gone)
	h.Quiet()
	h.Equal("made", h.Engine.Creations("site/example.com"), 1)
	h.Eventually("it has died at six points of three runs", func() bool { // the last time after the last write
		h.Engine.Mu.Lock()
		defer h.Engine.Mu.Unlock()
		delete(dead, fmt.Sprintf("%s engine:%s/1", sagas.Waiting, s.Stream())) // it waits only if the tenant is not there yet
		return len(dead) == 3*6
	})
	h.Equal("left", len(h.Engine.All()), 1)
}

// kindOf is the kind of the resource that a run works for.
func kindOf(r sagas.Run) string {
	in, _ := sagas.InputOf[hosting.Generation](r) // of other runs it is none
	return in.Kind
}
