package hosting

import (
	"fmt"
	"slices"
	"time"

	"hostpanel/domain"
)

// Two mechanisms switch a resource off without a request of the tenant. The
// desired state stays, so that the resource comes back exactly as it was
// (docs/hosting.md, "Disabled and in the bin").

// Disable switches a resource off for a reason. Enable takes the reason away.
// A resource runs while it is desired to be active and no reason is left.
// Kinds without CanBeDisabled go on.
type (
	Disable struct {
		Ref
		By string // ByTenant, BySite, ByTraffic, or ByOrder: the service that it came with does not run
	}
	Enable struct {
		Ref
		By string
	}
)

// The reasons to disable a resource.
const (
	ByTenant  = "tenant"  // its tenant is suspended or terminated
	BySite    = "site"    // its site is in the bin
	ByTraffic = "traffic" // of a machine: that of the month is used up
)

type (
	// Disabled: the resource is off for the reason By.
	Disabled struct {
		By string `json:"by"`
	}
	// Enabled: the reason By is gone.
	Enabled struct {
		By string `json:"by"`
	}
	// MovedToBin: the resource is off and missing from all lists.
	MovedToBin struct{}
	// Restored: the resource has left the bin and is as it was before.
	Restored struct{}
)

func (Disabled) EventName() string { return "hosting.disabled" }
func (Enabled) EventName() string  { return "hosting.enabled" }

func (e Disabled) Says() string { return "switched off by its " + e.By }
func (e Enabled) Says() string  { return "no longer switched off by its " + e.By }

func (c Disable) decide(r Resource) ([]Event, error) {
	kind, err := r.checkDisabling(c.Ref, c.By)
	if err != nil || r.ended() || !kind.CanBeDisabled || slices.Contains(r.DisabledBy, c.By) {
		return nil, err
	}
	return kind.settled(Disabled{c.By}), nil
}

func (c Enable) decide(r Resource) ([]Event, error) {
	kind, err := r.checkDisabling(c.Ref, c.By)
	if err != nil || r.ended() || !slices.Contains(r.DisabledBy, c.By) {
		return nil, err
	}
	return kind.settled(Enabled{c.By}), nil
}

func (r Resource) checkDisabling(ref Ref, by string) (Kind, error) {
	kind, _ := KindNamed(ref.Kind)
	switch {
	case by != ByTenant && by != BySite && by != ByTraffic && by != ByOrder:
		return kind, fmt.Errorf("no resource is disabled by %q", by)
	case r.Status == "":
		return kind, kind.absent()
	}
	return kind, nil
}

// ended tells whether nothing can be asked of the resource any more.
func (r Resource) ended() bool { return r.Status == Leaving || r.Status == Gone }

func (e Disabled) evolve(r Resource) Resource {
	r.DisabledBy = append(slices.Clone(r.DisabledBy), e.By)
	return r.wished()
}

func (e Enabled) evolve(r Resource) Resource {
	r.DisabledBy = slices.DeleteFunc(slices.Clone(r.DisabledBy), func(by string) bool { return by == e.By })
	return r.wished()
}

// BinLife is how long what was removed stays in the bin before it is gone for good.
const BinLife = 30 * 24 * time.Hour

// MoveToBin puts a resource of a soft kind into the bin: it is off, and missing
// from all lists. Restore brings it back exactly as it was.
type (
	MoveToBin struct{ Ref }
	Restore   struct{ Ref }
)

// Purge removes what has been in the bin ever since that version. What has
// been brought back meanwhile stays, even if it is in the bin once more.
type Purge struct {
	Ref
	Since int
}

// ErrNotInBin refuses to purge what has left the bin.
var ErrNotInBin = &domain.Error{Code: domain.Conflict, Message: "It has left the bin.", Reason: "not_in_bin"}

func (MovedToBin) EventName() string { return "hosting.moved_to_bin" }

func (Restored) EventName() string { return "hosting.restored" }

func (MovedToBin) Says() string { return "put into the bin" }

func (Restored) Says() string { return "brought back from the bin" }

func (c MoveToBin) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "":
		return nil, kind.absent()
	case r.ended(), r.Trashed:
		return r.removedAgain(kind), nil
	case !kind.Soft:
		return nil, fmt.Errorf("there is no bin for a %s", kind.Label)
	}
	return kind.settled(MovedToBin{}), nil
}

func (c Purge) decide(r Resource) ([]Event, error) {
	if !r.ended() && (!r.Trashed || r.Binned != c.Since) {
		return nil, ErrNotInBin
	}
	return Remove{c.Ref}.decide(r)
}

func (c Restore) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "", r.ended():
		return nil, kind.absent()
	case !r.Trashed:
		return nil, nil
	}
	return kind.settled(Restored{}), nil
}

func (MovedToBin) evolve(r Resource) Resource {
	r.Trashed, r.Binned = true, r.Version
	return r.wished()
}

func (Restored) evolve(r Resource) Resource {
	r.Trashed = false
	return r.wished()
}
