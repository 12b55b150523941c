package hosting

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// Credentials are what a client needs to use a record, where the panel has
// generated them (docs/hosting.md, "Secrets").
type credentials struct{ hosting.Credentials }

// Fields are the credentials.
func (c *credentials) Fields() field.Set {
	return field.Set{field.Text("db_user", &c.User).ReadOnly(), field.Text("db_password", &c.Password).ReadOnly()}
}
