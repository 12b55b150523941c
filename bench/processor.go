package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime is what the program and the processes that it has started,
// Postgres among them, have used until now. Other programs on the machine
// change how many calls there are a second; this they hardly change. It is
// known on Linux, and 0 elsewhere.
func processorTime() time.Duration { return usedBelow(os.Getpid(), true) }

// childrenTime is processorTime without this process.
func childrenTime() time.Duration { return usedBelow(os.Getpid(), false) }

func usedBelow(root int, itself bool) (used time.Duration) {
	all := processes()
	for pid, p := range all {
		if pid == root && !itself {
			continue
		}
		for range 8 { // generations
			if pid == root {
				used += p.used
				break
			}
			pid = all[pid].parent
		}
	}
	return used
}

type process struct {
	parent int
	used   time.Duration
}

// tick is the unit in which Linux tells processes' times.
const tick = 10 * time.Millisecond

// processes reads /proc/<pid>/stat: behind the name, in parentheses, stand the
// state, the parent and, as the 12th and 13th, the times as user and in the
// kernel.
func processes() map[int]process {
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		_, behind, found := strings.Cut(string(text), ") ")
		fields := strings.Fields(behind)
		if err != nil || !found || len(fields) < 13 {
			continue // it has ended
		}
		number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		all[pid] = process{number(1), time.Duration(number(11)+number(12)) * tick}
	}
	return all
}
