package hosting

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The comparison of machines with their hypervisors (docs/machines.md, "Compared with the
// hypervisor").

// machineKind is the kind of machines.
const machineKind = "vm"

// A machineRecord is a record of a machine that was not removed for good.
type machineRecord struct {
	row    projections.Resource
	server string // of its hypervisor, as the record names it
	wanted compute.Machine
}

// isOpen tells whether nothing can be said of it: work on it is in flight, it was never made,
// or it is to leave. That a machine is lost is said also after a request has found it so.
func (r machineRecord) isOpen() bool {
	settled := r.row.SyncStatus == "synced" || r.row.SyncError == "absent"
	return !settled || r.row.External == "" || r.row.Status == hosting.Leaving || r.row.TrashedAt != nil
}

func (r machineRecord) ref() string { return r.row.Ref().Stream().String() }

// machineRecord is a row with the machine as it is to be.
func (d *Deps) machineRecord(row projections.Resource) (machineRecord, error) {
	var m hosting.Machine
	err := row.Load(&m)
	return machineRecord{row, m.Server, m.Wanted(d.Installation, row.Wish, row.Active, "")}, err
}

// machineRecords are the records of machines of all tenants and hypervisors.
func (d *Deps) machineRecords(ctx context.Context) ([]machineRecord, error) {
	rows, err := projections.NotGone(ctx, d.system().Hosting(), machineKind)
	if err != nil {
		return nil, err
	}
	all := make([]machineRecord, len(rows))
	for i, row := range rows {
		if all[i], err = d.machineRecord(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A machineLook is one comparison of a hypervisor with the records.
type machineLook struct {
	*Differences
	at      compute.Hypervisor
	records []machineRecord
	known   map[uuid.UUID]bool         // ids of the machines of all records
	here    map[string]machineRecord   // those of this hypervisor, by name
	ours    map[uuid.UUID]compute.Seen // machines with our mark
	unclear map[string]bool            // names of machines of which only a part is told
	version map[string]int             // of records, after the list
	open    map[string]bool            // "vm-7": no verdict

	reported  map[uuid.UUID]bool // incidents that stand
	looks     int                // for a machine alone
	troubles  []operations.Trouble
	strangers int
}

// CompareMachines compares a hypervisor with the records of all machines, reports what
// differs, and settles the incidents of what differs no longer. It changes no machine.
func (f *Differences) CompareMachines(ctx context.Context, server string) error {
	at, err := f.Compute.Of(server)
	if err != nil {
		return err
	}
	l := &machineLook{
		Differences: f, at: at, known: map[uuid.UUID]bool{}, here: map[string]machineRecord{}, ours: map[uuid.UUID]compute.Seen{},
		unclear: map[string]bool{}, version: map[string]int{}, open: map[string]bool{}, reported: map[uuid.UUID]bool{},
	}
	seen, err := l.read(ctx)
	if err != nil {
		return err
	}
	l.others(seen)
	if err := l.report(ctx); err != nil {
		return err
	}
	return l.next(ctx, len(seen))
}

// read lists the machines between two looks at the records, so that what is made or removed
// meanwhile is no difference.
func (l *machineLook) read(ctx context.Context) ([]compute.Seen, error) {
	var err error
	if l.records, err = l.machineRecords(ctx); err != nil {
		return nil, err
	}
	call, cancel := context.WithTimeout(ctx, l.Runner.Times().Call)
	defer cancel()
	seen, err := l.at.List(call)
	if err != nil {
		return nil, fmt.Errorf("list the machines of %s: %w", l.at.Server(), err)
	}
	now, err := l.machineRecords(ctx)
	for _, r := range now {
		l.version[r.ref()] = r.row.Version
	}
	for _, r := range slices.Concat(l.records, now) {
		l.knows(r)
	}
	return seen, err
}

// knows notes a record, also one of another hypervisor.
func (l *machineLook) knows(r machineRecord) {
	l.known[r.wanted.ID] = true
	if at, err := l.Compute.Of(r.server); err == nil && at.Server() == l.at.Server() {
		l.here[r.wanted.Name] = r
	}
}

// others finds machines of ours without a record, and strangers with a name of ours.
func (l *machineLook) others(seen []compute.Seen) {
	for _, s := range seen {
		_, named := l.here[s.Name]
		switch {
		case s.Partial, s.Ours && s.ID == uuid.Nil:
			l.unclear[s.Name] = true
		case s.Ours && l.known[s.ID]:
			if _, twice := l.ours[s.ID]; twice {
				l.unclear[s.Name] = true
			}
			l.ours[s.ID] = s
		case s.Ours && s.ID == compute.ID(l.Installation, s.Service):
			l.troubles = append(l.troubles, operations.OrphanedMachine(l.at.Server(), s.Name, s.External, s.Service))
		case named:
			l.troubles = append(l.troubles, operations.StrangerTrouble(l.at.Server(), s.Name, s.External, s.Service))
			fallthrough
		default:
			l.strangers++
		}
	}
}

// compare lays the records beside the machines.
func (l *machineLook) compare(ctx context.Context) error {
	for _, r := range l.records {
		seen, is := l.ours[r.wanted.ID]
		var err error
		switch {
		case l.here[r.wanted.Name].row.ID != r.row.ID: // of another hypervisor
		case r.isOpen(), l.version[r.ref()] != r.row.Version, l.unclear[r.wanted.Name], seen.State == compute.Moving:
			l.open[r.ref()] = true
		case is:
			l.changed(r, seen)
		default:
			err = l.missing(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changed notes in which fields a machine differs.
func (l *machineLook) changed(r machineRecord, seen compute.Seen) {
	if fields := r.wanted.Differences(seen); len(fields) > 0 {
		l.troubles = append(l.troubles, operations.ChangedTrouble(r.row.Tenant, machineKind, r.row.ID, fields))
	}
}

// missing looks once more for a machine that the list lacks, unless that is reported already.
// The next comparison looks for those that are too many for this one.
func (l *machineLook) missing(ctx context.Context, r machineRecord) error {
	t := operations.MissingTrouble(r.row.Tenant, machineKind, r.row.ID)
	switch {
	case l.reported[t.ID()]:
	case l.looks == mostReported:
		l.open[r.ref()] = true
		return nil
	default:
		l.looks++
		_, is, err := l.machineAt(ctx, l.at, r.wanted)
		if l.open[r.ref()] = is; is || err != nil {
			return err
		}
	}
	l.troubles = append(l.troubles, t)
	return nil
}

// machineAt looks for a machine of ours, in a call with a limit of its own.
func (d *Deps) machineAt(ctx context.Context, at compute.Hypervisor, m compute.Machine) (compute.Seen, bool, error) {
	call, cancel := context.WithTimeout(ctx, d.Runner.Times().Call)
	defer cancel()
	seen, is, err := at.Find(call, m)
	return seen, is && (seen.Partial || seen.Ours && seen.ID == m.ID), err
}

// report compares, reports and settles. Incidents of other hypervisors, and of records
// without a verdict, stay as they are.
func (l *machineLook) report(ctx context.Context) error {
	open, err := l.system().Operations().MachineDifferences(ctx)
	if err != nil {
		return err
	}
	for _, i := range open {
		l.reported[i.ID] = true
	}
	if err := l.compare(ctx); err != nil {
		return err
	}
	here := map[string]bool{}
	for _, r := range l.here {
		here[r.ref()] = true
	}
	return l.tell(l.origin().With(ctx), open, l.troubles, func(i projections.Incident) bool {
		record := recordIn(i.About)
		return i.About["server"] == l.at.Server() || here[record] && !l.open[record]
	})
}

// origin is what a report follows from: the last record of a machine, or else the trouble.
func (l *machineLook) origin() (o domain.Origin) {
	switch {
	case len(l.records) > 0:
		last := l.records[len(l.records)-1].row
		o.Cause = domain.DeadlineCause(last.Ref().Stream(), last.Version)
	case len(l.troubles) > 0:
		o.Cause = domain.DeadlineCause(operations.IncidentStream(l.troubles[0].ID()), 1)
	}
	return o
}

// compareHypervisors compares each hypervisor once in an interval, in one process at a time.
// One that does not answer is asked again after a while, and is left out of no round.
func (f *Differences) compareHypervisors() {
	if f.Times.Compare == 0 || len(f.Compute) == 0 {
		return
	}
	servers := f.servers()
	sagas.AddTasks(f.Runner, sagas.Queue[string]{
		Name: "machines", Failed: "the machines of a hypervisor were not compared",
		Policy: sagas.TaskPolicy{
			Look: f.Times.ComparePoll, Lease: f.Times.CompareLease, Base: f.Times.ComparePoll, Cap: f.Times.CompareLease,
		},
		Due: func() (string, []any) {
			return `
				select s.server as key, coalesce(c.next_at, e.began_at + interval '1 hour') as since
				from unnest($1::text[]) s(server) cross join engine_comparison e left join machine_comparison c on c.server = s.server
				where coalesce(c.next_at, e.began_at + interval '1 hour') <= business_now()`, []any{servers}
		},
		Do: func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
			return sagas.TaskDone, f.CompareMachines(ctx, task.Row)
		},
	}, nil)
}

// servers are the names of all hypervisors.
func (d *Deps) servers() (all []string) {
	for _, at := range d.Compute {
		all = append(all, at.Server())
	}
	return all
}

// next notes what was found, and when the hypervisor is compared again.
func (l *machineLook) next(ctx context.Context, machines int) error {
	_, err := l.Runner.Exec(ctx, "end the comparison of a hypervisor", `
		insert into machine_comparison as c (server, machines, strangers, next_at)
			values ($1, $2, $3, business_now() + $4::interval)
		on conflict (server) do update set
			machines = excluded.machines, strangers = excluded.strangers, next_at = excluded.next_at`,
		l.at.Server(), machines, l.strangers, l.Times.Compare)
	return err
}
