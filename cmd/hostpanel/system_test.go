//go:build system

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// A backup that does not fit is refused, and nothing is left in the database.
func TestADamagedOrForeignBackupLeavesNothing(t *testing.T) {
	p, _ := demoForCommands(t)
	seal(t, p)
	whole := filepath.Join(t.TempDir(), "backup")
	m := madeBackup(t, whole)
	empty := eventstoretest.Database(t, "empty", nil)
	t.Setenv("DATABASE_URL", empty)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	refused := func(want string, code int, change func(dir string), flags ...string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(dir, os.DirFS(whole)))
		change(dir)
		tells(t, want, code, "restore", append([]string{"--without-erasures", "--from", dir}, flags...)...)
		var left int
		must(t, eventstoretest.Owner(t, empty).QueryRow(t.Context(),
			`select count(*) from pg_class where relnamespace = 'public'::regnamespace`).Scan(&left))
		if left != 0 {
			t.Errorf("%s: %d tables and indexes are left", want, left)
		}
	}
	changed := func(name string, by func([]byte) []byte) func(string) {
		return func(dir string) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, name), by(text), 0o600))
		}
	}
	gone := func(name string) func(string) {
		return func(dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
	}
	flip := func(text []byte) []byte { text[chance.IntN(len(text))] ^= byte(1 + chance.IntN(255)); return text }
	cut := func(text []byte) []byte { return text[:chance.IntN(len(text))] }
	for _, f := range m.Files {
		for _, damage := range []func(string){changed(f.Name, flip), changed(f.Name, cut), gone(f.Name)} {
			dir := filepath.Join(t.TempDir(), "copy")
			must(t, os.CopyFS(dir, os.DirFS(whole)))
			damage(dir)
			b, err := backup.Open(dir)
			must(t, err)
			if err := b.Check(t.Context(), p.Keys, func(int64, int64) {}); err == nil ||
				!strings.Contains(err.Error(), "damaged: "+f.Name) {
				t.Errorf("%s is damaged, and the backup is answered with %v", f.Name, err)
			}
			must(t, b.Close())
		}
	}
	one := m.Files[chance.IntN(len(m.Files))].Name
	refused("damaged: "+one, console.Failed, changed(one, flip))
	refused("damaged: "+one, console.Failed, gone(one))
	refused("damaged: manifest.json", console.Failed, changed("manifest.json", flip))
	refused("it is no whole backup", console.Failed, gone("manifest.json"))
	refused("newer than this program", console.Failed, changed("manifest.json", func(text []byte) []byte {
		return bytes.Replace(text, []byte(`"format": 1`), []byte(`"format": 2`), 1)
	}))
	refused("not signed by the log in the backup", console.Usage, func(string) {}, "--checkpoint",
		filepath.Join(whole, "manifest.json"))
	t.Setenv("HOSTPANEL_SECRET_KEY", "b3RoZXIta2V5LW90aGVyLWtleS1vdGhlci1rZXktMDE=")
	refused("wrong secret key", console.Usage, func(string) {})
}

