package ispconfig

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// The desired state of an object, ready to be written. The call waits for the
// object's turns, and refuses invalid values that the engine would accept.
func (e *Engine) wish(ctx context.Context, r *resource, o hosting.EngineObject) (w *wish, release func(), err error) {
	w = &wish{
		EngineObject: o, server: r.on(e.api.Servers), servers: e.api.Servers, today: e.api.today(), reference: e.api.reference(o.Ref),
	}
	if err := e.survey.writable(ctx); err != nil {
		return nil, nil, err
	}
	if err := w.speakable(ctx, e, r); err != nil {
		return nil, nil, err
	}
	switch {
	case r == &clients && o.ID == 0: // owns nothing yet
	case r == &clients:
		if w.group, err = e.owners.groupOf(ctx, o.ID); ownerless(err) {
			err = nil // a client that was only half made
		}
	default:
		w.group, err = e.owners.groupOf(ctx, o.Owner)
	}
	if err != nil {
		return nil, nil, err
	}
	release, err = e.take(ctx, r.allTurns(w)...)
	if err != nil {
		return nil, nil, err
	}
	if r.prepare != nil {
		if err := r.prepare(ctx, e, w); err != nil {
			release()
			return nil, nil, err
		}
	}
	return w, release, nil
}

// allTurns returns the turns of the tenant, then those of the kind.
func (r *resource) allTurns(w *wish) []Turn {
	if r == &clients {
		return r.turns(w)
	}
	return append([]Turn{{Name: "tenant/" + decimal(w.Owner), Shared: true}}, r.turns(w)...)
}

func (e *Engine) take(ctx context.Context, turns ...Turn) (func(), error) {
	if rehearsalOf(ctx) != nil {
		return func() {}, nil // it writes nothing
	}
	for i := range turns {
		turns[i].Name = e.api.Name + "/" + turns[i].Name
	}
	return e.api.Turns.Take(ctx, turns...)
}

// Create creates an object and returns its number at the engine. An existing object
// of the same client is adopted and changed to the desired state. One of another
// owner is the permanent failure "name_taken". Create sends nothing twice: after an
// unknown outcome the caller looks the object up before a retry.
func (e *Engine) Create(ctx context.Context, o hosting.EngineObject) (int64, error) {
	r, err := resourceOf(o.Kind)
	if err != nil {
		return 0, err
	}
	if r.apart != nil {
		return r.apart.write(ctx, e, o)
	}
	o.ID = 0
	w, release, err := e.wish(ctx, r, o)
	if err != nil {
		return 0, err
	}
	defer release()
	return e.create(ctx, r, w)
}

func (e *Engine) create(ctx context.Context, r *resource, w *wish) (int64, error) {
	have, found, err := e.ours(ctx, r, w)
	if err != nil {
		return 0, err
	}
	if found {
		return e.adoptRow(ctx, r, w, have)
	}
	if r.before != nil {
		if err := r.before(ctx, e, w); err != nil {
			return 0, err
		}
	}
	made, err := e.add(ctx, r, w)
	if refusedAs(err, conflict) { // created in the meantime, perhaps by our own earlier attempt
		if have, found, again := e.ours(ctx, r, w); again == nil && found {
			return e.adoptRow(ctx, r, w, have)
		}
	}
	if err != nil {
		return 0, err
	}
	if err := e.verify(ctx, r, w, made); err != nil {
		return 0, afterwards(err)
	}
	return made, afterwards(e.finish(ctx, r, w, made))
}

// afterwards turns a failure after a successful write into an unknown outcome,
// because the write may have taken effect.
func afterwards(err error) error {
	f, ok := errors.AsType[*domain.Failure](err)
	if !ok || f.Class != domain.Transient {
		return err
	}
	unsure := &domain.Failure{Class: domain.Unknown, Code: "unconfirmed", RetryAfter: f.RetryAfter, Err: err}
	if unsure.Lacks, unsure.Rest = f.Lacks, f.Rest; f.Lacks != "" {
		unsure.Code = f.Code
	}
	return unsure
}

func (e *Engine) finish(ctx context.Context, r *resource, w *wish, made int64) error {
	if r.made == nil {
		return nil
	}
	return r.made(ctx, e, w, made)
}

