package enginetest

import (
	"context"
	"strconv"
	"strings"

	"hostpanel/adapters/conformance"
)

// Check tries an engine that is in use, and tells each result. All names begin
// with the tag. What a check makes it takes away, also when it fails or the
// context ends.
func Check(ctx context.Context, e Engine, tag string, only string, tell func(conformance.Result)) {
	for i, c := range checks {
		if ctx.Err() != nil {
			return
		}
		if only == "" || strings.Contains(c.name, only) {
			tell(c.trial(e, tagOf(tag, i)).Run(ctx))
		}
	}
}

// tagOf begins the names of one check, so that what another one has left is not in its way.
func tagOf(tag string, check int) string { return tag + strconv.Itoa(check) }

// Clean takes away what the checks of a tag have left, and tells what it could
// not.
func Clean(ctx context.Context, e Engine, tag string) (left []string) {
	quiet := conformance.Quietly(ctx)
	for i := range checks {
		left = append(left, newWorld(quiet, e, tagOf(tag, i)).clean(ctx)...)
	}
	return append(left, newWorld(quiet, e, tag).clean(ctx)...)
}

func (c check) trial(e Engine, tag string) conformance.Trial {
	keeper := &timekeeper{EngineServer: e.EngineServer}
	e.EngineServer = keeper
	trial := conformance.Trial{
		Name: c.name, Late: keeper.unanswered,
		Test: func(t conformance.T) { c.test(newWorld(t, e, tag)) },
		Clean: func(ctx context.Context) []string {
			return newWorld(conformance.Quietly(ctx), e, tag).clean(ctx)
		},
	}
	if c.needs != nil {
		trial.NotTried = c.needs(e)
	}
	return trial
}
