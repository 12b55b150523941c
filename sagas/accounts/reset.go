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
	"hostpanel/eventstore/clock"
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
		`insert into reset_request (id, key_id, nonce, sealed, cause) values ($1, $2, $3, $4, $5)`, id, box.KeyID, box.Nonce, box.Box, s.store.StoredCause(ctx))
	if err == nil {
		s.runner.Wake(resetQueue)
	}
	return err
}

// A resetRequest is a row that a process works on.
type resetRequest struct {
	id    uuid.UUID
	box   sealing.Sealed
	cause string
	age   time.Duration
}

// answerResets answers requests, one after the other, until ctx ends. What is being leased
// or answered then goes on in the context work.
func (s *Service) answerResets(ctx, work context.Context) {
	woken := s.runner.Woken(resetQueue)
	for ctx.Err() == nil {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = s.answerReset(work); return err })
		if err != nil && ctx.Err() == nil {
			s.runner.Log().WarnContext(ctx, "a request for a new password was not answered", "error", sagas.Scrub(err))
		}
		if !more {
			clock.Pausing(ctx, sagas.Jittered(s.runner.Times().Poll), woken)
		}
	}
}

// AnsweringReset is the point where tests make the answer to a request fail. The
// key is the request's id.
const AnsweringReset sagas.Point = "answering_reset"

// answerReset answers the request that is due first. One that fails comes due
// again by itself.
func (s *Service) answerReset(ctx context.Context) (more bool, err error) {
	r, err := s.nextReset(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, sagas.SQLError(err, "look for requests for a new password")
	}
	if r.age > 24*time.Hour {
		s.runner.Alarm(ctx, "a request for a new password could not be answered for a day", "request", r.id)
		return true, s.forgetReset(ctx, r)
	}
	if err := s.runner.FaultAt(AnsweringReset, sagas.Run{Key: r.id.String()}); err != nil {
		return true, err
	}
	address, err := s.store.Keys().Open("reset", r.id.String(), r.box)
	if err != nil { // sealed with a key that has been taken away since
		s.runner.Alarm(ctx, "a request for a new password cannot be read", "request", r.id)
		return true, s.forgetReset(ctx, r)
	}
	return true, s.sendReset(ctx, r, string(address))
}

// nextReset leases a request, for longer each time.
func (s *Service) nextReset(ctx context.Context) (r resetRequest, err error) {
	var age float64
	err = s.pool.QueryRow(ctx, `
		update reset_request set attempts = attempts + 1, next_at = real_now() + least($2::interval, $1::interval * power(2, least(attempts, 20)))
		where id = (select id from reset_request where next_at <= real_now() order by next_at limit 1 for update skip locked)
		returning id, key_id, nonce, sealed, cause, extract(epoch from real_now() - asked_at)::float8`, s.runner.Times().Lease, s.times.RetryCap).
		Scan(&r.id, &r.box.KeyID, &r.box.Nonce, &r.box.Box, &r.cause, &age)
	r.age = sagas.Seconds(age)
	return r, err
}

// sendReset starts the mail, in the transaction that forgets the request. An
// address without an active account is forgotten alone.
func (s *Service) sendReset(ctx context.Context, r resetRequest, address string) error {
	user, known, err := s.tables.For(projections.System).Accounts().UserByEmail(ctx, address)
	if err != nil {
		return err
	}
	if !known {
		return s.forgetReset(ctx, r)
	}
	asked, err := domain.ParseCause(r.cause)
	if err != nil {
		return err
	}
	cause := domain.Metadata{ID: r.id, Actor: "system:reset", Cause: asked}
	link := account.RequestLink{User: user.ID, Link: account.Reset, At: s.runner.Now()}
	_, err = s.request(ctx, cause, []eventstore.TxStatement{r.answered()}, link)
	if domain.CodeOf(err) == domain.NotFound { // the account has ended
		return s.forgetReset(ctx, r)
	}
	return unlessAnswered(err)
}

// answered deletes a request together with its answer: once.
func (r resetRequest) answered() eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "reset_request/" + r.id.String(), SQL: `delete from reset_request where id = $1`, Args: []any{r.id}, WantRows: 1, ErrIfNot: sagas.ErrFenced,
	}
}

func (s *Service) forgetReset(ctx context.Context, r resetRequest) error {
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{Actor: "system:reset"}, []eventstore.TxStatement{r.answered()})
	return unlessAnswered(err)
}

// unlessAnswered accepts that another process was faster.
func unlessAnswered(err error) error {
	if errors.Is(err, sagas.ErrFenced) {
		return nil
	}
	return err
}
