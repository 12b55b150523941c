package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// create makes a tenant. It has no members yet.
func (t *tenants) create(ctx context.Context, c route.Call, w *resource) (*hosted, error) {
	c.Location(t.collection.pathOf(w.ID))
	receipt, err := t.service.CreateTenant(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	return t.afterwards(ctx, c, w, receipt, err)
}

func (t *tenants) change(ctx context.Context, c route.Call, w *resource) (*hosted, error) {
	receipt, err := t.service.ChangeTenant(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	return t.afterwards(ctx, c, w, receipt, err)
}

// terminate moves the tenant to the bin with all its resources.
func (t *tenants) terminate(ctx context.Context, c route.Call) error {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	receipt, err := t.service.TerminateTenant(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	if err != nil {
		return err
	}
	return t.collection.awaitDraft(ctx, c, w, receipt)
}

// afterwards reads the tenant after the change, even in the bin.
func (t *tenants) afterwards(ctx context.Context, c route.Call, w *resource, receipt domain.Receipt, err error) (*hosted, error) {
	if err != nil {
		return nil, err
	}
	if err := t.collection.awaitDraft(ctx, c, w, receipt); err != nil {
		return nil, err
	}
	rows, err := t.callers.System().Hosting().Among(ctx, w.Kind.Name, []int64{w.ID})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, route.Missing(w.Kind.Class)
	}
	if c.Subject, err = t.collection.whole(ctx, t.callers.System(), rows[0]); err != nil {
		return nil, err
	}
	return t.collection.show(ctx, c)
}

// specOf is the desired state of a tenant.
func specOf(w *resource) *hosting.Tenant {
	return w.Spec.(*hosting.Tenant) //nolint:forcetypeassert // of the kind
}
