package evidence

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ErrFormat means that files are not those of a pack.
var ErrFormat = errors.New("not an evidence pack")

// maxPack bounds what is read of a pack in all. The events of the largest one take a
// quarter. A .zip that unpacks to more is refused.
const maxPack = 1 << 30

// Read reads the files of a pack: a folder or a .zip, packed by this program or another one.
func Read(from fs.FS) (p Pack, err error) {
	read := &reading{files: map[string][]byte{}, left: maxPack}
	if err = read.all(from); err == nil {
		err = read.unpack()
	}
	files := read.files
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

// A reading is what was read of a pack, and how many bytes may follow.
type reading struct {
	files map[string][]byte
	left  int64
}

// all adds all files of a folder or a .zip. What is there already has to be the same.
func (r *reading) all(from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := r.file(from, name)
		if known, is := r.files[name]; err == nil && is && !bytes.Equal(known, data) {
			return fmt.Errorf("%s is there twice, and differs", name)
		}
		r.files[name] = data
		return err
	})
}

// unpack replaces the .zip of the events by its files. A folder may have both.
func (r *reading) unpack() error {
	packed, is := r.files[eventsFile]
	if !is {
		return nil
	}
	delete(r.files, eventsFile)
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err == nil {
		err = r.all(z)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", eventsFile, err)
	}
	return nil
}

func (r *reading) file(from fs.FS, name string) ([]byte, error) {
	f, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	tooLarge := fmt.Errorf("%s is too large", name)
	if about, err := f.Stat(); err != nil || about.Size() > r.left {
		return nil, cmp.Or(err, tooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, r.left+1)) // a .zip may hold more than it says
	if r.left -= int64(len(data)); r.left < 0 {
		err = tooLarge
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
	ok = err == nil && position > 0 && folder == eventsFolder+"/" && nameOf(position, ending) == name &&
		(ending == bytesEnding || ending == proofEnding)
	return position, ending, ok
}
