package hosting

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// The engine holds each client to limits of its own. Who changes a package
// changes those of all its tenants: a reaction asks for a push of each, and
// their runs bring it to the engine one by one (docs/tenants.md, "Packages").

// shelf is how many numbers of tenants share an append.
const shelf = 200

// pushLimits asks for the push of every tenant with the package.
func (m *Maintenance) pushLimits(ctx context.Context, r eventstore.RecordedEvent, e hosting.Changed) error {
	if kind, _ := hosting.KindOf(r.Stream); !kind.Shared || !hosting.ChangesLimits(e.Spec) {
		return nil
	}
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return err
	}
	tenants, err := m.system().Hosting().WithPackage(ctx, id)
	if err != nil {
		return err
	}
	for len(tenants) > 0 {
		n := tenants[0] / shelf
		var pushes []domain.Command
		for len(tenants) > 0 && tenants[0]/shelf == n {
			pushes = append(pushes, hosting.Push{Ref: hosting.Ref{Kind: "tenant", ID: tenants[0]}})
			tenants = tenants[1:]
		}
		if _, err := m.Store.Execute(ctx, shelfCause(r, n), pushes...); err != nil {
			return err
		}
	}
	return nil
}

// shelfCause names the pushes of neighbouring tenants after the event, so that
// they are asked for once, however often it comes. Who gets the package
// meanwhile is pushed for that.
func shelfCause(r eventstore.RecordedEvent, n int64) domain.Metadata {
	return domain.Metadata{ID: uuid.NewSHA1(r.ID, fmt.Appendf(nil, "tenants/%d", n)), Actor: "system:reactions"}
}
