package eventstore

import (
	"bytes"
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
	macs := s.keys.MACs("address", []byte(strings.ToLower(strings.TrimSpace(email))))
	subject, err := s.findSubject(ctx, macs)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = s.pool.Exec(ctx, `insert into subjects (address_mac, subject) values ($1, $2) on conflict do nothing`, macs[0], uuid.New())
		if err == nil {
			subject, err = s.findSubject(ctx, macs)
		}
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("find a subject: %w", Unavailable(err))
	}
	return subject, nil
}

// findSubject looks under the hashes of all secret keys, and lets the newest
// one lead to a subject that was found by an older one.
func (s *Store) findSubject(ctx context.Context, macs [][]byte) (subject uuid.UUID, err error) {
	var mac []byte
	err = s.pool.QueryRow(ctx, `
		select address_mac, subject from subjects where address_mac = any($1) order by address_mac = $2 desc limit 1`, macs, macs[0]).Scan(&mac, &subject)
	if err == nil && !bytes.Equal(mac, macs[0]) {
		_, err = s.pool.Exec(ctx, `
			update subjects set address_mac = $2 where address_mac = $1 and not exists (select from subjects where address_mac = $2)`, mac, macs[0])
	}
	return subject, err
}

// EraseRows destroy what makes people's contact data readable, and the way
// from their addresses to them. They belong into the transaction of the fact
// that says so, whose statements blank the read tables. Data under other purposes stays. In place of the key stays a
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
