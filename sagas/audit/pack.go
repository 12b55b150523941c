package audit

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/hosting"
	"hostpanel/domain/offline"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// mostPacked bounds a pack.
const mostPacked = 100_000

var (
	errTooMuch      = domain.RefuseField("to", fmt.Sprintf("Ensure that these are no more than %d events.", mostPacked))
	errNotWitnessed = &domain.Error{
		Code: domain.Conflict, Message: "The witnesses have not cosigned these events yet. Try again in a minute.",
		Reason: "not_witnessed",
	}
)

// Pack makes an evidence pack (docs/audit.md, "Evidence packs"). Superusers get all
// events that it is about, others those of the tenant that they act for. It opens texts
// about the customer of an order and about the contact of a tenant, and no others.
func (s *Service) Pack(ctx context.Context, who projections.Caller, of audit.PackOf) (evidence.Pack, error) {
	p, _, err := s.pack(ctx, who, of)
	return p, err
}

// pack makes a pack, and tells of whom it opens texts.
func (s *Service) pack(ctx context.Context, who projections.Caller, of audit.PackOf) (p evidence.Pack, subjects []uuid.UUID, err error) {
	positions, err := s.packed(ctx, who, of)
	if err != nil {
		return p, nil, err
	}
	if subjects, err = s.subjectsOf(ctx, who, of); err == nil {
		subjects, err = s.store.Reader().NotErased(ctx, subjects)
	}
	if err != nil {
		return p, nil, err
	}
	events, leaves, keys, err := s.store.Reader().Evidence(ctx, positions, subjects...)
	if err != nil {
		return p, nil, err
	}
	p.Events, p.Keys = events, keys
	origin, err := s.prove(ctx, positions, events, leaves)
	if err != nil {
		return p, nil, err
	}
	p.Policy = origin.AcceptedBy()
	p.Manifest = evidence.Manifest{
		Format: evidence.Format, About: of.String(), MadeAt: s.runner.Now().UTC().Truncate(time.Second),
		VKey: origin.VKey, Events: len(p.Events),
	}
	p.Story, err = s.story(ctx, p, positions, subjects)
	return p, subjects, err
}

// packed are the positions of the events that a pack is about. Events that the index
// does not hold yet are read from the log.
func (s *Service) packed(ctx context.Context, who projections.Caller, of audit.PackOf) ([]int64, error) {
	tenant := of.Tenant
	if !who.SeesAll() {
		if of.Tenant != 0 && of.Tenant != who.Tenant || who.Tenant == 0 {
			return nil, errForeign
		}
		tenant = who.Tenant
	}
	const about = ` where ($1::uuid is null or correlation = $1) and ($2 = 0 or tenant = $2)
		and ($3::timestamptz is null or recorded_at >= $3) and ($4::timestamptz is null or recorded_at <= $4)`
	rows, _ := s.pool.Query(ctx, `select position from log_index`+about+`
		union select position from events`+about+` and position > coalesce((select position from readers where name = $6), 0)
		order by position limit $5`, domain.OrNull(of.Order), tenant, domain.OrNull(of.From), domain.OrNull(of.To),
		mostPacked+1, IndexReader)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	switch {
	case err != nil:
		return nil, sagas.SQLError(err, "look for events of %s", of)
	case len(positions) == 0:
		return nil, errForeign
	case len(positions) > mostPacked:
		return nil, errTooMuch
	}
	return positions, nil
}

// subjectsOf are the people whose texts a pack opens.
func (s *Service) subjectsOf(ctx context.Context, who projections.Caller, of audit.PackOf) ([]uuid.UUID, error) {
	switch {
	case of.Order != uuid.Nil && who.SeesAll():
		o, err := s.tables.For(projections.System).Orders().Order(ctx, of.Order)
		return []uuid.UUID{o.Subject}, err
	case of.Tenant != 0:
		t, err := s.tables.For(projections.System).Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: of.Tenant})
		if err != nil || t.Subject == nil {
			return nil, err
		}
		return []uuid.UUID{*t.Subject}, nil
	}
	return nil, nil
}

// sealWait bounds the wait for the seal of the last events, which takes half a second.
const sealWait = 3 * time.Second

// proofs waits for the seal of events, and proves them by one checkpoint.
func (s *Service) proofs(ctx context.Context, positions []int64) ([]tlog.Proof, tree.Origin, error) {
	const look = 100 * time.Millisecond
	for range sealWait / look {
		proofs, origin, err := s.tree().Proofs(ctx, positions)
		if !errors.Is(err, tree.ErrNone) {
			return proofs, origin, eventstore.Unavailable(err)
		}
		clock.Pausing(ctx, look, nil)
	}
	return nil, tree.Origin{}, errNotSealed
}

// prove adds the proofs of events.
func (s *Service) prove(ctx context.Context, positions []int64, events []evidence.Event, leaves []tlog.Leaf) (tree.Origin, error) {
	proofs, origin, err := s.proofs(ctx, positions)
	if err != nil {
		return origin, err
	}
	policy, err := tlog.ParsePolicy(origin.AcceptedBy())
	if err != nil {
		return origin, err
	}
	if !policy.Witnessed(proofs[0].Checkpoint) {
		return origin, errNotWitnessed
	}
	for i := range events {
		proofs[i].Extra = leaves[i][:]
		events[i].Proof = proofs[i].Text()
	}
	return origin, nil
}

//go:embed story.html
var storyText string

var storyPage = offline.Page(storyText)

// story retells the events of a pack. Actors are numbers in it.
func (s *Service) story(ctx context.Context, p evidence.Pack, positions []int64, subjects []uuid.UUID) ([]byte, error) {
	history, err := s.store.Reader().OnlyOf(subjects...).AtPositions(ctx, positions)
	if err != nil {
		return nil, err
	}
	told := make([]audit.Event, len(history))
	for i, e := range history {
		if told[i], err = s.event(e); err != nil {
			return nil, err
		}
	}
	calls, err := s.callsIn(ctx, history)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = storyPage.Execute(&page, map[string]any{"Manifest": p.Manifest, "Events": told, "Calls": calls})
	return page.Bytes(), err
}
