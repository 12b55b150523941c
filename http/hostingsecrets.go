package http

import (
	"crypto/rand"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/field"
)

// Passwords and keys of hosting resources (docs/hosting.md, "Secrets").

// seal takes the secrets that are new out of the record. In their place are the
// handles under which they are handed over, beside the log.
func (w *wish) seal() map[uuid.UUID]string {
	secrets := map[uuid.UUID]string{}
	fields, before := w.spec.Fields(), w.before()
	for _, name := range w.kind.Secrets() {
		one := fields.Only(name)
		if textIn(w.spec, name) == "" || string(one.Values()[name]) == string(before[name]) {
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

// Credentials are what a client needs to use a record, where the panel has
// made them up.
type credentials struct{ user, password string }

// Fields are the credentials.
func (c *credentials) Fields() field.Set {
	return field.Set{field.Text("db_user", &c.user).ReadOnly(), field.Text("db_password", &c.password).ReadOnly()}
}

// generate makes up the secret that the kind needs and the request has not
// brought; nil: nothing was to be made up.
func (w *wish) generate() *credentials {
	if w.kind.Generated == "" || textIn(w.spec, w.kind.Generated) != "" {
		return nil
	}
	password := drawnPassword()
	if err := w.spec.Fields().Load(field.Values{w.kind.Generated: field.AppendText(nil, password)}); err != nil {
		panic("http: " + err.Error()) // the row names a field that is no text
	}
	return &credentials{user: textIn(w.spec, "db_user"), password: password}
}

// drawnPassword draws a password of 130 bits or more, with letters of both cases
// and digits, which is what servers ask for.
func drawnPassword() string {
	lower := strings.ToLower(rand.Text())
	password := []byte(rand.Text())
	for i := 1; i < len(password); i += 2 {
		password[i] = lower[i]
	}
	return "a" + string(password) + "Z7"
}
