package sandbox

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A rule is what the engine asks of one kind of object, and what it adds to it.
type rule struct {
	check    func(hosting.EngineObject) error
	observed func(hosting.EngineObject) map[string]string
}

var rules = map[string]rule{
	"tenant": {client, nothing},
	"site":   {site, place},
}

var (
	login  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	system = regexp.MustCompile(`^(web|client)[0-9]+$`) // the engine names its own users so
	label  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

func client(o hosting.EngineObject) error {
	switch {
	case !login.MatchString(o.Name):
		return errors.New("the login name has characters that are not allowed, or too many")
	case system.MatchString(o.Name):
		return errors.New("the login name collides with a system user")
	case o.Ref == "":
		return errors.New("a client needs a customer number")
	case o.Owner != 0:
		return errors.New("a client has no owner")
	}
	return nil
}

// site wants the stored form of a domain: lower case, punycode, no final dot.
func site(o hosting.EngineObject) error {
	labels := strings.Split(o.Name, ".")
	if len(o.Name) > 253 || len(labels) < 2 {
		return errors.New("not a domain name")
	}
	for _, l := range labels {
		if !label.MatchString(l) {
			return errors.New("not a domain name in lower case and punycode")
		}
	}
	if o.Owner < 1 {
		return errors.New("a site needs an owner")
	}
	return nil
}

func nothing(hosting.EngineObject) map[string]string { return map[string]string{} }

func place(o hosting.EngineObject) map[string]string {
	return map[string]string{
		"document_root": fmt.Sprintf("/var/www/clients/client%d/web%d", o.Owner, o.ID),
		"system_user":   fmt.Sprintf("web%d", o.ID),
		"system_group":  fmt.Sprintf("client%d", o.Owner),
	}
}

// withoutPasswords splits what was sent into what may be read back and salted
// hashes of the passwords in it (C-3 in docs/rules.md).
func withoutPasswords(sent field.Values) (open field.Values, hashed map[string]string, err error) {
	open, hashed = field.Values{}, map[string]string{}
	for name, value := range sent {
		if name != "password" && !strings.HasSuffix(name, "_password") {
			open[name] = value
			continue
		}
		if hashed[name], err = hash(string(value)); err != nil {
			return nil, nil, err
		}
	}
	return open, hashed, nil
}

func hash(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	key, err := pbkdf2.Key(sha256.New, password, salt, 20_000, 32)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	return encode(salt) + "$" + encode(key), nil
}
