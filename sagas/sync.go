package sagas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"

	"github.com/google/uuid"
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
func (j Jobs) Sync(ctx context.Context, cause domain.Cause, queue hosting.QueueOperation) error {
	if err := j.awake(ctx, queue.Tenant); err != nil {
		return err
	}
	_, err := j.s.store.Execute(ctx, cause, queue)
	if err == nil {
		j.s.wake(engineQueue(j.s.engine))
	}
	return err
}

// awake refuses if the engine does not answer a question.
func (j Jobs) awake(ctx context.Context, tenant int64) error {
	call, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	number := hosting.CustomerNumber(tenant)
	_, _, err := j.s.engine.Find(call, "tenant", number, number)
	if err != nil && ctx.Err() == nil && domain.ClassOf(err) != domain.Permanent {
		return errEngineAway
	}
	return ctx.Err()
}

// compareTenant is the step that looks at all records. An engine that is away for
// too long, or that will not answer, ends the operation.
func (s *Sagas) compareTenant(ctx context.Context, job Job) (bool, Work, error) {
	o, age, err := s.operation(ctx, job.Operation)
	if err != nil || o.Over() || o.Sync == nil {
		return err == nil, Work{}, err
	}
	found, err := s.comparison(ctx, o)
	switch {
	case err == nil:
	case domain.ClassOf(err) == domain.Permanent, age > s.times.SyncBudget && ctx.Err() == nil:
		code := codeOf(err)
		if domain.ClassOf(err) != domain.Permanent {
			code = errEngineAway.Reason
		}
		return true, Work{Commands: []domain.Command{hosting.FailOperation{ID: job.Operation, Code: code}}}, nil
	default:
		return false, Work{}, err
	}
	if !o.Sync.DryRun {
		if err := s.mend(ctx, job, o, found); err != nil {
			return false, Work{}, err
		}
	}
	progress, err := s.progress(ctx, job, o, found)
	return err == nil, Work{Commands: []domain.Command{progress}}, err
}

// A comparison is what was found of a tenant's records.
type comparison struct {
	tenant  projections.Resource
	records []*compared
}

// compared is one record beside the engine's.
type compared struct {
	row     projections.Resource
	kind    hosting.Kind
	object  hosting.EngineObject // as the engine is to have it
	values  field.Values         // of the record, as it runs
	parent  field.Values         // of what it is a part of
	missing bool                 // the engine had it, and has it no more
	drift   []drift

	pushed  int // wish; 0: nothing was pushed
	adopted bool
}

// A drift is a field of which the panel and the engine say different things.
type drift struct {
	Resource string          `json:"resource"`
	ID       int64           `json:"id"`
	Field    string          `json:"field"`
	Panel    json.RawMessage `json:"panel"`
	Engine   json.RawMessage `json:"engine"`
}

// lies tells whether the record is the engine's to hold and in force: neither
// leaving nor in the bin.
func (c *compared) present() bool { return c.row.Status != hosting.Leaving && c.row.TrashedAt == nil }

// open tells whether the engine has yet to take the last wish.
func (c *compared) open() bool { return c.row.SyncStatus != "synced" }

func (c *compared) ref() hosting.Ref { return hosting.Ref{Kind: c.row.Kind, ID: c.row.ID} }

// comparison reads the panel's records and the engine's, and lays them beside
// each other.
func (s *Sagas) comparison(ctx context.Context, o hosting.Operation) (*comparison, error) {
	rows, err := s.tables.For(projections.System).OfTenant(ctx, o.Tenant)
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
	for kind, records := range found.byKind() {
		theirs, err := s.theirs(ctx, kind, found.tenant)
		if domain.ClassOf(err) == domain.Permanent && codeOf(err) == "not_supported" {
			continue // such an engine has none to compare
		}
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			r.beside(theirs)
		}
	}
	return found, nil
}

// recordsOf are the records behind which the engine works, as it is to have
// them.
func recordsOf(rows []projections.Resource) (*comparison, error) {
	specs := map[hosting.Ref]field.Values{}
	found := &comparison{}
	for _, row := range rows {
		kind, _ := hosting.KindNamed(row.Kind)
		if kind.EngineID == "" {
			continue
		}
		spec := kind.New()
		if err := row.Load(spec); err != nil {
			return nil, err
		}
		record := &compared{row: row, kind: kind, values: spec.Fields().Values()}
		specs[record.ref()] = record.values
		found.records = append(found.records, record)
		if kind.Name == "tenant" {
			found.tenant = row
		}
	}
	for _, r := range found.records {
		if parent, is := r.kind.Parent(); is {
			var id int64
			_ = json.Unmarshal(r.values[parent.Field], &id) // what is no number is no record
			r.parent = specs[hosting.Ref{Kind: parent.Kind, ID: id}]
		}
		r.object = r.kind.Object(r.row.ID, r.values, r.parent)
	}
	return found, nil
}

