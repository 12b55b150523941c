package sandbox

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// hashed are the salted hashes of what was handed over with an object. What
// looks like a password among its values is treated as one (C-3 in docs/rules.md).
func hashed(o *hosting.EngineObject) (hashes map[string]string, err error) {
	open := field.Values{}
	hashes = map[string]string{}
	for name, value := range o.Values {
		if name != "password" && !strings.HasSuffix(name, "_password") {
			open[name] = value
		} else if hashes[name], err = hash(plain(value)); err != nil {
			return nil, err
		}
	}
	o.Values = open
	for name, secret := range o.Secrets {
		if hashes[name], err = hash(secret); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

func plain(value json.RawMessage) (s string) {
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // texts have no errors
	return raw
}

func hash(secret string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return salted(salt, secret)
}

func salted(salt []byte, secret string) (string, error) {
	key, err := pbkdf2.Key(sha256.New, secret, salt, 5_000, 32)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	return encode(salt) + "$" + encode(key), nil
}

// opens tells whether a hash is that of a secret.
func opens(hash, secret string) bool {
	encoded, _, _ := strings.Cut(hash, "$")
	salt, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(salt) == 0 {
		return false
	}
	again, err := salted(salt, secret)
	return err == nil && subtle.ConstantTimeCompare([]byte(again), []byte(hash)) == 1
}
