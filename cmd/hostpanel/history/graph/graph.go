// Package graph draws what led to an event, and what came of it (docs/audit.md).
package graph

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"hostpanel/domain/audit"
)

// The measures of a graph of causes, in pixels.
const (
	graphRow    = 46 // of an event
	graphIndent = 26 // of what follows from another event
	graphBox    = 36
	graphWidth  = 900
)

// A node is an event in a graph of causes, or a call to a system outside.
type node struct {
	title, text string
	depth       int
	cause       int // row of what it follows from; -1: none that is shown
	isCall      bool
}

// Draw writes what led to an event and what came of it as SVG: a row for each
// event, the root first, with a line to its cause.
func Draw(out io.Writer, why audit.Why) error {
	nodes := nodesOf(why)
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		graphWidth, graphRow*len(nodes)+10,
	)
	for row, n := range nodes {
		n.draw(&b, row)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// nodesOf are the rows of a graph: the root, the chain down to the event, what
// followed, and the calls.
func nodesOf(why audit.Why) []node {
	nodes := []node{{title: why.Root.Kind, text: why.Root.ID, cause: -1}}
	rows := map[string]int{}
	chain := slices.Clone(why.Chain)
	slices.Reverse(chain)
	for i, e := range slices.Concat(chain, why.Effects) {
		cause, known := rows[strings.TrimPrefix(strings.TrimPrefix(e.Cause, "event:"), "deadline:")]
		if !known && i > 0 {
			cause = len(chain)
		}
		at := fmt.Sprintf("%s/%d", e.Stream, e.Version)
		rows[at] = len(nodes)
		nodes = append(
			nodes,
			node{
				at + "  " + e.Type, e.RecordedAt.UTC().Format("2006-01-02 15:04:05.000") + "  " + e.Text,
				nodes[cause].depth + 1, cause, false,
			},
		)
	}
	for _, call := range why.Calls {
		cause := len(chain)
		for at, row := range rows {
			if strings.HasPrefix(at, "saga-"+call.Run.String()+"/") && (cause == len(chain) || row < cause) {
				cause = row
			}
		}
		nodes = append(
			nodes,
			node{"call " + call.Step + "  " + call.State, call.Key + " " + call.ExternalID, nodes[cause].depth + 1, cause, true},
		)
	}
	return nodes
}

func (n node) draw(b *strings.Builder, row int) {
	x, y := 10+min(n.depth, 12)*graphIndent, 5+row*graphRow
	if n.cause >= 0 {
		fmt.Fprintf(
			b, `<path d="M%d %dV%dH%d" fill="none" stroke="#888"/>`+"\n", x-graphIndent/2, 5+n.cause*graphRow+graphBox,
			y+graphBox/2, x,
		)
	}
	fill := map[bool]string{true: "#fdf3d8", false: "#eef2fb"}[n.isCall]
	fmt.Fprintf(
		b, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="#888"/>`+"\n", x, y, graphWidth-x-10,
		graphBox, fill,
	)
	fmt.Fprintf(
		b, `<text x="%d" y="%d" font-weight="bold">%s</text><text x="%d" y="%d">%s</text>`+"\n", x+8, y+15,
		escaped(n.title), x+8, y+30, escaped(n.text),
	)
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return ""
	}
	return b.String()
}
