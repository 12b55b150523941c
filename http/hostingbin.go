package http

import (
	"context"
	"net/http"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// What is deleted of a kind with a bin is gone for everybody but operators,
// who may bring it back exactly as it was (docs/hosting.md, "Halted and in the
// bin").

// restoring is the route that brings something back.
func (k *collection) restoring() route.Route {
	return route.Post(k.path()+"{id:int}/restore/", "Bring a deleted "+k.kind.Label+" back", k.restore).
		As(k.kind.Name + "_restore").With(http.StatusOK).For(k.superuser()).Finding(k.findInBin).
		Saying("It is exactly as it was, with all of its parts. Within 30 days.")
}

func (k *collection) findInBin(ctx context.Context, c route.Call) (any, string, error) {
	scope := k.scopeOf(c)
	row, err := scope.Kept(ctx, hosting.Ref{Kind: k.kind.Name, ID: c.ID("id")})
	if err != nil {
		return nil, "", err
	}
	w, err := k.whole(ctx, scope, row)
	if err != nil {
		return nil, "", err
	}
	return w, w.tag(), nil
}

func (k *collection) restore(ctx context.Context, c route.Call, _ *route.Nothing) (*hosted, error) {
	w := c.Subject.(*wish) //nolint:forcetypeassert // found by findInBin
	parts, err := k.eachPart(ctx, w.row.ID, func(part hosting.Ref) domain.Command { return hosting.Release{Ref: part, By: hosting.BySite} })
	if err != nil {
		return nil, err
	}
	return k.carryOut(ctx, c, w, nil, append([]domain.Command{hosting.Restore{Ref: w.ref()}}, parts...)...)
}

// evicting removes from the bin whatever is called there as the record is to
// be, with all that goes with it.
func (k *collection) evicting(ctx context.Context, w *wish) (commands []domain.Command, err error) {
	called, changed := textIn(w.spec, k.kind.Called), w.changes()
	if _, new := changed[k.kind.Called]; !k.kind.Soft || !new {
		return nil, nil
	}
	binned, err := k.system().Binned(ctx, k.kind, called)
	for _, row := range binned {
		purge, err := k.purge(ctx, row)
		if err != nil {
			return nil, err
		}
		commands = append(commands, purge...)
	}
	return commands, err
}

// purge removes something for good: its parts go with it, what else refers to
// it stays without it.
func (k *collection) purge(ctx context.Context, row projections.Resource) ([]domain.Command, error) {
	commands := []domain.Command{hosting.Remove{Ref: hosting.Ref{Kind: row.Kind, ID: row.ID}}}
	for _, other := range k.kind.Referrers() {
		found, err := k.system().PartsOf(ctx, other.Kind.Name, other.By, row.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			ref := hosting.Ref{Kind: r.Kind, ID: r.ID}
			if other.Kind.IsPartBy(other.By) {
				commands = append(commands, hosting.Remove{Ref: ref})
			} else {
				commands = append(commands, hosting.Change{Ref: ref, Spec: field.Values{other.By: []byte("null")}})
			}
		}
	}
	return commands, nil
}

// stillHalted refuses to switch something on whose site is in the bin.
func (w *wish) stillHalted() error {
	if string(w.changes()["is_active"]) != "true" || !slices.Contains(w.row.Halts, hosting.BySite) {
		return nil
	}
	return hosting.ErrSiteInactive
}
