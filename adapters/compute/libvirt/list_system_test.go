//go:build system

package libvirt_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// A thousand machines are read within the ten seconds that a comparison may take.
func TestAThousandMachinesAreListed(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *bench{"the test driver": onTestDriver, "QEMU": onQEMU} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			h, begun := open(t, b.driver, b.Socket()), time.Now()
			var all sync.WaitGroup
			for worker := range 4 {
				all.Go(func() {
					for i := range 250 {
						m := machine(fmt.Sprintf("vm%d", worker*250+i))
						m.On = false
						if _, err := h.Create(t.Context(), m); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			made := time.Since(begun)
			begun = time.Now()
			seen, err := h.List(t.Context())
			took := time.Since(begun)
			t.Logf("made in %s, listed in %s", made, took)
			if err != nil || len(seen) < 1000 || took > 10*time.Second {
				t.Errorf("%d machines in %s, %v", len(seen), took, err)
			}
		})
	}
}
