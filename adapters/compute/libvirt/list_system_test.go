//go:build system

package libvirt_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// A thousand machines are read within the ten seconds that a comparison may take. QEMU's are
// a hundred, in a tenth of that: their disks are files.
func TestAThousandMachinesAreListed(t *testing.T) {
	for _, c := range []struct {
		name     string
		start    func(*testing.T) *bench
		machines int
		within   time.Duration
	}{
		{"the test driver", onTestDriver, 1000, 10 * time.Second},
		{"QEMU", onQEMU, 100, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.start(t)
			h, begun := open(t, b.driver, b.Socket()), time.Now()
			var all sync.WaitGroup
			for worker := range 4 {
				all.Go(func() {
					for i := range c.machines / 4 {
						m := machine(fmt.Sprintf("vm%d", worker*c.machines/4+i))
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
			if err != nil || len(seen) < c.machines || took > c.within {
				t.Errorf("%d machines in %s, %v", len(seen), took, err)
			}
		})
	}
}
