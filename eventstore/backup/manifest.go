// Package backup writes all that the panel cannot compute anew to files, and loads it
// into an empty database (docs/backup.md).
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hostpanel/eventstore"
)

// Format numbers the form of backups. A program reads its own and earlier ones.
const Format = 1

// manifestName is written last: without it, a backup is not whole.
const manifestName = "manifest.json"

// A Manifest says what a backup holds. It has no secret and no personal data.
type Manifest struct {
	Format     int                          `json:"format"`
	Program    Program                      `json:"program"`
	MadeAt     time.Time                    `json:"made_at"`
	Migrations []eventstore.MigrationRecord `json:"migrations"`
	Head       Head                         `json:"head"`
	Log        *Log                         `json:"log"` // null: nothing was sealed
	Keys       []eventstore.KeyProof        `json:"secret_keys"`
	Files      []File                       `json:"files"`
	Sequences  []Sequence                   `json:"sequences"`
	Erasures   *Blob                        `json:"erasures,omitempty"`
	Sum        string                       `json:"sum"` // SHA-256 of the manifest with a blank sum
}

// A Program is what made a backup.
type Program struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
}

// A Head is the last event of the log.
type Head struct {
	Position int64  `json:"position"`
	Hash     string `json:"hash"`
}

// A Log is the transparency log as it stood: its origin, its public key and the last
// signed checkpoint, and the last one that the quorum of witnesses has cosigned.
type Log struct {
	Origin     string `json:"origin"`
	VKey       string `json:"vkey"`
	Size       int64  `json:"size"`
	Checkpoint string `json:"checkpoint"`
	Published  string `json:"published,omitempty"`
}

// A Blob is a file of a backup: its compressed bytes are those of the sum.
type Blob struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Sum   string `json:"sha256"`
}

// A File holds the rows of a table, as COPY writes them.
type File struct {
	Blob
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

// A Sequence is where numbers stood that are given out.
type Sequence struct {
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	Last     int64  `json:"last"`
	IsCalled bool   `json:"is_called"`
}

// Rows are the rows of all tables.
func (m Manifest) Rows() (all int64) {
	for _, f := range m.Files {
		all += f.Rows
	}
	return all
}

// Bytes are the bytes of all files, compressed.
func (m Manifest) Bytes() (all int64) {
	for _, f := range m.Files {
		all += f.Bytes
	}
	return all
}

// ErrDamaged means that a file is not as the backup was written.
var ErrDamaged = errors.New("the backup is damaged")

func damaged(name string, err error) error {
	if err == nil {
		return fmt.Errorf("%w: %s is not as it was written", ErrDamaged, name)
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
}

// encode writes the manifest with its sum.
func (m Manifest) encode() ([]byte, error) {
	m.Sum = ""
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	m.Sum = sumOf(text)
	text, err = json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// decodeManifest reads a manifest. What a later format has added is not known here, so
// the format is looked at first.
func decodeManifest(r io.Reader) (m Manifest, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return m, damaged(manifestName, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged(manifestName, err)
	}
	if m.Format > Format {
		return m, fmt.Errorf("the backup has format %d, newer than this program (%d): use a newer hostpanel", m.Format, Format)
	}
	again, err := m.encode()
	if err != nil || strings.TrimSpace(string(again)) != strings.TrimSpace(string(text)) {
		return m, damaged(manifestName, err)
	}
	return m, nil
}
