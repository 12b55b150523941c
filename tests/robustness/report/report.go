// Package report counts what a run of the oracle has seen, and prints it.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Coverage counts cells: an operation with its answer, a step with what it came to, or a
// fault at a point.
type Coverage struct {
	mu    sync.Mutex
	cells map[string]int
}

// Saw counts cells.
func (c *Coverage) Saw(cells ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cells == nil {
		c.cells = map[string]int{}
	}
	for _, cell := range cells {
		c.cells[cell]++
	}
}

// Missing are the cells of a list that were not seen.
func (c *Coverage) Missing(wanted []string) (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cell := range wanted {
		if c.cells[cell] == 0 {
			missing = append(missing, cell)
		}
	}
	return missing
}

// Table has a line for each cell.
func (c *Coverage) Table() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, cell := range slices.Sorted(maps.Keys(c.cells)) {
		fmt.Fprintf(&b, "%8d  %s\n", c.cells[cell], cell)
	}
	return b.String()
}
