package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// Subject returns the subject of an e-mail address, and makes one if the
// address is new. Subjects are random; a keyed hash leads to them.
func (s *Store) Subject(ctx context.Context, email string) (uuid.UUID, error) {
	address := []byte(strings.ToLower(strings.TrimSpace(email)))
	macs := s.keys.MACs("address", address)
	var subject uuid.UUID
	find := func() error {
		return s.pool.QueryRow(ctx, `select subject from subjects where address_mac = any($1) limit 1`, macs).Scan(&subject)
	}
	err := find()
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = s.pool.Exec(ctx, `insert into subjects (address_mac, subject) values ($1, $2) on conflict do nothing`, macs[0], uuid.New())
		if err == nil {
			err = find()
		}
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("find a subject: %w", Unavailable(err))
	}
	return subject, nil
}

// EraseRows destroy what makes people's contact data readable, and the way
// from their addresses to them. They belong into the transaction of the fact
// that says so. Data under other purposes stays. In place of the key stays a
// mark, so that nothing can be sealed for the same subject again: who comes
// back is somebody new (docs/log.md, "Personal data").
func EraseRows(subjects ...uuid.UUID) []Row {
	var rows []Row
	for _, subject := range subjects {
		rows = append(rows, Row{
			Key: keyRow(subjectKey{subject, domain.Contact}),
			SQL: `
				insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, '', '')
				on conflict (subject, purpose) do update set key_id = '', wrapped = ''`,
			Args: []any{subject, string(domain.Contact)}, Touches: 1,
		}, Row{
			Key: "subjects/" + subject.String(), SQL: `delete from subjects where subject = $1`,
			Args: []any{subject}, Touches: AnyRows,
		})
	}
	return rows
}

// SignOutRows take from a user all that opens doors: password, one-time links,
// refresh tokens, sessions in browsers.
func SignOutRows(user int64) []Row {
	var rows []Row
	for _, table := range []string{"browser_sessions", "credentials", "one_time_tokens", "refresh_families"} {
		rows = append(rows, Row{
			Key: fmt.Sprintf("%s/%d", table, user), SQL: fmt.Sprintf(`delete from %s where user_id = $1`, table),
			Args: []any{user}, Touches: AnyRows,
		})
	}
	return rows
}

func keyRow(k subjectKey) string {
	return "subject_keys/" + k.subject.String() + "/" + string(k.purpose)
}