func (c *comparison) byKind() map[string][]*compared {
	by := map[string][]*compared{}
	for _, r := range c.records {
		if r.present() {
			by[r.kind.Name] = append(by[r.kind.Name], r)
		}
	}
	return by
}

// theirs are the engine's objects of a kind that the tenant owns.
func (s *Sagas) theirs(ctx context.Context, kind string, tenant projections.Resource) ([]hosting.EngineObject, error) {
	if kind != "tenant" {
		return s.engine.List(ctx, kind, *tenant.EngineID)
	}
	number := hosting.CustomerNumber(tenant.ID)
	client, is, err := s.engine.Find(ctx, kind, number, number)
	if err != nil || !is {
		return nil, err
	}
	return []hosting.EngineObject{client}, nil
}

// beside lays the record beside the engine's of the same number, or else of
// the same name.
func (c *compared) beside(theirs []hosting.EngineObject) {
	at := -1
	if c.row.EngineID != nil {
		at = slices.IndexFunc(theirs, func(o hosting.EngineObject) bool { return o.ID == *c.row.EngineID })
	}
	if at < 0 {
		at = slices.IndexFunc(theirs, func(o hosting.EngineObject) bool { return o.Name == c.object.Name })
	}
	switch {
	case at >= 0 && !c.open():
		c.drift = c.differences(theirs[at])
	case at < 0 && c.row.EngineID != nil:
		c.missing = true
	}
}

// differences are those in the fields that both speak of and that are asked
// for, not observed. Secrets are nobody's to compare.
func (c *compared) differences(theirs hosting.EngineObject) (all []drift) {
	for _, f := range c.kind.New().Fields() {
		mine, wanted := c.object.Values[f.Name]
		other, told := theirs.Values[f.Name]
		if !wanted || !told || f.IsReadOnly() || f.IsSecret() || sameJSON(mine, other) {
			continue
		}
		all = append(all, drift{Resource: c.row.Kind, ID: c.row.ID, Field: f.Name, Panel: mine, Engine: other})
	}
	return all
}

// sameJSON compares values, however they are written.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return string(a) == string(b)
	}
	return string(encode(one)) == string(encode(other))
}

// needsPush tells whether the engine is to be told once more.
func (c *compared) needsPush(how hosting.Sync) bool {
	return c.open() || c.missing || how.Repair && len(c.drift) > 0
}

// together is how many records are pushed in one append.
const together = 100

// mend pushes what is to be pushed, and takes over what is to be adopted.
func (s *Sagas) mend(ctx context.Context, job Job, o hosting.Operation, found *comparison) error {
	var push []*compared
	for _, r := range found.records {
		if r.needsPush(*o.Sync) {
			push = append(push, r)
		}
	}
	for chunk := range slices.Chunk(push, together) {
		if err := s.pushAgain(ctx, job, chunk); err != nil {
			return err
		}
	}
	if !o.Sync.Adopt {
		return nil
	}
	for _, r := range found.records {
		if err := s.adopt(ctx, job, r); err != nil {
			return err
		}
	}
	return nil
}

// onBehalf is the cause of what a comparison changes. After a crash the same
// change has the same one, and so adds nothing.
func onBehalf(job Job, what string, records ...*compared) domain.Cause {
	for _, r := range records {
		what += fmt.Sprintf("/%s/%d", r.ref().Stream(), r.row.Version)
	}
	return domain.Cause{
		ID: uuid.NewSHA1(job.Operation, []byte(what)), Actor: "system:sync", Correlation: job.Operation, Saga: "sync:" + job.Operation.String(),
	}
}

func (s *Sagas) pushAgain(ctx context.Context, job Job, records []*compared) error {
	commands := make([]domain.Command, len(records))
	for i, r := range records {
		commands[i] = hosting.Push{Ref: r.ref()}
	}
	receipt, err := s.store.Execute(ctx, onBehalf(job, "push", records...), commands...)
	if err != nil {
		return err
	}
	for _, r := range records {
		r.pushed = receipt.Versions[r.ref().Stream()]
	}
	return nil
}

