package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

// patience bounds every wait. It is long: a machine that is busy is no fault.
const patience = 90 * time.Second

// binary is the real program, built once, by the first test that needs it.
var binary = sync.OnceValues(func() (string, error) { return build("hostpanel") })

// server is the program that goes on in the background. With the race detector it has that as
// well. Commands would begin and end a second later each, and their packages have it.
var server = sync.OnceValues(func() (string, error) {
	if raceDetector {
		return build("hostpanel-race", "-race")
	}
	return binary()
})

func build(name string, args ...string) (path string, err error) {
	path = filepath.Join(binaries, name)
	out, err := exec.Command("go", append(append([]string{"build", "-o", path}, args...), ".")...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, err
}

var binaries string // folder

// TestMain lets four stories run at once, also on two cores: most of the time a
// story waits for programs that start, or for a lease to end.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "4")
	}
	var err error
	if binaries, err = os.MkdirTemp("", "hostpanel-e2e-bin-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(binaries)
	os.Exit(code)
}

// A home is a data directory, and the program that is run on it.
type home struct {
	t   *testing.T
	dir string
	at  []string // the settings of a database that is not in the directory
	env []string // settings besides, as NAME=value
}

// newHome is a home whose demo is set up already, on a database of the test's
// own.
func newHome(t *testing.T) home {
	t.Helper()
	template := filepath.Join(binaries, "demo")
	h := ownHome(t)
	url := eventstoretest.Database(t, "demo", func(_ context.Context, url string) error {
		if err := os.Mkdir(template, 0o700); err != nil {
			return err
		}
		first := home{t: t, dir: template, at: databaseAt(url)}
		first.start().stop()
		return nil
	})
	h.at = databaseAt(url)
	must(t, os.WriteFile(filepath.Join(h.dir, "secret.key"), []byte(programtest.SecretKey), 0o600))
	demo, err := os.ReadFile(filepath.Join(template, "demo.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.dir, "demo.json"), demo, 0o600))
	return h
}

func databaseAt(url string) []string {
	return []string{"DATABASE_URL=" + url, "HOSTPANEL_SECRET_KEY=" + programtest.SecretKey}
}

// ownHome is an empty home, whose Postgres is its own: a data directory that
// Postgres reaches, as another user too. What still runs there when the test
// ends is ended.
func ownHome(t *testing.T) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostpanel-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	h := home{t: t, dir: dir}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			h.command("verify") // the last user of an orphaned cluster ends it
		}
		_ = os.RemoveAll(dir)
	})
	return h
}

// start serves the demo.
func (h home) start(args ...string) *running {
	h.t.Helper()
	return h.serving(append([]string{"--demo", "--listen", "127.0.0.1:0"}, args...)...)
}

// serving returns when the program says that it is ready, or fails the test.
func (h home) serving(args ...string) *running {
	h.t.Helper()
	r := h.launch(append([]string{"serve"}, args...)...)
	select {
	case r.base = <-r.ready:
	case <-r.ended:
	case <-time.After(patience):
	}
	if r.base == "" {
		r.end(syscall.SIGQUIT) // it then says what it waits for
		h.t.Fatalf("the program is not ready; it says:\n%s", r.stderr())
	}
	return r
}

func (h home) launch(args ...string) *running {
	h.t.Helper()
	r := &running{t: h.t, ready: make(chan string, 1), ended: make(chan struct{})}
	r.cmd = h.prepare(server, args...)
	r.cmd.Stderr = &r.log
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go r.follow(out)
	h.t.Cleanup(func() { r.end(syscall.SIGTERM) })
	return r
}

func (h home) prepare(program func() (string, error), args ...string) *exec.Cmd {
	h.t.Helper()
	path, err := program()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(path, append(args, "--data-dir", h.dir)...)
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		area, _, _ := strings.Cut(name, "_")
		if ours := name == "DATABASE_URL" || slices.Contains([]string{"HOSTPANEL", "STRIPE", "PAYPAL"}, area); !ours {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "HOSTPANEL_DATABASE_CONNECTIONS=12") // each one is a process, and dear on a busy machine
	cmd.Env = append(append(cmd.Env, h.at...), h.env...)
	return cmd
}

// command runs a short command beside whatever runs and returns what it
// prints, what it complains about, and its exit code.
func (h home) command(args ...string) (out, complaint string, code int) {
	h.t.Helper()
	return h.answering("", args...)
}

// answering is command for one that reads something from standard input.
func (h home) answering(input string, args ...string) (out, complaint string, code int) {
	h.t.Helper()
	cmd := h.prepare(binary, args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// must is command for one that has to succeed.
func (h home) must(args ...string) string {
	h.t.Helper()
	out, complaint, code := h.command(args...)
	if code != console.Done {
		h.t.Fatalf("hostpanel %s ended with %d:\n%s%s", strings.Join(args, " "), code, out, complaint)
	}
	return out
}

func (h home) demo() serve.Demo {
	h.t.Helper()
	d, err := serve.ReadDemo(filepath.Join(h.dir, "demo.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

// running is the program while it serves.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	base  string // URL
	ready chan string
	ended chan struct{}
	log   safeBuffer // standard error
	said  safeBuffer // standard output
	once  sync.Once
	err   error
}

func (r *running) follow(out io.Reader) {
	lines := bufio.NewScanner(io.TeeReader(out, &r.said))
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "hostpanel is ready at "); ok {
			r.ready <- url
		}
	}
	r.err = r.cmd.Wait()
	close(r.ended)
}

// end sends a signal and waits until the program is gone.
func (r *running) end(signal syscall.Signal) {
	r.once.Do(func() {
		_ = r.cmd.Process.Signal(signal)
		select {
		case <-r.ended:
		case <-time.After(patience):
			r.t.Errorf("the program did not end on %s; it says:\n%s", signal, r.stderr())
			_ = r.cmd.Process.Kill()
			<-r.ended
		}
	})
}

// stop ends the program as its supervisor would.
func (r *running) stop() {
	r.t.Helper()
	r.end(syscall.SIGTERM)
	if r.err != nil {
		r.t.Errorf("stopped with %v; it says:\n%s", r.err, r.stderr())
	}
}

func (r *running) stderr() string { return r.log.String() }

// An answer is what the program said over HTTP.
type answer struct {
	status int
	header http.Header
	body   string
}

// field is one text or number of a JSON answer.
func (a answer) field(t *testing.T, name string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(a.body), &all); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	text, _ := all[name].(string)
	return text
}

var client = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// call sends a request; headers come in pairs.
func call(ctx context.Context, method, url, body string, headers ...string) (answer, error) {
	q, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	a, err := client.Do(q)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	return answer{a.StatusCode, a.Header, string(text)}, err
}

// pause is how long the answer asks its client to wait before the next try; a
// moment if it does not say.
func (a answer) pause() time.Duration {
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return 20 * time.Millisecond
}

// ask is call for an answer that has to have this status.
func (r *running) ask(want int, method, path, body string, headers ...string) answer {
	r.t.Helper()
	a, err := call(r.t.Context(), method, r.base+path, body, headers...)
	if err != nil || a.status != want {
		r.t.Fatalf("%s %s: status %d instead of %d, %v: %s\n%s", method, path, a.status, want, err, a.body, r.stderr())
	}
	return a
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, within time.Duration, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", within, what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// safeBuffer may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
