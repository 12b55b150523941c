package hosting

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
)

// Differences compares all tenants with the engine in the background, reports what
// differs as incidents, and does what operators answer (docs/sync.md, "In the
// background").
type Differences struct {
	Deps

	service *Service
}

// NewDifferences registers the tasks that compare.
func NewDifferences(d Deps, service *Service) *Differences {
	f := &Differences{Deps: d, service: service}
	f.compareInTurn()
	f.compareHypervisors()
	return f
}

// mostReported limits how many incidents one comparison of a tenant reports. The
// next one goes on with the rest.
const mostReported = 50

// A look is one comparison of a tenant with the engine.
type look struct {
	*Differences
	tenant int64

	found   *comparison
	orphans []hosting.EngineObject
	skipped map[string]bool // kinds that the engine does not have
	open    map[string]bool // "site-7": no verdict, because work on it is in flight
	lost    bool            // the engine does not know the client

	troubles []operations.Trouble
}

// CompareTenant compares a tenant with the engine, reports what differs, and
// settles the incidents of what does not differ any more. It changes neither.
func (f *Differences) CompareTenant(ctx context.Context, tenant int64) error {
	l := &look{Differences: f, tenant: tenant, skipped: map[string]bool{}, open: map[string]bool{}}
	known, err := l.read(ctx)
	if err != nil || !known {
		return err
	}
	row := l.found.tenant
	ctx = domain.Origin{Cause: domain.DeadlineCause(row.Ref().Stream(), row.Version)}.With(ctx)
	if err := l.beside(ctx); err != nil {
		return err
	}
	if err := l.confirm(ctx); err != nil {
		return err
	}
	return l.report(ctx)
}

// read reads the tenant's records. One that the engine does not know yet, or that
// is on its way to it, is not compared.
func (l *look) read(ctx context.Context) (known bool, err error) {
	rows, err := l.system().Hosting().OfTenant(ctx, l.tenant)
	if err != nil {
		return false, err
	}
	if l.found, err = recordsOf(rows); err != nil {
		return false, err
	}
	tenant := l.found.tenant
	if tenant.EngineID == nil || tenant.SyncStatus != "synced" || tenant.Status == hosting.Leaving || tenant.TrashedAt != nil {
		return false, nil
	}
	return true, l.findLimits(ctx, l.found)
}

// beside lays the records beside the engine's objects, kind by kind. If the client
// is missing, nothing else can be told.
func (l *look) beside(ctx context.Context) error {
	for _, kind := range hosting.Kinds {
		if kind.EngineID == "" {
			continue
		}
		records := ofKind(l.found, kind.Name)
		theirs, err := l.listed(ctx, kind.Name)
		if domain.ClassOf(err) == domain.Permanent && sagas.CodeOf(err) == "not_supported" {
			l.skipped[kind.Name] = true
			continue
		}
		if err != nil {
			return fmt.Errorf("list the %s of tenant %d: %w", kind.Counted(), l.tenant, err)
		}
		for _, r := range records {
			if r.present() {
				r.beside(theirs)
				r.misplaced = r.misplacedAt(ctx, l.Engine, l.found.tenant)
			}
		}
		if kind.Owner && len(theirs) == 0 {
			l.lost = true
			return nil
		}
		l.orphans = append(l.orphans, unknown(theirs, records)...)
	}
	return nil
}

func ofKind(c *comparison, kind string) (records []*compared) {
	for _, r := range c.records {
		if r.kind.Name == kind {
			records = append(records, r)
		}
	}
	return records
}

// listed are the engine's objects of a kind, in a call with a limit of its own.
func (l *look) listed(ctx context.Context, kind string) ([]hosting.EngineObject, error) {
	call, cancel := context.WithTimeout(ctx, l.Runner.Times().Call)
	defer cancel()
	return l.theirs(call, kind, l.found.tenant)
}

