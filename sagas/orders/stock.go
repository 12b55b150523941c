package orders

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting/stock"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
)

// A virtual server gets its place before it is paid for: the order is placed in one append
// with the node and the addresses of its machine. Read tables choose, and the database
// decides when the order is written (docs/machines-stock.md).

// UsualRest is how long an address is given to no other machine.
const UsualRest = 7 * 24 * time.Hour

// Places chooses the places of machines.
type Places struct {
	tables *projections.Tables
	rest   time.Duration // of addresses whose machine has gone
	now    func() time.Time
	turn   chan struct{} // orders of this process choose one after another, so that none loses its place to another
}

// NewPlaces chooses places; rest 0: the usual one, below 0: none.
func NewPlaces(tables *projections.Tables, rest time.Duration, now func() time.Time) *Places {
	return &Places{tables, max(cmp.Or(rest, UsualRest), 0), clock.Or(now), make(chan struct{}, 1)}
}

// SoldOut is the refusal of an order that gets no place.
var SoldOut error = &domain.Error{ //nolint:errname // it is a refusal of the API
	Code: domain.Invalid, Field: "plan_id", Reason: "sold_out", Message: "This plan is sold out.",
}

// stock is what is left; false: the panel keeps none.
func (p *Places) stock(ctx context.Context) (all stock.Stock, is bool, err error) {
	all, err = p.tables.For(projections.System).Hosting().Stock(ctx, p.now().Add(-p.rest))
	return all, len(all.Nodes) > 0, err
}

// For is the place that the machine of an order can have now. Needed tells whether it
// needs one: it has bought a machine, and the panel keeps stock.
func (p *Places) For(ctx context.Context, plan order.Plan, system string) (place *compute.Placement, needed bool, err error) {
	if plan.VPS == nil {
		return nil, false, nil
	}
	all, is, err := p.stock(ctx)
	if err != nil || !is {
		return nil, false, err
	}
	found, has := all.Place(stock.Request{Size: plan.VPS.Size(), System: cmp.Or(system, plan.VPS.DefaultOS), Nodes: plan.VPS.Nodes})
	if !has {
		return nil, true, nil
	}
	return &found, true, nil
}

// SoldOut are the plans for machines of which none has a place now, by their numbers.
func (p *Places) SoldOut(ctx context.Context, plans ...projections.Plan) (map[int64]bool, error) {
	out := map[int64]bool{}
	var all stock.Stock
	looked, is := false, false
	for _, plan := range plans {
		if plan.ResourceType != storefront.VPSPlan {
			continue
		}
		if !looked {
			var err error
			if all, is, err = p.stock(ctx); err != nil {
				return nil, err
			}
			looked = true
		}
		out[plan.ID] = is && !hasPlace(all, bought(plan), plan.VPS.OSOptions)
	}
	return out, nil
}

// SoldOut are the plans for machines of which none has a place now, by their numbers.
func (s *Service) SoldOut(ctx context.Context, plans ...projections.Plan) (map[int64]bool, error) {
	return s.Places.SoldOut(ctx, plans...)
}

// hasPlace tells whether a machine of a plan has a place with one of its systems.
func hasPlace(all stock.Stock, plan order.Plan, systems []string) bool {
	for _, system := range systems {
		if _, has := all.Place(stock.Request{Size: plan.VPS.Size(), System: system, Nodes: plan.VPS.Nodes}); has {
			return true
		}
	}
	return false
}

// placeTries is how often another process may take a place before an order gives up.
const placeTries = 50

// Placed gives a command that places a machine its place, and executes it. If another
// process takes the place at the same moment, another one is chosen.
func (p *Places) Placed(ctx context.Context, command order.Place, execute func(order.Place) error) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for range placeTries {
		place, needed, err := p.For(ctx, command.Plan, command.OS)
		switch {
		case err != nil:
			return err
		case needed && place == nil:
			return SoldOut
		}
		command.Machine.Placement = place
		if err := execute(command); !errors.Is(err, projections.ErrPlaceTaken) {
			return err
		}
	}
	return projections.ErrPlaceTaken
}
