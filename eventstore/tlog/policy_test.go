package tlog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hostpanel/eventstore/tlog"
)

// A world of a log and three witnesses.
type world struct {
	key, vkey string
	witnesses []*tlog.Witness
	signed    string
	text      tlog.Checkpoint
}

func newWorld(t *testing.T) world {
	t.Helper()
	key, vkey, err := tlog.NewKey("panel.example/audit/log")
	if err != nil {
		t.Fatal(err)
	}
	w := world{key: key, vkey: vkey, text: tlog.Checkpoint{Origin: "panel.example/audit/log", Size: 7}}
	for _, name := range []string{"one.example", "two.example", "three.example"} {
		witness, err := tlog.NewWitness(name, tlog.NewWitnessKey(), func() time.Time { return time.Unix(1_700_000_000, 0) })
		if err != nil {
			t.Fatal(err)
		}
		w.witnesses = append(w.witnesses, witness)
	}
	if w.signed, err = w.text.Sign(key); err != nil {
		t.Fatal(err)
	}
	return w
}

// by is the checkpoint with the cosignatures of some witnesses.
func (w world) by(t *testing.T, witnesses ...int) string {
	t.Helper()
	signed := w.signed
	for _, i := range witnesses {
		line, err := w.witnesses[i].Cosign(w.text, w.text.Text())
		if err != nil {
			t.Fatal(err)
		}
		signed += line
	}
	return signed
}

func (w world) policy(t *testing.T, quorum string) *tlog.Policy {
	t.Helper()
	p, err := tlog.ParsePolicy("# of a test\n\n  log " + w.vkey + "\twww.example\n" +
		"witness A " + w.witnesses[0].VKey() + " https://one.example/prefix/\n" +
		"witness B " + w.witnesses[1].VKey() + "\nwitness C " + w.witnesses[2].VKey() + "\n" + quorum)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAQuorumIsReachedByEnoughWitnesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		quorum string
		by     []int
		enough bool
	}{
		{"quorum none\n", nil, true},
		{"quorum A\n", nil, false},
		{"quorum A\n", []int{1, 2}, false},
		{"quorum A\n", []int{0}, true},
		{"group G any A B\nquorum G\n", []int{1}, true},
		{"group G any A B\nquorum G\n", []int{2}, false},
		{"group G all A B C\nquorum G\n", []int{0, 2}, false},
		{"group G 2 A B C\nquorum G\n", []int{0, 2}, true},
		{"group G any A B\ngroup H all G C\nquorum H\n", []int{1, 2}, true},
		{"group G any A B\ngroup H all G C\nquorum H\n", []int{0, 1}, false},
	} {
		_, err := w.policy(t, c.quorum).Check(w.by(t, c.by...))
		if c.enough != (err == nil) || err != nil && !errors.Is(err, tlog.ErrUnwitnessed) {
			t.Errorf("%q with %v: %v", c.quorum, c.by, err)
		}
	}
}

func TestACheckpointOfAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	p := w.policy(t, "quorum none\n")
	if _, err := p.Check(other.signed); !errors.Is(err, tlog.ErrCheckpoint) {
		t.Errorf("another key: %v", err)
	}
	if _, err := p.Check(strings.Replace(w.signed, "\n7\n", "\n8\n", 1)); !errors.Is(err, tlog.ErrCheckpoint) {
		t.Errorf("another size: %v", err)
	}
	foreign, err := tlog.Checkpoint{Origin: "elsewhere", Size: 7}.Sign(w.key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Check(foreign); !errors.Is(err, tlog.ErrCheckpoint) {
		t.Errorf("another origin: %v", err)
	}
	if _, err := tlog.OpenCheckpoint(foreign, w.vkey); !errors.Is(err, tlog.ErrCheckpoint) {
		t.Errorf("another origin: %v", err)
	}
	if c, err := tlog.OpenCheckpoint(w.by(t, 0, 1), w.vkey); err != nil || c != w.text {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAPolicyThatIsNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := "witness A "+w.witnesses[0].VKey()+"\n", "witness B "+w.witnesses[1].VKey()+"\n"
	for _, text := range []string{
		"", a, "quorum A\n", a + "quorum A\nquorum A\n", a + a + "quorum A\n", a + "witness B " + w.witnesses[0].VKey() + "\nquorum A\n",
		"witness none " + w.witnesses[0].VKey() + "\nquorum none\n", "witness A " + w.vkey + "\nquorum A\n",
		"log " + w.witnesses[0].VKey() + "\nquorum none\n",
		a + b + "group G 3 A B\nquorum G\n", a + b + "group G 0 A B\nquorum G\n", a + "group G any A B\nquorum G\n",
		a + b + "group G any A\ngroup H all A B\nquorum H\n",
		a + "group A any A\nquorum A\n", "witness A " + w.witnesses[0].VKey() + " ftp://x\nquorum A\n",
		"sometimes\nquorum none\n", a + "quorum A extra\n",
	} {
		if _, err := tlog.ParsePolicy(text); err == nil {
			t.Errorf("%q is understood", text)
		}
	}
}

func TestProofsAndCheckpointsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := tlog.Proof{Index: 3, Hashes: []tlog.Hash{{1}, {2}}, Checkpoint: w.signed}.Text()
	if p, err := tlog.ParseProof(strings.Replace(good, "index", "extra Zm9v\nindex", 1)); err != nil || p.Index != 3 ||
		len(p.Hashes) != 2 || p.Checkpoint != w.signed {
		t.Errorf("%+v, %v", p, err)
	}
	for _, change := range [][2]string{
		{"v1", "v2"},
		{"index 3", "index 03"},
		{"index 3", "index -3"},
		{"index 3", "3"},
		{"index", "extra %\nindex"},
		{"index", "extra Zm9v\r\nindex"},
		{"AQAA", "AQ\rAA"},
		{"\n\n", "\n"},
		{"AQAA", "AQA"},
	} {
		if _, err := tlog.ParseProof(strings.Replace(good, change[0], change[1], 1)); !errors.Is(err, tlog.ErrProof) {
			t.Errorf("%q is taken for a proof", change)
		}
	}
	text := w.text.Text()
	if c, err := tlog.ParseCheckpoint(text + "an extension\n"); err != nil || c != w.text {
		t.Errorf("%+v, %v", c, err)
	}
	for _, wrong := range []string{
		"", text[1+len(w.text.Origin):], strings.Replace(text, "\n7", "\n07", 1), strings.Replace(text, "=", "", 1),
		text + "\n", text + "x",
	} {
		if _, err := tlog.ParseCheckpoint(wrong); !errors.Is(err, tlog.ErrCheckpoint) {
			t.Errorf("%q is taken for a checkpoint", wrong)
		}
	}
}
