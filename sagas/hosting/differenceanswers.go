package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// errNoDifference refuses an answer to a difference that is none any more.
var errNoDifference = sagas.NotNow("The record and the engine do not differ any more.")

// Answer does what an operator has decided about a difference, in one step with the
// answer itself. What cannot be done is refused, and the incident stays open.
func (f *Differences) Answer(ctx context.Context, cause domain.Metadata, answer operations.AnswerIncident) error {
	i, err := f.system().Operations().Incident(ctx, answer.ID)
	switch {
	case err != nil:
		return err
	case !slices.Contains(operations.Offers(i.Kind), answer.Answer), i.IsSettled && i.Answer != operations.Ignore,
		answer.Answer == operations.Ignore:
		_, err := f.Store.Execute(ctx, cause, answer) // which refuses what is not offered
		return err
	case i.Kind == operations.MachineOrphan:
		err = f.removeOrphan(ctx, cause, i, answer)
	case i.About["kind"] == machineKind:
		err = f.settleMachine(ctx, cause, i, answer)
	case i.Kind == operations.EngineOrphan:
		err = f.adoptOrphan(ctx, cause, i, answer)
	default:
		err = f.settleRecord(ctx, cause, i, answer)
	}
	if failure, is := errors.AsType[*domain.Failure](err); is {
		return refusedBy(failure)
	}
	return err
}

// refusedBy is the refusal of an answer for which the engine did not do its part.
func refusedBy(failure *domain.Failure) error {
	if domain.ClassOf(failure) != domain.Permanent {
		return errEngineAway
	}
	return sagas.NotNow("The engine refuses: " + sagas.CodeOf(failure) + ".")
}

// mustRead reads the tenant's records, or refuses because nothing can be told.
func (l *look) mustRead(ctx context.Context) error {
	known, err := l.read(ctx)
	if err == nil && !known {
		err = errNoDifference
	}
	return err
}

// settleRecord makes the engine, or the record, as the other is.
func (f *Differences) settleRecord(
	ctx context.Context, cause domain.Metadata, i projections.Incident, answer operations.AnswerIncident,
) error {
	ref := hosting.Ref{Kind: i.About["kind"], ID: numberIn(i.About, "id")}
	var command domain.Command = hosting.Push{Ref: ref}
	if answer.Answer == operations.Adopt {
		spec, err := f.theirValues(ctx, numberIn(i.About, "tenant"), ref)
		if err != nil {
			return err
		}
		command = hosting.Adopt{Ref: ref, Spec: spec}
	}
	_, err := f.Store.Execute(ctx, cause, command, answer)
	f.Runner.Wake(f.EngineQueue)
	return err
}

// theirValues are those of the engine that the record can take over.
func (f *Differences) theirValues(ctx context.Context, tenant int64, ref hosting.Ref) (field.Values, error) {
	l := &look{Differences: f, tenant: tenant}
	if err := l.mustRead(ctx); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(l.found.records, func(r *compared) bool { return r.ref() == ref })
	if at < 0 {
		return nil, errNoDifference
	}
	theirs, err := l.listed(ctx, ref.Kind)
	if err != nil {
		return nil, err
	}
	r := l.found.records[at]
	if r.beside(theirs); len(r.drift) == 0 {
		return nil, errNoDifference
	}
	if spec := r.adoptable(f.Runner.Now()); len(spec) > 0 {
		return spec, nil
	}
	return nil, sagas.NotNow("The panel cannot take over what the engine has: its rules refuse it.")
}

func numberIn(about map[string]string, name string) int64 {
	n, _ := strconv.ParseInt(about[name], 10, 64) // no number is no record
	return n
}

// adoptOrphan makes a record for an object. The run of the new record finds the
// object under its name, and takes it.
func (f *Differences) adoptOrphan(
	ctx context.Context, cause domain.Metadata, i projections.Incident, answer operations.AnswerIncident,
) error {
	l := &look{Differences: f, tenant: numberIn(i.About, "tenant")}
	if err := l.mustRead(ctx); err != nil {
		return err
	}
	theirs, err := l.listed(ctx, i.About["kind"])
	if err != nil {
		return err
	}
	at := slices.IndexFunc(theirs, func(o hosting.EngineObject) bool { return o.ID == numberIn(i.About, "engine_id") })
	if at < 0 {
		return errNoDifference
	}
	d, err := l.draftOf(theirs[at])
	if err != nil {
		return err
	}
	return l.create(ctx, cause, d, answer)
}

// draftOf is a record as the engine has it. The engine tells no secrets, so what
// needs one has to be made by hand.
func (l *look) draftOf(o hosting.EngineObject) (*hosting.Draft, error) {
	kind, _ := hosting.KindNamed(o.Kind)
	d := hosting.NewDraft(kind)
	d.Tenant = l.tenant
	sent := field.Values{}
	for _, f := range d.Spec.Fields() {
		value, told := o.Values[f.Name]
		if told && !f.IsReadOnly() && !f.IsSecret() {
			sent[f.Name] = value
		}
		if f.IsSecret() && (f.IsRequired() || kind.Generated == f.Name) {
			return nil, sagas.NotNow("The panel does not know its " + strings.ReplaceAll(f.Name, "_", " ") +
				". Create the record with a new one: it takes over the object of its name.")
		}
	}
	for name, id := range l.parentsOf(kind, o) {
		sent[name] = id
	}
	var err error
	if d.Sent, err = d.Spec.Fields().DecodeJSON(sagas.Encode(sent), field.Create); err != nil {
		return nil, cannotTakeOver(err)
	}
	return d, nil
}

// parentsOf are the records that are the object's parents.
func (l *look) parentsOf(kind hosting.Kind, o hosting.EngineObject) field.Values {
	parents := field.Values{}
	for _, reference := range kind.Refs {
		for _, r := range l.found.records {
			if id, has := o.Parents[reference.Field]; has && r.row.Kind == reference.Kind && r.row.EngineID != nil &&
				*r.row.EngineID == id {
				parents[reference.Field] = json.RawMessage(strconv.FormatInt(r.row.ID, 10))
			}
		}
	}
	return parents
}

// create makes the record together with the answer.
func (l *look) create(ctx context.Context, cause domain.Metadata, d *hosting.Draft, answer operations.AnswerIncident) error {
	by := projections.Caller{System: true, Superuser: true}
	var wrong field.Errors
	if err := l.service.Prepare(ctx, by, d, &wrong); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return cannotTakeOver(wrong)
	}
	service := *l.service
	service.Resources = answering{service.Resources, answer}
	_, _, err := service.Create(ctx, func(domain.Versions) domain.Metadata { return cause }, by, d)
	return err
}

// answering appends an operator's answer together with what follows from it.
type answering struct {
	Resources

	answer operations.AnswerIncident
}

// Carry appends the commands and the answer.
func (a answering) Carry(
	ctx context.Context, cause domain.Metadata, secrets map[uuid.UUID]string, commands ...domain.Command,
) (domain.Receipt, error) {
	return a.Resources.Carry(ctx, cause, secrets, append(commands, a.answer)...)
}

// cannotTakeOver is the refusal of an object that no record can be about.
func cannotTakeOver(err error) error {
	return sagas.NotNow("The panel cannot take it over: " + err.Error())
}
