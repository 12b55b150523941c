// Package erasures keeps the list of all people whose data was erased in files beside the
// database, as ids that name no person. A backup may be older than an erasure: the list
// says who is erased again when it is restored (docs/accounts.md, "List of erasures").
package erasures

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
)

// An Erasure says that a person's data was erased.
type Erasure struct {
	Subject uuid.UUID
	At      time.Time // business time
}

// A List has every erasure of a log up to a moment.
type List struct {
	Origin   string    // of the log
	Keys     []string  // vkeys of the log that have signed the list
	Until    time.Time // business time; erasures up to then are in the list
	Position int64     // of the last event of the log then
	Erasures []Erasure // oldest first
}

var (
	// ErrList means that a file is no list of erasures, or not as it was signed.
	ErrList = errors.New("not a list of erasures as a log has signed it")
	// ErrOther means that a list was signed by another log.
	ErrOther = errors.New("this list of erasures was signed by another log")
)

const title = "hostpanel erasures v1"

// Newest is the time up to which the list is complete.
func (l List) Newest() time.Time { return l.Until }

// Sign writes the list: a note with the sum of the erasures, signed by each key of the
// log, and the erasures.
func (l List) Sign(signers ...note.Signer) ([]byte, error) {
	body := l.body()
	sum := sha256.Sum256(body)
	var head strings.Builder
	fmt.Fprintf(
		&head, "%s\norigin %s\nuntil %s\nposition %d\nerasures %d\nsha256 %s\n", title, l.Origin, stamp(l.Until),
		l.Position, len(l.Erasures), hex.EncodeToString(sum[:]),
	)
	for _, key := range l.Keys {
		fmt.Fprintf(&head, "key %s\n", key)
	}
	signed, err := note.Sign(&note.Note{Text: head.String()}, signers...)
	if err != nil {
		return nil, fmt.Errorf("sign the list of erasures: %w", err)
	}
	return slices.Concat(signed, []byte("\n"), body), nil
}

func (l List) body() []byte {
	var b bytes.Buffer
	for _, e := range l.Erasures {
		fmt.Fprintf(&b, "%s %s\n", e.Subject, stamp(e.At))
	}
	return b.Bytes()
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Read reads a list and checks that all keys in it have signed it. Whether they are keys
// of a log is for [List.SignedBy] to tell.
func Read(path string) (List, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return List{}, fmt.Errorf("read the list of erasures: %w", err)
	}
	l, err := Parse(text)
	if err != nil {
		return l, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Parse is [Read] for the content of a file.
func Parse(text []byte) (l List, err error) {
	head, rest, found := bytes.Cut(text, []byte("\n\n"))
	signatures, body, complete := bytes.Cut(rest, []byte("\n\n"))
	if !found || !complete {
		return l, ErrList
	}
	sum, count, err := l.readHead(string(head))
	if err != nil {
		return List{}, err
	}
	if err := l.verify(slices.Concat(head, []byte("\n\n"), signatures, []byte("\n"))); err != nil {
		return List{}, err
	}
	if of := sha256.Sum256(body); hex.EncodeToString(of[:]) != sum {
		return List{}, fmt.Errorf("%w: its erasures were changed or cut off", ErrList)
	}
	if l.Erasures, err = readBody(string(body)); err == nil && len(l.Erasures) != count {
		err = ErrList
	}
	return l, err
}

// readHead reads the text that is signed.
func (l *List) readHead(head string) (sum string, count int, err error) {
	lines := strings.Split(head, "\n")
	if len(lines) < 7 || lines[0] != title {
		return "", 0, ErrList
	}
	var until string
	for i, into := range []struct {
		name  string
		value any
	}{{"origin", &l.Origin}, {"until", &until}, {"position", &l.Position}, {"erasures", &count}, {"sha256", &sum}} {
		value, found := strings.CutPrefix(lines[i+1], into.name+" ")
		if _, err := fmt.Sscan(value, into.value); !found || err != nil {
			return "", 0, fmt.Errorf("%w: line %d", ErrList, i+2)
		}
	}
	for _, line := range lines[6:] {
		key, found := strings.CutPrefix(line, "key ")
		if !found {
			return "", 0, ErrList
		}
		l.Keys = append(l.Keys, key)
	}
	if l.Until, err = time.Parse(time.RFC3339Nano, until); err != nil {
		return "", 0, ErrList
	}
	return sum, count, nil
}

// verify checks the signature of each key in the list.
func (l *List) verify(signed []byte) error {
	verifiers := make([]note.Verifier, len(l.Keys))
	for i, key := range l.Keys {
		v, err := note.NewVerifier(key)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrList, err)
		}
		verifiers[i] = v
	}
	n, err := note.Open(signed, note.VerifierList(verifiers...))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrList, err)
	}
	if len(n.Sigs) != len(l.Keys) {
		return fmt.Errorf("%w: a signature is missing", ErrList)
	}
	for _, s := range n.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return fmt.Errorf("%w: %w", ErrList, err)
		}
	}
	return nil
}

func readBody(body string) (all []Erasure, err error) {
	for line := range strings.Lines(body) {
		subject, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		e := Erasure{}
		if e.Subject, err = uuid.Parse(subject); err == nil {
			e.At, err = time.Parse(time.RFC3339Nano, at)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrList, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// SignedBy checks that one of the vkeys of a log is among the keys of the list.
func (l List) SignedBy(vkeys []string) error {
	for _, key := range l.Keys {
		if slices.Contains(vkeys, key) {
			return nil
		}
	}
	return fmt.Errorf("%w (%s)", ErrOther, l.Origin)
}

// Merge is what several lists of a log say together: each erasure at the first time that
// one of them gives, up to the last moment of any.
func Merge(lists ...List) (all List) {
	first := map[uuid.UUID]time.Time{}
	for _, l := range lists {
		if !l.Until.Before(all.Until) {
			all.Origin, all.Keys, all.Until, all.Position = l.Origin, l.Keys, l.Until, max(l.Position, all.Position)
		}
		for _, e := range l.Erasures {
			if at, known := first[e.Subject]; !known || e.At.Before(at) {
				first[e.Subject] = e.At
			}
		}
	}
	for subject, at := range first {
		all.Erasures = append(all.Erasures, Erasure{subject, at})
	}
	slices.SortFunc(all.Erasures, func(a, b Erasure) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return bytes.Compare(a.Subject[:], b.Subject[:])
	})
	return all
}
