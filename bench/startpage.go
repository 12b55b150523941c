package main

import (
	"context"
	"fmt"

	"hostpanel/eventstore/credentials"
)

// A startPage measures the first page of operators and the call of the API that
// has the same figures, where there are few orders and where there are many.
type startPage struct {
	*reader
	session string
	usual   float64 // milliseconds of the page where there are few orders
}

const overviewPath = "/operations/api/v1/overview/"

func (r *run) startPage(ctx context.Context, p *panel, lists *reader) (*startPage, error) {
	session, err := credentials.Open(p.store.Pool(), p.keys).OpenSession(ctx, 1, 1)
	return &startPage{reader: lists, session: session}, err
}

// measure lets the page and the API take turns.
func (s *startPage) measure(ctx context.Context, size string) error {
	callers, hangUp, err := callersOf(ctx, s.address, 1)
	if err != nil {
		return err
	}
	defer hangUp()
	var pages, calls []load
	for range s.rounds {
		for _, one := range []struct {
			path string
			to   *[]load
		}{{"/storefront/", &pages}, {overviewPath, &calls}} {
			l, err := together(ctx, 1, s.duration, func(context.Context, int, int) error {
				_, err := callers[0].visit(one.path, s.session)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s of %s: %w", one.path, size, err)
			}
			*one.to = append(*one.to, l)
		}
	}
	s.say(size, middle(pages, p50), middle(calls, p50))
	return nil
}

func (s *startPage) say(size string, page, call float64) {
	line := Result{Section: s.section, Name: "start page of operators, " + size + " orders, p50", Value: page, Unit: "ms"}
	if s.usual > 0 {
		line.Ratio, line.Peer, line.Bar, line.AtMost = page/s.usual, "few", 1.5, true
	}
	s.usual = page
	s.report(Result{Section: s.section, Name: "its call of the API, " + size + " orders, p50", Value: call, Unit: "ms"})
	s.report(line)
	s.report(
		Result{
			Section: s.section, Name: "the page against the call", Value: page, Unit: "ms", Ratio: page / call,
			Peer: "API", Bar: 1.5, AtMost: true,
		},
	)
}
