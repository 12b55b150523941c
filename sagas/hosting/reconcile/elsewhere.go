package reconcile

import (
	"context"

	"hostpanel/sagas"
)

// Elsewhere is what another hosting engine than the present one has.
type Elsewhere struct {
	Server    string // name of that engine
	Resources int64  // zero: none
}

// Elsewhere looks for resources at another engine. Their numbers mean other objects
// here, so nothing may be asked of the present engine while there are any.
func (r *Reconciler) Elsewhere(ctx context.Context) (found Elsewhere, err error) {
	err = r.store.Pool().QueryRow(ctx, `
		select coalesce(min(c.server), ''), count(distinct (r.kind, r.id)) from resources r
		join external_claim c on c.kind = r.kind and c.owner = r.kind || '-' || r.id and c.server <> $1
		where r.engine_id is not null and r.status <> 'gone'`, r.engine.Server()).Scan(&found.Server, &found.Resources)
	return found, sagas.SQLError(err, "look for resources of another engine")
}
