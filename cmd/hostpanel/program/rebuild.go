package program

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/cmd/hostpanel/connection"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

// Rebuild builds read tables anew from the log, for the command and for the runs of
// operators. Tables that could not be built are an incident.
//
// It goes on where it was when a connection to the database is lost on the way.
func (p *Program) Rebuild(ctx context.Context, names []string, o projections.Options) (result projections.Result, err error) {
	err = p.Repeat(ctx, func(owner *pgxpool.Pool) (err error) {
		result, err = projections.Rebuild(ctx, owner, logOver(p, owner), names, o)
		return err
	})
	if err != nil {
		p.ReportFailedTables(context.WithoutCancel(ctx))
	}
	return result, err
}

// Repeat does something as the owner of the database, again if a connection is lost on the way.
func (p *Program) Repeat(ctx context.Context, do func(owner *pgxpool.Pool) error) error {
	return connection.Repeat(ctx, p.URL, p.Log, func() error {
		owner, err := eventstore.ConnectOwner(ctx, p.URL)
		if err != nil {
			return err
		}
		defer owner.Close()
		return do(owner)
	})
}

// logOver reads the log over the connections of the database's owner.
func logOver(p *Program, owner *pgxpool.Pool) *eventstore.Reader {
	return eventstore.Open(owner, catalogue.Events(), p.Keys, eventstore.WithLog(p.Log)).Reader()
}