// adopt takes over what the engine says, as far as the panel may say it too:
// names that others have, fields that never change and what is switched off
// by a suspension stay as they are, and are reported.
func (s *Sagas) adopt(ctx context.Context, job Job, r *compared) error {
	spec := r.kind.New()
	if len(r.drift) == 0 || r.pushed != 0 || spec.Fields().Load(r.values) != nil {
		return nil
	}
	var sent field.Set
	for _, d := range r.drift {
		if d.Field == "is_active" && len(r.row.Halts) > 0 {
			continue
		}
		one, err := spec.Fields().DecodeJSON(fmt.Appendf(nil, `{%q:%s}`, d.Field, d.Engine), field.Patch)
		if err == nil {
			sent = append(sent, one...)
		}
	}
	place := hosting.Place{
		ID: r.row.ID, Tenant: r.row.Tenant, At: s.now(), Operator: true, Sent: sent, Before: r.values, Parent: r.parent, Limits: hosting.NoLimits(),
	}
	var wrong field.Errors
	hosting.Complete(spec, place)
	if hosting.Check(spec, place, &wrong); len(wrong) > 0 {
		return nil
	}
	command := hosting.Adopt{Ref: r.ref(), Spec: field.Values{}}
	for name, value := range spec.Fields().Values() {
		if !sameJSON(value, r.values[name]) {
			command.Spec[name] = value
		}
	}
	if len(command.Spec) == 0 {
		return nil
	}
	_, err := s.store.Execute(ctx, onBehalf(job, "adopt", r), command)
	if domain.CodeOf(err) == domain.Unavailable || domain.CodeOf(err) == "" && err != nil {
		return err
	}
	r.adopted = err == nil
	return nil
}

// progress is what was found, and what is pushed. What differs may tell of a
// person.
func (s *Sagas) progress(ctx context.Context, job Job, o hosting.Operation, found *comparison) (domain.Command, error) {
	c := hosting.ProgressOperation{ID: job.Operation}
	created, updated, missing, drifts := 0, 0, 0, []drift{}
	for _, r := range found.records {
		if r.missing {
			missing++
		}
		drifts = append(drifts, r.drift...)
		isNew := r.missing || r.row.EngineID == nil
		if r.pushed != 0 {
			c.Pushed = append(c.Pushed, hosting.Wish{Kind: r.row.Kind, ID: r.row.ID, Wish: r.pushed, New: isNew})
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
		"tenant": whole(int(o.Tenant)), "created": whole(created), "updated": whole(updated), "missing": whole(missing), "drift": json.RawMessage("[]"),
	}
	if len(drifts) == 0 {
		return c, nil
	}
	c.Personal = field.Values{"drift": encode(drifts)}
	var err error
	c.Subject, err = s.subjectOf(ctx, found.tenant)
	return c, err
}

func whole(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// subjectOf is the person whose data a tenant's records hold.
func (s *Sagas) subjectOf(ctx context.Context, row projections.Resource) (uuid.UUID, error) {
	if row.Subject != nil {
		return *row.Subject, nil
	}
	var tenant hosting.Tenant
	if err := row.Load(&tenant); err != nil {
		return uuid.Nil, err
	}
	return s.store.Subject(ctx, tenant.Email)
}

// settled waits until the engine has answered all that was pushed, or until
// nobody needs to wait any more, and ends the operation.
func (s *Sagas) settled(ctx context.Context, job Job) (bool, Work, error) {
	o, age, err := s.operation(ctx, job.Operation)
	if err != nil || o.Over() || o.Sync == nil {
		return err == nil, Work{}, err
	}
	scope := s.tables.For(projections.System)
	view, err := scope.Operation(ctx, job.Operation)
	if err != nil {
		return false, Work{}, err
	}
	rows, err := scope.OfTenant(ctx, o.Tenant)
	if err != nil {
		return false, Work{}, err
	}
	created, updated, open := outcome(o.Pushed, rows)
	if open > 0 && age < s.times.SyncBudget {
		return false, Work{}, nil
	}
	result := field.Values{"synced_at": field.AppendTime(nil, s.now())}
	for name, more := range map[string]int{"created": created, "updated": updated} {
		var so int
		if err := json.Unmarshal(view.Result[name], &so); err != nil {
			return false, Work{}, errors.Join(fmt.Errorf("read the result of operation %s", job.Operation), err)
		}
		result[name] = whole(so + more)
	}
	commands := []domain.Command{hosting.SucceedOperation{ID: job.Operation, Result: result}}
	if !o.Sync.DryRun {
		commands = append(commands, hosting.MarkSynced{Ref: o.About})
	}
	return true, Work{Commands: commands}, nil
}

// outcome counts what has come of what was pushed. What is gone has left, as
// it was to.
func outcome(pushed []hosting.Wish, rows []projections.Resource) (created, updated, open int) {
	now := map[hosting.Ref]projections.Resource{}
	for _, row := range rows {
		now[hosting.Ref{Kind: row.Kind, ID: row.ID}] = row
	}
	for _, w := range pushed {
		row, is := now[hosting.Ref{Kind: w.Kind, ID: w.ID}]
		switch {
		case is && row.SyncStatus == "pending":
			open++
		case is && row.SyncStatus == "error":
		case w.New && is:
			created++
		default:
			updated++
		}
	}
	return created, updated, open
}
