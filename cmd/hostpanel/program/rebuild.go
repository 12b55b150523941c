package program

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

// Rebuild builds read tables anew from the log, for the command and for the runs of
// operators. Tables that could not be built are an incident.
func (p *Program) Rebuild(ctx context.Context, names []string, o projections.Options) (projections.Result, error) {
	owner, err := eventstore.ConnectOwner(ctx, p.URL)
	if err != nil {
		return projections.Result{}, err
	}
	defer owner.Close()
	result, err := projections.Rebuild(ctx, owner, logOver(p, owner), names, o)
	if err != nil {
		p.ReportFailedTables(context.WithoutCancel(ctx))
	}
	return result, err
}

// logOver reads the log over the connections of the database's owner.
func logOver(p *Program, owner *pgxpool.Pool) *eventstore.Reader {
	return eventstore.Open(owner, catalogue.Events(), p.Keys, eventstore.WithLog(p.Log)).Reader()
}
