// Package masking recognises secrets by their names and by their look. Logs,
// commands and looks back at the log of events show a mask instead.
package masking

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// Masked stands where a secret stood.
const Masked = "***"

// secretNames are the names of things that are never shown.
var secretNames = regexp.MustCompile(
	`(?i)^(authorization|x-api-key|cookie|set-cookie|password.*|.*_password|token|refresh|access|secret.*|otp|` +
		`otpauth.*|recovery_codes?|private_key|chain|idempotency-key)$`,
)

// IsSecret tells whether the value under this name is never shown.
func IsSecret(key string) bool { return secretNames.MatchString(strings.TrimSpace(key)) }

// secretLooks are the looks of secrets: JSON web tokens, keys of the
// storefront and of webhooks, second factors, PEM blocks, passwords in URLs.
var secretLooks = []struct {
	look *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`), Masked},
	{regexp.MustCompile(`(sfk_(?:live|test)_[A-Za-z0-9]{8}_)[A-Za-z0-9_]+`), "${1}" + Masked},
	{regexp.MustCompile(`otpauth://[^\s"]+`), Masked},
	{regexp.MustCompile(`whsec_[A-Za-z0-9+/=_-]+`), Masked},
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?(-----END [A-Z ]+-----|$)`), Masked},
	{regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^\s:/@]*:)[^\s@/]+@`), "${1}" + Masked + "@"},
	{regexp.MustCompile(`(?i)([?&]token=)[^&\s"]+`), "${1}" + Masked},
}

// Mask replaces the secrets in a text, which it knows by their look.
func Mask(text string) string {
	for _, s := range secretLooks {
		text = s.look.ReplaceAllString(text, s.with)
	}
	return text
}

// JSON is a JSON object without the secrets in it. What is no object becomes an
// empty one.
func JSON(text []byte) json.RawMessage {
	var all map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	err := decoder.Decode(&all)
	masked, wrong := json.Marshal(within(all))
	if err = errors.Join(err, wrong); err != nil || all == nil {
		return json.RawMessage(`{}`)
	}
	return masked
}

func within(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if IsSecret(name) {
				v[name] = Masked
			} else {
				v[name] = within(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = within(v[i])
		}
	case string:
		return Mask(v)
	}
	return v
}
