// Command hostpanel-verify checks an evidence pack offline: without the panel, its
// database or a network (docs/audit.md, "Evidence packs").
package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog"
)

// Exit codes.
const (
	proven = iota
	faulty
	unreadable
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `usage: hostpanel-verify [-policy FILE] [-json] PACK

PACK is an evidence pack: a folder or a .zip. The policy says whose signatures are
accepted (C2SP tlog-policy); without one, that of the pack is used.

Exit codes: 0 each event is proven, 1 something is not as it was written, 2 PACK cannot be read.

`

func run(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("hostpanel-verify", flag.ContinueOnError)
	flags.SetOutput(complaints)
	policyFile := flags.String("policy", "", "whose signatures are accepted")
	asJSON := flags.Bool("json", false, "for programs")
	flags.Usage = func() { fmt.Fprint(complaints, usage); flags.PrintDefaults() }
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		if err == nil {
			flags.Usage()
		}
		return unreadable
	}
	pack, report, err := check(flags.Arg(0), *policyFile)
	if err == nil && *asJSON {
		err = json.NewEncoder(out).Encode(shown(pack, report))
	}
	if err != nil {
		fmt.Fprintln(complaints, "hostpanel-verify:", err)
		return unreadable
	}
	if !*asJSON {
		tell(out, pack, report, *policyFile != "")
	}
	if len(report.Faults) > 0 {
		return faulty
	}
	return proven
}

func check(name, policyFile string) (pack evidence.Pack, r evidence.Report, err error) {
	var policy *tlog.Policy
	if policyFile != "" {
		text, err := os.ReadFile(policyFile)
		if err != nil {
			return pack, r, err
		}
		if policy, err = tlog.ParsePolicy(string(text)); err != nil {
			return pack, r, err
		}
	}
	files, end, err := open(name)
	if err != nil {
		return pack, r, err
	}
	defer end()
	if pack, err = evidence.Read(files); err != nil {
		return pack, r, err
	}
	r, err = pack.Check(policy)
	return pack, r, err
}

// open opens a folder or a .zip.
func open(name string) (files fs.FS, end func(), err error) {
	about, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if about.IsDir() {
		return os.DirFS(name), func() {}, nil
	}
	z, err := zip.OpenReader(name)
	if errors.Is(err, zip.ErrFormat) {
		err = fmt.Errorf("%w: neither a folder nor a .zip", evidence.ErrFormat)
	}
	if err != nil {
		return nil, nil, err
	}
	return z, func() { _ = z.Close() }, nil
}

const moment = "2006-01-02 15:04:05.000000"

func tell(out io.Writer, pack evidence.Pack, r evidence.Report, ownPolicy bool) {
	fmt.Fprintf(out, "Evidence of %s, made at %s UTC\n\n", plain(pack.Manifest.About), pack.Manifest.MadeAt.UTC().Format(moment[:19]))
	for _, e := range r.Events {
		fmt.Fprintf(
			out, "%9d  %s  %-44s %-34s by %s\n", e.Position, e.RecordedAt.Format(moment), plain(e.Stream),
			plain(e.Name), plain(e.Actor),
		)
		for _, pointer := range sorted(e.Texts) {
			fmt.Fprintf(out, "%9s  %s: %s\n", "", plain(pointer), plain(e.Texts[pointer]))
		}
	}
	fmt.Fprintf(out, "\nCheckpoint: %d events of %s, root %s\n", r.Checkpoint.Size, plain(r.Checkpoint.Origin), r.Checkpoint.Root)
	if !ownPolicy {
		fmt.Fprintf(
			out, "The policy is that of the pack. Compare the key of the log with one from another source: %s\n",
			plain(pack.Manifest.VKey),
		)
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(out, "Not in the pack: versions %d to %d of %s\n", g.From, g.Until, plain(g.Stream))
	}
	for _, f := range r.Faults {
		fmt.Fprintf(out, "FAULT: %s\n", located(f))
	}
	if len(r.Faults) == 0 {
		fmt.Fprintf(out, "Each of the %d events is as it was written, at its place in the log and at its time.\n", len(r.Events))
	}
}

func located(f evidence.Fault) string {
	if f.Position == 0 {
		return plain(f.Reason)
	}
	return fmt.Sprintf("event %d: %s", f.Position, plain(f.Reason))
}

func sorted(texts map[string]string) []string {
	all := make([]string, 0, len(texts))
	for pointer := range texts {
		all = append(all, pointer)
	}
	slices.Sort(all)
	return all
}

// plain is a text without what a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

// A result is what -json prints.
type result struct {
	About  string   `json:"about"`
	Status string   `json:"status"` // proven, faulty
	Origin string   `json:"origin"`
	Size   int64    `json:"size"`
	Root   string   `json:"root"`
	VKey   string   `json:"vkey"`
	Events []event  `json:"events"`
	Gaps   []string `json:"gaps"`
	Faults []string `json:"faults"`
}

type event struct {
	Position   int64             `json:"position"`
	RecordedAt time.Time         `json:"recorded_at"`
	Stream     string            `json:"stream"`
	Version    int               `json:"version"`
	Type       string            `json:"type"`
	Actor      string            `json:"actor"`
	Data       json.RawMessage   `json:"data"`
	Texts      map[string]string `json:"texts,omitempty"`
}

func shown(pack evidence.Pack, r evidence.Report) result {
	s := result{
		About: pack.Manifest.About, Status: "proven", Origin: r.Checkpoint.Origin, Size: r.Checkpoint.Size,
		Root: r.Checkpoint.Root.String(),
		VKey: pack.Manifest.VKey, Gaps: []string{}, Faults: []string{},
	}
	for _, e := range r.Events {
		s.Events = append(s.Events, event{e.Position, e.RecordedAt, e.Stream, e.Version, e.Name, e.Actor, json.RawMessage(e.Data), e.Texts})
	}
	for _, g := range r.Gaps {
		s.Gaps = append(s.Gaps, fmt.Sprintf("%s: versions %d to %d", g.Stream, g.From, g.Until))
	}
	for _, f := range r.Faults {
		s.Status = "faulty"
		s.Faults = append(s.Faults, located(f))
	}
	return s
}
