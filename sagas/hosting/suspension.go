package hosting

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// What runs for a tenant rests with it (docs/tenants.md, "Suspension"), and what
// is part of a site goes into the bin with it. A change of a tenant's state, or the
// removal of a site, disables or enables the records in the same append. Records that
// came meanwhile, or are too many for an append, are disabled or enabled here.

// suspensionOf is the tenant whose records an event may have left out of step; 0:
// none.
func suspensionOf(r eventstore.RecordedEvent) int64 {
	switch e := r.Event.(type) {
	case hosting.Requested:
		if kind, _ := hosting.KindNamed(e.Kind); kind.CanBeDisabled {
			return e.Tenant
		}
	case hosting.ServiceSuspended, hosting.ServiceResumed:
		return r.Tenant
	case hosting.Changed:
		kind, _ := hosting.KindOf(r.Stream)
		if _, state := hosting.NewStatus(r.Stream, e); state || kind.Owner && hosting.TurnsSites(e.Spec) {
			return r.Tenant
		}
	}
	return 0
}

// suspendWithTenant lets the records of a tenant rest as it does. It goes by how
// things are now, so it may be asked any number of times.
func (m *Maintenance) suspendWithTenant(ctx context.Context, r eventstore.RecordedEvent, id int64) error {
	scope := m.system()
	found, err := scope.Hosting().Among(ctx, "tenant", []int64{id})
	if err != nil || len(found) == 0 {
		return err
	}
	var tenant hosting.Tenant
	if err := found[0].Load(&tenant); err != nil {
		return err
	}
	err = m.suspendRecords(ctx, id, hosting.ByTenant, m.system().Hosting().OutOfStep, tenant.OutOfService(found[0].DisabledBy...))
	if err != nil {
		return err
	}
	if _, isNew := r.Event.(hosting.Requested); isNew && !tenant.SitesRest {
		return nil
	}
	return m.suspendRecords(ctx, id, hosting.ByOrder, m.system().Hosting().SitesOutOfStep, tenant.SitesRest)
}

// outOfStep are the records of a tenant that rest, or run, though they should not.
type outOfStep = func(ctx context.Context, tenant int64, rests bool, limit int64) ([]hosting.Ref, error)

// suspendRecords lets the records that are out of step rest, or run again, many
// at a time. Where one of them is being written, each goes for itself:
// none waits for what is busy, and alone it loses few races.
func (m *Maintenance) suspendRecords(ctx context.Context, id int64, by string, outOfStep outOfStep, rests bool) error {
	for {
		records, err := outOfStep(ctx, id, rests, hosting.MostFollowing)
		if err != nil || len(records) == 0 {
			return err
		}
		following := hosting.Switching(rests, by, records)
		added, err := m.execute(ctx, following...)
		if errors.Is(err, eventstore.ErrConflict) {
			added, err = m.executeEach(ctx, following)
		}
		if err != nil || !added {
			return err // a lost race is tried again (docs/sagas.md, "Reactions")
		}
	}
}

func (m *Maintenance) execute(ctx context.Context, commands ...domain.Command) (added bool, err error) {
	cause := domain.Metadata{ID: uuid.New(), Actor: "system:reactions"}
	receipt, err := m.Store.Execute(ctx, cause, commands...)
	return receipt.Position != 0, err
}

// executeEach carries out each command whatever becomes of the others. Those
// that come at once share the log's writes.
func (m *Maintenance) executeEach(ctx context.Context, commands []domain.Command) (bool, error) {
	const atOnce = 16
	var all errgroup.Group
	var some atomic.Bool
	all.SetLimit(atOnce)
	for _, command := range commands {
		all.Go(func() error {
			added, err := m.execute(ctx, command)
			if added {
				some.Store(true)
			}
			return err
		})
	}
	err := all.Wait()
	return some.Load(), err
}

// disableWithSite disables a part that came to a site while the site went into the
// bin.
func (m *Maintenance) disableWithSite(ctx context.Context, r eventstore.RecordedEvent, e hosting.Requested) error {
	kind, _ := hosting.KindNamed(e.Kind)
	parent, isPart := kind.Parent()
	if whole, _ := hosting.KindNamed(parent.Kind); !isPart || !whole.Soft || !kind.CanBeDisabled {
		return nil
	}
	var site int64
	if err := (field.Set{field.Ref(parent.Field, &site)}).Load(e.Values()); err != nil {
		return err
	}
	row, err := m.system().Hosting().Kept(ctx, hosting.Ref{Kind: parent.Kind, ID: site})
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
	_, err = m.Store.Execute(ctx, cause, hosting.Disable{Ref: hosting.Ref{Kind: e.Kind, ID: id}, By: hosting.BySite})
	return err
}
