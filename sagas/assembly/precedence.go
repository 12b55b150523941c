package assembly

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// What a resource has to wait for before it is brought to the engine: earlier
// wishes, its tenant, what it is a part of, what has its name.

// inTurn answers with what has to come first.
func (s *Panel) inTurn(ctx context.Context, job *ResourceVersion, w desired) error {
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
func (s *Panel) afterEarlier(ctx context.Context, job *ResourceVersion, w desired) error {
	if err := s.AfterEarlier(ctx, job.ref().Stream(), job.Version); err != nil {
		return err
	}
	if ordered, err := s.beingOrdered(ctx, w.row); err != nil || !ordered || w.object.ID != 0 {
		return err
	}
	return sagas.Await(w.ref.Stream(), "order", 0)
}

// beingOrdered tells whether the order that a resource was requested for is
// still being provisioned.
func (s *Panel) beingOrdered(ctx context.Context, r projections.Resource) (live bool, err error) {
	order, err := uuid.Parse(strings.TrimPrefix(r.RequestedFor, "order:"))
	if err != nil {
		return false, nil // it is no order's
	}
	return s.IsLive(ctx, "provision:"+order.String())
}

// afterParents waits for the numbers of the tenant and of what the resource is
// a part of or refers to.
func (s *Panel) afterParents(ctx context.Context, w desired) error {
	if w.kind.Owner {
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
			return errors.Join(s.making(ctx, r), sagas.Await(ref.Stream(), "parent", 0))
		}
	}
	return nil
}

// making sees to it that somebody makes a tenant's place at the engine: orders
// without one make none, and the first thing in it needs one.
func (s *Panel) making(ctx context.Context, r projections.Resource) error {
	if kind, _ := hosting.KindNamed(r.Kind); !kind.Owner || r.RequestedFor == "" {
		return nil
	}
	if live, err := s.beingOrdered(ctx, r); err != nil || live {
		return err
	}
	// Once, whoever asks: it is the same cause each time.
	cause := domain.Metadata{ID: sagas.RunID("place:" + refTo(r).Stream().String()), Actor: "system:engine"}
	_, err := s.store.Execute(ctx, cause, hosting.Push{Ref: refTo(r)})
	return err
}

// afterNamesakes waits until what had the name before has left the engine.
func (s *Panel) afterNamesakes(ctx context.Context, w desired) error {
	name := w.kind.Naming(w.row.Spec)
	if w.object.ID != 0 || len(name) == 0 {
		return nil
	}
	leaving, err := s.tables.For(projections.System).Leaving(ctx, w.kind.Name, 0, name)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return sagas.Await(refTo(leaving[0]).Stream(), "name_leaving", 0)
}

// unheld refuses to take what the engine has made for another resource. If
// that one is about to leave or to be renamed, its turn comes first.
func (s *Panel) unheld(ctx context.Context, w desired, found hosting.EngineObject) error {
	if w.kind.Issued { // has the number of its site
		return nil
	}
	holders, err := s.tables.For(projections.System).Holders(ctx, w.kind.Name, found.ID)
	for _, h := range holders {
		switch {
		case refTo(h) == w.ref:
		case h.SyncStatus == "pending":
			return sagas.Await(refTo(h).Stream(), "name_leaving", 0)
		default:
			return errNotOurs
		}
	}
	return err
}

// afterParts waits until everything has left that belongs to what is to leave.
func (s *Panel) afterParts(ctx context.Context, w desired) error {
	leaving, err := s.leavingParts(ctx, w)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return sagas.Await(refTo(leaving[0]).Stream(), "parts_leaving", 0)
}

func (s *Panel) leavingParts(ctx context.Context, w desired) (all []projections.Resource, err error) {
	scope := s.tables.For(projections.System)
	if w.kind.Owner {
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
