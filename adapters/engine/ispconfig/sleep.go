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

// switches tell, of each table with rows that can be off, how a row is off.
var switches = []struct {
	of    *resource
	asOff members
}{
	{&sites, members{{"active", "n"}}},
	{&databases, members{{"active", "n"}}},
	{&mailDomains, members{{"active", "n"}}},
	{&mailboxes, members{{"postfix", "n"}, {"disableimap", "y"}, {"disablepop3", "y"}, {"disablesmtp", "y"}}},
	{&aliases, members{{"active", "n"}}},
	{&ftpAccounts, members{{"active", "n"}}},
	{&shellUsers, members{{"active", "n"}}},
	{&crons, members{{"active", "n"}}},
}

// asleep lists what of a group is off, or partly off.
func (e *Engine) asleep(ctx context.Context, group int64) ([]sleeper, error) {
	var all []sleeper
	for _, s := range switches {
		found, err := e.owned(ctx, s.of, group)
		if err != nil {
			return nil, err
		}
		for _, have := range found {
			var off members
			for _, flag := range s.asOff {
				if same(have[flag.name], flag.value) {
					off = append(off, flag)
				}
			}
			if len(off) > 0 {
				all = append(all, sleeper{s.of, have, off})
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
	now, present, err := e.get(ctx, s.of, s.have.number(s.of.key))
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
