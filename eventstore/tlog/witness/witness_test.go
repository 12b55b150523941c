package witness_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/witness"
)

const origin = "panel.example/audit/log"

// A log is a tree in memory, and its key.
type log struct {
	t         *testing.T
	key, vkey string
	edge      tlog.Edge
}

func newLog(t *testing.T) *log {
	t.Helper()
	key, vkey, err := tlog.NewKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	return &log{t: t, key: key, vkey: vkey}
}

// grow adds leaves, and returns the tree.
func (l *log) grow(leaves int) tlog.Tree {
	l.t.Helper()
	for range leaves {
		l.edge.Add(tlog.Hash(sha256.Sum256(fmt.Append(nil, l.vkey, l.edge.Size()))))
	}
	root, err := l.edge.Root()
	if err != nil {
		l.t.Fatal(err)
	}
	tiles := l.edge.Tiles()
	return tlog.Tree{Size: l.edge.Size(), Root: root, Fetch: func(paths []tlog.TilePath) (all [][]byte, err error) {
		for _, p := range paths {
			all = append(all, tiles[p.TileID])
		}
		return all, nil
	}}
}

// submit is what is sent of a tree.
func (l *log) submit(tree tlog.Tree, old int64) tlog.Submission {
	l.t.Helper()
	signed, err := tlog.Checkpoint{Origin: origin, Size: tree.Size, Root: tree.Root}.Sign(l.key)
	if err != nil {
		l.t.Fatal(err)
	}
	proof, err := tree.Consistency(min(old, tree.Size))
	if err != nil {
		l.t.Fatal(err)
	}
	return tlog.Submission{Old: old, Proof: proof, Checkpoint: signed}
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path, name string, logs ...string) *witness.Witness {
	t.Helper()
	w, err := witness.Open(path, name, logs, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// A served witness is reached over HTTP.
type served struct {
	t   *testing.T
	url string
}

func serve(t *testing.T, w *witness.Witness) served {
	t.Helper()
	server := httptest.NewServer(w.Handler(slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	return served{t, server.URL}
}

func (s served) answers(what, body string, status int) (text string) {
	s.t.Helper()
	r, err := http.Post(s.url+"/add-checkpoint", "", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		s.t.Errorf("%s is answered with %d: %s, %v", what, r.StatusCode, answer, err)
	}
	if media := r.Header.Get("Content-Type"); status == http.StatusConflict && media != "text/x.tlog.size" {
		s.t.Errorf("the size has the type %s", media)
	}
	return string(answer)
}

// A log grows under the eyes of its witness. What does not follow from the last cosigned
// tree is refused, each with the status that C2SP gives it.
func TestAWitnessCosignsALogThatOnlyGrows(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	w := open(t, filepath.Join(t.TempDir(), "witness.json"), "witness.example/w1", l.vkey)
	s := serve(t, w)
	three, seven := l.grow(3), l.grow(4)
	for _, tree := range []struct {
		tlog.Tree
		old int64
	}{{three, 0}, {seven, 3}, {seven, 7}} {
		sent := l.submit(tree.Tree, tree.old)
		line := s.answers("the next tree", sent.Text(), http.StatusOK)
		policy, err := tlog.ParsePolicy("log " + l.vkey + "\nwitness w " + w.VKey() + "\nquorum w\n")
		if err != nil {
			t.Fatal(err)
		}
		if c, err := policy.Check(sent.Checkpoint + line); err != nil || c.Size != tree.Size {
			t.Errorf("%q: %+v, %v", line, c, err)
		}
	}
	wrong := l.submit(l.grow(2), 7)
	wrong.Proof[0][0] ^= 1
	if size := s.answers("another old size", l.submit(seven, 3).Text(), http.StatusConflict); size != "7\n" {
		t.Errorf("the size is %q", size)
	}
	stranger := newLog(t)
	fork := newLog(t)
	fork.key, fork.vkey = l.key, l.vkey+"fork"
	fresh := l.submit(seven, 0)
	fresh.Proof = []tlog.Hash{{}}
	s.answers("a shorter tree", l.submit(three, 3).Text(), http.StatusConflict)
	s.answers("a shorter tree behind a longer one", l.submit(three, 7).Text(), http.StatusBadRequest)
	s.answers("a wrong proof", wrong.Text(), http.StatusUnprocessableEntity)
	s.answers("another tree of the same size", fork.submit(fork.grow(7), 7).Text(), http.StatusUnprocessableEntity)
	s.answers("another tree that is longer", fork.submit(fork.grow(2), 7).Text(), http.StatusUnprocessableEntity)
	s.answers("a tree that another key has signed", stranger.submit(stranger.grow(9), 7).Text(), http.StatusForbidden)
	s.answers("a log that is not known", strings.ReplaceAll(wrong.Text(), origin, "other.example/log"), http.StatusNotFound)
	s.answers("a checkpoint without a signature", "old 7\n\n"+origin+"\n9\nAAAA\n", http.StatusBadRequest)
	s.answers("a size with a zero before it", strings.Replace(wrong.Text(), "old 7", "old 07", 1), http.StatusBadRequest)
	s.answers("a long proof", "old 7\n"+strings.Repeat(tlog.Hash{}.String()+"\n", 64)+"\n"+wrong.Checkpoint, http.StatusBadRequest)
	s.answers("a long request", wrong.Text()+strings.Repeat("x", 1<<17), http.StatusBadRequest)
	if c := w.Checkpoint(origin); !strings.HasPrefix(c, l.submit(seven, 7).Checkpoint) || strings.Count(c, "\n— ") != 2 {
		t.Errorf("what was refused is kept: %s", c)
	}
}

// The first tree has no proof, and an empty one has the root of the empty tree.
func TestAWitnessBeginsWithAnyTree(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	s := serve(t, open(t, filepath.Join(t.TempDir(), "witness.json"), "w", l.vkey))
	proven := l.submit(l.grow(0), 0)
	proven.Proof = []tlog.Hash{{}}
	s.answers("an empty tree with another root", l.submit(tlog.Tree{Root: tlog.Hash{1}}, 0).Text(), http.StatusUnprocessableEntity)
	s.answers("an empty tree", l.submit(l.grow(0), 0).Text(), http.StatusOK)
	s.answers("a proof of nothing", proven.Text(), http.StatusUnprocessableEntity)
	s.answers("a first tree", l.submit(l.grow(5), 0).Text(), http.StatusOK)
}

// Observers fetch what a witness has cosigned last, and compare it with what the log shows.
func TestAWitnessShowsWhatItHasCosignedLast(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	w := open(t, filepath.Join(t.TempDir(), "witness.json"), "w", l.vkey)
	s := serve(t, w)
	get := func() (int, string) {
		r, err := http.Get(fmt.Sprintf("%s/%x/checkpoint", s.url, sha256.Sum256([]byte(origin))))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		text, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(text)
	}
	if status, _ := get(); status != http.StatusNotFound {
		t.Errorf("before the first one: %d", status)
	}
	sent := l.submit(l.grow(3), 0)
	// A line that pretends to be of the witness must not spoil what it keeps.
	forged := strings.Replace(s.answers("a tree", sent.Text(), http.StatusOK), "A", "B", 3)
	next := l.submit(l.grow(1), 3)
	line := s.answers("a tree with a forged cosignature", next.Text()+forged, http.StatusOK)
	if status, text := get(); status != http.StatusOK || text != next.Checkpoint+line {
		t.Errorf("%d %s", status, text)
	}
	s.answers("the next one", l.submit(l.grow(1), 4).Text(), http.StatusOK)
}

// A witness that starts again has its key, and knows what it has cosigned.
func TestAWitnessRemembersAcrossRestarts(t *testing.T) {
	t.Parallel()
	l, path := newLog(t), filepath.Join(t.TempDir(), "witness.json")
	w := open(t, path, "w", l.vkey)
	if _, err := w.Add(l.submit(l.grow(5), 0)); err != nil {
		t.Fatal(err)
	}
	refused := func(name, want string, logs ...string) {
		t.Helper()
		if _, err := witness.Open(path, name, logs, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	refused("w", "another process is this witness")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, "", l.vkey)
	if again.VKey() != w.VKey() {
		t.Error("it has another key")
	}
	short := newLog(t)
	short.key = l.key
	var conflict *witness.Conflict
	if _, err := again.Add(short.submit(short.grow(2), 0)); !errors.As(err, &conflict) || conflict.Size != 5 {
		t.Errorf("a shorter tree: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", info.Mode(), err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	refused("other", "is the file of the witness w, not of other")
	refused("", "the public key of a log", "no key")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{strings.Replace(string(text), `\n5\n`, `\n4\n`, 1), string(text[:len(text)/2])} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		refused("", "witness.json")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused("", "a new witness needs a name")
}

// Without its disk a witness says nothing: what it forgets it must not have cosigned.
func TestAWitnessThatCannotKeepACheckpointDoesNotCosignIt(t *testing.T) {
	t.Parallel()
	l, folder := newLog(t), filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	w := open(t, filepath.Join(folder, "witness.json"), "w", l.vkey)
	s := serve(t, w)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	answer := s.answers("a tree", l.submit(l.grow(5), 0).Text(), http.StatusInternalServerError)
	if strings.Contains(answer, "— ") || w.Checkpoint(origin) != "" {
		t.Errorf("it cosigns: %s", answer)
	}
}

// A log believes only the witnesses of its policy.
func TestAClientTakesTheCosignatureOfItsWitnessAlone(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	w, other := open(t, filepath.Join(t.TempDir(), "1"), "w1", l.vkey), open(t, filepath.Join(t.TempDir(), "2"), "w2", l.vkey)
	sent := l.submit(l.grow(3), 0)
	try := func(of *witness.Witness, url, want string) {
		t.Helper()
		key, err := tlog.ParseCosigner(of.VKey())
		if err != nil {
			t.Fatal(err)
		}
		line, err := witness.NewClient().Add(t.Context(), tlog.PolicyWitness{Name: "w", Key: key, URL: url}, sent)
		if want == "" && (err != nil || line == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("want %q: %q, %v", want, line, err)
		}
	}
	at := serve(t, w).url
	answering := func(status int, text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", at+"/add-checkpoint")
			rw.WriteHeader(status)
			_, _ = io.WriteString(rw, text)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	try(w, at, "")
	try(w, at, "the last cosigned tree has 3 leaves")
	try(other, serve(t, open(t, filepath.Join(t.TempDir(), "3"), "w2", l.vkey)).url, "no cosignature by w2")
	try(w, serve(t, open(t, filepath.Join(t.TempDir(), "4"), "w4")).url, "404: this log is not known")
	try(w, answering(http.StatusTemporaryRedirect, ""), "the witness answers 307")
	try(w, answering(http.StatusOK, "— w1 AAAA\n"), "no cosignature by w1")
	try(w, answering(http.StatusConflict, "many"), "409 without a size")
	try(w, "", "no URL")
	try(w, "http://127.0.0.1:1", "refused")
}
