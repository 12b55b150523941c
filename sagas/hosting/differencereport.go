package hosting

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// dropChanged drops what the log tells otherwise by now: records that have gone on
// since they were read, and objects that a record is about.
func (l *look) dropChanged(ctx context.Context) error {
	rows, err := l.system().Hosting().OfTenant(ctx, l.tenant)
	if err != nil {
		return err
	}
	now, err := recordsOf(rows)
	if err != nil {
		return err
	}
	versions := map[string]int{}
	for _, r := range now.records {
		versions[r.ref().Stream().String()] = r.row.Version
	}
	for _, r := range l.found.records {
		if stream := r.ref().Stream().String(); versions[stream] != r.row.Version {
			l.open[stream] = true
		}
	}
	known := func(t operations.Trouble) bool {
		return slices.ContainsFunc(l.orphans, func(o hosting.EngineObject) bool {
			return operations.OrphanTrouble(l.tenant, o.Kind, o.ID).ID() == t.ID() && len(
				unknown([]hosting.EngineObject{o}, ofKind(now, o.Kind)),
			) == 0
		})
	}
	l.troubles = slices.DeleteFunc(l.troubles, func(t operations.Trouble) bool { return l.open[recordIn(t.About)] || known(t) })
	return nil
}

// recordIn is the record that an incident is about; "": none.
func recordIn(about map[string]string) string {
	if about["id"] == "" {
		return ""
	}
	return about["kind"] + "-" + about["id"]
}

// report reports what differs, and settles what differs no longer. Incidents about
// records without a verdict, and about machines, stay as they are.
func (l *look) report(ctx context.Context) error {
	open, err := l.system().Operations().DifferencesOf(ctx, l.tenant)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(i projections.Incident) bool { return i.About["kind"] == machineKind })
	return l.tell(ctx, open, l.troubles, func(i projections.Incident) bool {
		return !l.lost && !l.skipped[i.About["kind"]] && !l.open[recordIn(i.About)]
	})
}

// tell reports troubles that are not reported, and settles those of the open incidents that
// are over and have a verdict.
func (f *Differences) tell(
	ctx context.Context, open []projections.Incident, troubles []operations.Trouble, hasVerdict func(projections.Incident) bool,
) error {
	stands, differs := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, i := range open {
		stands[i.ID] = true
	}
	told := 0
	for _, t := range troubles {
		differs[t.ID()] = true
		if stands[t.ID()] || told == mostReported {
			continue
		}
		if err := f.Runner.ReportIncident(ctx, t); err != nil {
			return err
		}
		told++
	}
	var over []uuid.UUID
	for _, i := range open {
		if !differs[i.ID] && hasVerdict(i) {
			over = append(over, i.ID)
		}
	}
	return f.Runner.SettleIncidents(ctx, domain.Metadata{Actor: sagas.IncidentReporter}, over, "it is over")
}
