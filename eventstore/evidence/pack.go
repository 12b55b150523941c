// Package evidence has the form of evidence packs: the stored bytes of events with a
// proof of each, in files that are checked without the panel and without a network
// (docs/audit.md, "Evidence packs"). The package needs no database.
package evidence

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Pack is evidence of some events.
type Pack struct {
	Manifest Manifest
	Policy   string  // whose signatures the proofs need (tlog-policy of C2SP)
	Events   []Event // in the order of the log
	Keys     []Key   // of the texts that are opened
	Story    []byte  // HTML; it retells the events and is not proven itself
}

// A Manifest says what a pack is about.
type Manifest struct {
	Format string    `json:"format"` // [Format]
	About  string    `json:"about"`  // "order 6f1c…", "tenant 3", "2026-05-01T00:00:00Z to …"
	MadeAt time.Time `json:"made_at"`
	VKey   string    `json:"vkey"` // public key of the log
	Events int       `json:"events"`
}

// Format names the form that this program writes and reads.
const Format = "hostpanel evidence v1"

// An Event is one event of a pack.
type Event struct {
	Position int64
	Bytes    []byte // that are hashed (docs/log.md, "Tamper evidence")
	Proof    string // tlog-proof of C2SP; its extra data is the leaf
}

// A Key opens one sealed text of an event, and nothing else.
type Key struct {
	Position int64  `json:"position"`
	Pointer  string `json:"pointer"` // JSON pointer to the text in the event's data
	Key      []byte `json:"key"`
}

// Names of the files of a pack. Each event has two in the folder events.
const (
	manifestFile = "manifest.json"
	policyFile   = "policy"
	keysFile     = "keys.json"
	storyFile    = "story.html"
	eventsFolder = "events"
	bytesEnding  = ".event"
	proofEnding  = ".tlog-proof"
)

func nameOf(position int64, ending string) string {
	return path.Join(eventsFolder, fmt.Sprintf("%012d", position)+ending)
}

// A file is one file of a pack.
type file struct {
	name string
	data []byte
}

func (p Pack) files() ([]file, error) {
	manifest, err := json.MarshalIndent(p.Manifest, "", "  ")
	keys, wrong := json.MarshalIndent(p.Keys, "", " ")
	if err = errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("write a pack: %w", err)
	}
	all := []file{{manifestFile, manifest}, {policyFile, []byte(p.Policy)}, {keysFile, keys}, {storyFile, p.Story}}
	for _, e := range p.Events {
		all = append(all, file{nameOf(e.Position, bytesEnding), e.Bytes}, file{nameOf(e.Position, proofEnding), []byte(e.Proof)})
	}
	return all, nil
}

// Zip writes the pack as a .zip. Equal packs give equal bytes.
func (p Pack) Zip(to io.Writer) error {
	files, err := p.files()
	if err != nil {
		return err
	}
	z := zip.NewWriter(to)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return fmt.Errorf("write a pack: %w", err)
		}
	}
	return z.Close()
}

// ErrFormat means that files are not those of a pack.
var ErrFormat = errors.New("not an evidence pack")

// maxFile bounds what is read of one file.
const maxFile = 64 << 20

// Read reads the files of a pack: a folder, or a .zip.
func Read(from fs.FS) (p Pack, err error) {
	files := map[string][]byte{}
	err = fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = readFile(from, name)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	for name, into := range map[string]any{manifestFile: &p.Manifest, keysFile: &p.Keys} {
		if err := json.Unmarshal(files[name], into); err != nil {
			return p, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
		}
	}
	if p.Manifest.Format != Format {
		return p, fmt.Errorf("%w: its form is %q", ErrFormat, p.Manifest.Format)
	}
	p.Policy, p.Story = string(files[policyFile]), files[storyFile]
	for _, name := range []string{manifestFile, policyFile, keysFile, storyFile} {
		delete(files, name)
	}
	p.Events, err = eventsIn(files)
	return p, err
}

func readFile(from fs.FS, name string) ([]byte, error) {
	f, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is too large", name)
	}
	return data, err
}

// eventsIn are the events in files that must hold nothing else.
func eventsIn(files map[string][]byte) ([]Event, error) {
	found := map[int64]*Event{}
	for name, data := range files {
		position, ending, ok := eventFile(name)
		if !ok {
			return nil, fmt.Errorf("%w: %s does not belong to it", ErrFormat, name)
		}
		if found[position] == nil {
			found[position] = &Event{Position: position}
		}
		if ending == bytesEnding {
			found[position].Bytes = data
		} else {
			found[position].Proof = string(data)
		}
	}
	all := make([]Event, 0, len(found))
	for _, e := range found {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Event) int { return int(a.Position - b.Position) })
	return all, nil
}

func eventFile(name string) (position int64, ending string, ok bool) {
	folder, base := path.Split(name)
	ending = path.Ext(base)
	position, err := strconv.ParseInt(strings.TrimSuffix(base, ending), 10, 64)
	ok = err == nil && position > 0 && folder == eventsFolder+"/" && nameOf(position, ending) == name && (ending == bytesEnding || ending == proofEnding)
	return position, ending, ok
}
