package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/audit"
	"hostpanel/domain/texts"
	"hostpanel/eventstore"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
)

// Export is `hostpanel export`.
type Export struct {
	Out    string `placeholder:"FILE" help:"Where the events are written; a file of an export that was cut off is continued with --resume."`
	Format string `enum:"jsonl,csv" default:"jsonl" help:"JSON lines as the audit API shows events, or CSV."`
	Stream string `placeholder:"STREAM" help:"Only one stream: order-<id>, site-12, …"`
	Tenant int64  `placeholder:"ID" help:"Only events of a tenant."`
	From   string `placeholder:"TIME" help:"Only events since then (UTC)."`
	To     string `placeholder:"TIME" help:"Only events until then (UTC)."`
	Tiles  string `placeholder:"DIR"`
	Resume bool   `help:"Go on behind the last whole line of the file."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Export) Abouts() map[string]string {
	return map[string]string{
		"tiles": "Write the transparency log (tiles, entries and checkpoint) into this folder, as it is served " +
			"at /audit/log/.",
	}
}

// Run writes events to a file, in the order of the log, and the transparency log into a
// folder.
func (e Export) Run(ctx context.Context, s config.Settings, c console.Console) error {
	if e.Out == "" && e.Tiles == "" {
		return console.Misused("say what is written where: --out, --tiles")
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		if err := e.writeTiles(ctx, p, c); err != nil || e.Out == "" {
			return err
		}
		of, err := e.selection(ctx, p)
		if err != nil {
			return err
		}
		f, after, err := e.open()
		if err != nil {
			return err
		}
		head, _, err := p.Store.Reader().Head(ctx)
		if err != nil {
			return err
		}
		step, end := c.Progress("export")
		written, out := 0, newLines(e.Format, f, after == 0)
		err = p.Sagas.Audit.Export(ctx, projections.System, of, after, func(event audit.Event) error {
			written++
			step(event.Position, head)
			return out.add(event)
		})
		end()
		if err := errors.Join(err, out.flush(), f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s has %d more events\n", console.OneLine(e.Out), written)
		return nil
	})
}

// writeTiles writes the transparency log into a folder, for programs that check it.
func (e Export) writeTiles(ctx context.Context, p *program.Program, c console.Console) error {
	if e.Tiles == "" {
		return nil
	}
	step, end := c.Progress("tiles")
	o, size, err := tree.Open(p.Pool).Files(ctx, e.Tiles, step)
	end()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%s has the transparency log of %d events; its public key is %s\n", console.OneLine(e.Tiles), size, o.VKey)
	return nil
}

func (e Export) selection(ctx context.Context, p *program.Program) (of eventstore.Selection, err error) {
	of.Tenant = e.Tenant
	if e.Stream != "" {
		if of.Stream, err = streamNamed(ctx, p, e.Stream); err != nil {
			return of, err
		}
	}
	if of.From, err = console.ParseTime(e.From); err == nil {
		of.To, err = console.ParseTime(e.To)
	}
	return of, err
}

// open opens the file, and returns the position of the last event in it. A line that was
// cut off is taken away.
func (e Export) open() (f *os.File, after int64, err error) {
	if !e.Resume {
		f, err = os.OpenFile(e.Out, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return f, 0, err
	}
	if f, err = os.OpenFile(e.Out, os.O_RDWR, 0); err != nil {
		return nil, 0, err
	}
	whole, last, err := lastLine(f)
	if err == nil && len(last) > 0 {
		after, err = e.positionIn(last)
	}
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, after, nil
}

// lastLine is the last whole line of a file, and the size up to its end.
func lastLine(f io.Reader) (whole int64, last []byte, err error) {
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, last, nil
		}
		if err != nil {
			return 0, nil, err
		}
		whole, last = whole+int64(len(line)), line
	}
}

func (e Export) positionIn(line []byte) (int64, error) {
	var event struct{ Position int64 }
	if e.Format == "jsonl" {
		err := json.Unmarshal(line, &event)
		return event.Position, err
	}
	first, _, _ := bytes.Cut(line, []byte(","))
	if string(first) == csvHead[0] {
		return 0, nil
	}
	position, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		err = fmt.Errorf("%s is no export in this format: %w", e.Out, err)
	}
	return position, err
}

// lines writes events to a file, a line each.
type lines struct {
	add   func(audit.Event) error
	flush func() error
}

var csvHead = []string{
	"position", "recorded_at", "stream", "version", "type", "tenant", "actor", "correlation_id", "causation_id",
	"text", "data", "hash",
}

func newLines(format string, f io.Writer, isNew bool) lines {
	if format == "csv" {
		return csvLines(csv.NewWriter(f), isNew)
	}
	w := bufio.NewWriter(f)
	return lines{flush: w.Flush, add: func(e audit.Event) error {
		_, err := w.Write(append(e.Fields().AppendJSON(nil), '\n'))
		return err
	}}
}

func csvLines(w *csv.Writer, isNew bool) lines {
	return lines{
		flush: func() error { w.Flush(); return w.Error() },
		add: func(e audit.Event) error {
			if isNew {
				isNew = false
				if err := w.Write(csvHead); err != nil {
					return err
				}
			}
			return w.Write([]string{
				strconv.FormatInt(e.Position, 10), e.RecordedAt.UTC().Format(time.RFC3339Nano), e.Stream,
				strconv.Itoa(e.Version), e.Type, tenantOf(e),
				e.Actor.Type + ":" + e.Actor.ID, e.Correlation.String(), e.Cause, texts.Cell(console.OneLine(e.Text)),
				string(e.Data), hex.EncodeToString(e.Hash),
			})
		},
	}
}

func tenantOf(e audit.Event) string {
	if e.Tenant == 0 {
		return ""
	}
	return strconv.FormatInt(e.Tenant, 10)
}
