package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Resources carries out what callers ask of hosting resources, secrets
// included (docs/sagas.md, "Engine").
type Resources struct{ s *Panel }

// Resources are everything that runs for tenants at the hosting engine.
func (s *Panel) Resources() *Resources { return &Resources{s} }

// engineSecret is the purpose of passwords and keys on their way to the engine.
const engineSecret = "engine"

// secretKey is where the secret waits that a spec names by a handle.
func secretKey(handle uuid.UUID) string { return "secret/" + handle.String() }

// Carry decides commands as [eventstore.Store.Execute] does, and keeps the
// secrets that their specs name by handles, sealed, until the engine has got
// them.
func (r *Resources) Carry(ctx context.Context, cause domain.Metadata, secrets map[uuid.UUID]string, commands ...domain.Command) (domain.Receipt, error) {
	rows := make([]eventstore.TxStatement, 0, len(secrets))
	for handle, secret := range secrets {
		rows = append(rows, r.s.vault.HandOff(engineSecret, secretKey(handle), []byte(secret), r.s.times.SecretLife))
	}
	receipt, err := r.s.store.ExecuteWith(ctx, cause, rows, commands...)
	if err == nil {
		r.s.Wake(engineQueue(r.s.engine))
	}
	return receipt, err
}
