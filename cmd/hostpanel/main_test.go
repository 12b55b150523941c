package main

import (
	"bytes"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
)

// told runs the program in this process.
func told(t *testing.T, args ...string) (code int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, console.Console{Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestWrongUseEndsWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"fly"},
		{"serve", "--warp"},
		{"history"},
		{"history", "order-1", "--as-of", "yesterday"},
		{"history", "order-1", "--version", "1", "--as-of", "2026-11-21"},
		{"history", "order-1/0"},
		{"history", "order-1/last", "--why"},
		{"history", "order-1/1", "--version", "1"},
		{"orders", "retry", "ORD-1"},
		{"webhooks", "replay"},
		{"serve", "--listen", "nowhere"},
		{"verify", "--tax-rate", "much"},
		{"worker", "--listen", "127.0.0.1:0"},
	} {
		if code, _, complaint := told(t, args...); code != console.Usage || !strings.Contains(complaint, "hostpanel: ") {
			t.Errorf("%v ends with %d: %s", args, code, complaint)
		}
	}
}

func TestHelpNamesEveryCommandAndSetting(t *testing.T) {
	code, out, complaint := told(t, "--help")
	if code != console.Done || complaint != "" {
		t.Fatalf("%d %s", code, complaint)
	}
	wanted := []string{"serve", "worker", "migrate", "history", "orders", "user", "webhooks", "verify", "bench"}
	for _, name := range config.Variables() {
		if !strings.HasSuffix(name, "_FILE") {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		if !strings.Contains(out, name) {
			t.Errorf("help does not speak of %s:\n%s", name, out)
		}
	}
}

func TestHelpShowsNoSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("HOSTPANEL_SECRET_KEY", "c2VjcmV0LWluLXRoZS1lbnZpcm9ubWVudA==")
	t.Setenv("DATABASE_URL", "postgres://me:hidden-password@db/x")
	if _, out, complaint := told(t, "serve", "--help"); strings.Contains(out+complaint, "c2VjcmV0") || strings.Contains(out+complaint, "hidden-password") {
		t.Error(out + complaint)
	}
}
