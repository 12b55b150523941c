package accounts

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A password reset must not reveal whether an address has an account, not even
// by the time that the answer takes. So the request is the same for every
// address: one count and one row. It is answered later, in the background
// (docs/accounts.md, "One-time links").

// resetMails is how many mails an address gets within resetWindow.
const (
	resetMails  = 3
	resetWindow = time.Hour
)

// resetQueue is woken by a request.
const resetQueue = "resets"

// AskReset requests a mail with a link to choose a new password. It is sent if
// the address has an active account; the caller is not told.
func (s *Service) AskReset(ctx context.Context, email string) error {
	address := []byte(account.PlainAddress(email))
	key := "reset/" + hex.EncodeToString(s.store.Keys().MACs("reset limit", address)[0])
	quota, err := s.limits.Take(ctx, key, resetMails, resetWindow)
	if err != nil || !quota.Allowed {
		return err
	}
	id := uuid.New()
	box := s.store.Keys().Seal("reset", id.String(), address)
	_, err = s.runner.Exec(ctx, "keep a request for a new password",
		`insert into reset_request (id, key_id, nonce, sealed, cause) values ($1, $2, $3, $4, $5)`, id, box.KeyID,
		box.Nonce, box.Box, s.store.StoredCause(ctx))
	if err == nil {
		s.runner.Wake(resetQueue)
	}
	return err
}

// A resetRequest is one that a process answers.
type resetRequest struct {
	task  *sagas.Task[uuid.UUID]
	box   sealing.Sealed
	cause string
	age   time.Duration
}

// answerResets answers requests, one after the other.
func (s *Service) answerResets() {
	sagas.AddTasks(s.runner, sagas.Queue[uuid.UUID]{
		Name: resetQueue, Failed: "a request for a new password was not answered", InRecovery: true, KeyType: "uuid",
		Policy: sagas.TaskPolicy{Base: s.runner.Times().Lease, Cap: s.times.RetryCap},
		Due:    func() (string, []any) { return `select id::text as key, asked_at as since from reset_request`, nil },
		Do:     s.answerReset,
	}, nil)
}

// AnsweringReset is the point where tests make the answer to a request fail. The
// key is the request's id.
const AnsweringReset sagas.Point = "answering_reset"

// answerReset answers a request. One that cannot be answered for a day is dropped.
func (s *Service) answerReset(ctx context.Context, task *sagas.Task[uuid.UUID]) (sagas.TaskEnd, error) {
	r, age := resetRequest{task: task}, 0.0
	err := s.pool.QueryRow(ctx, `
		select key_id, nonce, sealed, cause, extract(epoch from real_now() - asked_at)::float8
		from reset_request where id = $1`, task.Row).
		Scan(&r.box.KeyID, &r.box.Nonce, &r.box.Box, &r.cause, &age)
	switch r.age = sagas.Seconds(age); {
	case errors.Is(err, pgx.ErrNoRows): // it is answered
		return sagas.TaskDone, nil
	case err != nil:
		return sagas.TaskDone, sagas.SQLError(err, "read a request for a new password")
	case r.age > 24*time.Hour:
		s.runner.Alarm(ctx, "a request for a new password could not be answered for a day", "request", task.Row)
		return s.forgetReset(ctx, r)
	}
	if err := s.runner.FaultAt(AnsweringReset, sagas.Run{Key: task.Key}); err != nil {
		return sagas.TaskDone, err
	}
	address, err := s.store.Keys().Open("reset", task.Key, r.box)
	if err != nil { // sealed with a key that has been taken away since
		s.runner.Alarm(ctx, "a request for a new password cannot be read", "request", task.Row)
		return s.forgetReset(ctx, r)
	}
	return s.sendReset(ctx, r, string(address))
}

// sendReset starts the mail, in the transaction that forgets the request. An
// address without an active account is forgotten alone.
func (s *Service) sendReset(ctx context.Context, r resetRequest, address string) (sagas.TaskEnd, error) {
	user, known, err := s.tables.For(projections.System).Accounts().UserByEmail(ctx, address)
	if err != nil {
		return sagas.TaskDone, err
	}
	if !known {
		return s.forgetReset(ctx, r)
	}
	asked, err := domain.ParseCause(r.cause)
	if err != nil {
		return sagas.TaskDone, err
	}
	cause := domain.Metadata{ID: r.task.Row, Actor: "system:reset", Cause: asked}
	link := account.RequestLink{User: user.ID, Link: account.Reset, At: s.runner.Now()}
	_, err = s.request(ctx, cause, r.answered(), link)
	if domain.CodeOf(err) == domain.NotFound { // the account has ended
		return s.forgetReset(ctx, r)
	}
	return sagas.TaskRecorded, err
}

// answered deletes a request and its task, together with its answer: once.
func (r resetRequest) answered() []eventstore.TxStatement {
	return []eventstore.TxStatement{r.task.Recorded(), {
		Key: "reset_request/" + r.task.Key, SQL: `delete from reset_request where id = $1`,
		Args: []any{r.task.Row}, WantRows: 1, ErrIfNot: sagas.ErrFenced,
	}}
}

func (s *Service) forgetReset(ctx context.Context, r resetRequest) (sagas.TaskEnd, error) {
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{Actor: "system:reset"}, r.answered())
	return sagas.TaskRecorded, err
}
