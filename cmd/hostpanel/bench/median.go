package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Median prints, of each line of several runs, the run in the middle, and what the others
// measured. The files are what runs have printed with JSON; the order of lines is that of the
// first file that has them. Lines of a run that are called alike are told apart by their peer,
// and by which of them comes first.
func Median(out io.Writer, files []string) error {
	type line struct {
		section, name, peer string
		nth                 int
	}
	var order []line
	runs := map[line][]Result{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var results []Result
		if err := json.Unmarshal(text, &results); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		seen := map[line]int{}
		for _, r := range results {
			at := line{section: r.Section, name: r.Name, peer: r.Peer}
			seen[at]++
			at.nth = seen[at]
			if runs[at] == nil {
				order = append(order, at)
			}
			runs[at] = append(runs[at], r)
		}
	}
	printed := &run{Options: Options{Out: out}}
	for _, at := range order {
		printed.report(middleRun(runs[at]))
	}
	return nil
}

// middleRun is the run in the middle, or the worse of two, with the figures of all as its note.
func middleRun(runs []Result) Result {
	slices.SortFunc(runs, func(a, b Result) int { return cmp.Compare(a.measured(), b.measured()) })
	at := (len(runs) - 1) / 2
	if runs[0].AtMost {
		at = len(runs) / 2
	}
	all := make([]string, len(runs))
	for n, r := range runs {
		all[n] = figure(r.measured())
	}
	r := runs[at]
	r.Note = "of " + strings.Join(all, ", ")
	return r
}
