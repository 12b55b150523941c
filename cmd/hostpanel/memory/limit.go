// Package memory bounds what the process takes of the machine's memory, and paces the
// collections of its garbage (docs/security.md, "Memory").
package memory

import (
	"io/fs"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// Shares of the machine's memory, in percent, that the process keeps to. A
// database of the panel's own needs the rest.
const (
	shareAlone  = 80
	shareShared = 50
)

// Bound tells the garbage collector how much memory the process may use, unless GOMEMLIMIT
// does so. The machine is given by its file system. It is shared where a database of the
// panel's own runs on it. The answer is the limit in bytes; 0: the runtime's own one holds.
func Bound(machine fs.FS, environment func(string) string, shared bool) int64 {
	most := sizeOf(machine)
	if environment("GOMEMLIMIT") != "" || most == 0 {
		return 0
	}
	share := int64(shareAlone)
	if shared {
		share = shareShared
	}
	most = most / 100 * share
	debug.SetMemoryLimit(most)
	return most
}

// sizeOf is the memory of the machine, or of the process's control group if
// that is less; 0: unknown.
func sizeOf(machine fs.FS) int64 {
	least := int64(math.MaxInt64)
	for _, path := range append(limitFiles(machine), "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes") {
		if n, err := strconv.ParseInt(strings.TrimSpace(textOf(machine, path)), 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	for line := range strings.Lines(textOf(machine, "proc/meminfo")) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "MemTotal:" && words[2] == "kB" {
			if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				least = min(least, n<<10)
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// limitFiles name the limits of the control groups that the process is in, of
// both versions, from the innermost to the outermost.
func limitFiles(machine fs.FS) (all []string) {
	for line := range strings.Lines(textOf(machine, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) != 3 || strings.Contains(parts[2], "..") {
			continue
		}
		root, file := "sys/fs/cgroup", "memory.max"
		switch parts[1] {
		case "":
		case "memory":
			root, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for path := strings.Trim(parts[2], "/"); path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
			all = append(all, root+"/"+path+"/"+file)
		}
	}
	return all
}

// textOf is a file of the machine; "": there is none.
func textOf(machine fs.FS, path string) string {
	text, err := fs.ReadFile(machine, path)
	if err != nil {
		return ""
	}
	return string(text)
}
