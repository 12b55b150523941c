package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Comparing a tenant's records with the engine's (docs/sync.md, "Comparing"):
// look at all of them, push what the engine lacks or has never taken, mend
// what differs if that was asked for, wait for the engine's answers, and tell
// what was found.

// errEngineAway is the refusal of what needs the engine while it is away.
var errEngineAway = &domain.Error{
	Code: domain.Unavailable, Reason: "engine_unavailable", Message: "The hosting engine is temporarily unavailable.",
}

// Sync begins a comparison of a tenant's records with the engine's. It is
// refused while the engine does not answer, and while one is running.
func (ops *Operations) Sync(ctx context.Context, cause domain.Metadata, queue hosting.QueueOperation) error {
	if err := ops.awake(ctx, queue.Tenant); err != nil {
		return err
	}
	_, err := ops.Store.Execute(ctx, cause, queue)
	if err == nil {
		ops.Runner.Wake(ops.EngineQueue)
	}
	return err
}

// awake refuses if the engine does not answer a question.
func (ops *Operations) awake(ctx context.Context, tenant int64) error {
	if err := ops.Runner.KeepRecovery(ctx); err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	number := hosting.CustomerNumber(tenant)
	_, _, err := ops.Engine.Find(call, "tenant", number, number)
	if err != nil && ctx.Err() == nil && domain.ClassOf(err) != domain.Permanent {
		return errEngineAway
	}
	return ctx.Err()
}

// compareTenant is the step that looks at all records. An engine that is away for
// too long, or that will not answer, ends the operation.
func (ops *Operations) compareTenant(ctx context.Context, job *SyncInput) (bool, sagas.Work, error) {
	o, age, err := ops.operation(ctx, job.Operation)
	if err != nil || o.Over() || o.Sync == nil {
		return err == nil, sagas.Work{}, err
	}
	found, err := ops.comparison(ctx, o)
	switch {
	case err == nil:
	case domain.ClassOf(err) == domain.Permanent, age > ops.Times.SyncBudget && ctx.Err() == nil:
		code := sagas.CodeOf(err)
		if domain.ClassOf(err) != domain.Permanent {
			code = errEngineAway.Reason
		}
		return true, sagas.Work{Commands: []domain.Command{hosting.FailOperation{ID: job.Operation, Code: code}}}, nil
	default:
		return false, sagas.Work{}, err
	}
	if !o.Sync.DryRun {
		if err := ops.mend(ctx, job, o, found); err != nil {
			return false, sagas.Work{}, err
		}
	}
	progress, err := ops.progress(ctx, job, o, found)
	return err == nil, sagas.Work{Commands: []domain.Command{progress}}, err
}

// comparison reads the panel's records and the engine's, and lays them beside
// each other.
func (ops *Operations) comparison(ctx context.Context, o hosting.Operation) (*comparison, error) {
	rows, err := ops.system().Hosting().OfTenant(ctx, o.Tenant)
	if err != nil {
		return nil, err
	}
	found, err := recordsOf(rows)
	if err != nil {
		return nil, err
	}
	if found.tenant.EngineID == nil {
		return found, nil // the engine has nothing of a tenant that it does not know
	}
	if err := ops.findLimits(ctx, found); err != nil {
		return nil, err
	}
	for kind, records := range found.byKind() {
		theirs, err := ops.theirs(ctx, kind, found.tenant)
		if domain.ClassOf(err) == domain.Permanent && sagas.CodeOf(err) == "not_supported" {
			continue // such an engine has none to compare
		}
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			r.beside(theirs)
			r.misplaced = r.misplacedAt(ctx, ops.Engine, found.tenant)
		}
	}
	return found, nil
}

// findLimits finds the limits of the tenant: those that its package sets, or
// without one its own.
func (d *Deps) findLimits(ctx context.Context, found *comparison) error {
	var id int64
	_ = json.Unmarshal(found.tenant.Spec["package"], &id) // null is 0: it has none
	ref := hosting.Ref{Kind: "package", ID: id}
	rows, err := d.system().Hosting().Recorded(ctx, ref)
	if err != nil {
		return err
	}
	for _, r := range found.records {
		if r.kind.Owner {
			r.limits = hosting.OwnLimits(hosting.AtEngine(maps.Clone(found.tenant.Spec), rows[ref].Spec))
		}
	}
	return nil
}

// theirs are the engine's objects of a kind that the tenant owns.
func (d *Deps) theirs(ctx context.Context, kind string, tenant projections.Resource) ([]hosting.EngineObject, error) {
	if of, _ := hosting.KindNamed(kind); !of.Owner {
		return d.Engine.List(ctx, kind, *tenant.EngineID)
	}
	number := hosting.CustomerNumber(tenant.ID)
	client, is, err := d.Engine.Find(ctx, kind, number, number)
	if err != nil || !is {
		return nil, err
	}
	return []hosting.EngineObject{client}, nil
}

// together is how many records are pushed in one append.
const together = 100

// mend pushes what is to be pushed, and takes over what is to be adopted.
func (ops *Operations) mend(ctx context.Context, job *SyncInput, o hosting.Operation, found *comparison) error {
	var push []*compared
	for _, r := range found.records {
		if r.needsPush(*o.Sync) {
			push = append(push, r)
		}
	}
	for chunk := range slices.Chunk(push, together) {
		if err := ops.pushAgain(ctx, job, chunk); err != nil {
			return err
		}
	}
	if !o.Sync.Adopt {
		return nil
	}
	for _, r := range found.records {
		if err := ops.adopt(ctx, job, r); err != nil {
			return err
		}
	}
	return nil
}

