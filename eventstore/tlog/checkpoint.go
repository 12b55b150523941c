package tlog

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A Checkpoint says how many leaves a log has, and what the root of their tree is.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   Hash
}

// ErrCheckpoint means that a text is no checkpoint, or has no signature by the key.
var ErrCheckpoint = errors.New("not a checkpoint of this log")

// Text is the checkpoint without signatures.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

// ParseCheckpoint reads the text of a checkpoint, without signatures. Further lines
// are allowed and ignored.
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) != 4 || lines[0] == "" {
		return c, ErrCheckpoint
	}
	size, err := parseSize(lines[1])
	if err != nil {
		return c, ErrCheckpoint
	}
	root, err := parseHash(lines[2])
	if err != nil {
		return c, ErrCheckpoint
	}
	for extension := range strings.Lines(lines[3]) {
		if extension == "\n" || !strings.HasSuffix(extension, "\n") {
			return c, ErrCheckpoint
		}
	}
	return Checkpoint{lines[0], size, root}, nil
}

// parseSize reads a decimal number without leading zeros.
func parseSize(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%q is not a number of leaves", text)
	}
	return n, nil
}

func parseHash(line string) (Hash, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(line)
	if err != nil || len(b) != tlog.HashSize {
		return Hash{}, fmt.Errorf("%q is not a hash", line)
	}
	return Hash(b), nil
}

// NewKey draws the key of a log or a witness. The first text is the secret one, the
// second one the public vkey.
func NewKey(name string) (secret, vkey string, err error) {
	return note.GenerateKey(rand.Reader, name)
}

// Sign writes the checkpoint with the signature of its log.
func (c Checkpoint) Sign(secret string) (string, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return "", fmt.Errorf("the log's key: %w", err)
	}
	text, err := note.Sign(&note.Note{Text: c.Text()}, signer)
	return string(text), err
}

// OpenCheckpoint reads a signed checkpoint. It needs the signature of the key, and
// the key's name is the origin.
func OpenCheckpoint(text, vkey string) (Checkpoint, error) {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("the log's public key: %w", err)
	}
	n, err := note.Open([]byte(text), note.VerifierList(v))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	c, err := ParseCheckpoint(n.Text)
	if err == nil && c.Origin != v.Name() {
		return c, fmt.Errorf("%w: it is one of %s", ErrCheckpoint, c.Origin)
	}
	return c, err
}
