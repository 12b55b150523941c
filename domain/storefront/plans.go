// Package storefront is the shop: the plans on offer, the order forms that
// other websites embed, and the keys with which they may (docs/storefront.md).
package storefront

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// PlanCategory is that of the streams "plan-<id>".
const PlanCategory = "plan"

// An Offer is what the history of a plan amounts to.
type Offer struct {
	Status OfferStatus  `json:"status"`
	Spec   field.Values `json:"spec,omitempty"`
}

// An OfferStatus is where a plan or a widget stands.
type OfferStatus string

const (
	OnOffer   OfferStatus = "on_offer"  // customers can see it
	Withdrawn OfferStatus = "withdrawn" // for good
)

// Plans is the behaviour of the streams "plan-<id>".
var Plans = domain.Decider[Offer, PlanCommand, PlanEvent]{
	Decide: func(o Offer, c PlanCommand) ([]PlanEvent, error) { return c.decide(o) },
	Evolve: func(o Offer, e PlanEvent) Offer { return e.evolve(o) },
}

type (
	// A PlanCommand asks for a change of a plan.
	PlanCommand interface {
		domain.Command
		decide(Offer) ([]PlanEvent, error)
	}
	// A PlanEvent belongs to the stream of a plan.
	PlanEvent interface {
		domain.Event
		evolve(Offer) Offer
	}
)

type (
	// OfferPlan puts a plan on offer. What its sort of plan needs and the spec
	// does not say gets its default.
	OfferPlan struct {
		Plan int64
		Spec field.Values // of [Plan]
		At   time.Time
	}
	// ChangePlan changes some fields. Orders that were placed keep what they
	// agreed on.
	ChangePlan struct {
		Plan int64
		Spec field.Values // only what changes
		At   time.Time
	}
	// WithdrawPlan ends the offer. That it was never ordered is checked where
	// orders stand.
	WithdrawPlan struct {
		Plan int64
		At   time.Time
	}
)

func (c OfferPlan) decide(o Offer) ([]PlanEvent, error) {
	if o.Status != "" {
		return nil, domain.Refuse(domain.Conflict, "The plan exists.")
	}
	spec, err := checked(c.Plan, c.Spec)
	if err != nil {
		return nil, err
	}
	return []PlanEvent{PlanOffered{Spec: spec, At: c.At}}, nil
}

func (c ChangePlan) decide(o Offer) ([]PlanEvent, error) {
	if o.Status != OnOffer {
		return nil, absent("Plan")
	}
	if sort, sent := c.Spec["resource_type"]; sent && !bytes.Equal(sort, o.Spec["resource_type"]) {
		return nil, domain.RefuseField("resource_type", "This field cannot be changed.")
	}
	spec, err := checked(c.Plan, merged(o.Spec, c.Spec))
	if err != nil {
		return nil, err
	}
	changed := difference(o.Spec, spec)
	if len(changed) == 0 {
		return nil, nil
	}
	return []PlanEvent{PlanChanged{Spec: changed, At: c.At}}, nil
}

func (c WithdrawPlan) decide(o Offer) ([]PlanEvent, error) {
	if o.Status == "" {
		return nil, absent("Plan")
	}
	if o.Status == Withdrawn {
		return nil, nil
	}
	return []PlanEvent{PlanWithdrawn{At: c.At}}, nil
}

// checked completes a plan's spec and holds it against the rules.
func checked(id int64, spec field.Values) (field.Values, error) {
	var p Plan
	if err := p.Fields().Load(spec); err != nil {
		return nil, fmt.Errorf("read plan %d: %w", id, err)
	}
	if p.Slug == "" {
		p.Slug = field.SlugOf(p.Name)
	}
	if p.Slug == "" {
		p.Slug = field.OwnSlug("plan", id)
	}
	p.complete()
	return p.Fields().Values(), p.Check()
}

func absent(class string) error {
	return domain.Refuse(domain.NotFound, "No %s matches the given query.", class)
}

func merged(old, changes field.Values) field.Values {
	all := maps.Clone(old)
	if all == nil {
		all = field.Values{}
	}
	maps.Copy(all, changes)
	return all
}

// difference is what is new in the later of two specs.
func difference(old, later field.Values) field.Values {
	changed := field.Values{}
	for name, value := range later {
		if !bytes.Equal(old[name], value) {
			changed[name] = value
		}
	}
	return changed
}

func planStream(id int64) domain.Stream {
	return domain.Stream{Category: PlanCategory, ID: strconv.FormatInt(id, 10)}
}

func (c OfferPlan) Stream() domain.Stream    { return planStream(c.Plan) }
func (c ChangePlan) Stream() domain.Stream   { return planStream(c.Plan) }
func (c WithdrawPlan) Stream() domain.Stream { return planStream(c.Plan) }
