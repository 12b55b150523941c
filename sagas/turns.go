package sagas

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// What a resource has to wait for before it is brought to the engine: earlier
// wishes, its tenant, what it is a part of, what has its name.

// awaiting is a wait that ends when a run has brought another resource to the
// engine.
type awaiting struct {
	about domain.Stream
	cause error
}

func (a *awaiting) Error() string { return a.cause.Error() }
func (a *awaiting) Unwrap() error { return a.cause }

func await(ref hosting.Ref, code string) error {
	about := ref.Stream()
	return &awaiting{about, &domain.Failure{Class: domain.Waiting, Code: code, Err: fmt.Errorf("it waits for %s", about)}}
}

// wakeWaiting lets runs go on that have waited for a resource. They look for
// themselves whether they can.
func wakeWaiting(ref hosting.Ref) eventstore.Row {
	about := ref.Stream().String()
	return eventstore.Row{
		Key: "saga_run/awaits/" + about,
		SQL: `update saga_run set run_at = now() where id in (
				select id from saga_run where awaits = $1 and status = 'waiting' for update skip locked)`,
		Args: []any{about}, Touches: eventstore.AnyRows,
	}
}

// inTurn answers with what has to come first.
func (s *Sagas) inTurn(ctx context.Context, job Job, w wanted) error {
	if err := s.afterEarlier(ctx, job, w); err != nil {
		return err
	}
	if w.row.Status == hosting.Leaving {
		return s.afterParts(ctx, w)
	}
	if err := s.afterParents(ctx, w); err != nil {
		return err
	}
	return s.afterNamesakes(ctx, w)
}

// afterEarlier lets earlier runs of the resource come first. One that is
// parked is overtaken: it goes on and finds that it has nothing to do. An order
// that has yet to make the resource comes first as well.
func (s *Sagas) afterEarlier(ctx context.Context, job Job, w wanted) error {
	earlier, err := s.earlier(ctx, job)
	if err != nil {
		return err
	}
	for _, r := range earlier {
		if r.Status == Stopped {
			err = s.overtake(ctx, r.ID)
		} else {
			err = s.hasten(ctx, r.ID)
		}
		if err != nil {
			return err
		}
	}
	if len(earlier) > 0 {
		return await(w.ref, "earlier_wish")
	}
	if ordered, err := s.beingOrdered(ctx, w.row); err != nil || !ordered || w.object.ID != 0 {
		return err
	}
	return await(w.ref, "order")
}

// A turn is a run of the same resource that has yet to take its first step.
type turn struct {
	ID     uuid.UUID `db:"id"`
	Status Status    `db:"status"`
}

func (s *Sagas) earlier(ctx context.Context, job Job) ([]turn, error) {
	rows, _ := s.pool.Query(ctx, `
		select id, status from saga_run
		where about = $1 and status not in ('done', 'undone') and (step = 0 or status = 'parked') and (input ->> 'version')::int < $2`,
		job.ref().Stream().String(), job.Version)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[turn])
	return found, sqlError(err, "look for earlier runs of %s", job.ref().Stream())
}

// overtake lets a parked run end, now that a later wish takes its place.
func (s *Sagas) overtake(ctx context.Context, id uuid.UUID) error {
	cause := domain.Cause{ID: uuid.NewSHA1(id, []byte("overtaken")), Actor: "system:engine"}
	err := s.direct(ctx, cause, id, func(r Run) command { return Resume{Key: r.Key, Reason: "overtaken by a later wish"} })
	if domain.CodeOf(err) == domain.Conflict {
		return nil // somebody has let it go on
	}
	return err
}

// hasten lets an earlier run find out soon that it has been overtaken, instead
// of waiting for its next attempt.
func (s *Sagas) hasten(ctx context.Context, id uuid.UUID) error {
	n, err := s.exec(ctx, "hasten an earlier run", `
		update saga_run set run_at = now() where id in (
			select id from saga_run where id = $1 and status = 'waiting' and run_at > now() for update skip locked)`, id)
	if n > 0 {
		s.wake(engineQueue(s.engine))
	}
	return err
}

