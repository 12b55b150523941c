package ispconfig

import (
	"context"
	"strings"

	"hostpanel/domain/hosting"
)

// Find looks an object up by its natural key or by our reference in it, or by
// both. It reads only. Owner is 0 where the object's owner is unknown. Applied
// tells whether the server has carried out everything that was asked of it,
// Refused that it would not.
func (e *Engine) Find(ctx context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	r, err := resourceOf(kind)
	if err != nil {
		return hosting.EngineObject{}, false, err
	}
	if r.apart != nil {
		return r.apart.find(ctx, e, name)
	}
	found, err := e.look(ctx, r, name, ref)
	switch {
	case err != nil || len(found) == 0:
		return hosting.EngineObject{}, false, err
	case len(found) > 1:
		return hosting.EngineObject{}, false, ambiguous(r)
	}
	o, err := e.object(ctx, r, found[0])
	if err != nil {
		return hosting.EngineObject{}, false, err
	}
	p, err := e.journal.progress(ctx, r, found[0])
	if err != nil {
		return hosting.EngineObject{}, false, err
	}
	missing, partial, err := mending(e).partial(ctx, r, found[0], p)
	o.Applied, o.Refused, o.Partial = p.applied && !p.refused && !missing, p.refused, partial
	return o, err == nil, err
}

// look makes the look-ups of a kind and keeps what matches exactly: the engine
// compares without regard to case, and by a part where it finds a per cent sign.
func (e *Engine) look(ctx context.Context, r *resource, name, ref string) ([]row, error) {
	if strings.Contains(name+ref, "%") && !r.anyName || name == "" && ref == "" {
		return nil, nil // nothing has such a name
	}
	found, err := e.lookedUp(ctx, r, name, ref)
	if err != nil {
		return nil, err
	}
	var all []row
	for _, have := range found {
		if r == &clients && (ref != "" && !e.api.refers(have["customer_no"], ref) || name != "" && ref == "" && have["username"] != name) {
			continue
		}
		if r == &clients || r.name(have) == name && (r.addresses == nil || r.addresses(have)) {
			all = append(all, have)
		}
	}
	return all, nil
}

func (e *Engine) lookedUp(ctx context.Context, r *resource, name, ref string) ([]row, error) {
	if r.find != nil {
		return r.find(ctx, e, name)
	}
	if r == &clients && ref != "" {
		return e.api.clientsBy(ctx, ref)
	}
	return e.api.seek(ctx, r, r.queries(name, ref, e.api.Servers))
}

// object is a row as the rest of the program sees it.
func (e *Engine) object(ctx context.Context, r *resource, have row) (hosting.EngineObject, error) {
	o := hosting.EngineObject{Kind: r.kind, ID: have.number(r.key), Name: r.name(have), Values: r.shown(have), Observed: values()}
	if r.remarks != nil {
		r.remarks(have, o.Observed)
	}
	if r.says != nil {
		if err := r.says(ctx, e, have, o.Values); err != nil {
			return o, err
		}
	}
	if r == &zones {
		var err error
		if o.Lacks, err = lackingServers(ctx, e, have); err != nil {
			return o, err
		}
	}
	if r == &clients {
		o.Ref = e.api.ownReference(have["customer_no"])
		return o, nil
	}
	var err error
	o.Owner, err = e.owners.ownerOf(ctx, have.number("sys_groupid"))
	o.Parents = map[string]int64{}
	for column, field := range r.parents {
		if n := have.number(column); n > 0 {
			o.Parents[field] = n
		}
	}
	return o, err
}

// List reads everything of a kind that a client owns. Default records of
// zones are left out. Applied is not looked at.
func (e *Engine) List(ctx context.Context, kind string, owner int64) ([]hosting.EngineObject, error) {
	r, err := resourceOf(kind)
	if err != nil {
		return nil, err
	}
	if r.apart != nil {
		return nil, notSupported(kind)
	}
	if r == &clients {
		return e.listClient(ctx, owner)
	}
	group, err := e.owners.groupOf(ctx, owner)
	if err != nil {
		return nil, err
	}
	found, err := e.listed(ctx, r, group)
	if err != nil {
		return nil, err
	}
	var all []hosting.EngineObject
	for _, have := range found {
		o, err := e.object(ctx, r, have)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

func (e *Engine) listClient(ctx context.Context, client int64) ([]hosting.EngineObject, error) {
	have, present, err := e.api.get(ctx, &clients, client)
	if err != nil || !present {
		return nil, err
	}
	o, err := e.object(ctx, &clients, have)
	return []hosting.EngineObject{o}, err
}

func (e *Engine) listed(ctx context.Context, r *resource, group int64) ([]row, error) {
	if r != &records {
		return e.api.owned(ctx, r, group)
	}
	in, err := e.api.owned(ctx, &zones, group)
	if err != nil {
		return nil, err
	}
	var all []row
	for _, zone := range in {
		ours, _, err := e.api.ownRecords(ctx, zone)
		if err != nil {
			return nil, err
		}
		all = append(all, ours...)
	}
	return all, nil
}
