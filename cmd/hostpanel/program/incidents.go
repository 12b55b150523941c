package program

import (
	"context"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/projections"
)

// Report tells operators of a trouble that a command has come upon: through
// the log, as far as it can be written (docs/operations.md, "Incidents").
func (p *Program) Report(ctx context.Context, t operations.Trouble) {
	p.record(ctx, t, t.Report(p.Store.Clock().Now()))
}

// settle tells that a trouble is over, if it was reported.
func (p *Program) settle(ctx context.Context, t operations.Trouble, reason string) {
	p.record(ctx, t, t.Settle(reason, p.Store.Clock().Now()))
}

func (p *Program) record(ctx context.Context, t operations.Trouble, c domain.Command) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, err := p.Store.Execute(ctx, domain.Metadata{Actor: "system:incidents"}, c); err != nil {
		p.Log.WarnContext(ctx, "an incident was not reported or settled", "kind", t.Kind, "error", err)
	}
}

// ReportFailedTables tells of read tables that could not be built. The others
// go on as they were, so the log can be written.
func (p *Program) ReportFailedTables(ctx context.Context) {
	states, err := p.Tables.For(projections.System).Operations().States(ctx)
	if err != nil {
		p.Log.WarnContext(ctx, "cannot read which read tables have failed", "error", err)
	}
	for _, s := range states {
		if s.Status == "failed" {
			p.Report(ctx, operations.TableTrouble(s.Name))
		}
	}
}

// reportFailedStart does so for a program that will not serve because of it.
// One that cannot even be put together has told why.
func (p *Program) reportFailedStart(ctx context.Context) {
	if p.connect(ctx, Reading) == nil && p.assemble(ctx) == nil {
		p.ReportFailedTables(ctx)
	}
}