// beingOrdered tells whether the order that a resource was requested for is
// still being provisioned.
func (s *Sagas) beingOrdered(ctx context.Context, r projections.Resource) (live bool, err error) {
	order, err := uuid.Parse(strings.TrimPrefix(r.RequestedFor, "order:"))
	if err != nil {
		return false, nil // it is no order's
	}
	err = s.pool.QueryRow(ctx, `
		select exists (select from saga_run where order_id = $1 and key like 'provision:%' and status not in ('done', 'undone'))`, order).Scan(&live)
	return live, sqlError(err, "look for the run of order %s", order)
}

// afterParents waits for the numbers of the tenant and of what the resource is
// a part of or refers to.
func (s *Sagas) afterParents(ctx context.Context, w wanted) error {
	if w.kind.Name == "tenant" {
		return nil
	}
	refs := []hosting.Ref{w.tenant()}
	for _, r := range w.kind.Refs {
		if ref := w.to(r); ref.ID != 0 {
			refs = append(refs, ref)
		}
	}
	for _, ref := range refs {
		r, known := w.beside[ref]
		switch {
		case !known, r.Status == hosting.Leaving, r.Status == hosting.Gone:
			return domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("%s is not there", ref.Stream()))
		case engineID(r) == 0:
			return errors.Join(s.making(ctx, r), await(ref, "parent"))
		}
	}
	return nil
}

// making sees to it that somebody makes a tenant's place at the engine: orders
// without one make none, and the first thing in it needs one.
func (s *Sagas) making(ctx context.Context, r projections.Resource) error {
	if r.Kind != "tenant" || r.RequestedFor == "" {
		return nil
	}
	if live, err := s.beingOrdered(ctx, r); err != nil || live {
		return err
	}
	// Once, whoever asks: it is the same cause each time.
	cause := domain.Cause{ID: RunID("place:" + refTo(r).Stream().String()), Actor: "system:engine"}
	_, err := s.store.Execute(ctx, cause, hosting.Push{Ref: refTo(r)})
	return err
}

// afterNamesakes waits until what had the name before has left the engine.
func (s *Sagas) afterNamesakes(ctx context.Context, w wanted) error {
	name := w.kind.Naming(w.row.Spec)
	if w.object.ID != 0 || len(name) == 0 {
		return nil
	}
	leaving, err := s.tables.For(projections.System).Leaving(ctx, w.kind.Name, 0, name)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return await(refTo(leaving[0]), "name_leaving")
}

// unheld refuses to take what the engine has made for another resource. If
// that one is about to leave or to be renamed, its turn comes first.
func (s *Sagas) unheld(ctx context.Context, w wanted, found hosting.EngineObject) error {
	if w.kind.Name == certificateKind { // has the number of its site
		return nil
	}
	holders, err := s.tables.For(projections.System).Holders(ctx, w.kind.Name, found.ID)
	for _, h := range holders {
		switch {
		case refTo(h) == w.ref:
		case h.SyncStatus == "pending":
			return await(refTo(h), "name_leaving")
		default:
			return errNotOurs
		}
	}
	return err
}

// afterParts waits until everything has left that belongs to what is to leave.
func (s *Sagas) afterParts(ctx context.Context, w wanted) error {
	leaving, err := s.leavingParts(ctx, w)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return await(refTo(leaving[0]), "parts_leaving")
}

func (s *Sagas) leavingParts(ctx context.Context, w wanted) (all []projections.Resource, err error) {
	scope := s.tables.For(projections.System)
	if w.kind.Name == "tenant" {
		return scope.LeavingOf(ctx, w.ref.ID)
	}
	for _, child := range w.kind.Children() {
		found, err := scope.Leaving(ctx, child.Kind.Name, w.row.Tenant, field.Values{child.By: fmt.Append(nil, w.ref.ID)})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// refOf is the resource of a stream.
func refOf(stream domain.Stream) hosting.Ref {
	id, _ := strconv.ParseInt(stream.ID, 10, 64) // numbers are all that the streams of resources are called
	return hosting.Ref{Kind: stream.Category, ID: id}
}

func refTo(r projections.Resource) hosting.Ref { return hosting.Ref{Kind: r.Kind, ID: r.ID} }
