package record

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// An EngineCall is a call that would change a record outside.
type EngineCall struct {
	hosting.EngineCall
	changes []engineChange
}

// EngineCalls are calls as answers show them.
func EngineCalls(calls []hosting.EngineCall) (shown []EngineCall) {
	for _, c := range calls {
		one := EngineCall{EngineCall: c}
		for _, change := range c.Changes {
			one.changes = append(one.changes, engineChange{change})
		}
		shown = append(shown, one)
	}
	return shown
}

// Fields are the call.
func (c *EngineCall) Fields() field.Set {
	return field.Set{
		field.Text("call", &c.Call).ReadOnly(),
		field.Text("record", &c.Record).ReadOnly(),
		field.Objects("changes", &c.changes),
	}
}

// An engineChange is a field before and after a call.
type engineChange struct{ hosting.EngineChange }

// Fields are the change.
func (c *engineChange) Fields() field.Set {
	return field.Set{
		field.Text("field", &c.Field).ReadOnly(),
		field.Text("from", &c.From).ReadOnly(),
		field.Text("to", &c.To).ReadOnly(),
	}
}
