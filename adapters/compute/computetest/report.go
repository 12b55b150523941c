package computetest

import (
	"context"
	"strconv"
	"strings"

	"hostpanel/adapters/conformance"
)

// Check runs the checks against a hypervisor in use and reports each result. All names begin
// with the tag. Each check deletes what it has made, also after a failure or a cancelled context.
func Check(ctx context.Context, h Hypervisor, tag, only string, tell func(conformance.Result)) {
	for i, c := range checks {
		if ctx.Err() != nil {
			return
		}
		if only == "" || strings.Contains(c.name, only) {
			tell(c.trial(ctx, h, tagOf(tag, i)).Run(ctx))
		}
	}
}

// tagOf begins the names of one check, so that what another one has left is not in its way.
func tagOf(tag string, check int) string { return tag + strconv.Itoa(check) }

func (c check) trial(ctx context.Context, h Hypervisor, tag string) conformance.Trial {
	trial := conformance.Trial{Name: c.name}
	if c.needs != nil {
		trial.NotTried = c.needs(h)
	}
	before, err := h.left(ctx)
	trial.Test = func(t conformance.T) {
		if err != nil {
			t.Fatalf("list what the hypervisor has: %v", err)
		}
		c.test(newWorld(t, h, tag))
	}
	trial.Clean = func(ctx context.Context) []string { return newWorld(conformance.Quietly(ctx), h, tag).clean(before) }
	return trial
}

// Clean deletes what the checks of a tag have left, and returns what it cannot delete.
func Clean(ctx context.Context, h Hypervisor, tag string) (left []string) {
	for i := range checks {
		left = append(left, newWorld(conformance.Quietly(ctx), h, tagOf(tag, i)).vacate()...)
	}
	return left
}