// unknown are the objects that no record is about, neither by number nor by name.
// A record counts in whatever state it is.
func unknown(theirs []hosting.EngineObject, records []*compared) []hosting.EngineObject {
	return slices.DeleteFunc(slices.Clone(theirs), func(o hosting.EngineObject) bool {
		return slices.ContainsFunc(records, func(r *compared) bool {
			return r.row.EngineID != nil && *r.row.EngineID == o.ID || r.object.Name == o.Name
		})
	})
}

// confirm looks at each difference once more by itself, and then at the log: what
// has been changed meanwhile, or is still in flight, is no difference.
func (l *look) confirm(ctx context.Context) error {
	for _, r := range l.found.records {
		if r.open() || l.parentOpen(r) {
			l.open[r.ref().Stream().String()] = true
			continue
		}
		if !r.missing && len(r.drift)+len(r.misplaced) == 0 {
			continue
		}
		if err := l.lookAgain(ctx, r); err != nil {
			return err
		}
	}
	for _, o := range l.orphans {
		if err := l.lookAtOrphan(ctx, o); err != nil {
			return err
		}
	}
	return l.dropChanged(ctx)
}

// parentOpen tells whether work is in flight on what a record is a part of.
func (l *look) parentOpen(r *compared) bool {
	return slices.ContainsFunc(l.found.records, func(p *compared) bool {
		parent, is := r.kind.Parent()
		return is && p.kind.Name == parent.Kind && p.open() && string(r.values[parent.Field]) == strconv.FormatInt(p.row.ID, 10)
	})
}

// lookAgain asks the engine for the record's object alone. What the two looks tell
// differently has no verdict.
func (l *look) lookAgain(ctx context.Context, r *compared) error {
	name := r.object.Name
	if !r.missing {
		name = r.theirs.Name
	}
	o, is, err := l.seen(ctx, r.kind, name)
	switch {
	case err != nil && domain.ClassOf(err) != domain.Permanent:
		return err
	case err == nil && r.missing && !is:
		l.troubles = append(l.troubles, operations.MissingTrouble(l.tenant, r.row.Kind, r.row.ID))
	case err == nil && !r.missing && is && o.Applied && o.ID == r.theirs.ID:
		r.drift, r.misplaced = r.differences(o), r.misplacedAt(ctx, l.Engine, l.found.tenant)
		l.tellDrift(r)
	default:
		l.open[r.ref().Stream().String()] = true
	}
	return nil
}

// tellDrift reports in which fields an object differs.
func (l *look) tellDrift(r *compared) {
	var fields []string
	for _, d := range slices.Concat(r.drift, r.misplaced) {
		fields = append(fields, d.Field)
	}
	if len(fields) > 0 {
		l.troubles = append(l.troubles, operations.ChangedTrouble(l.tenant, r.row.Kind, r.row.ID, fields))
	}
}

// lookAtOrphan asks the engine for an object alone that no record is about.
func (l *look) lookAtOrphan(ctx context.Context, o hosting.EngineObject) error {
	kind, _ := hosting.KindNamed(o.Kind)
	again, is, err := l.seen(ctx, kind, o.Name)
	if err != nil && domain.ClassOf(err) != domain.Permanent {
		return err
	}
	if err == nil && is && again.ID == o.ID && again.Owner == *l.found.tenant.EngineID {
		l.troubles = append(l.troubles, operations.OrphanTrouble(l.tenant, o.Kind, o.ID))
	}
	return nil
}

// seen is one object as the engine shows it alone.
func (l *look) seen(ctx context.Context, kind hosting.Kind, name string) (o hosting.EngineObject, is bool, err error) {
	call, cancel := context.WithTimeout(ctx, l.Runner.Times().Call)
	defer cancel()
	ref := ""
	if kind.Owner {
		ref = hosting.CustomerNumber(l.tenant)
		name = ref
	}
	return l.Engine.Find(call, kind.Name, name, ref)
}
