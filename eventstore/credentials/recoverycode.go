package credentials

import (
	"context"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// RecoveryCodes is how many recovery codes a user gets at a time.
const RecoveryCodes = 10

// recoverySize is the number of random bytes of a recovery code: 16 characters.
const recoverySize = 10

// NewRecoveryCodes makes a set of recovery codes, such as "k7dw-9qxm-2ahf-tznb", and
// their hashes. The hashes share a salt, so that a check costs one hash.
func (v *Vault) NewRecoveryCodes(ctx context.Context) (codes, hashes []string, err error) {
	salt := sealing.Random(saltLength)
	for range RecoveryCodes {
		text := strings.ToLower(base32.StdEncoding.EncodeToString(sealing.Random(recoverySize)))
		h := passwordHash{cost: v.cost, salt: salt}
		if h.sum, err = h.of(ctx, text, sumLength); err != nil {
			return nil, nil, err
		}
		codes = append(codes, strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:]}, "-"))
		hashes = append(hashes, h.phc())
	}
	return codes, hashes, nil
}

// RecoveryRows store a new set of recovery codes; the former ones end.
func RecoveryRows(user int64, hashes []string) []eventstore.TxStatement {
	forget, keep := ofUser("recovery_codes", user), eventstore.TxStatement{
		Key:  fmt.Sprintf("recovery_codes/%d/1", user),
		SQL:  `insert into recovery_codes (user_id, phc) select $1, unnest($2::text[])`,
		Args: []any{user, hashes}, WantRows: int64(len(hashes)),
	}
	return []eventstore.TxStatement{forget, keep}
}

// UseRecoveryCode tells whether a text is one of the user's recovery codes, and
// deletes it: of many uses at once one is right. Capitals, hyphens and spaces do
// not matter.
func (v *Vault) UseRecoveryCode(ctx context.Context, user int64, text string) (bool, error) {
	rows, _ := v.pool.Query(ctx, `select phc from recovery_codes where user_id = $1`, user)
	kept, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return false, fmt.Errorf("read recovery codes: %w", eventstore.Unavailable(err))
	}
	if len(kept) == 0 {
		return false, nil
	}
	h, known := parsePHC(kept[0])
	if !known {
		return false, nil
	}
	if h.sum, err = h.of(ctx, plainCode(text), len(h.sum)); err != nil || !slices.Contains(kept, h.phc()) {
		return false, err
	}
	tag, err := v.pool.Exec(ctx, `delete from recovery_codes where user_id = $1 and phc = $2`, user, h.phc())
	if err != nil {
		return false, fmt.Errorf("use a recovery code: %w", eventstore.Unavailable(err))
	}
	return tag.RowsAffected() == 1, nil
}

// plainCode is a recovery code as it is hashed.
func plainCode(text string) string {
	return strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(text))
}

// RecoveryCodesLeft is the number of recovery codes that a user has not used.
func (v *Vault) RecoveryCodesLeft(ctx context.Context, user int64) (left int, err error) {
	if err = v.pool.QueryRow(ctx, `select count(*) from recovery_codes where user_id = $1`, user).Scan(&left); err != nil {
		return 0, fmt.Errorf("count recovery codes: %w", eventstore.Unavailable(err))
	}
	return left, nil
}
