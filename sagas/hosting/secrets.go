package hosting

import (
	"crypto/rand"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// Passwords and keys of hosting resources (docs/hosting.md, "Secrets").

// seal takes the secrets that are new out of a draft. In their place it puts
// the handles under which they are handed over, beside the log.
func seal(d *hosting.Draft) map[uuid.UUID]string {
	secrets := map[uuid.UUID]string{}
	fields, before := d.Spec.Fields(), d.Before()
	for _, name := range d.Kind.Secrets() {
		one := fields.Only(name)
		if hosting.TextIn(d.Spec, name) == "" || string(one.Values()[name]) == string(before[name]) {
			continue
		}
		one.Seal(func(secret string) string {
			handle := uuid.New()
			secrets[handle] = secret
			return handle.String()
		})
	}
	return secrets
}

// generate makes the secret that the kind needs and the draft does not bring;
// nil: none was needed.
func generate(d *hosting.Draft) *hosting.Credentials {
	if d.Kind.Generated == "" || hosting.TextIn(d.Spec, d.Kind.Generated) != "" {
		return nil
	}
	password := newPassword()
	if err := d.Spec.Fields().Load(field.Values{d.Kind.Generated: field.AppendText(nil, password)}); err != nil {
		panic("hosting: " + err.Error()) // the row names a field that is no text
	}
	return &hosting.Credentials{User: hosting.TextIn(d.Spec, "db_user"), Password: password}
}

// newPassword draws a password of 130 bits or more, with letters of both cases
// and digits, which is what servers ask for.
func newPassword() string {
	lower := strings.ToLower(rand.Text())
	password := []byte(rand.Text())
	for i := 1; i < len(password); i += 2 {
		password[i] = lower[i]
	}
	return "a" + string(password) + "Z7"
}
