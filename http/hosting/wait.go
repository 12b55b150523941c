package hosting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
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
	if k.engineWait == 0 {
		return nil
	}
	return waiting.For(ctx, k.changes, k.engineWait, func(ctx context.Context) (bool, error) {
		return k.callers.System().Hosting().Acknowledged(ctx, ref, version)
	})
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
func (k *collection) sparing(ctx context.Context, tenant int64) error {
	const perMinute = 10
	return k.callers.Limiter.Spend(ctx, "tenant_actions", strconv.FormatInt(tenant, 10), perMinute, time.Minute)
}
