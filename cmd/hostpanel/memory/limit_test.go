package memory

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func files(of map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for path, text := range of {
		all[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

const eightGiB = "MemTotal:        8388608 kB\nMemFree:           12345 kB\n"

func TestTheMemoryIsThatOfTheMachineOrItsControlGroup(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"another system": {nil, 0},
		"the machine":    {map[string]string{"proc/meminfo": eightGiB, "sys/fs/cgroup/memory.max": "max\n"}, 8 << 30},
		"a container": {map[string]string{
			"proc/meminfo": eightGiB, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1073741824\n",
		}, 1 << 30},
		"a service": {map[string]string{
			"proc/meminfo": eightGiB, "proc/self/cgroup": "0::/system.slice/hostpanel.service\n",
			"sys/fs/cgroup/system.slice/hostpanel.service/memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max":                   "536870912\n",
		}, 512 << 20},
		"version 1": {map[string]string{
			"proc/meminfo": eightGiB, "proc/self/cgroup": "3:cpuset:/\n2:memory:/docker/ab\n",
			"sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes": "268435456\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":           "9223372036854771712\n",
		}, 256 << 20},
	} {
		if got := sizeOf(files(test.files)); got != test.want {
			t.Errorf("%s: %d bytes, not %d", name, got, test.want)
		}
	}
}

func TestTheProcessKeepsToAShareOfTheMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	machine := files(map[string]string{"proc/meminfo": eightGiB})
	none := func(string) string { return "" }
	for shared, want := range map[bool]int64{false: (8 << 30) / 100 * 80, true: (8 << 30) / 100 * 50} {
		if got := Bound(machine, none, shared); got != want || debug.SetMemoryLimit(-1) != want {
			t.Errorf("%d bytes, and the runtime keeps to %d, not %d", got, debug.SetMemoryLimit(-1), want)
		}
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := Bound(machine, func(string) string { return "1GiB" }, false); got != 0 ||
		debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Errorf("the operator's own limit is overwritten by %d", got)
	}
}
