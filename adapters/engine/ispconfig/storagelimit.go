package ispconfig

import (
	"cmp"
	"context"
)

// The engine enforces no limit on all that a client stores, but one on each of its
// sites and databases. Each gets the client's whole limit, or a share of it. The engine counts
// traffic, too, but switches sites off and on by it: the panel sets no such limit.

// leastStorage is sent instead of 0, which would be without limit.
const leastStorage = 1

// storageOf is the limit of each site and each database of a client.
func (c *connection) storageOf(client row) int64 {
	whole := client.number("limit_web_quota")
	if whole < 0 || client["limit_web_quota"] == "" {
		return whole
	}
	return max(leastStorage, whole*cmp.Or(c.StorageShare, wholeStorage)/wholeStorage)
}

const wholeStorage = 100 // per cent

// limitStorage reads the limit of the owner of a site or database.
func limitStorage(ctx context.Context, e *Engine, w *wish) error {
	client, present, err := e.api.get(ctx, &clients, w.Owner)
	if err == nil && present {
		w.storage = e.api.storageOf(client)
	}
	return err
}

func storageColumn(name string) column {
	return changing(given(name, func(w *wish) any {
		if w.storage == 0 {
			return nil // the owner is gone
		}
		return w.storage
	}))
}

// storageLimits are the columns that keep a client's limit, by what it stores.
func storageLimits() map[*resource]string {
	return map[*resource]string{&sites: "hd_quota", &databases: "database_quota"}
}

// spreadStorage gives the limit of a client to all that it has by now.
func spreadStorage(ctx context.Context, e *Engine, w *wish, client int64) error {
	if w.ID == 0 || !w.touches([]string{"max_storage_mb"}) {
		return nil // it is new, or its limit has not changed
	}
	now, present, err := e.api.get(ctx, &clients, client)
	if err != nil || !present {
		return err
	}
	for of, name := range storageLimits() {
		owned, err := e.api.owned(ctx, of, w.group)
		if err != nil {
			return afterwards(err)
		}
		for _, have := range owned {
			if limit := e.api.storageOf(now); !same(have[name], limit) {
				if err := e.update(ctx, of, have, append(of.repeats(have), member{name, limit})); err != nil {
					return afterwards(err)
				}
			}
		}
	}
	return nil
}
