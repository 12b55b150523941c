package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A Path is an operation with its costs, as a file keeps it for a later run.
type Path struct {
	Name string `json:"path"`
	Least
	Processor float64 `json:"processor_ms,omitempty"` // mean; not of a smoke run
}

// paths are the operations that were counted.
func paths(results []Result) (all []Path) {
	for _, r := range results {
		if r.Least == nil {
			continue
		}
		p := Path{Name: r.Name, Least: *r.Least}
		if r.Counts != nil {
			p.Processor = r.Counts.Processor
		}
		all = append(all, p)
	}
	return all
}

// save keeps what was counted, a line for each path.
func save(file string, all []Path) error {
	lines := make([]string, len(all))
	for n, p := range all {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		lines[n] = "  " + string(line)
	}
	return os.WriteFile(file, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644)
}

func kept(file string) (all []Path, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return all, nil
}

// slack is by how much a figure may grow before it counts. Reading is exact.
// What is written has parts that meet as the threads of a busy machine let
// them: readers of the log handle one event or several together, and writers
// share a commit or do not.
func slack(before int) int {
	if before < 5 {
		return 0
	}
	return max(3, before/5)
}

// compare prints a table of both runs, and fails where a path costs more than before.
// Processor time is shown alone: it depends on the machine.
func compare(out io.Writer, file string, before, now []Path) error {
	was := map[string]Path{}
	for _, p := range before {
		was[p.Name] = p
	}
	fmt.Fprintf(out, "\n%-54s %-15s %-15s %-13s %s\n", "against "+file, "statements", "round trips", "commits", "processor, ms")
	var grown []error
	for _, p := range now {
		b, known := was[p.Name]
		delete(was, p.Name)
		if !known {
			grown = append(grown, fmt.Errorf("%s: it is not in %s", p.Name, file))
			continue
		}
		fmt.Fprintf(
			out, "%-54s %-15s %-15s %-13s %s\n", p.Name, change(b.Statements, p.Statements), change(b.Trips, p.Trips),
			change(b.Commits, p.Commits), processor(b, p),
		)
		grown = append(grown, growth(p.Name, b.Least, p.Least)...)
	}
	for _, b := range before {
		if _, left := was[b.Name]; left {
			grown = append(grown, fmt.Errorf("%s: it was not counted now", b.Name))
		}
	}
	if len(grown) == 0 {
		return nil
	}
	return fmt.Errorf("paths cost more than %s allows (make counts accepts the new numbers):\n%w", file, errors.Join(grown...))
}

func growth(path string, before, now Least) (all []error) {
	for _, f := range []struct {
		name        string
		before, now int
	}{
		{"statements", before.Statements, now.Statements},
		{"round trips", before.Trips, now.Trips},
		{"commits", before.Commits, now.Commits},
	} {
		if f.now > f.before+slack(f.before) {
			all = append(all, fmt.Errorf("%s: %s were %d, are %d", path, f.name, f.before, f.now))
		}
	}
	return all
}

func change(before, now int) string {
	if before == now {
		return fmt.Sprint(now)
	}
	return fmt.Sprintf("%d → %d", before, now)
}

func processor(before, now Path) string {
	if before.Processor == 0 || now.Processor == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f → %.2f (%.2f x)", before.Processor, now.Processor, now.Processor/before.Processor)
}
