//go:build system

// Package processtest starts the compiled program, and talks to it as its users do.
package processtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// A Home is a data directory, and the program that is run on it.
type Home struct {
	T   *testing.T
	Dir string
	At  []string // the settings of a database that is not in the directory
	Env []string // settings besides, as NAME=value
}

// NewHome is a home whose demo is set up already, on a database of the test's own.
func NewHome(t *testing.T) Home {
	t.Helper()
	template := filepath.Join(binaries, "demo")
	h := OwnHome(t)
	url := eventstoretest.Database(t, "demo", func(_ context.Context, url string) error {
		if err := os.Mkdir(template, 0o700); err != nil {
			return err
		}
		first := Home{T: t, Dir: template, At: DatabaseAt(url)}
		first.Start().Stop()
		return nil
	})
	h.At = DatabaseAt(url)
	must(t, os.WriteFile(filepath.Join(h.Dir, "secret.key"), []byte(programtest.SecretKey), 0o600))
	demo, err := os.ReadFile(filepath.Join(template, "demo.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.Dir, "demo.json"), demo, 0o600))
	return h
}

// DatabaseAt are the settings of a panel on a database.
func DatabaseAt(url string) []string {
	return []string{"DATABASE_URL=" + url, "HOSTPANEL_SECRET_KEY=" + programtest.SecretKey}
}

// OwnHome is an empty home, whose Postgres is its own: a data directory that
// Postgres reaches, as another user too. What still runs there when the test
// ends is ended. At a distance its database is an empty one of the tests.
func OwnHome(t *testing.T) Home {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostpanel-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	h := Home{T: t, Dir: dir}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			h.Command("verify") // the last user of an orphaned cluster ends it
		}
		_ = os.RemoveAll(dir)
	})
	if eventstoretest.IsDistant() {
		h.At = DatabaseAt(eventstoretest.Database(t, "empty", nil))
	}
	return h
}

// Start serves the demo.
func (h Home) Start(args ...string) *Process {
	h.T.Helper()
	return h.Serving(append([]string{"--demo", "--listen", "127.0.0.1:0"}, args...)...)
}

// Serving starts the program. It returns when the program says that it is ready, or fails the test.
func (h Home) Serving(args ...string) *Process {
	h.T.Helper()
	r := h.Launch(append([]string{"serve"}, args...)...)
	select {
	case r.Base = <-r.ready:
	case <-r.Ended:
	case <-time.After(Patience):
	}
	if r.Base == "" {
		r.End(syscall.SIGQUIT) // it then says what it waits for
		h.T.Fatalf("the program is not ready; it says:\n%s", r.Stderr())
	}
	return r
}

// Launch starts the program, and does not wait until it is ready.
func (h Home) Launch(args ...string) *Process {
	h.T.Helper()
	r := &Process{T: h.T, ready: make(chan string, 1), Ended: make(chan struct{})}
	r.Cmd = h.prepare(server, args...)
	r.Cmd.Stderr = &r.Log
	out, err := r.Cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	if err := r.Cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	go r.follow(out)
	h.T.Cleanup(func() { r.End(syscall.SIGTERM) })
	return r
}

// Prepare is a command that is not started yet.
func (h Home) Prepare(args ...string) *exec.Cmd {
	h.T.Helper()
	return h.prepare(Binary, args...)
}

func (h Home) prepare(program func() (string, error), args ...string) *exec.Cmd {
	h.T.Helper()
	path, err := program()
	if err != nil {
		h.T.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), path, append(args, "--data-dir", h.Dir)...)
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		area, _, _ := strings.Cut(name, "_")
		if ours := name == "DATABASE_URL" || slices.Contains([]string{"HOSTPANEL", "STRIPE", "PAYPAL"}, area); !ours {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "HOSTPANEL_DATABASE_CONNECTIONS=12") // each one is a process, and dear on a busy machine
	cmd.Env = append(append(cmd.Env, h.At...), h.Env...)
	return cmd
}

// Command runs a short command beside whatever runs and returns what it
// prints, what it complains about, and its exit code.
func (h Home) Command(args ...string) (out, complaint string, code int) {
	h.T.Helper()
	return h.Answering("", args...)
}

// Answering is Command for one that reads something from standard input.
func (h Home) Answering(input string, args ...string) (out, complaint string, code int) {
	h.T.Helper()
	cmd := h.Prepare(args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.T.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// Must is Command for one that has to succeed.
func (h Home) Must(args ...string) string {
	h.T.Helper()
	out, complaint, code := h.Command(args...)
	if code != console.Done {
		h.T.Fatalf("hostpanel %s ended with %d:\n%s%s", strings.Join(args, " "), code, out, complaint)
	}
	return out
}

// Demo is what the demo has written of itself.
func (h Home) Demo() serve.Demo {
	h.T.Helper()
	d, err := serve.ReadDemo(filepath.Join(h.Dir, "demo.json"))
	if err != nil {
		h.T.Fatal(err)
	}
	return d
}

// A Process is the program while it serves.
type Process struct {
	T     *testing.T
	Cmd   *exec.Cmd
	Base  string // URL
	ready chan string
	Ended chan struct{}
	Log   SafeBuffer // standard error
	Said  SafeBuffer // standard output
	once  sync.Once
	Err   error
}

func (r *Process) follow(out io.Reader) {
	lines := bufio.NewScanner(io.TeeReader(out, &r.Said))
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "hostpanel is ready at "); ok {
			r.ready <- url
		}
	}
	r.Err = r.Cmd.Wait()
	close(r.Ended)
}

// End sends a signal and waits until the program is gone.
func (r *Process) End(signal syscall.Signal) {
	r.once.Do(func() {
		_ = r.Cmd.Process.Signal(signal)
		select {
		case <-r.Ended:
		case <-time.After(Patience):
			r.T.Errorf("the program did not end on %s; it says:\n%s", signal, r.Stderr())
			_ = r.Cmd.Process.Kill()
			<-r.Ended
		}
	})
}

// Stop ends the program as its supervisor would.
func (r *Process) Stop() {
	r.T.Helper()
	r.End(syscall.SIGTERM)
	if r.Err != nil {
		r.T.Errorf("stopped with %v; it says:\n%s", r.Err, r.Stderr())
	}
}

// Stderr is what the process has logged.
func (r *Process) Stderr() string { return r.Log.String() }

// A SafeBuffer may be read while it is written.
type SafeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *SafeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *SafeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