// onBehalf is the cause of what a comparison changes. After a crash the same
// change has the same one, and so adds nothing.
func onBehalf(job *SyncInput, what string, records ...*compared) domain.Metadata {
	for _, r := range records {
		what += fmt.Sprintf("/%s/%d", r.ref().Stream(), r.row.Version)
	}
	return domain.Metadata{ID: uuid.NewSHA1(job.Operation, []byte(what)), Actor: "system:sync", Saga: "sync:" + job.Operation.String()}
}

func (ops *Operations) pushAgain(ctx context.Context, job *SyncInput, records []*compared) error {
	commands := make([]domain.Command, len(records))
	for i, r := range records {
		commands[i] = hosting.Push{Ref: r.ref()}
	}
	receipt, err := ops.Store.Execute(ctx, onBehalf(job, "push", records...), commands...)
	if err != nil {
		return err
	}
	for _, r := range records {
		r.pushed = receipt.Versions[r.ref().Stream()]
	}
	return nil
}

// adopt takes over what the engine says of a record. What others have, or what
// else our rules refuse, stays as it is and is reported.
func (ops *Operations) adopt(ctx context.Context, job *SyncInput, r *compared) error {
	if len(r.drift) == 0 || r.pushed != 0 {
		return nil
	}
	spec := r.adoptable(ops.Runner.Now())
	if len(spec) == 0 {
		return nil
	}
	_, err := ops.Store.Execute(ctx, onBehalf(job, "adopt", r), hosting.Adopt{Ref: r.ref(), Spec: spec})
	if code := domain.CodeOf(err); err != nil && (code == "" || code == domain.Unavailable) {
		return err
	}
	r.adopted = err == nil
	return nil
}

// progress is what was found, and what is pushed. What differs may tell of a
// person.
func (ops *Operations) progress(ctx context.Context, job *SyncInput, o hosting.Operation, found *comparison) (domain.Command, error) {
	c := hosting.ProgressOperation{ID: job.Operation}
	created, updated, missing, drifts := 0, 0, 0, []drift{}
	for _, r := range found.records {
		if r.missing {
			missing++
		}
		drifts = slices.Concat(drifts, r.drift, r.misplaced)
		isNew := r.missing || r.row.EngineID == nil
		if r.pushed != 0 {
			c.Pushed = append(c.Pushed, hosting.PushedRequest{Kind: r.row.Kind, ID: r.row.ID, Wish: r.pushed, New: isNew})
		}
		would := o.Sync.DryRun && (r.needsPush(*o.Sync) || o.Sync.Adopt && len(r.drift) > 0)
		switch {
		case would && isNew:
			created++
		case would || r.adopted:
			updated++
		}
	}
	c.Result = field.Values{
		"tenant": whole(int(o.Tenant)), "created": whole(created), "updated": whole(updated), "missing": whole(missing),
		"drift": json.RawMessage("[]"),
	}
	if len(drifts) == 0 {
		return c, nil
	}
	c.Personal = field.Values{"drift": sagas.Encode(drifts)}
	var err error
	c.Subject, err = ops.subjectOf(ctx, found.tenant)
	return c, err
}

func whole(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// subjectOf is the person whose data a tenant's records hold.
func (ops *Operations) subjectOf(ctx context.Context, row projections.Resource) (uuid.UUID, error) {
	if row.Subject != nil {
		return *row.Subject, nil
	}
	var tenant hosting.Tenant
	if err := row.Load(&tenant); err != nil {
		return uuid.Nil, err
	}
	return ops.Store.Subject(ctx, tenant.Email)
}

// settled waits until the engine has answered all that was pushed, or until
// the time for that is over, and ends the operation.
func (ops *Operations) settled(ctx context.Context, job *SyncInput) (bool, sagas.Work, error) {
	o, age, err := ops.operation(ctx, job.Operation)
	if err != nil || o.Over() || o.Sync == nil {
		return err == nil, sagas.Work{}, err
	}
	scope := ops.system()
	view, err := scope.Hosting().Operation(ctx, job.Operation)
	if err != nil {
		return false, sagas.Work{}, err
	}
	rows, err := scope.Hosting().OfTenant(ctx, o.Tenant)
	if err != nil {
		return false, sagas.Work{}, err
	}
	created, updated, open := outcome(o.Pushed, rows)
	if open > 0 && age < ops.Times.SyncBudget {
		return false, sagas.Work{}, nil
	}
	result := field.Values{"synced_at": field.AppendTime(nil, ops.Runner.Now())}
	for name, more := range map[string]int{"created": created, "updated": updated} {
		var so int
		if err := json.Unmarshal(view.Result[name], &so); err != nil {
			return false, sagas.Work{}, errors.Join(fmt.Errorf("read the result of operation %s", job.Operation), err)
		}
		result[name] = whole(so + more)
	}
	commands := []domain.Command{hosting.SucceedOperation{ID: job.Operation, Result: result}}
	if !o.Sync.DryRun {
		commands = append(commands, hosting.MarkSynced{Ref: o.About()})
	}
	return true, sagas.Work{Commands: commands}, nil
}
