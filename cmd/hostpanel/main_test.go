package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
)

// told runs the program in this process.
func told(t *testing.T, args ...string) (code int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, console.Console{Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// demoForCommands is a demo in a database that the commands of the test work on.
func demoForCommands(t *testing.T) (p *program.Program, url string) {
	t.Helper()
	p = programtest.Demo(t)
	url = p.Config.DatabaseURL
	t.Setenv("HOSTPANEL_SECRET_KEY", programtest.SecretKey)
	t.Setenv("DATABASE_URL", url)
	return p, url
}

// tells runs a command in this process, and checks its exit code and a part of what it says.
func tells(t *testing.T, want string, code int, command string, flags ...string) {
	t.Helper()
	got, out, complaint := told(t, append([]string{command, "--data-dir", t.TempDir()}, flags...)...)
	if got != code || !strings.Contains(out+complaint, want) {
		t.Errorf("%s %v ends with %d: %s%s", command, flags, got, out, complaint)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something is so. The limit is long: a machine that is busy is no fault.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still not: ", what)
		}
	}
}

func TestWrongUseEndsWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{"fly"},
		{"serve", "--warp"},
		{"history"},
		{"history", "order-1", "--as-of", "yesterday"},
		{"history", "order-1", "--version", "1", "--as-of", "2026-11-21"},
		{"history", "order-1/0"},
		{"history", "order-1/last", "--why"},
		{"history", "order-1/1", "--version", "1"},
		{"history", "order-1", "1", "--why"},
		{"orders", "retry", "ORD-1"},
		{"webhooks", "replay"},
		{"serve", "--listen", "nowhere"},
		{"verify", "--tax-rate", "much"},
		{"worker", "--listen", "127.0.0.1:0"},
		{"serve", "--secret-key", "c2VjcmV0"},
		{"orders", "fly"},
		{"completion", "tcsh"},
	} {
		if code, _, complaint := told(t, args...); code != console.Usage || !strings.Contains(complaint, "hostpanel: ") {
			t.Errorf("%v ends with %d: %s", args, code, complaint)
		}
	}
}

// What is wrong with a command names what was sent, not another flag.
func TestAComplaintIsAboutWhatWasSent(t *testing.T) {
	if _, _, complaint := told(t, "history", "order-1", "1", "--why"); !strings.Contains(complaint, `"1" belongs to --diff alone`) {
		t.Error(complaint)
	}
	if _, _, complaint := told(t, "evidence", "--order", "", "--out", "pack"); !strings.Contains(complaint, "--order") {
		t.Error(complaint)
	}
}

// Every way to ask for help prints it to standard output and is no failure.
func TestHelpIsShownForEachWayToAskForIt(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"", "Usage: hostpanel <command>"},
		{"--help", "Usage: hostpanel <command>"},
		{"help", "Usage: hostpanel <command>"},
		{"orders", "Usage: hostpanel orders <command>"},
		{"help orders show", "Usage: hostpanel orders show <order>"},
		{"orders show --help", "Usage: hostpanel orders show <order>"},
		{"help-me", ""},
	} {
		code, out, complaint := told(t, strings.Fields(c.args)...)
		if c.says == "" {
			if code != console.Usage {
				t.Errorf("%q ends with %d", c.args, code)
			}
			continue
		}
		if code != console.Done || complaint != "" || !strings.Contains(out, c.says) {
			t.Errorf("%q ends with %d: %s%s", c.args, code, out, complaint)
		}
	}
}

func TestHelpNamesEveryCommandBeforeTheFlagsAndNoSetting(t *testing.T) {
	for args, commands := range map[string][]string{
		"--help": {
			"serve", "worker", "migrate", "history", "orders", "user", "webhooks", "verify", "completion",
			"version",
		},
		"orders --help": {"list", "show", "retry", "refund", "accept", "cancel", "dispute", "end-grace"},
	} {
		_, out, _ := told(t, strings.Fields(args)...)
		flags := strings.Index(out, "Flags:")
		for _, name := range commands {
			if at := strings.Index(out, name); at < 0 || at > flags {
				t.Errorf("%s: %s stands at %d, the flags at %d:\n%s", args, name, at, flags, out)
			}
		}
		if strings.Contains(out, "HOSTPANEL_LISTEN") || !strings.Contains(out, "--help-settings") {
			t.Errorf("%s: settings belong to --help-settings:\n%s", args, out)
		}
	}
}

