package hosting

import (
	"fmt"
	"slices"

	"hostpanel/domain"
)

// What switches a resource off without the tenant's having asked for it, so
// that it can be switched on again exactly as it was (docs/hosting.md,
// "Halted and in the bin").

// Halt switches a resource off for a reason, beside what it is wanted to be;
// Release takes the reason away. What runs at the engine is what is wanted to
// be active and has no reason left. Kinds that cannot be halted go on.
type (
	Halt struct {
		Ref
		By string // ByTenant or BySite
	}
	Release struct {
		Ref
		By string
	}
)

// The reasons to halt something.
const (
	ByTenant = "tenant" // its tenant is suspended or terminated
	BySite   = "site"   // its site is in the bin
)

// Trash puts a resource of a soft kind into the bin: it is off, and gone for
// everybody, until Restore brings it back exactly as it was or somebody
// removes it.
type (
	Trash   struct{ Ref }
	Restore struct{ Ref }
)

// Purge removes what has been in the bin ever since that version. What has
// been brought back meanwhile stays, even if it is in the bin once more.
type Purge struct {
	Ref
	Since int
}

// ErrNotInBin refuses to purge what has left the bin.
var ErrNotInBin = &domain.Error{Code: domain.Conflict, Message: "It has left the bin.", Reason: "not_in_bin"}

type (
	Halted struct {
		By string `json:"by"`
	}
	Released struct {
		By string `json:"by"`
	}
	Trashed  struct{}
	Restored struct{}
)

func (Halted) EventName() string   { return "hosting.halted" }
func (Released) EventName() string { return "hosting.released" }
func (Trashed) EventName() string  { return "hosting.trashed" }
func (Restored) EventName() string { return "hosting.restored" }

func (e Halted) Says() string   { return "switched off by its " + e.By }
func (e Released) Says() string { return "no longer switched off by its " + e.By }
func (Trashed) Says() string    { return "put into the bin" }
func (Restored) Says() string   { return "brought back from the bin" }

func (c Halt) decide(r Resource) ([]Event, error) {
	kind, err := r.haltable(c.Ref, c.By)
	if err != nil || r.ended() || !kind.Halts || slices.Contains(r.Halts, c.By) {
		return nil, err
	}
	return kind.settled(Halted{c.By}), nil
}

func (c Release) decide(r Resource) ([]Event, error) {
	kind, err := r.haltable(c.Ref, c.By)
	if err != nil || r.ended() || !slices.Contains(r.Halts, c.By) {
		return nil, err
	}
	return kind.settled(Released{c.By}), nil
}

func (r Resource) haltable(ref Ref, by string) (Kind, error) {
	kind, _ := KindNamed(ref.Kind)
	switch {
	case by != ByTenant && by != BySite:
		return kind, fmt.Errorf("nothing is halted by %q", by)
	case r.Status == "":
		return kind, kind.absent()
	}
	return kind, nil
}

func (c Trash) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	switch {
	case r.Status == "":
		return nil, kind.absent()
	case r.ended(), r.Trashed:
		return nil, nil
	case !kind.Soft:
		return nil, fmt.Errorf("there is no bin for a %s", kind.Label)
	}
	return kind.settled(Trashed{}), nil
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

// ended tells whether nothing can be asked of the resource any more.
func (r Resource) ended() bool { return r.Status == Leaving || r.Status == Gone }

func (e Halted) evolve(r Resource) Resource {
	r.Halts = append(slices.Clone(r.Halts), e.By)
	return r.wished()
}

func (e Released) evolve(r Resource) Resource {
	r.Halts = slices.DeleteFunc(slices.Clone(r.Halts), func(by string) bool { return by == e.By })
	return r.wished()
}

func (Trashed) evolve(r Resource) Resource {
	r.Trashed, r.Binned = true, r.Version
	return r.wished()
}

func (Restored) evolve(r Resource) Resource {
	r.Trashed = false
	return r.wished()
}
