package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/recovery"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/sagas"
	"hostpanel/sagas/catalogue"
)

// Restore is `hostpanel restore`.
type Restore struct {
	From       string `required:"" placeholder:"FOLDER|FILE.zip" help:"The backup."`
	Checkpoint string `placeholder:"FILE"`
	Erasures   string `placeholder:"FILE"`
	Without    bool   `name:"without-erasures"`
	Ahead      int64  `default:"10000" placeholder:"N"`
	JSON       bool   `name:"json" help:"For programs."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Restore) Abouts() map[string]string {
	return map[string]string{
		"checkpoint": "The newest signed checkpoint that was kept outside of the panel: if the backup has all " +
			"that it covers, the log goes on under its origin.",
		"erasures": "The newest signed list of erasures; none: those of the data directory and of " +
			"HOSTPANEL_ERASURES_COPY.",
		"without-erasures": "Restore without a list of erasures that is newer than the backup: people who were " +
			"erased since may come back.",
		"ahead": "How far numbers of records are moved on, so that none is given out again that was given out " +
			"after the backup.",
	}
}

// Run fills an empty database from a backup, checks it, and leaves the panel in recovery
// mode. On any failure nothing is left in the database.
func (r Restore) Run(ctx context.Context, s config.Settings, c console.Console) (err error) {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	job := &restore{Restore: r, console: c}
	if job.outside, err = readIfNamed("--checkpoint", r.Checkpoint); err != nil {
		return err
	}
	if job.backup, err = backup.Open(r.From); err != nil {
		return err
	}
	defer func() { _ = job.backup.Close() }()
	if job.erased, err = r.lists(cfg, job.backup); err != nil {
		return err
	}
	if job.p, err = program.OpenEmpty(ctx, cfg, redact.NewLog(c.Err, slog.LevelWarn)); err != nil {
		return err
	}
	defer job.p.Close()
	if err := job.run(ctx); err != nil {
		return err
	}
	return job.print()
}

func readIfNamed(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", console.Misused("%s: %v", flag, err)
	}
	return string(text), nil
}

// A restore is one that is under way.
type restore struct {
	Restore
	console console.Console
	outside string // the checkpoint that was kept outside; blank: none is at hand
	backup  *backup.Backup
	erased  []erasures.List // that are applied before anything is served
	p       *program.Program
	owner   *pgxpool.Pool
	report  report
}

// A report tells what was restored.
type report struct {
	From      string    `json:"from"`
	MadeAt    time.Time `json:"made_at"`
	Tables    int       `json:"tables"`
	Rows      int64     `json:"rows"`
	Head      int64     `json:"head_position"`
	Missing   int64     `json:"missing_events"` // that a checkpoint kept outside covers, and the backup lacks
	Origin    string    `json:"origin"`         // of the log from now on; blank: it has none yet
	NewOrigin bool      `json:"new_origin"`
	Erased    int       `json:"erased"` // people who were erased again
	Incident  string    `json:"incident"`
}

func (j *restore) run(ctx context.Context) (err error) {
	step, end := j.console.Progress("checking the backup")
	err = j.backup.Check(ctx, j.p.Keys, step)
	if end(); errors.Is(err, eventstore.ErrSecretKey) {
		return console.Misused(
			"%w: the backup is sealed with another one. Set HOSTPANEL_SECRET_KEY, or put the file secret.key that "+
				"belongs to it into the data directory",
			err,
		)
	}
	if err != nil {
		return err
	}
	if j.owner, err = eventstore.ConnectOwner(ctx, j.p.URL); err != nil {
		return err
	}
	defer j.owner.Close()
	if err := j.load(ctx); err != nil {
		return err
	}
	if err = j.complete(ctx); err == nil {
		return nil
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return errors.Join(err, backup.Discard(after, j.owner))
}

// load fills the tables. Until the restore is ready, no program works on them.
func (j *restore) load(ctx context.Context) error {
	step, end := j.console.Progress("restoring")
	defer end()
	return backup.Load(ctx, j.owner, j.backup, backup.Loading{
		Schema: schema(), Ahead: j.Ahead, Progress: step,
		Finish: func(ctx context.Context, tx pgx.Tx) error {
			return sagas.BeginRecovery(ctx, tx, j.backup.Head.Position, "restored from the backup of "+j.backup.MadeAt.Format(time.RFC3339))
		},
	})
}

// complete checks what was loaded, and makes what a backup does not have.
func (j *restore) complete(ctx context.Context) error {
	j.report = report{
		From: j.From, MadeAt: j.backup.MadeAt, Tables: len(j.backup.Files), Rows: j.backup.Rows(),
		Head: j.backup.Head.Position,
	}
	whole, err := j.verify(ctx)
	if err != nil {
		return err
	}
	if err := j.p.Fill(ctx); err != nil {
		return err
	}
	for _, list := range j.erased {
		applied, err := j.p.ApplyErasures(ctx, list)
		if j.report.Erased += applied; err != nil {
			return err
		}
	}
	if err := j.origin(ctx, whole); err != nil {
		return err
	}
	mode, err := recovery.Read(ctx, j.owner)
	if err != nil {
		return err
	}
	trouble := operations.RecoveryTrouble(mode.Number)
	if err := j.p.Sagas.Runner.ReportIncident(ctx, trouble); err != nil {
		return err
	}
	j.report.Incident = trouble.ID().String()
	return recovery.Ready(ctx, j.owner)
}

// verify checks the whole log against the manifest, and against the checkpoint that was
// kept outside. It tells whether that one proves that nothing signed is missing.
func (j *restore) verify(ctx context.Context) (whole bool, err error) {
	log := eventstore.Open(j.owner, catalogue.Events(), j.p.Keys)
	check := eventstore.Check{}
	if j.backup.Log != nil {
		check.Checkpoint = j.backup.Log.Checkpoint
	}
	outside, err := j.kept(ctx)
	if err != nil {
		return false, err
	}
	if j.report.Missing = max(outside.Size-j.report.Head, 0); outside.Size > 0 && j.report.Missing == 0 {
		check.Checkpoint = j.outside
		whole = j.backup.Log != nil && outside.Size >= j.backup.Log.Size && outside.Origin == j.backup.Log.Origin
	}
	step, end := j.console.Progress("verifying")
	defer end()
	check.Progress = step
	found, err := log.Reader().VerifyBy(ctx, check)
	switch {
	case err != nil:
		return false, err
	case !found.Intact:
		return false, fmt.Errorf(
			"the log in the backup is broken at position %d%s: %s", found.Broken,
			wording.Around(", stream ", found.Stream, ""), found.Reason,
		)
	case found.HeadPosition != j.backup.Head.Position || fmt.Sprintf("%x", found.HeadHash) != j.backup.Head.Hash:
		return false, fmt.Errorf(
			"the log in the backup ends at %d with %x, and its manifest says %d and %s", found.HeadPosition,
			found.HeadHash, j.backup.Head.Position, j.backup.Head.Hash,
		)
	}
	return whole, nil
}

// kept is the checkpoint that was kept outside. One of another log is refused.
func (j *restore) kept(ctx context.Context) (kept tlog.Checkpoint, err error) {
	if j.outside == "" {
		return kept, nil
	}
	origins, err := tree.Open(j.owner).Origins(ctx)
	if err != nil {
		return kept, err
	}
	for _, o := range origins {
		if kept, err := tlog.OpenCheckpoint(j.outside, o.VKey); err == nil {
			return kept, nil
		}
	}
	name, _, _ := strings.Cut(j.outside, "\n")
	return kept, console.Misused("--checkpoint: it is not signed by the log in the backup: %q", name)
}

// origin lets the log go on under a new origin, unless nothing signed is missing.
func (j *restore) origin(ctx context.Context, whole bool) error {
	o, err := j.p.Sealer.Current(ctx)
	if errors.Is(err, tree.ErrNone) {
		return nil
	}
	if err == nil && !whole {
		j.report.NewOrigin = true
		o, err = j.p.Sealer.BeginAnew(ctx, "restored from the backup of "+j.backup.MadeAt.Format(time.RFC3339))
	}
	j.report.Origin = o.Name
	return err
}

func (j *restore) print() error {
	if j.JSON {
		return j.console.JSON(j.report)
	}
	out := j.console.Out
	fmt.Fprintf(out, "restored: %s in %s, up to event %s, as of %s\n", wording.Count(j.report.Rows, "row"), wording.Count(
		int64(j.report.Tables), "table",
	),
		wording.Grouped(j.report.Head), j.report.MadeAt.Format(time.RFC3339))
	if j.report.Missing > 0 {
		fmt.Fprintf(out, "lost: %s that the checkpoint kept outside covers\n", wording.Count(j.report.Missing, "event"))
	}
	if j.report.NewOrigin {
		fmt.Fprintf(out, "the log goes on as %s with a new key\n", console.OneLine(j.report.Origin))
	}
	if j.report.Erased > 0 {
		fmt.Fprintf(out, "erased again: %s\n", wording.Count(int64(j.report.Erased), "person"))
	}
	fmt.Fprintln(
		out,
		`the panel is in recovery mode: it serves, and reaches nothing outside until "hostpanel recovery end" (docs/backup.md)`,
	)
	return nil
}
