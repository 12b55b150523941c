// Package witness cosigns the checkpoints of logs that only grow, and asks others to do
// so (tlog-witness of C2SP; docs/audit.md, "Witnesses").
package witness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hostpanel/eventstore/tlog"
)

// A Witness cosigns the checkpoints of the logs that it knows. It keeps the last one of
// each, and cosigns no tree that does not begin with that.
type Witness struct {
	signer *tlog.Witness
	logs   map[string]note.Verifiers // by origin
	path   string
	lock   *os.File

	mu    sync.Mutex
	state state
}

// What a witness refuses.
var (
	ErrUnknown  = errors.New("this log is not known here")
	ErrUnsigned = errors.New("the log has not signed this checkpoint")
	ErrProof    = errors.New("the checkpoint does not follow from the one that was cosigned last")
	errBackward = errors.New("the old size is beyond the checkpoint")
)

// A Conflict means that the witness has cosigned a tree of another size last.
type Conflict struct{ Size int64 }

// Error tells the size.
func (c *Conflict) Error() string { return fmt.Sprintf("the last cosigned tree has %d leaves", c.Size) }

// Open opens the witness of a file, and makes it with a name and a key of its own if
// there is none. It knows the logs of these public keys. Its cosignatures bear the time
// that now tells. A blank name is that of the file. Close it in any case but an error.
func Open(path, name string, logs []string, now func() time.Time) (*Witness, error) {
	w := &Witness{path: path, logs: map[string]note.Verifiers{}}
	if err := w.know(logs); err != nil {
		return nil, err
	}
	var err error
	if w.lock, err = claim(path + ".lock"); err != nil {
		return nil, err
	}
	if err := w.load(name, now); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Witness) load(name string, now func() time.Time) (err error) {
	if w.state, err = load(w.path, name); err != nil {
		return err
	}
	if w.signer, err = tlog.NewWitness(w.state.Name, w.state.Key, now); err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	for origin := range w.state.Cosigned {
		if _, err := w.last(origin); err != nil {
			return fmt.Errorf("%s: the checkpoint of %s: %w", w.path, origin, err)
		}
	}
	return nil
}

// Close lets another process be this witness.
func (w *Witness) Close() error { return w.lock.Close() }

func (w *Witness) know(logs []string) error {
	keys := map[string][]note.Verifier{}
	for _, vkey := range logs {
		v, err := note.NewVerifier(vkey)
		if err != nil {
			return fmt.Errorf("the public key of a log, %q: %w", vkey, err)
		}
		keys[v.Name()] = append(keys[v.Name()], v)
	}
	for origin, of := range keys {
		w.logs[origin] = note.VerifierList(of...)
	}
	return nil
}

// VKey is the public key of the witness, as policies have it.
func (w *Witness) VKey() string { return w.signer.VKey() }

// Add cosigns a checkpoint, and returns the line of the cosignature. The checkpoint is
// kept on the disk before.
func (w *Witness) Add(s tlog.Submission) (line string, err error) {
	newer, n, err := w.signed(s.Checkpoint)
	switch {
	case err != nil:
		return "", err
	case s.Old > newer.Size:
		return "", errBackward
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.follows(s, newer); err != nil {
		return "", err
	}
	if line, err = w.signer.Cosign(newer, n.Text); err != nil {
		return "", err
	}
	// Signatures that were not verified are not kept: one of them may pretend to be ours.
	signed, err := note.Sign(&note.Note{Text: n.Text, Sigs: n.Sigs})
	if err != nil {
		return "", fmt.Errorf("%w: %w", tlog.ErrSubmission, err)
	}
	return line, w.keep(newer.Origin, string(signed)+line)
}

// signed reads a checkpoint that a known log has signed.
func (w *Witness) signed(checkpoint string) (c tlog.Checkpoint, n *note.Note, err error) {
	origin, _, _ := strings.Cut(checkpoint, "\n")
	keys, known := w.logs[origin]
	if !known {
		return c, nil, ErrUnknown
	}
	n, err = note.Open([]byte(checkpoint), keys)
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified), errors.As(err, &invalid):
		return c, nil, fmt.Errorf("%w: %w", ErrUnsigned, err)
	case err != nil:
		return c, nil, fmt.Errorf("%w: %w", tlog.ErrSubmission, err)
	}
	c, err = tlog.ParseCheckpoint(n.Text)
	return c, n, err
}

// follows checks that a tree is the last cosigned one, or begins with it.
func (w *Witness) follows(s tlog.Submission, newer tlog.Checkpoint) error {
	older, err := w.last(newer.Origin)
	if err != nil {
		return err
	}
	if s.Old != older.Size {
		return &Conflict{older.Size}
	}
	if empty, err := (&tlog.Edge{}).Root(); newer.Size == 0 && (err != nil || newer.Root != empty) {
		return ErrProof
	}
	if err := tlog.CheckConsistency(s.Proof, older, newer); err != nil {
		return fmt.Errorf("%w: %w", ErrProof, err)
	}
	return nil
}

// last is the last checkpoint of a log that was cosigned; the zero value if there is
// none.
func (w *Witness) last(origin string) (tlog.Checkpoint, error) {
	text := w.state.Cosigned[origin]
	if text == "" {
		return tlog.Checkpoint{}, nil
	}
	n, err := note.Open([]byte(text), note.VerifierList(w.signer))
	if err != nil {
		return tlog.Checkpoint{}, err
	}
	c, err := tlog.ParseCheckpoint(n.Text)
	if err == nil && c.Origin != origin {
		err = tlog.ErrCheckpoint
	}
	return c, err
}

// keep replaces what is kept of a log. Without the disk nothing is replaced.
func (w *Witness) keep(origin, checkpoint string) error {
	next := w.state
	next.Cosigned = maps.Clone(next.Cosigned)
	next.Cosigned[origin] = checkpoint
	if err := next.save(w.path); err != nil {
		return fmt.Errorf("keep the checkpoint: %w", err)
	}
	w.state = next
	return nil
}

// Checkpoint is the last checkpoint of a log with the cosignature; blank: there is none.
func (w *Witness) Checkpoint(origin string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.Cosigned[origin]
}
