package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

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
		update log_origins set size = 0, checkpoint = '', published = '', published_size = 0; truncate log_tiles, log_witnesses`); err != nil {
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
