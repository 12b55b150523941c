package ispconfig

import (
	"context"

	"hostpanel/domain"
)

// A sleeper is a row that is off.
type sleeper struct {
	of   *resource
	have row
	off  members
}

// asleep lists what of a group is off, or partly off.
func (e *Engine) asleep(ctx context.Context, group int64) ([]sleeper, error) {
	var all []sleeper
	for _, of := range resources {
		if of.off == nil {
			continue
		}
		found, err := e.api.owned(ctx, of, group)
		if err != nil {
			return nil, err
		}
		for _, have := range found {
			var off members
			for _, flag := range of.off {
				if same(have[flag.name], flag.value) {
					off = append(off, flag)
				}
			}
			if len(off) > 0 {
				all = append(all, sleeper{of, have, off})
			}
		}
	}
	return all, nil
}

// lull turns off again what an update of the client has turned on. It goes on
// after a failure, and is not stopped by the end of the call that woke them.
func (e *Engine) lull(ctx context.Context, all []sleeper) (first error) {
	ctx = context.WithoutCancel(ctx)
	for _, s := range all {
		if err := e.putOff(ctx, s); err != nil && first == nil {
			first = domain.Fail(domain.Unknown, "woken", err) // to be looked at and repaired
		}
	}
	return first
}

func (e *Engine) putOff(ctx context.Context, s sleeper) error {
	now, present, err := e.api.get(ctx, s.of, s.have.number(s.of.key))
	if err != nil || !present {
		return err
	}
	off := s.off
	var differing members
	for _, flag := range off {
		if !same(now[flag.name], flag.value) {
			differing = append(differing, flag)
		}
	}
	if len(differing) == 0 {
		return nil
	}
	return e.update(ctx, s.of, now, append(s.of.repeats(now), differing...))
}

// repeats are the columns that every update of the row has to send again.
func (r *resource) repeats(have row) (all members) {
	for _, c := range r.columns {
		if c.always {
			all = append(all, member{c.name, have[c.name]})
		}
	}
	return all
}
