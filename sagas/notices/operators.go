package notices

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Operators are told of orders that need a decision and of incidents
// (docs/operations.md, "Incidents").

// tellOperatorsOfOrder notifies every superuser of an order, with the way to its page.
func (n *Notifier) tellOperatorsOfOrder(
	ctx context.Context, r eventstore.RecordedEvent, what func(order uuid.UUID, number, language string) notice.Text,
) error {
	o, err := n.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	text := func(language string) notice.Text { return what(o.ID, o.OrderNumber, language) }
	return n.tellOperators(ctx, r, text, aboutOrder(o))
}

// incidentWindow is the time within which [operations.MostIncidentsTold] counts.
const incidentWindow = time.Hour

// tellIncident notifies every superuser of an incident, with the way to its page.
func (n *Notifier) tellIncident(ctx context.Context, r eventstore.RecordedEvent, e operations.IncidentReported) error {
	lately, err := n.tables.For(projections.System).Operations().IncidentsReported(
		ctx, e.Kind, r.RecordedAt.Add(-incidentWindow), r.RecordedAt,
	)
	if err != nil || lately > operations.MostIncidentsTold {
		return err
	}
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return fmt.Errorf("read the id of an incident: %w", err)
	}
	return n.tellOperators(
		ctx, r, func(language string) notice.Text { return notice.Incident(id, e.Kind, e.About, language) },
		map[string]string{"incident_id": r.Stream.ID},
	)
}

// tellOperators notifies every superuser, each in their own language.
func (n *Notifier) tellOperators(ctx context.Context, r eventstore.RecordedEvent, what inLanguage, about map[string]string) error {
	users, err := n.tables.For(projections.System).Accounts().Superusers(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if err := n.tell(ctx, r, u.ID, what(u.Language), about); err != nil {
			return err
		}
	}
	return nil
}
