package hosting

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/credentials"
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
	password := credentials.NewPassword()
	if err := d.Spec.Fields().Load(field.Values{d.Kind.Generated: field.AppendText(nil, password)}); err != nil {
		panic("hosting: " + err.Error()) // the row names a field that is no text
	}
	return &hosting.Credentials{User: hosting.TextIn(d.Spec, "db_user"), Password: password}
}

// signingBits is the size of keys that sign mails (RFC 8301, 3.2).
const signingBits = 2048

// makeKeys makes what a draft needs that is drawn at random: the key pair that signs
// mails, and the record that proves the sender of a brand. The private part of the
// pair is sealed with the other secrets.
func makeKeys(d *hosting.Draft) error {
	hosting.SetSenderRecord(d, rand.Text)
	if !hosting.NeedsKey(d) {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, signingBits)
	if err != nil {
		return fmt.Errorf("make a key that signs mails: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("write the public key: %w", err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	hosting.SetKey(d, string(private), public)
	return nil
}
