package hosting

import (
	"context"
	"net/http"

	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// What is deleted of a kind with a bin is gone for everybody but operators,
// who may bring it back exactly as it was (docs/hosting.md, "Disabled and in the
// bin").

// restoring is the route that brings something back.
func (k *collection) restoring() route.Route {
	return route.Post(k.path()+"{id:int}/restore/", "Bring a deleted "+k.kind.Label+" back", k.restore).
		As(k.kind.Name + "_restore").With(http.StatusOK).For(k.callers.Superuser()).Finding(k.findInBin).
		Saying("It is exactly as it was, with all of its parts. Within 30 days.")
}

func (k *collection) findInBin(ctx context.Context, c route.Call) (any, string, error) {
	scope := k.scopeOf(c)
	row, err := scope.Hosting().Kept(ctx, hosting.Ref{Kind: k.kind.Name, ID: c.ID("id")})
	if err != nil {
		return nil, "", err
	}
	w, err := k.whole(ctx, scope, row)
	if err != nil {
		return nil, "", err
	}
	return w, w.Tag(), nil
}

func (k *collection) restore(ctx context.Context, c route.Call, _ *route.Nothing) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by findInBin
	receipt, err := k.service.Restore(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	return k.changed(ctx, c, w, receipt, err)
}
