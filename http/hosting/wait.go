package hosting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
)

// awaitEngine waits for the engine to acknowledge a request, so that most answers
// show its result. Callers decline the wait with "Prefer: respond-async"
// (docs/hosting.md, "The engine").
func (k *collection) awaitEngine(ctx context.Context, c route.Call, ref hosting.Ref, version int) error {
	if !k.kind.Works() {
		return nil
	}
	if prefersAsync(c.Header.Values("Prefer")) {
		c.Set("Preference-Applied", "respond-async")
		return nil
	}
	const soon, late = 5 * time.Millisecond, 100 * time.Millisecond // between two looks
	enough := clock.Now().Add(k.EngineWait)
	for pause := soon; ; pause = min(2*pause, late) {
		left := clock.Until(enough)
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, left)):
		}
		if answered, err := k.System().Acknowledged(ctx, ref, version); answered || err != nil {
			return err
		}
	}
}

// prefersAsync tells whether the caller wants an answer at once.
func prefersAsync(preferences []string) bool {
	for _, header := range preferences {
		for one := range strings.SplitSeq(header, ",") {
			name, _, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

// sparing counts a call against the tenant's rate limit for expensive engine
// work. All such calls share the limit.
func (s *handlers) sparing(ctx context.Context, tenant int64) error {
	const perMinute = 10
	return s.Limit(ctx, "tenant_actions", strconv.FormatInt(tenant, 10), perMinute, time.Minute)
}
