package tlog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A Proof shows without the log that a leaf is in the tree of a checkpoint. Its text
// is a tlog-proof of C2SP.
type Proof struct {
	Index      int64
	Hashes     []Hash
	Checkpoint string // signed
	Extra      []byte // the leaf itself, in evidence packs; nil: none
}

const proofHeader = "c2sp.org/tlog-proof@v1"

// ErrProof means that a text is no proof, or proves something else.
var ErrProof = errors.New("not a proof of this leaf")

// Text is the proof as it is stored in a file.
func (p Proof) Text() string {
	var b strings.Builder
	b.WriteString(proofHeader + "\n")
	if p.Extra != nil {
		fmt.Fprintf(&b, "extra %s\n", base64.StdEncoding.EncodeToString(p.Extra))
	}
	fmt.Fprintf(&b, "index %d\n", p.Index)
	for _, h := range p.Hashes {
		fmt.Fprintf(&b, "%s\n", h)
	}
	b.WriteString("\n" + p.Checkpoint)
	return b.String()
}

// ParseProof reads a proof, which has one spelling. Its extra data proves nothing.
func ParseProof(text string) (p Proof, err error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || lines[0] != proofHeader {
		return p, ErrProof
	}
	lines = lines[1:]
	if extra, ok := strings.CutPrefix(lines[0], "extra "); ok && len(lines) > 1 {
		if p.Extra, err = base64.StdEncoding.Strict().DecodeString(extra); err != nil {
			return p, ErrProof
		}
		lines = lines[1:]
	}
	index, ok := strings.CutPrefix(lines[0], "index ")
	if p.Index, err = parseSize(index); err != nil || !ok {
		return p, ErrProof
	}
	for _, line := range lines[1:] {
		h, err := parseHash(line)
		if err != nil {
			return p, ErrProof
		}
		p.Hashes = append(p.Hashes, h)
	}
	p.Checkpoint = checkpoint
	if p.Text() != text { // the decoder of base64 passes over ends of lines
		return p, ErrProof
	}
	return p, nil
}

// Check proves that the leaf is in the tree of a checkpoint that the policy accepts.
func (p Proof) Check(leaf Leaf, policy *Policy) (Checkpoint, error) {
	c, err := policy.Check(p.Checkpoint)
	if err != nil {
		return c, err
	}
	if p.Index >= c.Size {
		return c, fmt.Errorf("%w: index %s is beyond the checkpoint", ErrProof, strconv.FormatInt(p.Index, 10))
	}
	if err := tlog.CheckRecord(p.Hashes, c.Size, c.Root, p.Index, leaf.Hash()); err != nil {
		return c, fmt.Errorf("%w: %w", ErrProof, err)
	}
	return c, nil
}

// CheckConsistency proves that a checkpoint's tree begins with an older one's.
func CheckConsistency(proof []Hash, older, newer Checkpoint) error {
	switch {
	case older.Size > newer.Size:
		return fmt.Errorf("%w: the older tree is longer", ErrProof)
	case older.Size == 0:
		if len(proof) > 0 {
			return fmt.Errorf("%w: nothing is proven of the empty tree", ErrProof)
		}
		return nil
	}
	if err := tlog.CheckTree(proof, newer.Size, newer.Root, older.Size, older.Root); err != nil {
		return fmt.Errorf("%w: %w", ErrProof, err)
	}
	return nil
}
