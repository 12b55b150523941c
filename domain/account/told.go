package account

import "encoding/json"

// A profile is what a person says of themselves.
type profile struct {
	Email    string `json:"email"`
	Name     string `json:"name"`
	Language string `json:"language"`
}

// Tells are the fields of a new account.
func (e Opened) Tells() any { return profile{e.Email, e.Name, e.Language} }

// Tells are the fields of a changed account.
func (e ProfileChanged) Tells() any { return profile{e.Email, e.Name, e.Language} }

// Shows completes the fields of a user under the names that the API has for them.
func (u User) Shows(record map[string]json.RawMessage) {
	for name, value := range map[string]any{"is_active": u.Active, "is_superuser": u.Superuser, "has_second_factor": u.SecondFactor} {
		record[name], _ = json.Marshal(value)
	}
	record["username"] = record["email"]
	for _, inner := range []string{"active", "superuser", "second_factor"} {
		delete(record, inner)
	}
	if u.ActiveTenant == 0 {
		record["active_tenant"] = json.RawMessage("null")
	}
}
