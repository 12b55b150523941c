//go:build system

package main

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/eventstore/eventstoretest"
)

// A connection to the database is lost at each question in turn, or in place of its answer.
// A start with changed read tables, a backup and a rebuild come to their end nevertheless.
// HOSTPANEL_CUTS_EVERY leaves out the questions between (docs/reliability.md).
func TestWhatIsLongOutlivesACutAtEachQuestion(t *testing.T) {
	p, url := demoForCommands(t)
	owner := eventstoretest.Owner(t, url)
	cutter := eventstoretest.NewCutter(t, url, "")
	t.Setenv("DATABASE_URL", cutter.URL())
	every, err := strconv.Atoi(cmp.Or(os.Getenv("HOSTPANEL_CUTS_EVERY"), "20"))
	must(t, err)
	dir := t.TempDir()
	command := func(args ...string) func(*testing.T) {
		return func(t *testing.T) {
			if code, out, complaint := told(t, append(args, "--data-dir", dir)...); code != console.Done {
				t.Errorf("it ends with %d: %s%s", code, out, complaint)
			}
		}
	}
	deeds := map[string]func(*testing.T){
		"a start with changed read tables": func(t *testing.T) {
			_, err := owner.Exec(t.Context(), `update projections set hash = 'changed' where name in ('orders', 'notifications')`)
			must(t, err)
			cfg, err := config.New(config.Settings{
				DatabaseURL: cutter.URL(), DataDir: filepath.Dir(p.Config.DataDir), PublicURL: "https://panel.example.com",
				SecretKey: programtest.SecretKey,
			}, true)
			must(t, err)
			started, err := program.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), program.Serving)
			must(t, err)
			started.Close()
		},
		"a rebuild": command("projections", "rebuild"),
		"a backup": func(t *testing.T) {
			command("backup", "--out", filepath.Join(t.TempDir(), "backup"))(t)
		},
	}
	for name, deed := range deeds {
		t.Run(name, func(t *testing.T) {
			before := cutter.Asked()
			deed(t)
			questions := cutter.Asked() - before
			for n := 1; n <= questions; n += every {
				for _, answer := range []bool{false, true} {
					cutter.CutNth(n, answer)
					if deed(t); t.Failed() {
						t.Fatalf("the connection was cut at question %d of %d, in place of its answer: %t", n, questions, answer)
					}
					cutter.Withdraw()
				}
			}
			if questions < every {
				t.Errorf("it asks %d questions: too few to be cut", questions)
			}
		})
	}
	tells(t, "every row is what the log says", console.Done, "projections", "check")
}
