package main

import (
	"cmp"
	"slices"
	"strings"
)

// median prints, of each line of several records, the run in the middle, and what the others
// measured. The order of lines is that of the first record that has them. Lines of a run that
// are called alike are told apart by their peer, and by which of them comes first.
func median(o Options, files []string) error {
	type line struct {
		section, name, peer string
		nth                 int
	}
	var order []line
	var all Record
	runs := map[line][]Result{}
	for _, file := range files {
		one, err := readRecord(file)
		if err != nil {
			return err
		}
		seen := map[line]int{}
		for _, r := range one.Results {
			at := line{section: r.Section, name: r.Name, peer: r.Peer}
			seen[at]++
			at.nth = seen[at]
			if runs[at] == nil {
				order = append(order, at)
			}
			runs[at] = append(runs[at], r)
		}
		all.Date, all.Machine = one.Date, cmp.Or(o.Machine, one.Machine)
	}
	printed := &run{Options: o}
	for _, at := range order {
		printed.report(middleRun(runs[at]))
	}
	if !o.JSON {
		return nil
	}
	all.Results = printed.results
	return all.write(o.Out)
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