// ours looks the desired object up. One of another owner is name_taken, several are
// ambiguous, and neither error discloses their values.
func (e *Engine) ours(ctx context.Context, r *resource, w *wish) (row, bool, error) {
	all, err := e.look(ctx, r, w.Name, w.Ref)
	if err != nil {
		return nil, false, err
	}
	switch {
	case len(all) > 1:
		return nil, false, ambiguous(r)
	case len(all) == 0:
		return nil, false, nil
	case r == &clients && (!e.api.refers(all[0]["customer_no"], w.Ref) || !hosting.IsLogin(all[0]["username"], w.Name)):
		return nil, false, taken(r)
	case r != &clients && all[0].number("sys_groupid") != w.group:
		return nil, false, taken(r)
	}
	return all[0], true, nil
}

func ambiguous(r *resource) error {
	return domain.Fail(domain.Permanent, "ambiguous", fmt.Errorf("several rows match one %s", r.kind))
}

func taken(r *resource) error {
	return domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("another client has the %s", r.kind))
}

// adoptRow adopts the row of an earlier attempt.
func (e *Engine) adoptRow(ctx context.Context, r *resource, w *wish, have row) (int64, error) {
	if r.replaced != nil && r.replaced(w, have) {
		w.ID = have.number(r.key)
		return e.replace(ctx, r, w, have)
	}
	have, err := mending(e).completed(ctx, r, w, have)
	if err != nil {
		return 0, err
	}
	number := have.number(r.key)
	w.ID = number
	if r == &clients {
		if w.group, err = e.owners.groupOf(ctx, number); err != nil {
			return 0, err
		}
	}
	if err := mending(e).announce(ctx, r, have); err != nil {
		return 0, err
	}
	if err := e.adopted(ctx, r, w, have); err != nil {
		return 0, err
	}
	if err := e.finish(ctx, r, w, number); err != nil {
		return 0, err
	}
	return number, mending(e).announceParts(ctx, r, have)
}

// adopted brings a row that was found to what is wanted.
func (e *Engine) adopted(ctx context.Context, r *resource, w *wish, have row) error {
	if r.adopt != nil {
		return r.adopt(ctx, e, w, have)
	}
	return e.push(ctx, r, w, have)
}

// add inserts the row, with the function of its kind if it has one.
func (e *Engine) add(ctx context.Context, r *resource, w *wish) (int64, error) {
	if r.insert != nil {
		return r.insert(ctx, e, w)
	}
	return e.insert(ctx, r, w)
}

func (e *Engine) insert(ctx context.Context, r *resource, w *wish) (int64, error) {
	params := r.first(w)
	arguments := members{{"client_id", w.Owner}, {"params", params}}
	if r.serial {
		arguments = append(arguments, member{"update_serial", true})
	}
	var made id
	if err := e.api.call(ctx, r.functions(asRow(params))+"_add", arguments, &made); err != nil {
		return 0, err
	}
	return int64(made), nil
}

func asRow(params members) row {
	r := row{}
	for _, p := range params {
		r[p.name] = stored(p.value)
	}
	return r
}

// verify reads a new row back, because the engine may have assigned another owner.
func (e *Engine) verify(ctx context.Context, r *resource, w *wish, made int64) error {
	have, present, err := e.api.get(ctx, r, made)
	switch {
	case err != nil:
		return err
	case !present:
		return domain.Fail(domain.Unknown, "not_there", fmt.Errorf("%s %d is not there after it was made", r.kind, made))
	case r == &clients && have["customer_no"] == w.reference:
		_, err := e.owners.groupOf(ctx, made)
		return err
	case e.identity(r, w, have) != nil, have.number("server_id") != w.server:
		return drifted(r.kind, made)
	}
	return nil
}

// identity compares a row with the object: the owner, and the name now or before the
// change, or the parent.
func (e *Engine) identity(r *resource, w *wish, have row) error {
	number := have.number(r.key)
	switch {
	case r == &clients:
		if !e.api.refers(have["customer_no"], w.Ref) {
			return drifted(r.kind, number)
		}
		return nil
	case have.number("sys_groupid") != w.group:
		return drifted(r.kind, number)
	case r.isWithin(have, w.Parents):
		return nil
	case r.name(have) != w.Name && (w.Former == "" || r.name(have) != w.Former):
		return drifted(r.kind, number)
	}
	return nil
}

// isWithin reports whether a row with the object's number and owner has its parents too.
// Kinds whose names are made of values, such as the command of a cron job, are told by
// that: a value that was changed at the engine makes no other object.
func (r *resource) isWithin(have row, parents map[string]int64) bool {
	for column, field := range r.parents {
		if number, told := parents[field]; !told || have[column] != decimal(number) {
			return false
		}
	}
	return r.anyName
}
