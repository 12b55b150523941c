package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
)

const (
	longStreams = 10 // so that no memory of a single one helps
	stateBar    = 50 // ms
)

// states folds long streams of a long log into their records, as callers of the audit
// API do: each read from the log, and none remembered.
func (r *run) states(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_states")
	if err != nil {
		return err
	}
	defer p.close()
	events, length, looks := 1_000_000, 1_000, 1_000
	if r.Smoke {
		events, length, looks = 3_000, 100, 20
	}
	if err := r.fill(ctx, p, events); err != nil {
		return err
	}
	for plan := range longStreams {
		if err := p.longPlan(ctx, int64(plan+1), length); err != nil {
			return err
		}
	}
	if err := execute(ctx, p.url, "analyze"); err != nil { // as Postgres does by itself, but not at once
		return err
	}
	head, _, err := p.store.Reader().Head(ctx)
	if err != nil {
		return err
	}
	var folded load
	for n := range looks {
		began := clock.Now()
		state, err := p.sagas.Audit.State(
			ctx, projections.System,
			domain.Stream{Category: storefront.PlanCategory, ID: strconv.Itoa(n%longStreams + 1)}, audit.Moment{},
		)
		if err != nil {
			return err
		}
		if state.Version != length {
			return fmt.Errorf("the record is that of version %d, not %d", state.Version, length)
		}
		folded.latencies = append(folded.latencies, clock.Since(began))
	}
	slices.Sort(folded.latencies)
	about := fmt.Sprintf("of %d in a log of %d, %d times", length, head, looks)
	r.report(
		Result{Section: "states", Name: "a record after 1,000 events, p50", Value: milliseconds(folded.at(0.5)), Unit: "ms", Note: about},
	)
	r.report(
		Result{
			Section: "states", Name: "a record after 1,000 events, p99", Value: milliseconds(folded.at(0.99)),
			Unit: "ms", Bar: stateBar, AtMost: true,
		},
	)
	return nil
}

// longPlan offers a plan whose price changes until its stream has so many events.
func (p *panel) longPlan(ctx context.Context, id int64, length int) error {
	spec := field.Values{
		"name": field.AppendText(nil, "Starter"), "slug": field.AppendText(nil, "starter-"+strconv.FormatInt(id, 10)),
		"price": field.AppendText(nil, "9.99"), "currency": field.AppendText(nil, "EUR"), "resource_type": field.AppendText(nil, "hosting"),
	}
	all := []domain.Command{storefront.OfferPlan{Plan: id, Spec: spec, At: clock.Now()}}
	for n := 1; n < length; n++ {
		price := field.Values{"price": field.AppendText(nil, strconv.Itoa(n)+".49")}
		all = append(all, storefront.ChangePlan{Plan: id, Spec: price, At: clock.Now()})
	}
	_, err := p.store.Execute(ctx, operator, all...)
	return err
}
