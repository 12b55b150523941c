package notices

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// tellOfTraffic notifies the administrators of a tenant of the traffic of a machine.
func tellOfTraffic(ctx context.Context, n *Notifier, r eventstore.RecordedEvent, e hosting.TrafficReached) error {
	ref := hosting.RefOf(r.Stream)
	row, err := n.tables.For(projections.System).Hosting().Resource(ctx, ref)
	if err != nil {
		return unlessMissing(err)
	}
	service, err := uuid.Parse(strings.TrimPrefix(row.RequestedFor, "order:"))
	if err != nil {
		return nil //nolint:nilerr // it was not ordered
	}
	name := hosting.MachineName(ref.ID)
	return n.tellAdmins(ctx, r, func(language string) notice.Text {
		return notice.Traffic(name, e.LimitTB, e.Excess, language).At(notice.ServicePage(service))
	}, map[string]string{ref.Kind + "_id": r.Stream.ID})
}

// isMachine tells whether an event is about a machine.
func isMachine(r eventstore.RecordedEvent) bool {
	kind, known := hosting.KindOf(r.Stream)
	_, isPart := kind.Parent()
	return known && kind.Backend == hosting.Compute && !isPart
}

// wasOrdered tells whether an order makes a resource, and has not made it yet.
func wasOrdered(row projections.Resource) bool { return row.External == "" && row.RequestedFor != "" }

// tellOfRefusal notifies of what a server has refused: the customer of a machine that was
// never made, else the administrators of its tenant.
func tellOfRefusal(ctx context.Context, n *Notifier, r eventstore.RecordedEvent) error {
	row, err := n.tables.For(projections.System).Hosting().Resource(ctx, hosting.RefOf(r.Stream))
	if err != nil {
		return unlessMissing(err)
	}
	if isMachine(r) && wasOrdered(row) {
		return n.tellOfMachine(ctx, r, notice.MachineFailed)
	}
	return n.tellOfResource(ctx, r, notice.EngineRefused)
}
