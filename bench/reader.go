package main

import (
	"context"
	"fmt"
	"strings"
)

// A reader is a client that reads: alone, so that what is measured is how long
// one answer takes.
type reader struct {
	*run
	*panel
	section string
	address string
	usual   map[string]float64 // milliseconds that each question took the first time
}

// A question is what is asked over HTTP and in SQL. It is deep if more has to
// be passed by the more there is.
type question struct {
	name, path, sql string
	deep            bool
	atMost          float64 // milliseconds that the answer may take; 0: no bar
}

// ask puts questions to tables of this size.
func (d *reader) ask(ctx context.Context, size string, questions []question, held pair) error {
	for _, q := range questions {
		name := q.name + " of " + size
		each, err := d.pgbench(ctx, d.url, strings.ReplaceAll(q.sql, "; ", ";\n")+";\n", 1)
		if err != nil {
			return fmt.Errorf("%s in SQL: %w", name, err)
		}
		took, err := d.median(func() (float64, error) { return d.asked(ctx, q.path, held) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d.tell(q, name, 1000/each, took)
	}
	return nil
}

// asked is how many milliseconds an answer takes, usually.
func (d *reader) asked(ctx context.Context, path string, held pair) (float64, error) {
	callers, hangUp, err := callersOf(ctx, d.address, 1)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	l, err := together(ctx, 1, d.duration, func(context.Context, int, int) error {
		_, err := callers[0].get(path, held.Access)
		return err
	})
	return p50(l), err
}

// tell reports an answer: against SQL, and against the first of its kind.
func (d *reader) tell(q question, name string, plain, took float64) {
	d.report(Result{Section: d.section, Name: name + ", SQL, mean", Value: plain, Unit: "ms"})
	d.report(Result{Section: d.section, Name: name + ", HTTP, p50", Value: took, Unit: "ms", Ratio: took / plain, Peer: "SQL"})
	if q.atMost > 0 {
		d.report(Result{Section: d.section, Name: "the same, absolute", Value: took, Unit: "ms", Bar: q.atMost, AtMost: true})
	}
	usual, known := d.usual[q.name]
	switch {
	case !known:
		d.usual[q.name] = took
	case !q.deep:
		d.report(
			Result{
				Section: d.section, Name: "the same, against the first", Value: took, Unit: "ms", Ratio: took / usual,
				Peer: "few", Bar: 1.5, AtMost: true,
			},
		)
	}
}
