package tlog

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Policy says which checkpoints are accepted: those that one of its logs has
// signed, and a quorum of its witnesses (tlog-policy of C2SP).
type Policy struct {
	Witnesses []PolicyWitness

	logs   []note.Verifier // none: the signature of the log is checked elsewhere
	groups map[string]group
	quorum string
}

// A PolicyWitness is a witness that a policy names.
type PolicyWitness struct {
	Name string // in the policy only
	Key  Cosigner
	URL  string // submission prefix; blank: it cannot be asked
}

// A group has witnessed a checkpoint if enough of its members have.
type group struct {
	enough  int
	members []string
}

const noQuorum = "none"

// LogPolicy accepts the checkpoints of a log without any witness.
func LogPolicy(vkey string) (*Policy, error) {
	return ParsePolicy("log " + vkey + "\nquorum none\n")
}

// ParsePolicy reads a policy.
func ParsePolicy(text string) (*Policy, error) {
	p := &Policy{groups: map[string]group{}}
	used := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := p.line(fields, used); err != nil {
			return nil, fmt.Errorf("line %d of the policy: %w", n, err)
		}
	}
	if p.quorum == "" {
		return nil, errors.New("the policy has no quorum")
	}
	return p, nil
}

func (p *Policy) line(f []string, used map[string]bool) error {
	switch {
	case f[0] == "log" && (len(f) == 2 || len(f) == 3):
		return p.log(f[1])
	case f[0] == "witness" && (len(f) == 3 || len(f) == 4):
		return p.witness(f[1], f[2], strings.Join(f[3:], ""))
	case f[0] == "group" && len(f) >= 4:
		return p.group(f[1], f[2], f[3:], used)
	case f[0] == "quorum" && len(f) == 2:
		return p.setQuorum(f[1])
	}
	return fmt.Errorf("%q is not understood", strings.Join(f, " "))
}

func (p *Policy) log(vkey string) error {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return fmt.Errorf("the key of a log: %w", err)
	}
	p.logs = append(p.logs, v)
	return nil
}

func (p *Policy) witness(name, vkey, address string) error {
	key, err := ParseCosigner(vkey)
	if err != nil {
		return err
	}
	if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not the URL of a witness", address)
	}
	if slices.ContainsFunc(p.Witnesses, func(w PolicyWitness) bool { return w.Key.key.Equal(key.key) }) {
		return errors.New("the key of this witness is there twice")
	}
	p.Witnesses = append(p.Witnesses, PolicyWitness{name, key, strings.TrimRight(address, "/")})
	return p.define(name, group{})
}

func (p *Policy) define(name string, g group) error {
	if _, taken := p.groups[name]; taken || name == noQuorum {
		return fmt.Errorf("the name %s is taken", name)
	}
	p.groups[name] = g
	return nil
}

func (p *Policy) group(name, enough string, members []string, used map[string]bool) error {
	k, err := strconv.Atoi(enough)
	switch enough {
	case "all":
		k, err = len(members), nil
	case "any":
		k, err = 1, nil
	}
	if err != nil || k < 1 || k > len(members) {
		return fmt.Errorf("%q of %d members is not possible", enough, len(members))
	}
	for _, m := range members {
		if _, known := p.groups[m]; !known || used[m] {
			return fmt.Errorf("%s is not known, or in another group", m)
		}
		used[m] = true
	}
	return p.define(name, group{k, members})
}

func (p *Policy) setQuorum(name string) error {
	if _, known := p.groups[name]; !known && name != noQuorum || p.quorum != "" {
		return fmt.Errorf("%s is not known, or the quorum is there twice", name)
	}
	p.quorum = name
	return nil
}

// NeedsWitnesses tells whether a checkpoint without cosignatures is refused.
func (p *Policy) NeedsWitnesses() bool { return p.quorum != noQuorum }

// ErrUnwitnessed means that a checkpoint lacks cosignatures.
var ErrUnwitnessed = errors.New("the quorum of witnesses has not cosigned")

// Check reads a signed checkpoint, and accepts or refuses it.
func (p *Policy) Check(text string) (Checkpoint, error) {
	n, err := note.Open([]byte(text), note.VerifierList(p.logs...))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return c, err
	}
	if !slices.ContainsFunc(n.Sigs, func(s note.Signature) bool { return s.Name == c.Origin }) {
		return c, fmt.Errorf("%w: %s has not signed it", ErrCheckpoint, c.Origin)
	}
	if !p.Witnessed(text) {
		return c, ErrUnwitnessed
	}
	return c, nil
}

// Witnessed tells whether the quorum has cosigned a checkpoint. The signature of the
// log is not looked at.
func (p *Policy) Witnessed(text string) bool {
	return p.quorum == noQuorum || p.reached(p.quorum, p.cosigners(text))
}

func (p *Policy) reached(name string, signed map[string]bool) bool {
	g := p.groups[name]
	if g.members == nil {
		return signed[name]
	}
	n := 0
	for _, m := range g.members {
		if p.reached(m, signed) {
			n++
		}
	}
	return n >= g.enough
}

// cosigners are the names of the witnesses that have signed.
func (p *Policy) cosigners(text string) map[string]bool {
	signed := map[string]bool{}
	for _, w := range p.Witnesses {
		n, err := note.Open([]byte(text), note.VerifierList(w.Key))
		signed[w.Name] = err == nil && len(n.Sigs) == 1
	}
	return signed
}
