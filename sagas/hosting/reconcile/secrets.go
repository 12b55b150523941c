package reconcile

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

// Secrets wait, sealed and beside the log, until the engine has them
// (docs/hosting.md, "Secrets").

// engineSecret is the purpose of passwords and keys on their way to the engine.
const engineSecret = "engine"

// SecretKey is where the secret waits that a spec names by a handle.
func SecretKey(handle uuid.UUID) string { return "secret/" + handle.String() }

// Seal is the row that keeps a secret until the engine has it.
func (r *Reconciler) Seal(handle uuid.UUID, secret string) eventstore.TxStatement {
	return r.vault.HandOff(engineSecret, SecretKey(handle), []byte(secret), r.times.SecretLife)
}

// Carry decides commands as [eventstore.Store.Execute] does, and keeps the
// secrets that their specs name by handles.
func (r *Reconciler) Carry(
	ctx context.Context, cause domain.Metadata, secrets map[uuid.UUID]string, commands ...domain.Command,
) (domain.Receipt, error) {
	rows := make([]eventstore.TxStatement, 0, len(secrets))
	for handle, secret := range secrets {
		rows = append(rows, r.Seal(handle, secret))
	}
	receipt, err := r.store.ExecuteWith(ctx, cause, rows, commands...)
	if err == nil {
		r.runner.Wake(r.EngineQueue())
	}
	return receipt, err
}

// unseal opens the secrets that the spec names. One that the engine has got
// already is gone, and so is one that has waited too long.
func (a *attempt) unseal(ctx context.Context) error {
	a.want.object.Secrets = hosting.Secrets{}
	for _, name := range a.want.kind.Secrets() {
		handle, err := handleOf(a.want.row.Spec[name])
		if err != nil || handle == uuid.Nil {
			continue
		}
		key := SecretKey(handle)
		switch secret, err := a.reconciler.vault.OpenHandOff(ctx, engineSecret, key); {
		case errors.Is(err, credentials.ErrShredded):
			a.secretMissing = true
		case err != nil:
			return err
		default:
			a.want.object.Secrets[name], a.opened = string(secret), append(a.opened, key)
		}
	}
	return nil
}

// handleOf is the handle under which a secret is handed over; zero: none.
func handleOf(raw []byte) (handle uuid.UUID, err error) {
	if len(raw) < 2 || string(raw) == `""` || string(raw) == "null" {
		return uuid.Nil, nil
	}
	return uuid.Parse(string(raw[1 : len(raw)-1]))
}
