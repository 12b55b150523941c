package domaintest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hostpanel/domain"
)

var update = flag.Bool("update", false, "write golden files of events that have none yet")

// Golden holds every event of a package against testdata/events/<name>.<schema>.json.
// Whatever was once written to the log is read forever, so those files are
// added to and never edited: a sample has to encode to exactly its file, the
// file has to decode to the sample, and the files of past schemas still have
// to read. With -update a missing file of a present schema is written.
func Golden(t *testing.T, facts []domain.EventType, samples ...domain.Event) {
	t.Helper()
	g := golden{t, domain.NewCatalogue(facts), map[string]bool{}}
	for _, sample := range samples {
		g.present(sample)
	}
	for _, name := range g.catalogue.Names() {
		if !g.sampled[name] {
			t.Errorf("there is no sample of %s", name)
		}
		for schema := 1; schema < g.catalogue.Schema(name); schema++ {
			g.past(name, schema)
		}
	}
	g.strangers()
}

type golden struct {
	t         *testing.T
	catalogue domain.Catalogue
	sampled   map[string]bool
}

func path(name string, schema int) string {
	return filepath.Join("testdata", "events", fmt.Sprintf("%s.%d.json", name, schema))
}

// present holds a sample of today against its file.
func (g golden) present(sample domain.Event) {
	g.t.Helper()
	name := sample.EventName()
	schema := g.catalogue.Schema(name)
	g.sampled[name] = true
	encoded, err := json.Marshal(sample)
	if err != nil {
		g.t.Fatalf("encode %s: %v", name, err)
	}
	written, err := g.read(path(name, schema), encoded)
	if err != nil {
		g.t.Errorf("%v (go test -update writes it)", err)
		return
	}
	if !bytes.Equal(encoded, written) {
		g.t.Errorf(
			"%s is written differently from %s:\n got %s\nwant %s\nA new shape is a new schema with a domain.Was.",
			name, path(name, schema), encoded, written,
		)
	}
	if again := g.decode(name, schema, written); !bytes.Equal(again, encoded) {
		g.t.Errorf("%s does not survive reading:\n got %s\nwant %s", name, again, encoded)
	}
}

// past reads a writing of a shape that is no longer written.
func (g golden) past(name string, schema int) {
	g.t.Helper()
	written, err := os.ReadFile(path(name, schema))
	if err != nil {
		g.t.Errorf("%s had a schema %d: %v", name, schema, err)
		return
	}
	g.decode(name, schema, written)
}

func (g golden) decode(name string, schema int, data []byte) []byte {
	g.t.Helper()
	event, err := g.catalogue.Decode(name, schema, data)
	if err != nil {
		g.t.Errorf("schema %d: %v", schema, err)
		return nil
	}
	encoded, err := json.Marshal(event)
	if err != nil {
		g.t.Errorf("encode %s: %v", name, err)
	}
	return encoded
}

// read returns a file without its indentation; with -update it writes a
// missing one first.
func (g golden) read(file string, encoded []byte) ([]byte, error) {
	written, err := os.ReadFile(file)
	if os.IsNotExist(err) && *update {
		var b bytes.Buffer
		if err := json.Indent(&b, encoded, "", "  "); err != nil {
			return nil, err
		}
		written = append(b.Bytes(), '\n')
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, written, 0o644); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, written); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b.Bytes(), nil
}

// strangers finds files of events that the package no longer knows.
func (g golden) strangers() {
	g.t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.json"))
	if err != nil {
		g.t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range g.catalogue.Names() {
		for schema := range g.catalogue.Schema(name) {
			known[path(name, schema+1)] = true
		}
	}
	for _, file := range files {
		if !known[file] {
			g.t.Errorf("%s is in the log of somebody, but nothing reads it", file)
		}
	}
}
