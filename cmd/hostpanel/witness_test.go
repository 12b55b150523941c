package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/domain/audit"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/witness"
	"hostpanel/projections"
)

// startWitness runs `hostpanel witness`, and returns its public key and its address. It
// must end well when the test ends.
func startWitness(t *testing.T, vkey string) (key, url string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	var complaint bytes.Buffer
	go func() {
		ended <- run(ctx, []string{
			"witness", "--state", filepath.Join(t.TempDir(), "w1.json"), "--name", "w1.example",
			"--log", vkey, "--address", "127.0.0.1:0",
		}, console.Console{Out: write, Err: &complaint})
		_ = write.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != console.Done {
			t.Errorf("the witness ends with %d: %s", code, complaint.String())
		}
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	key, url, found := strings.Cut(strings.TrimSpace(line), " cosigns at ")
	if err != nil || !found {
		t.Fatalf("the witness says %q, %v", line, err)
	}
	return key, url
}

// A witnessed panel has two witnesses, and needs both.
type witnessed struct {
	*program.Program
	t      *testing.T
	policy *tlog.Policy
	second *witness.Witness
	away   atomic.Bool // the second witness
}

func newWitnessed(t *testing.T) (w *witnessed, url string) {
	t.Helper()
	first, url := demoForCommands(t)
	w = &witnessed{t: t, Program: first}
	w.seal()
	o, err := first.Sealer.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.second, err = witness.Open(filepath.Join(t.TempDir(), "w2.json"), "w2.example", []string{o.VKey},
		time.Now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.second.Close() })
	handler := w.second.Handler(slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.away.Load() {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	key, at := startWitness(t, o.VKey)
	text := "witness one " + key + " " + at + "\nwitness two " + w.second.VKey() + " " + server.URL +
		"\ngroup both all one two\nquorum both\n"
	if w.policy, err = tlog.ParsePolicy("log " + o.VKey + "\n" + text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.New(config.Settings{
		DatabaseURL: url, DataDir: t.TempDir(), PublicURL: "https://panel.example.com",
		SecretKey: programtest.SecretKey, LogPolicy: file,
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	if w.Program, err = program.Open(t.Context(), cfg, slog.Default(), program.Working); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w, url
}

func (w *witnessed) seal() {
	w.t.Helper()
	if _, err := w.Sealer.Seal(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// round is one in which all witnesses are asked.
func (w *witnessed) round() {
	w.t.Helper()
	if err := w.Sealer.Publish(w.t.Context(), slog.Default()); err != nil {
		w.t.Fatal(err)
	}
}

// shown is what observers get, and what operators hear of it.
func (w *witnessed) shown(published bool, complaint string) (text string) {
	w.t.Helper()
	text, witnessed, err := w.Sagas.Audit.Checkpoint(w.t.Context())
	if err != nil || witnessed != published || w.policy.Witnessed(text) != published {
		w.t.Errorf("published: %t, %v\n%s", witnessed, err, text)
	}
	code, out, told := told(w.t, "log", "checkpoint", "--data-dir", w.t.TempDir())
	if code != console.Done || out != text || !strings.Contains(told, complaint) || (told == "") != (complaint == "") {
		w.t.Errorf("log checkpoint ends with %d: %s%s", code, out, told)
	}
	figures := programtest.Figures(w.t, w.Program)
	if trouble := figures["hostpanel_log_witness_trouble{one}"] +
		figures["hostpanel_log_witness_trouble{two}"]; (trouble > 0) != (complaint != "") {
		w.t.Errorf("%v witnesses have trouble", trouble)
	}
	if _, there := figures["hostpanel_log_witnessed_age_seconds"]; !there {
		w.t.Error("the age of the last publication is not told")
	}
	return text
}

// Both witnesses must cosign. While one is away nothing is published, and no evidence is
// given. When the log is cut back, the witnesses refuse it, and say so.
func TestALogIsPublishedWhenItsWitnessesHaveCosigned(t *testing.T) {
	w, url := newWitnessed(t)
	w.away.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() { w.Sealer.Run(ctx, slog.Default(), w.Store.Changed); close(running) }() // keeps the policy beside the tree
	of := audit.PackOf{Tenant: 1}
	for {
		o, err := w.Sealer.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o.Policy != "" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	<-running
	w.round()
	w.shown(false, "witness two: ask the witness")
	if _, err := w.Sagas.Audit.Pack(t.Context(), projections.System, of); err == nil ||
		!strings.Contains(err.Error(), "have not cosigned") {
		t.Errorf("a pack without witnesses: %v", err)
	}

	w.away.Store(false)
	w.round()
	text := w.shown(true, "")
	pack, err := w.Sagas.Audit.Pack(t.Context(), projections.System, of)
	if err != nil {
		t.Fatal(err)
	}
	w.proves(pack)

	w.cutBack(url)
	w.round()
	if after := w.shown(true, "its end was cut off"); after != text {
		t.Errorf("another tree is published: %s", after)
	}
	if c := w.second.Checkpoint("panel.example.com/audit/log"); !strings.HasPrefix(text,
		c[:strings.LastIndex(c, "— w2")]) {
		t.Errorf("the witness has cosigned a shorter tree: %s", c)
	}
}

// proves checks a pack as a stranger does who trusts the two witnesses.
func (w *witnessed) proves(pack evidence.Pack) {
	w.t.Helper()
	var file bytes.Buffer
	if err := pack.Zip(&file); err != nil {
		w.t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		w.t.Fatal(err)
	}
	again, err := evidence.Read(z)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, policy := range []*tlog.Policy{w.policy, nil} {
		if r, err := again.Check(policy); err != nil || len(r.Faults) > 0 || len(r.Events) == 0 {
			w.t.Errorf("%d events, %v, %v", len(r.Events), r.Faults, err)
		}
	}
	again.Events[0].Proof, _, _ = strings.Cut(again.Events[0].Proof, "— w2.example")
	if r, err := again.Check(w.policy); err == nil && len(r.Faults) == 0 {
		w.t.Error("a pack without the cosignature of a witness is accepted")
	}
}

// cutBack removes the end of the log, and has the rest signed with the key of the log.
func (w *witnessed) cutBack(url string) {
	w.t.Helper()
	if _, err := eventstoretest.Owner(w.t, url).Exec(w.t.Context(), `alter table events disable trigger all; delete
		from events where position > 10;
		update log_origins set size = 0, checkpoint = ''; truncate log_tiles`); err != nil {
		w.t.Fatal(err)
	}
	w.seal()
}
