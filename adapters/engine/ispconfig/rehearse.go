package ispconfig

import (
	"context"
	"slices"
	"strings"

	"hostpanel/domain/hosting"
)

// A rehearsal lets changes run without changing anything: their calls are noted, and what
// they read afterwards has the values that they would have written. The calls are so those
// of the changes themselves. What would be made has no number yet, and counts as row 0.
type rehearsal struct {
	calls []hosting.EngineCall
	rows  map[string]row // as they would be, by stem and number
	names map[string]string
}

type rehearsalKey struct{}

// rehearsalOf is the rehearsal that a context belongs to; nil: the calls are made.
func rehearsalOf(ctx context.Context) *rehearsal {
	r, _ := ctx.Value(rehearsalKey{}).(*rehearsal)
	return r
}

// Rehearse returns the calls that [Engine.Create] and [Engine.Change] would make for
// objects, in their order.
func (e *Engine) Rehearse(ctx context.Context, objects ...hosting.EngineObject) ([]hosting.EngineCall, error) {
	r := &rehearsal{rows: map[string]row{}, names: map[string]string{}}
	ctx = context.WithValue(ctx, rehearsalKey{}, r)
	for _, o := range objects {
		var err error
		if o.ID == 0 {
			_, err = e.Create(ctx, o)
		} else {
			err = e.Change(ctx, o)
		}
		if err != nil {
			return r.calls, err
		}
	}
	return r.calls, nil
}

// unmade is the key of the row that a rehearsal would make.
func unmade(stem string) string { return stem + " 0" }

// made is the row that a rehearsal would make of a kind.
func (r *rehearsal) made(of *resource) (have row, is bool) {
	if r == nil {
		return nil, false
	}
	have, is = r.rows[unmade(of.stems[0])]
	return have, is
}

// noteMade keeps a call that makes a row, with what it would write but for secrets.
func (r *rehearsal) noteMade(function, stem string, arguments members) {
	params, _ := arguments.value("params").(members)
	made := asRow(params)
	r.rows[unmade(stem)] = made
	call := hosting.EngineCall{Call: function, Record: stem}
	i := slices.IndexFunc(resources, func(of *resource) bool { return slices.Contains(of.stems, stem) })
	if i >= 0 && resources[i].name != nil {
		call.Record = resources[i].kind + " " + resources[i].name(made)
	}
	for _, p := range params {
		if to := stored(p.value); to != "" && (i < 0 || !resources[i].hides(p.name)) {
			call.Changes = append(call.Changes, hosting.EngineChange{Field: p.name, To: to})
		}
	}
	r.calls = append(r.calls, call)
}

// hides tells whether a column keeps a secret.
func (r *resource) hides(name string) bool {
	return slices.ContainsFunc(r.columns, func(c column) bool { return c.name == name && c.secret != nil })
}

// note keeps a call, with what it changes in a row that was read before.
func (r *rehearsal) note(function string, arguments members) {
	if stem, makes := strings.CutSuffix(function, "_add"); makes {
		r.noteMade(function, stem, arguments)
		return
	}
	id := arguments.text("primary_id")
	if id == "" {
		id = arguments.text("client_id")
	}
	stem, updates := strings.CutSuffix(function, "_update")
	key := stem + " " + id
	call := hosting.EngineCall{Call: function, Record: r.names[key]}
	if call.Record == "" {
		call.Record = key
	}
	params, _ := arguments.value("params").(members)
	for _, p := range params {
		before, read := r.rows[key][p.name]
		if after := stored(p.value); read && updates && before != after {
			call.Changes = append(call.Changes, hosting.EngineChange{Field: p.name, From: before, To: after})
			r.rows[key][p.name] = after
		}
	}
	r.calls = append(r.calls, call)
}

// alter makes rows that are read what the noted calls would have made of them. Without a
// rehearsal they stay as they are.
func (r *rehearsal) alter(of *resource, found []row) {
	if r == nil {
		return
	}
	for _, have := range found {
		key := of.functions(have) + " " + have[of.key]
		for name, value := range r.rows[key] {
			have[name] = value
		}
		r.rows[key] = have
		if of.name != nil {
			r.names[key] = of.kind + " " + of.name(have)
		}
	}
}

// value is the value of a name; nil: there is none.
func (m members) value(name string) any {
	for _, one := range m {
		if one.name == name {
			return one.value
		}
	}
	return nil
}
