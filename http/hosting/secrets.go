package hosting

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// credentials are those of [hosting.Credentials] in an answer (docs/hosting.md,
// "Secrets").
type credentials struct{ hosting.Credentials }

// Fields are the credentials.
func (c *credentials) Fields() field.Set {
	return field.Set{field.Text("db_user", &c.User).ReadOnly(), field.Text("db_password", &c.Password).ReadOnly()}
}