// A name among the Abouts of a command that is none of its flags would leave the flag
// without a text.
func TestEveryFlagAndArgumentSaysWhatItIsAbout(t *testing.T) {
	parser, err := newParser(new(commands), console.Console{Out: io.Discard, Err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	_ = kong.Visit(parser.Model.Node, func(v kong.Visitable, next kong.Next) error {
		if node, is := v.(*kong.Node); is && !node.Hidden {
			for _, flag := range node.Flags {
				if flag.Help == "" && (flag.Group == nil || flag.Group.Key != "settings") {
					t.Errorf("%s: --%s", node.FullPath(), flag.Name)
				}
			}
			for _, argument := range node.Positional {
				if argument.Help == "" {
					t.Errorf("%s: %s", node.FullPath(), argument.Name)
				}
			}
		}
		return next(nil)
	})
}

func TestTheHelpOfSettingsNamesEachVariableAndFlag(t *testing.T) {
	for _, args := range [][]string{{"--help-settings"}, {"serve", "--help-settings"}} {
		code, out, complaint := told(t, args...)
		for _, name := range append(config.Variables(), "--listen", "--stripe-api-url") {
			if !strings.Contains(out, name) {
				t.Errorf("%s is missing:\n%s", name, out)
			}
		}
		if code != console.Done || complaint != "" || strings.Contains(out, "--stripe-secret-key") {
			t.Errorf("%v ends with %d: %s%s", args, code, out, complaint)
		}
	}
}

func TestTheVersionIsToldInBothWays(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"version", "--json"}} {
		if code, out, complaint := told(t, args...); code != console.Done || complaint != "" ||
			!strings.Contains(out, runtime.Version()) || !strings.Contains(out, "dev") {
			t.Errorf("%v ends with %d: %s%s", args, code, out, complaint)
		}
	}
}

func TestHelpShowsNoSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("HOSTPANEL_SECRET_KEY", "c2VjcmV0LWluLXRoZS1lbnZpcm9ubWVudA==")
	t.Setenv("DATABASE_URL", "postgres://me:hidden-password@db/x")
	if _, out, complaint := told(t, "serve", "--help"); strings.Contains(out+complaint, "c2VjcmV0") ||
		strings.Contains(out+complaint, "hidden-password") {
		t.Error(out + complaint)
	}
}

// A command in a folder without a panel says so, and leaves the folder as it
// was.
func TestACommandMakesNoPanel(t *testing.T) {
	empty := t.TempDir()
	missing := filepath.Join(empty, "mistyped")
	for _, dir := range []string{empty, missing} {
		for _, args := range [][]string{
			{"orders", "list"},
			{"verify"},
			{"history", "order-1"},
			{"user", "list"},
			{"projections", "list"},
			{"runs", "list"},
			{"sandbox", "list"},
			{"webhooks", "list"},
			{"zone", "1"},
			{"worker"},
		} {
			code, out, complaint := told(t, append(args, "--data-dir", dir)...)
			if code != console.Usage || out != "" || !strings.Contains(complaint, dir) ||
				!strings.Contains(complaint, "--data-dir") {
				t.Errorf("%v in %s ends with %d: %s%s", args, dir, code, out, complaint)
			}
		}
	}
	left, err := os.ReadDir(empty)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestMistakesOfTheDatabaseEndWithTwo(t *testing.T) {
	t.Setenv("HOSTPANEL_SECRET_KEY", programtest.SecretKey)
	for _, url := range []string{"mysql://me:canary@127.0.0.1/x", "postgres://me:canary@127.0.0.1:123456/x", "://canary"} {
		t.Setenv("DATABASE_URL", url)
		for _, command := range []string{"serve", "worker", "migrate", "verify"} {
			code, _, complaint := told(t, command, "--data-dir", t.TempDir())
			if code != console.Usage || !strings.Contains(complaint, "DATABASE_URL") || strings.Contains(complaint, "canary") {
				t.Errorf("%s with %s ends with %d: %s", command, url, code, complaint)
			}
		}
	}
}