// An auditor takes the log away in a file. An export that was cut off within a line goes on
// and ends with the same bytes.
func TestTheLogIsExportedAndACutExportGoesOn(t *testing.T) {
	p, _ := demoForCommands(t)
	head, _, err := p.Store.Reader().Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	export := func(code int, want, file string, flags ...string) []byte {
		t.Helper()
		name := filepath.Join(dir, file)
		tells(t, want, code, "export", append([]string{"--out", name}, flags...)...)
		data, _ := os.ReadFile(name)
		return data
	}
	whole := export(console.Done, "more events", "log.jsonl")
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	if int64(len(lines)) != head {
		t.Fatalf("%d lines of %d events", len(lines), head)
	}
	for i, line := range lines {
		var event struct {
			Position int64
			Hash     string
		}
		if err := json.Unmarshal(line, &event); err != nil || event.Position != int64(i)+1 || len(event.Hash) != 64 {
			t.Fatalf("line %d: %v, %s", i+1, err, line)
		}
	}
	export(console.Failed, "file exists", "log.jsonl")
	for format, flags := range map[string][]string{"jsonl": nil, "csv": {"--format", "csv"}} {
		whole := export(console.Done, "more events", "whole."+format, flags...)
		for _, cut := range []int{0, 1, len(whole) / 3, len(whole) - 1, len(whole)} {
			if err := os.WriteFile(filepath.Join(dir, "cut."+format), whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			if again := export(console.Done, "more events", "cut."+format, append(flags, "--resume")...); !bytes.Equal(again,
				whole) {
				t.Errorf("%s cut at %d of %d goes on to %d bytes", format, cut, len(whole), len(again))
			}
		}
	}
	table, err := csv.NewReader(bytes.NewReader(export(console.Done, "more events", "tenant.csv", "--format", "csv",
		"--tenant", "1"))).ReadAll()
	if err != nil || len(table) < 2 || table[1][5] != "1" {
		t.Errorf("%v, %v", table, err)
	}
	if one := export(console.Done, "1 more events", "plan.jsonl", "--stream", "plan-1"); !bytes.Contains(one,
		[]byte(`"stream":"plan-1"`)) {
		t.Errorf("%s", one)
	}
	export(console.Done, " 0 more events", "none.jsonl", "--to", "2020-01-01")
}

// A database that comes from an older backup fits itself. The witnesses know more: the
// panel does not start until an operator decides.
func TestAStartIsHeldAgainstWhatWitnessesHaveCosigned(t *testing.T) {
	w, url := newWitnessed(t)
	w.round()
	o, err := w.Sealer.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(kept, []byte(o.Checkpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Config.Checkpoint = kept
	ctx := domain.Origin{Cause: domain.OperatorCause(uuid.New())}.With(t.Context())
	starts := func(refusal string) *program.Program {
		t.Helper()
		p, err := program.Open(ctx, w.Config, slog.New(slog.DiscardHandler), program.Working)
		if err == nil {
			t.Cleanup(p.Close)
		}
		if (err == nil) != (refusal == "") || err != nil && (!strings.Contains(err.Error(), refusal) ||
			!strings.Contains(err.Error(), "nothing is written until you decide")) {
			t.Fatalf("the start ends with %v, want %q", err, refusal)
		}
		return p
	}
	silent := func() int64 {
		t.Helper()
		open, err := w.Tables.For(projections.System).Operations().OpenIncidents(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return open[operations.WitnessDown]
	}
	starts("")
	w.away.Store(true)
	p := starts("")
	if n := silent(); n != 1 {
		t.Errorf("%d incidents tell that a witness is away", n)
	}
	w.away.Store(false)
	working, stop := context.WithCancel(ctx)
	group, working := errgroup.WithContext(working)
	p.Work(working, group)
	eventually(t, "the incident is settled when the witness answers", func() bool { return silent() == 0 })
	stop()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}

	owner := eventstoretest.Owner(t, url)
	if _, err := owner.Exec(t.Context(), `alter table events disable trigger all; delete from events where position > 10;
		update log_origins set size = 0, checkpoint = '', published = '', published_size = 0; truncate log_tiles,
			log_witnesses`); err != nil {
		t.Fatal(err)
	}
	w.seal()
	starts("--checkpoint: the log is shorter than its checkpoint")
	tells(t, "nothing is written until you decide", console.Failed, "worker", "--checkpoint", kept, "--public-url",
		"http://127.0.0.1:1", "--listen", "127.0.0.1:0")
	w.Config.Checkpoint = ""
	starts("the witness one: the log is shorter than its checkpoint")
	var head int64
	if err := owner.QueryRow(t.Context(), `select max(position) from events`).Scan(&head); err != nil || head != 10 {
		t.Errorf("the log has %d events, %v", head, err)
	}
	if _, err := w.Sealer.BeginAnew(t.Context(), "the disk was lost"); err != nil {
		t.Fatal(err)
	}
	w.seal()
	w.Config.Checkpoint = kept
	starts("")
}

// A log that lost its end, and was signed anew by the holder of the keys, does not fit
// the checkpoint that was kept outside.
func TestVerifyHoldsTheLogAgainstACheckpointKeptOutside(t *testing.T) {
	p, url := demoForCommands(t)
	if _, err := p.Sealer.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := p.Sealer.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.WriteFile(kept, []byte(o.Checkpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(want string, code int, flags ...string) {
		t.Helper()
		tells(t, want, code, "verify", flags...)
	}
	verify("not covered: no checkpoint from outside", console.Done)
	verify("intact", console.Done, "--checkpoint", kept)
	verify("were verified before and not read again", console.Done, "--checkpoint", kept, "--new")
	verify("no such file", console.Usage, "--checkpoint", kept+"s")
	verify("has no --new", console.Usage, "--stream", "site-1", "--new")
	if _, err := eventstoretest.Owner(t, url).Exec(t.Context(), `alter table events disable trigger all; delete from
		events where position > 10;
		update log_origins set size = 0, checkpoint = ''; truncate log_tiles`); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Sealer.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	verify("intact", console.Done)
	verify("one of the positions 1 to", console.Failed, "--checkpoint", kept)
	verify(`"broken_through"`, console.Failed, "--checkpoint", kept, "--json")
}

func TestOnlyListsCanBeAskedAboutAnotherMoment(t *testing.T) {
	demoForCommands(t)
	dir := t.TempDir()
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{
			[]string{"at", "2026-11-21", "--", "user", "list"},
			"user list cannot be asked about another moment: only incidents list, invoices list, orders list",
		},
		{
			[]string{"at", "2026-11-21", "--", "plans", "create", "name=X"},
			"plans create cannot be asked about another moment",
		},
		{[]string{"at", "2026-11-21", "--", "serve"}, "serve cannot be asked about another moment"},
		{
			[]string{"at", "2026-11-21", "--", "at", "2026-11-21", "--", "plans", "list"},
			"at cannot be asked about another moment",
		},
		{[]string{"at", "2026-11-21", "--"}, "there is no command"},
		{[]string{"at", "yesterday", "--", "plans", "list"}, "is not a time"},
		{[]string{"serve", "--demo", "--as-of", "2026-11-21"}, "do not go together"},
	} {
		var out, complaint bytes.Buffer
		code := run(t.Context(), wrong.args, console.Console{Out: &out, Err: &complaint})
		if code != console.Usage || !strings.Contains(complaint.String(), wrong.says) {
			t.Errorf("%v: %d %s%s", wrong.args, code, out.String(), complaint.String())
		}
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for _, line := range [][]string{
		{"at", now, "--data-dir", dir, "--", "plans", "list"}, {"at", now, "--", "plans", "list", "--data-dir", dir},
	} {
		if code, out, complaint := told(t, line...); code != console.Done || !strings.Contains(out, "VPS 2") {
			t.Errorf("%v: %d %s%s", line, code, out, complaint)
		}
	}
	for list, head := range map[string]string{"invoices": "issued (UTC)", "subscriptions": "paid until (UTC)"} {
		if code, out, complaint := told(t, "at", now, "--data-dir", dir, "--", list, "list"); code != console.Done ||
			!strings.Contains(out, head) {
			t.Errorf("%s: %d %s%s", list, code, out, complaint)
		}
	}
	if code, out, complaint := told(t, "at", "2000-01-01", "--", "plans", "list", "--json", "--data-dir",
		dir); code != console.Done || strings.Contains(out, "VPS 2") {
		t.Errorf("%d %s%s", code, out, complaint)
	}
	if code, _, complaint := told(t, "at", "2100-01-01", "--", "plans", "list", "--data-dir",
		dir); code != console.Failed || !strings.Contains(complaint, "That moment is not over yet.") {
		t.Errorf("%d %s", code, complaint)
	}
}
