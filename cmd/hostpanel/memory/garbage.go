package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// leastGarbage is what the process allocates, at least, between two collections of
// garbage, in bytes. What is in use is often less: then the runtime would collect each time
// as much garbage has come, dozens of times a second under load.
const leastGarbage = 48 << 20

// PaceCollections lets garbage be collected when as much has come as is in use, but not
// before [leastGarbage], unless GOGC says otherwise. It paces anew after each collection,
// as long as the process lives (docs/security.md, "Memory").
func PaceCollections(environment func(string) string) {
	if environment("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percentFor(inUse()))
	runtime.AddCleanup(new([64]byte), PaceCollections, environment) // called after the next collection
}

// percentFor is the garbage, as a percentage of the bytes in use, at which the next
// collection begins. The runtime takes 4 MiB for in use at least.
func percentFor(inUse uint64) int {
	return int(max(100, leastGarbage*100/max(inUse, 4<<20)))
}

// inUse are the bytes that the last collection found in use.
func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
