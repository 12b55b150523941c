package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"hostpanel/cmd/hostpanel/console"
)

// A Setting is one line of the declarations in Settings, or in those of a
// payment provider.
type Setting struct {
	Variable    string
	Secret      bool // no flag; also from the file that Variable_FILE names
	Placeholder string
	Help        string
}

// All are the settings, in the order of their declarations.
func All() (all []Setting) {
	eachField(&Settings{Payments: Providers()}, func(s Setting, _ reflect.Value) { all = append(all, s) })
	return all
}

// An explained part of the settings says what each is about, by variable.
type explained interface{ Abouts() map[string]string }

// eachField visits the fields that are settings.
func eachField(s *Settings, visit func(Setting, reflect.Value)) {
	for _, part := range append([]any{s}, s.Payments...) {
		value, abouts := reflect.ValueOf(part).Elem(), part.(explained).Abouts() //nolint:forcetypeassert // see Providers
		for i := range value.NumField() {
			tag := value.Type().Field(i).Tag
			if name, isSetting := tag.Lookup("env"); isSetting {
				_, secret := tag.Lookup("secret")
				visit(Setting{name, secret, tag.Get("placeholder"), abouts[name]}, value.Field(i))
			}
		}
	}
}

// ReadSecrets sets the secrets: each from its variable, else from the file that
// <NAME>_FILE names. A final line break of the file is not part of the secret.
func (s *Settings) ReadSecrets() (err error) {
	eachField(s, func(one Setting, field reflect.Value) {
		if !one.Secret || err != nil {
			return
		}
		var text string
		if text, err = secretOf(one.Variable); text != "" {
			field.SetString(text)
		}
	})
	return err
}

func secretOf(variable string) (string, error) {
	if text := os.Getenv(variable); text != "" {
		return text, nil
	}
	path := os.Getenv(variable + "_FILE")
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", console.Misused("%s_FILE: %w", variable, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// RefuseSecretFlags refuses arguments that look like a flag for a secret, and
// names the variable to use.
func RefuseSecretFlags(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		for _, s := range All() {
			if s.Secret && (name == flagOf(s.Variable) || name == flagOf(strings.TrimPrefix(s.Variable, "HOSTPANEL_"))) {
				return console.Misused("%s: a secret is no flag, because every process of the machine can read "+
					"flags: set %s, or %s_FILE to the path of a file",
					name, s.Variable, s.Variable)
			}
		}
	}
	return nil
}

func flagOf(variable string) string {
	return "--" + strings.ReplaceAll(strings.ToLower(variable), "_", "-")
}

// Variables are the names of all environment variables that we read.
func Variables() (names []string) {
	for _, s := range All() {
		names = append(names, s.Variable)
		if s.Secret {
			names = append(names, s.Variable+"_FILE")
		}
	}
	return names
}

// checkEnvironment refuses settings of parts that are not there, and secrets
// under a misspelt name, which would be missing without a word. It answers
// with warnings about variables that have no effect.
func checkEnvironment(environment []string) (warnings []string, err error) {
	known := Variables()
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		plain := strings.TrimSuffix(name, "_FILE")
		switch {
		case value == "" || slices.Contains(known, name):
		case slices.Contains(later, plain):
			return nil, console.Misused("%s is set, but this version cannot use it: take it out of the environment", name)
		case slices.Contains(idle, plain):
			warnings = append(warnings, name+" has no effect in this version")
		default:
			warning, err := misspelt(name)
			if err != nil {
				return nil, err
			}
			warnings = append(warnings, warning...)
		}
	}
	slices.Sort(warnings)
	return warnings, nil
}

// families are the prefixes of our variables. Only the first is ours alone:
// another program may have one that begins with the name of a provider.
func families() (all []string) {
	for _, s := range All() {
		family, _, _ := strings.Cut(s.Variable, "_")
		if !slices.Contains(all, family) {
			all = append(all, family)
		}
	}
	return all
}

// misspelt judges a variable that is none of ours: a warning with the nearest
// name, or a refusal if that one is a secret.
func misspelt(name string) (warnings []string, err error) {
	family, _, _ := strings.Cut(name, "_")
	ours := family == "HOSTPANEL"
	near, secret := nearest(name)
	switch {
	case ours && secret:
		return nil, console.Misused(
			"%s is not a setting of hostpanel: did you mean %s, a secret? Rename it, or take it out of the environment",
			name, near,
		)
	case near != "" && slices.Contains(families(), family):
		return []string{fmt.Sprintf("%s is not a setting of hostpanel: did you mean %s?", name, near)}, nil
	case ours:
		return []string{name + " is not a setting of hostpanel"}, nil
	}
	return nil, nil
}

// typos is how many letters a misspelt name may differ in.
const typos = 3

// nearest is the variable with the least difference, and whether it is a
// secret; empty if every one differs too much.
func nearest(name string) (variable string, secret bool) {
	least := typos + 1
	for _, s := range All() {
		candidates := []string{s.Variable}
		if s.Secret {
			candidates = append(candidates, s.Variable+"_FILE")
		}
		for _, candidate := range candidates {
			if d := distance(name, candidate); d < least {
				least, variable, secret = d, candidate, s.Secret
			}
		}
	}
	return variable, secret
}

// distance counts the letters to insert, drop or replace between two names
// (https://en.wikipedia.org/wiki/Levenshtein_distance).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
