package assembly

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// What runs for a tenant rests with it (docs/tenants.md, "Suspension"), and what
// is part of a site goes into the bin with it. Whoever changes a tenant's state,
// or throws a site away, disables or enables the records in the same append. What
// came meanwhile, or is more than an append may hold, is seen to here.

// reactToHosting is the reaction of hosting to an event of the log.
func (s *Panel) reactToHosting(ctx context.Context, r eventstore.RecordedEvent) error {
	if tenant := suspensionOf(r); tenant != 0 {
		if err := s.suspendWithTenant(ctx, r, tenant); err != nil {
			return err
		}
	}
	switch e := r.Event.(type) {
	case hosting.Requested:
		return s.disableWithSite(ctx, r, e)
	case hosting.Changed:
		return s.tellEngineOfPackage(ctx, r, e)
	case hosting.EngineConfirmed:
		return s.certifyNewName(ctx, r)
	}
	return nil
}

// suspensionOf tells whose records a fact may have left out of step; 0: nobody's.
func suspensionOf(r eventstore.RecordedEvent) int64 {
	switch e := r.Event.(type) {
	case hosting.Requested:
		if kind, _ := hosting.KindNamed(e.Kind); kind.CanBeDisabled {
			return e.Tenant
		}
	case hosting.ServiceSuspended, hosting.ServiceResumed:
		return r.Tenant
	case hosting.Changed:
		if _, state := hosting.NewStatus(r.Stream, e); state {
			return r.Tenant
		}
	}
	return 0
}

// suspendWithTenant lets the records of a tenant rest as it does. It goes by how
// things are now, so it may be asked any number of times.
func (s *Panel) suspendWithTenant(ctx context.Context, r eventstore.RecordedEvent, id int64) error {
	scope := s.tables.For(projections.System)
	found, err := scope.Among(ctx, "tenant", []int64{id})
	if err != nil || len(found) == 0 {
		return err
	}
	var tenant hosting.Tenant
	if err := found[0].Load(&tenant); err != nil {
		return err
	}
	return s.suspendRecords(ctx, r, id, tenant.OutOfService(found[0].DisabledBy...))
}

// suspendRecords lets the records that are out of step rest, or run again, many
// at a time. Where somebody keeps writing one of them, each goes for itself:
// none waits for what is busy, and alone it loses few races.
func (s *Panel) suspendRecords(ctx context.Context, r eventstore.RecordedEvent, id int64, rests bool) error {
	for {
		records, err := s.tables.For(projections.System).OutOfStep(ctx, id, rests, hosting.MostFollowing)
		if err != nil || len(records) == 0 {
			return err
		}
		following := hosting.Following(rests, records)
		added, err := s.executeFor(ctx, r, following...)
		if errors.Is(err, eventstore.ErrConflict) {
			added, err = s.executeEachFor(ctx, r, following)
		}
		if err != nil || !added {
			return err // a lost race is tried again (see [poisonous])
		}
	}
}

func (s *Panel) executeFor(ctx context.Context, r eventstore.RecordedEvent, commands ...domain.Command) (added bool, err error) {
	cause := domain.Metadata{ID: uuid.New(), Actor: "system:reactions"}
	receipt, err := s.store.Execute(ctx, cause, commands...)
	return receipt.Position != 0, err
}

// executeEachFor carries out each command whatever becomes of the others. Those
// that come at once share the log's writes.
func (s *Panel) executeEachFor(ctx context.Context, r eventstore.RecordedEvent, commands []domain.Command) (bool, error) {
	const atOnce = 16
	var all errgroup.Group
	var some atomic.Bool
	all.SetLimit(atOnce)
	for _, command := range commands {
		all.Go(func() error {
			added, err := s.executeFor(ctx, r, command)
			if added {
				some.Store(true)
			}
			return err
		})
	}
	err := all.Wait()
	return some.Load(), err
}

// disableWithSite disables a part that came to a site while somebody threw the site
// away.
func (s *Panel) disableWithSite(ctx context.Context, r eventstore.RecordedEvent, e hosting.Requested) error {
	kind, _ := hosting.KindNamed(e.Kind)
	parent, isPart := kind.Parent()
	if whole, _ := hosting.KindNamed(parent.Kind); !isPart || !whole.Soft || !kind.CanBeDisabled {
		return nil
	}
	var site int64
	if err := (field.Set{field.Ref(parent.Field, &site)}).Load(e.Values()); err != nil {
		return err
	}
	row, err := s.tables.For(projections.System).Kept(ctx, hosting.Ref{Kind: parent.Kind, ID: site})
	if domain.CodeOf(err) == domain.NotFound || err == nil && row.TrashedAt == nil {
		return nil
	}
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("with its site")), Actor: "system:reactions"}
	_, err = s.store.Execute(ctx, cause, hosting.Disable{Ref: hosting.Ref{Kind: e.Kind, ID: id}, By: hosting.BySite})
	return err
}
