package hosting

import (
	"fmt"
	"time"

	"hostpanel/domain"
)

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
