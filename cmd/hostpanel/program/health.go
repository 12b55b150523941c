package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Alive tells which part has ended that the process runs itself. It is being
// restarted, or the process is about to end.
func (p *Program) Alive() map[string]string {
	if p.cluster != nil && !p.cluster.Running() {
		return map[string]string{"postgres": "the embedded server does not run"}
	}
	return nil
}

// Ready tells what keeps the panel from serving, by the name of the check.
func (p *Program) Ready(ctx context.Context) map[string]string {
	states, err := p.Tables.For(projections.System).Operations().States(ctx)
	switch {
	case errors.Is(orEmpty(err), errEmpty):
		return map[string]string{"migrations": "missing"}
	case err != nil:
		return map[string]string{"database": "does not answer"}
	}
	failed := []string{}
	for _, s := range states {
		if s.Status == "failed" {
			failed = append(failed, s.Name)
		}
	}
	if len(failed) > 0 {
		return map[string]string{"projections": "failed: " + strings.Join(failed, ", ")}
	}
	if p.past != nil {
		return nil
	}
	return p.readersMove(ctx)
}

// readersMove tells which readers of the log do not move.
func (p *Program) readersMove(ctx context.Context) map[string]string {
	stuck, err := p.Sagas.Operations.StuckReaders(ctx)
	if err != nil {
		return map[string]string{"database": "does not answer"}
	}
	if len(stuck) == 0 {
		return nil
	}
	names := make([]string, len(stuck))
	for i, r := range stuck {
		names[i] = fmt.Sprintf("%s at position %d", r.Name, r.Position)
	}
	return map[string]string{"readers": "have not moved for a minute: " + strings.Join(names, ", ")}
}

// isAway tells that an error says nothing about the request, only about the
// database.
func isAway(err error) bool {
	return err != nil && errors.Is(eventstore.Unavailable(err), eventstore.ErrUnavailable)
}
