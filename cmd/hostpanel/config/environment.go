package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/console"
)

// SecretFiles reads a secret from the file that <NAME>_FILE names, unless the
// flag or the variable itself is given.
type SecretFiles struct{}

// Validate has nothing to check.
func (SecretFiles) Validate(*kong.Application) error { return nil }

// Resolve reads the file that belongs to a secret flag.
func (SecretFiles) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !flag.Tag.Has("secret") || os.Getenv(flag.Envs[0]) != "" {
		return nil, nil
	}
	variable := flag.Envs[0] + "_FILE"
	path := os.Getenv(variable)
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// Variables are the names of all environment variables that we read.
func Variables() []string {
	names := variablesOf(reflect.TypeFor[Settings]())
	for _, one := range Providers() {
		names = append(names, variablesOf(reflect.TypeOf(one).Elem())...)
	}
	return names
}

func variablesOf(settings reflect.Type) (names []string) {
	for f := range settings.Fields() {
		name, isSetting := f.Tag.Lookup("env")
		if !isSetting {
			continue
		}
		names = append(names, name)
		if _, secret := f.Tag.Lookup("secret"); secret {
			names = append(names, name+"_FILE")
		}
	}
	return names
}

// checkEnvironment refuses settings of parts that are not there, and answers
// with warnings about those that have no effect.
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
		case strings.HasPrefix(name, "HOSTPANEL_"):
			warnings = append(warnings, name+" is not a setting of hostpanel")
		}
	}
	slices.Sort(warnings)
	return warnings, nil
}
