package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

func (k *collection) create(ctx context.Context, c route.Call, w *resource) (*hosted, error) {
	c.Location(k.pathOf(w.ID))
	receipt, given, err := k.service.Create(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	made, err := k.changed(ctx, c, w, receipt, err)
	if err == nil && given != nil {
		c.Set("Cache-Control", "no-store")
		made.given = &credentials{*given}
	}
	return made, err
}

func (k *collection) change(ctx context.Context, c route.Call, w *resource) (*hosted, error) {
	receipt, err := k.service.Change(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	return k.changed(ctx, c, w, receipt, err)
}

// remove removes a record; with ?force=true also what is part of it.
func (k *collection) remove(ctx context.Context, c route.Call) error {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	receipt, err := k.service.Remove(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft, c.Param("force") == "true")
	if err != nil {
		return err
	}
	return k.awaitDraft(ctx, c, w, receipt)
}

// changed shows a record as it is after a change.
func (k *collection) changed(ctx context.Context, c route.Call, w *resource, receipt domain.Receipt, err error) (*hosted, error) {
	if err != nil {
		return nil, err
	}
	if err := k.awaitDraft(ctx, c, w, receipt); err != nil {
		return nil, err
	}
	row, err := k.scopeOf(c).Hosting().Resource(ctx, w.Ref())
	if err != nil {
		return nil, err
	}
	if c.Subject, err = k.whole(ctx, k.scopeOf(c), row); err != nil {
		return nil, err
	}
	return k.show(ctx, c)
}

// awaitDraft gives the engine a moment to do what was asked of it, if anything
// was.
func (k *collection) awaitDraft(ctx context.Context, c route.Call, w *resource, receipt domain.Receipt) error {
	of := w.Ref().Stream()
	now, isAsked := receipt.Versions[of]
	if !isAsked || now == w.Version { // a snapshot that is restored stays as it is
		return nil
	}
	return k.awaitEngine(ctx, c, w.Ref(), now)
}
