package tlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Submission asks a witness to cosign a checkpoint (tlog-witness of C2SP).
type Submission struct {
	Old        int64  // size of the last tree that the witness has cosigned
	Proof      []Hash // that the tree of the checkpoint begins with the one of that size
	Checkpoint string // signed
}

// mostHashes bounds a proof: a tree has no more levels.
const mostHashes = 63

// ErrSubmission means that a text is no submission.
var ErrSubmission = errors.New("not a checkpoint with a proof of consistency")

// Text is the submission as it is sent.
func (s Submission) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", s.Old)
	for _, h := range s.Proof {
		fmt.Fprintf(&b, "%s\n", h)
	}
	return b.String() + "\n" + s.Checkpoint
}

// ParseSubmission reads a submission. Nothing of it is proven yet.
func ParseSubmission(text string) (s Submission, err error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	old, is := strings.CutPrefix(lines[0], "old ")
	if !found || !is || len(lines) > 1+mostHashes {
		return s, ErrSubmission
	}
	if s.Old, err = parseSize(old); err != nil {
		return s, ErrSubmission
	}
	for _, line := range lines[1:] {
		h, err := parseHash(line)
		if err != nil {
			return s, ErrSubmission
		}
		s.Proof = append(s.Proof, h)
	}
	s.Checkpoint = checkpoint
	return s, nil
}

// Cosignature finds the valid cosignature of a witness among the lines behind a
// checkpoint. It returns the line.
func (c Cosigner) Cosignature(checkpoint, lines string) (string, error) {
	n, err := note.Open([]byte(checkpoint+lines), note.VerifierList(c))
	if err != nil {
		return "", fmt.Errorf("no cosignature by %s: %w", c.name, err)
	}
	at := slices.IndexFunc(n.Sigs, func(s note.Signature) bool { return s.Name == c.name && s.Hash == c.hash })
	if at < 0 {
		return "", fmt.Errorf("no cosignature by %s", c.name)
	}
	return fmt.Sprintf("— %s %s\n", c.name, n.Sigs[at].Base64), nil
}
