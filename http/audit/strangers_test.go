//go:build strangers

package audit_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/paneltest"
)

// Programs that are not ours agree with the log: the fsck of Tessera derives the root
// from the entries and compares every tile, and the libraries of transparency-dev check
// a proof. Both refuse a log with one changed event. `make strangers` installs them.
func TestProgramsOfStrangersCheckTheLog(t *testing.T) {
	fsck, prover := os.Getenv("LOG_FSCK"), os.Getenv("LOG_PROVER")
	if fsck == "" || prover == "" {
		t.Fatal("make strangers sets LOG_FSCK and LOG_PROVER")
	}
	s := paneltest.Open(t).People(t)
	for i := range 600 {
		s.Do(t, hosting.Request{
			Ref:  hosting.Ref{Kind: "package", ID: int64(100 + i)},
			Spec: (&hosting.Package{Name: fmt.Sprint(i), Slug: fmt.Sprintf("p%d", i)}).Fields().Values(),
		})
	}
	o := s.Seal(t)
	served := httptest.NewServer(s.Handler)
	t.Cleanup(served.Close)
	key, kept := filepath.Join(t.TempDir(), "key.pub"), filepath.Join(t.TempDir(), "event.tlog-proof")
	writeFile(t, key, o.VKey)
	position := s.Position(t, "package-200")
	proof := s.Call("GET", "/audit/api/v1/events/"+position+"/proof/", "", "Authorization", "Bearer "+s.Known["root"])
	writeFile(t, kept, proof.Body.String())

	fetched := func(from ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, fsck,
			append([]string{"-ui=false", "-N=16", "-public_key", key, "-storage_url"},
				from...)...).CombinedOutput() // it hangs behind a mistake if it has fewer workers than tiles
		if err != nil || !strings.Contains(string(out), fmt.Sprintf("checking log of size %d", o.Size)) {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	check := func() (tree, event string) {
		t.Helper()
		out := fetched(served.URL+"/audit/log/", "-bearer_token", s.Known["root"])
		var at time.Time
		var hash []byte
		if err := s.Owner.QueryRow(t.Context(), `select recorded_at, hash from events where position = $1`,
			position).Scan(&at, &hash); err != nil {
			t.Fatal(err)
		}
		leaf, _ := tlog.LeafOf(at, hash)
		checked, _ := exec.Command(prover, o.VKey, kept, hex.EncodeToString(leaf[:])).CombinedOutput()
		return out, string(checked)
	}
	files := t.TempDir()
	if _, size, err := tree.Open(s.Pool()).Files(t.Context(), files, func(int64, int64) {}); err != nil || size != o.Size {
		t.Fatal(size, err)
	}
	if out := fetched("file://" + files + "/"); strings.Contains(out, "fsck failed") {
		t.Errorf("the files of an export: %s", out)
	}
	if tree, event := check(); strings.Contains(tree, "fsck failed") || event != "the proof holds\n" {
		t.Errorf("%s\n%s", tree, event)
	}
	if _, err := s.Owner.Exec(t.Context(), `alter table events disable trigger user; update events set recorded_at = `+
		`recorded_at + interval '1 us' where position = `+position); err != nil {
		t.Fatal(err)
	}
	if tree, event := check(); !strings.Contains(tree, "fsck failed") || !strings.HasPrefix(event, "the proof fails") {
		t.Errorf("with one changed event:\n%s\n%s", tree, event)
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
