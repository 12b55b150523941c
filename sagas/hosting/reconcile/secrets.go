package reconcile

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
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

// shownKey begins where the secrets of a resource wait to be shown. Their handles follow.
func shownKey(of hosting.Ref) string { return "shown/" + of.Stream().String() + "/" }

// SealShown is [Reconciler.Seal] for a secret of a resource that the panel has made up, and
// that a person's tenant is shown once.
func (r *Reconciler) SealShown(of hosting.Ref, handle, person uuid.UUID, secret string) []eventstore.TxStatement {
	return []eventstore.TxStatement{
		r.vault.HandOff(engineSecret, SecretKey(handle), []byte(secret), hosting.PasswordLife),
		r.vault.HandOff(credentials.ShownTo(person), shownKey(of)+handle.String(), []byte(secret), hosting.PasswordLife),
	}
}

// ShredShown deletes what of a resource waits to be shown.
func (*Reconciler) ShredShown(of hosting.Ref) []eventstore.TxStatement {
	if kind, _ := hosting.KindNamed(of.Kind); kind.Shows == "" {
		return nil
	}
	return []eventstore.TxStatement{credentials.ShredBelow(shownKey(of))}
}

// CarryShown is [Reconciler.Carry] with secrets that a person's tenant is shown.
func (r *Reconciler) CarryShown(
	ctx context.Context, cause domain.Metadata, of hosting.Ref, person uuid.UUID, secrets map[uuid.UUID]string,
	commands ...domain.Command,
) (domain.Receipt, error) {
	var rows []eventstore.TxStatement
	for handle, secret := range secrets {
		rows = append(rows, r.SealShown(of, handle, person, secret)...)
	}
	return r.carry(ctx, cause, rows, commands...)
}

// Shown returns the secret of a resource that waits to be shown. Otherwise it is refused
// with [hosting.ErrNoPassword].
func (r *Reconciler) Shown(ctx context.Context, row projections.Resource) (secret, key string, err error) {
	kind, _ := hosting.KindNamed(row.Kind)
	handle, err := handleOf(row.Spec[kind.Shows])
	if err != nil {
		return "", "", err
	}
	key = shownKey(row.Ref()) + handle.String()
	text, err := r.vault.OpenHandOff(ctx, credentials.ShownTo(domain.OrZero(row.Subject)), key)
	if errors.Is(err, credentials.ErrShredded) {
		err = hosting.ErrNoPassword
	}
	return string(text), key, err
}

// Show returns the secret of a resource that waits to be shown, and destroys it in the
// append that says so.
func (r *Reconciler) Show(ctx context.Context, cause domain.Metadata, row projections.Resource) (string, error) {
	secret, key, err := r.Shown(ctx, row)
	if err != nil {
		return "", err
	}
	gone := credentials.Shred(key)
	gone.WantRows, gone.ErrIfNot = 1, hosting.ErrNoPassword
	_, err = r.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{gone}, hosting.ShowPassword{Ref: row.Ref()})
	return secret, err
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
	return r.carry(ctx, cause, rows, commands...)
}

func (r *Reconciler) carry(
	ctx context.Context, cause domain.Metadata, rows []eventstore.TxStatement, commands ...domain.Command,
) (domain.Receipt, error) {
	receipt, err := r.store.ExecuteWith(ctx, cause, rows, commands...)
	if err == nil {
		r.runner.Wake(r.EngineQueue())
	}
	return receipt, err
}

// unseal opens the secrets that the spec names. One that the engine has got
// already is gone, and so is one that has waited too long.
func (a *attempt) unseal(ctx context.Context) error {
	a.want.object.Secrets, a.secretMissing, a.opened = hosting.Secrets{}, false, nil
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

// shred deletes the secrets of a resource that are outside by now.
func (w *desired) shred() (rows []eventstore.TxStatement) {
	for _, name := range w.kind.Secrets() {
		if handle, err := handleOf(w.row.Spec[name]); err == nil && handle != uuid.Nil {
			rows = append(rows, credentials.Shred(SecretKey(handle)))
		}
	}
	return rows
}

// handleOf is the handle under which a secret is handed over; zero: none.
func handleOf(raw []byte) (handle uuid.UUID, err error) {
	if len(raw) < 2 || string(raw) == `""` || string(raw) == "null" {
		return uuid.Nil, nil
	}
	return uuid.Parse(string(raw[1 : len(raw)-1]))
}
