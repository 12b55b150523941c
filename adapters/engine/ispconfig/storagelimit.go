package ispconfig

import (
	"context"
)

// The engine enforces no limit on all that a client stores, but one on each of its
// sites and databases. Each gets the client's whole limit. The engine counts
// traffic, too, but switches sites off and on by it: the panel sets no such limit.

// leastStorage is sent instead of 0, which would be without limit.
const leastStorage = 1

// storageOf is the limit of a client, for one of its rows.
func storageOf(client row) int64 {
	if client["limit_web_quota"] == "0" {
		return leastStorage
	}
	return client.number("limit_web_quota")
}

// limitStorage reads the limit of the owner of a site or database.
func limitStorage(ctx context.Context, e *Engine, w *wish) error {
	client, present, err := e.api.get(ctx, &clients, w.Owner)
	if err == nil && present {
		w.storage = storageOf(client)
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
			if limit := storageOf(now); !same(have[name], limit) {
				if err := e.update(ctx, of, have, append(of.repeats(have), member{name, limit})); err != nil {
					return afterwards(err)
				}
			}
		}
	}
	return nil
}
