package field_test

import (
	"encoding/json"
	"fmt"

	"hostpanel/domain/field"
)

// A mailbox declares its fields once. Requests, answers, refusals and the API document follow.
type mailbox struct {
	ID    int64
	Name  string
	Quota int64
}

func (m *mailbox) Fields() field.Set {
	return field.Set{
		field.Int("id", &m.ID).ReadOnly(),
		field.Text("name", &m.Name).Required().Max(20),
		field.Int("quota_mb", &m.Quota).Between(1, 10_000).Default(500),
	}
}

func Example() {
	m := mailbox{ID: 7}
	_, err := m.Fields().DecodeJSON([]byte(`{"id": 1, "quota_mb": 0}`), field.Create)
	refusal, _ := json.Marshal(err)
	fmt.Println(string(refusal))

	_, err = m.Fields().DecodeJSON([]byte(`{"name": "info"}`), field.Create)
	fmt.Println(string(m.Fields().AppendJSON(nil)), err)

	set, err := m.Fields().DecodeJSON([]byte(`{"quota_mb": 900}`), field.Patch)
	fmt.Println(string(m.Fields().AppendJSON(nil)), err, "changed:", string(set.AppendJSON(nil)))
	// Output:
	// {"name":["This field is required."],"quota_mb":["Ensure this value is greater than or equal to 1."]}
	// {"id":7,"name":"info","quota_mb":500} <nil>
	// {"id":7,"name":"info","quota_mb":900} <nil> changed: {"quota_mb":900}
}
