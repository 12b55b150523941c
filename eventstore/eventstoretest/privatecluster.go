package eventstoretest

import (
	"context"
	"errors"
	"maps"
	"testing"

	"hostpanel/adapters/postgres"
)

// Restart makes a [Private] cluster crash and come back at the same address. Every
// connection to it breaks.
func Restart(t testing.TB, c *postgres.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := c.Crash(ctx); err != nil {
		t.Fatal(err)
	}
}

// Private is a cluster for this test alone, whose writes are durable, so that
// what it has committed must survive a crash. The settings win over ours.
func Private(t testing.TB, settings map[string]string) *postgres.Cluster {
	t.Helper()
	all := map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
	maps.Copy(all, settings)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c, err := throwAway(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// throwAway starts a cluster that dies with this test binary.
func throwAway(ctx context.Context, settings map[string]string) (*postgres.Cluster, error) {
	missing.mu.Lock()
	known := missing.err
	missing.mu.Unlock()
	if known != nil {
		return nil, known
	}
	c, err := postgres.Start(ctx, postgres.Options{Volatile: true, Settings: settings})
	if errors.Is(err, postgres.ErrMissing) {
		missing.mu.Lock()
		missing.err = err
		missing.mu.Unlock()
	}
	return c, err
}
