package sagas

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// One writer per object outside (docs/sagas.md, "Claims"; rule E-4): the object
// is claimed before the call, for the resource that it is to be. The claim ends
// when the resource is known to have another name, or to be gone.

// A Claim names an object outside, and the resource that alone may write to it
// under this name. Zero: the object cannot be anything else's.
type Claim struct {
	Server, Kind, Name string
	Owner              domain.Stream
}

// FreeClaims gives up all claims of a resource but one; zero: none is kept.
func FreeClaims(owner domain.Stream, kept Claim) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key:  "external_claim/" + owner.String(),
		SQL:  `delete from external_claim where owner = $1 and (server, kind, name) <> ($2, $3, $4)`,
		Args: []any{owner.String(), kept.Server, kept.Kind, kept.Name}, WantRows: eventstore.AnyRows,
	}
}

// claims are the objects outside that resources have claimed.
type claims struct{ pool *pgxpool.Pool }

// ClaimOwner is the stream of the resource that has claimed an object; "": none.
func (c claims) ClaimOwner(ctx context.Context, of Claim) (owner string, err error) {
	err = c.pool.QueryRow(ctx, `select coalesce(max(owner), '') from external_claim where server = $1 and kind = $2 and name = $3`,
		of.Server, of.Kind, of.Name).Scan(&owner)
	return owner, SQLError(err, "read the owner of %s %s", of.Kind, of.Name)
}

// ClaimOpen tells whether no other resource has the claim.
func (c claims) ClaimOpen(ctx context.Context, of Claim) (bool, error) {
	owner, err := c.ClaimOwner(ctx, of)
	return owner == "" || owner == of.Owner.String(), err
}

// A Contest is a claim that another resource has already.
type Contest struct {
	Claim      Claim
	Holder     string        // stream of the resource that has it
	Idle       time.Duration // since the holder last prepared a call
	Quarantine time.Duration // of the step that wants the claim
	taken      time.Time
}

// contend lets the call decide about a claim that another resource has, if the lease is
// long enough for that. The answer is never nil: the next attempt may take the claim.
func (s *executor) contend(ctx context.Context, c claimed, step step, call Call) error {
	contest := Contest{Claim: call.Claim, Quarantine: step.policy.Quarantine}
	var holder *string
	var taken *time.Time
	var idle *float64
	err := s.pool.QueryRow(ctx, `
		select owner, taken_at, extract(epoch from real_clock() - taken_at)::float8
		from saga_run run left join external_claim on server = $1 and kind = $2 and name = $3
		where run.id = $4 and lease_token = $5 and status = 'running' and step = $6 and lease_until >= real_now() + $7::interval`,
		call.Claim.Server, call.Claim.Kind, call.Claim.Name, c.id, c.token, c.Step, s.times.call(step)).Scan(&holder, &taken, &idle)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrFenced
	case err != nil:
		return SQLError(err, "read the claim of %s %s", call.Claim.Kind, call.Claim.Name)
	case holder != nil: // otherwise it has just been freed
		contest.Holder, contest.taken, contest.Idle = *holder, *taken, Seconds(*idle)
		if err := s.limited(ctx, c, step, func(ctx context.Context) error { return call.Contested(ctx, contest) }); err != nil {
			return err
		}
	}
	return TooEarly("name_leaving", s.times.Floor)
}

// ExpireClaim deletes a claim whose holder never created the object. A claim
// that was renewed in the meantime is kept.
func (c claims) ExpireClaim(ctx context.Context, of Contest) error {
	_, err := exec(ctx, c.pool, "expire a claim", `
		delete from external_claim where server = $1 and kind = $2 and name = $3 and owner = $4 and taken_at = $5`,
		of.Claim.Server, of.Claim.Kind, of.Claim.Name, of.Holder, of.taken)
	return err
}
