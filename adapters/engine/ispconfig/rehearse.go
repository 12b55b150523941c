package ispconfig

import (
	"context"
	"strings"

	"hostpanel/domain/hosting"
)

// A rehearsal lets a change run without changing anything: its calls are noted, and what it
// reads afterwards has the values that it would have written. The calls are so those of
// the change itself.
type rehearsal struct {
	calls []hosting.EngineCall
	rows  map[string]row // as they would be, by stem and number
	names map[string]string
}

type rehearsing struct{}

// rehearsalOf is the rehearsal that a context belongs to; nil: the calls are made.
func rehearsalOf(ctx context.Context) *rehearsal {
	r, _ := ctx.Value(rehearsing{}).(*rehearsal)
	return r
}

// Rehearse returns the calls that [Engine.Change] would make for an object, in their order.
func (e *Engine) Rehearse(ctx context.Context, o hosting.EngineObject) ([]hosting.EngineCall, error) {
	r := &rehearsal{rows: map[string]row{}, names: map[string]string{}}
	err := e.Change(context.WithValue(ctx, rehearsing{}, r), o)
	return r.calls, err
}

// note keeps a call, with what it changes in a row that was read before.
func (r *rehearsal) note(function string, arguments members) {
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
