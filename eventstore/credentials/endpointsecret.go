package credentials

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// endpointPurpose is the sealing purpose of endpoints' secrets.
const endpointPurpose = "webhook endpoint"

// secretSize is the size of an endpoint's secret in bytes.
const secretSize = 32

// NewEndpointSecret generates the secret that signs messages to an endpoint.
func NewEndpointSecret() []byte { return sealing.Random(secretSize) }

// EndpointSecretRows stores a new secret of an endpoint, in the transaction of
// the event. The previous secret also signs for another day, so that the receiver
// can switch without an outage (docs/webhooks.md, "Signatures").
func (v *Vault) EndpointSecretRows(endpoint int64, secret []byte) []eventstore.TxStatement {
	box := v.keys.Seal(endpointPurpose, strconv.FormatInt(endpoint, 10), secret)
	return []eventstore.TxStatement{{
		Key:  fmt.Sprintf("endpoint_secrets/%d/0", endpoint),
		SQL:  `update endpoint_secrets set expires_at = real_now() + interval '24 hours' where endpoint = $1 and expires_at is null`,
		Args: []any{endpoint}, WantRows: eventstore.AnyRows,
	}, {
		Key:  fmt.Sprintf("endpoint_secrets/%d/1", endpoint),
		SQL:  `insert into endpoint_secrets (id, endpoint, key_id, nonce, sealed) values ($1, $2, $3, $4, $5)`,
		Args: []any{uuid.New(), endpoint, box.KeyID, box.Nonce, box.Box}, WantRows: 1,
	}}
}

// ShredEndpointSecrets deletes all secrets of an endpoint, in the transaction of
// the event of its removal.
func ShredEndpointSecrets(endpoint int64) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("endpoint_secrets/%d/0", endpoint), SQL: `delete from endpoint_secrets where endpoint = $1`,
		Args: []any{endpoint}, WantRows: eventstore.AnyRows,
	}
}

// mostSecrets is the largest number of an endpoint's secrets that sign one
// message.
const mostSecrets = 5

// EndpointSecrets returns the secrets that sign messages to an endpoint now, the
// newest first. Without any it returns [ErrShredded].
func (v *Vault) EndpointSecrets(ctx context.Context, endpoint int64) ([][]byte, error) {
	rows, _ := v.pool.Query(ctx, `
		select key_id, nonce, sealed from endpoint_secrets where endpoint = $1 and (expires_at is null or expires_at > real_now())
		order by expires_at desc nulls first, created_at desc limit $2`, endpoint, mostSecrets)
	boxes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealing.Sealed])
	if err != nil {
		return nil, fmt.Errorf("read the secrets of endpoint %d: %w", endpoint, eventstore.Unavailable(err))
	}
	var secrets [][]byte
	for _, box := range boxes {
		secret, err := v.keys.Open(endpointPurpose, strconv.FormatInt(endpoint, 10), box)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	if secrets == nil {
		return nil, fmt.Errorf("secrets of endpoint %d: %w", endpoint, ErrShredded)
	}
	return secrets, nil
}

// resealEndpoints seals the secrets of older secret keys with the first secret key, so that
// the older keys can be removed.
func (v *Vault) resealEndpoints(ctx context.Context) error {
	rows, _ := v.pool.Query(
		ctx, `select id, endpoint, key_id, nonce, sealed from endpoint_secrets where key_id = any($1) limit $2`,
		v.keys.Retired(), eventstore.RewrapAtOnce,
	)
	var id uuid.UUID
	var endpoint int64
	var old sealing.Sealed
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&id, &endpoint, &old.KeyID, &old.Nonce, &old.Box}, func() error {
		place := strconv.FormatInt(endpoint, 10)
		secret, err := v.keys.Open(endpointPurpose, place, old)
		if err == nil {
			fresh := v.keys.Seal(endpointPurpose, place, secret)
			b.Queue(
				`update endpoint_secrets set key_id = $2, nonce = $3, sealed = $4 where id = $1`, id, fresh.KeyID,
				fresh.Nonce, fresh.Box,
			)
		}
		return err
	})
	if err == nil {
		err = v.pool.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return fmt.Errorf("seal secrets of endpoints anew: %w", eventstore.Unavailable(err))
	}
	return nil
}
