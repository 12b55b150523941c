package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

// of returns the subject of an e-mail address; see [Store.Subject].
func (c *subjectKeys) of(ctx context.Context, email string) (uuid.UUID, error) {
	macs := c.keys.MACs("address", []byte(account.PlainAddress(email)))
	subject, err := c.findSubject(ctx, macs)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = c.pool.Exec(ctx, `insert into subjects (address_mac, subject) values ($1, $2) on conflict do nothing`, macs[0], uuid.New())
		if err == nil {
			subject, err = c.findSubject(ctx, macs)
		}
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("find a subject: %w", Unavailable(err))
	}
	return subject, nil
}

// findSubject looks for the hashes under all secret keys. A subject that was
// found by a retired key is stored under the first key from then on.
func (c *subjectKeys) findSubject(ctx context.Context, macs [][]byte) (subject uuid.UUID, err error) {
	var mac []byte
	err = c.pool.QueryRow(ctx, `
		select address_mac, subject from subjects where address_mac = any($1) order by address_mac = $2 desc limit 1`, macs, macs[0]).Scan(&mac, &subject)
	if err == nil && !bytes.Equal(mac, macs[0]) {
		_, err = c.pool.Exec(ctx, `
			update subjects set address_mac = $2 where address_mac = $1 and not exists (select from subjects where address_mac = $2)`, mac, macs[0])
	}
	return subject, err
}

// EraseRows destroy the keys of people's contact data, and the way from their
// addresses to them. They belong to the transaction of the event that says so,
// whose statements blank the read tables. Keys for other purposes are kept. A
// mark stays in place of a key, so that nothing is sealed for the same subject
// again: a person who comes back is a new subject (docs/log.md, "Erasure").
func EraseRows(subjects ...uuid.UUID) []TxStatement {
	var rows []TxStatement
	for _, subject := range subjects {
		rows = append(rows, TxStatement{
			Key: keyRow(subjectKey{subject, domain.Contact}),
			SQL: `
				insert into subject_keys (subject, purpose, key_id, wrapped) values ($1, $2, '', '')
				on conflict (subject, purpose) do update set key_id = '', wrapped = ''`,
			Args: []any{subject, string(domain.Contact)}, WantRows: 1,
		}, TxStatement{
			Key: "subjects/" + subject.String(), SQL: `delete from subjects where subject = $1`,
			Args: []any{subject}, WantRows: AnyRows,
		})
	}
	return rows
}

func keyRow(k subjectKey) string {
	return "subject_keys/" + k.subject.String() + "/" + string(k.purpose)
}
