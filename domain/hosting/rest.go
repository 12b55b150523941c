package hosting

import (
	"fmt"
	"slices"

	"hostpanel/domain"
)

// A tenant rests while it is suspended or in the bin, and while something else
// lets it rest, beside the state it is in (docs/tenants.md, "Suspension"). The
// engine is told nothing: it is the tenant's records that are switched off.

// Rest lets a tenant rest for a reason; Rouse takes the reason away. A tenant
// that has another reason, or is suspended, goes on resting.
type (
	Rest struct {
		Ref
		By string // ByOrder
	}
	Rouse struct {
		Ref
		By string
	}
)

// ByOrder is the reason of a tenant whose order is in dispute, or was given
// back, or has ended.
const ByOrder = "order"

type (
	Rested struct {
		By string `json:"by"`
	}
	Roused struct {
		By string `json:"by"`
	}
)

func (Rested) EventName() string { return "hosting.rested" }
func (Roused) EventName() string { return "hosting.roused" }

func (e Rested) Says() string { return "rests because of its " + e.By }
func (e Roused) Says() string { return "no longer rests because of its " + e.By }

func (c Rest) decide(r Resource) ([]Event, error) {
	if err := r.restable(c.Ref, c.By); err != nil || r.ended() || slices.Contains(r.Halts, c.By) {
		return nil, err
	}
	return []Event{Rested{c.By}}, nil
}

func (c Rouse) decide(r Resource) ([]Event, error) {
	if err := r.restable(c.Ref, c.By); err != nil || r.ended() || !slices.Contains(r.Halts, c.By) {
		return nil, err
	}
	return []Event{Roused{c.By}}, nil
}

func (r Resource) restable(ref Ref, by string) error {
	kind, _ := KindNamed(ref.Kind)
	switch {
	case !kind.Owner || by != ByOrder:
		return fmt.Errorf("no %s rests by %q", kind.Label, by)
	case r.Status == "":
		return kind.absent()
	}
	return nil
}

func (e Rested) evolve(r Resource) Resource {
	r.Halts = append(slices.Clone(r.Halts), e.By)
	return r
}

func (e Roused) evolve(r Resource) Resource {
	r.Halts = slices.DeleteFunc(slices.Clone(r.Halts), func(by string) bool { return by == e.By })
	return r
}

// Rests tells whether nothing of the tenant runs but its zones. Halts are what
// lets it rest beside its state.
func (t *Tenant) Rests(halts ...string) bool {
	return t.Status == Suspended || t.Status == Terminated || len(halts) > 0
}

// Closed tells whether nobody but superusers writes in the tenant.
func (t *Tenant) Closed(halts ...string) bool { return t.Status == Suspended || len(halts) > 0 }

// MostFollowing is how many records follow a tenant in one append, so that
// nobody waits long to write. A thousand take about half a second.
const MostFollowing = 1000

// Following are the commands by which records of a tenant rest with it, or run
// again as they did before: what else keeps one of them off still does.
func Following(rests bool, records []Ref) []domain.Command {
	commands := make([]domain.Command, len(records))
	for i, ref := range records {
		if rests {
			commands[i] = Halt{Ref: ref, By: ByTenant}
		} else {
			commands[i] = Release{Ref: ref, By: ByTenant}
		}
	}
	return commands
}
