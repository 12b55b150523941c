package memory

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestGarbageIsCollectedWhenThereIsEnoughOfIt(t *testing.T) {
	for inUse, want := range map[uint64]int{0: 1200, 16 << 20: 300, 48 << 20: 100, 512 << 20: 100} {
		if got := percentFor(inUse); got != want {
			t.Errorf("with %d MiB in use, garbage of %d percent is collected, not of %d", inUse>>20, got, want)
		}
	}
}

// garbage keeps what is allocated from being left out by the compiler.
var garbage []byte

func TestASmallProcessCollectsItsGarbageSeldom(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	PaceCollections(func(name string) string { return map[string]string{"GOGC": "50"}[name] })
	if got := debug.SetGCPercent(100); got != 100 {
		t.Fatalf("the operator's GOGC is overwritten by %d", got)
	}
	PaceCollections(func(string) string { return "" })
	begun := collections()
	const blocks = 20 * leastGarbage >> 20 // of a MiB
	for range blocks {
		garbage = make([]byte, 1<<20)
	}
	if done := collections() - begun; done == 0 || done > 40 {
		t.Errorf("%d MiB of garbage were collected in %d turns, with 40 at most expected", blocks, done)
	}
}

func collections() uint64 {
	cycles := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(cycles)
	return cycles[0].Value.Uint64()
}
