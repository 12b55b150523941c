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

// endpointPurpose is what the secrets of endpoints are sealed for.
const endpointPurpose = "webhook endpoint"

// secretSize is that of an endpoint's secret, in bytes.
const secretSize = 32

// NewEndpointSecret draws what messages to an endpoint are signed with.
func NewEndpointSecret() []byte { return sealing.Random(secretSize) }

// EndpointSecretRows lay down the secret of an endpoint, with the fact that it
// has one. The one before signs along for another day, so that its owner can
// change it in peace (docs/webhooks.md, "Signatures").
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

// ShredEndpointSecrets destroys all secrets of an endpoint, with the fact that
// it is no more.
func ShredEndpointSecrets(endpoint int64) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("endpoint_secrets/%d/0", endpoint), SQL: `delete from endpoint_secrets where endpoint = $1`,
		Args: []any{endpoint}, WantRows: eventstore.AnyRows,
	}
}

// mostSecrets bounds how many secrets of an endpoint sign at once, however
// often they were exchanged within a day.
const mostSecrets = 5

// EndpointSecrets are those that messages to an endpoint are signed with now,
// the present one first. Without any it answers [ErrShredded].
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

// reseal seals secrets of endpoints by the first secret key that another one
// has sealed, so that the other one can be removed some day.
func (v *Vault) reseal(ctx context.Context) error {
	retired := v.keys.Retired()
	if len(retired) == 0 {
		return nil
	}
	rows, _ := v.pool.Query(ctx, `select id, endpoint, key_id, nonce, sealed from endpoint_secrets where key_id = any($1) limit $2`, retired, eventstore.RewrapAtOnce)
	var id uuid.UUID
	var endpoint int64
	var old sealing.Sealed
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&id, &endpoint, &old.KeyID, &old.Nonce, &old.Box}, func() error {
		place := strconv.FormatInt(endpoint, 10)
		secret, err := v.keys.Open(endpointPurpose, place, old)
		if err == nil {
			fresh := v.keys.Seal(endpointPurpose, place, secret)
			b.Queue(`update endpoint_secrets set key_id = $2, nonce = $3, sealed = $4 where id = $1`, id, fresh.KeyID, fresh.Nonce, fresh.Box)
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
