//go:build unix

package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestMain is also the panel's process that tests start and kill: it starts
// what its environment says, tells the address, and stops at the end of its
// input.
func TestMain(m *testing.M) {
	order := os.Getenv("PANEL_OPTIONS")
	if order == "" {
		code := m.Run()
		_ = os.RemoveAll(sampleDir)
		os.Exit(code)
	}
	if err := bePanel(order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bePanel(order string) error {
	var o Options
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	c, err := Start(context.Background(), o)
	if err != nil {
		return err
	}
	fmt.Println(c.server.pid, c.home.dir, c.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return c.Stop()
}

// A panel is such a process.
type panel struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	server server
	url    string
}

func startPanel(t *testing.T, o Options) *panel {
	t.Helper()
	order, err := json.Marshal(o)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PANEL_OPTIONS="+string(order))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &panel{cmd: cmd, stdin: stdin}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	var dir string
	_, err = fmt.Sscan(line, &p.server.pid, &dir, &p.url)
	must(t, err)
	p.server.data = filepath.Join(dir, "postgres")
	return p
}

func (p *panel) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *panel) stop(t *testing.T) {
	t.Helper()
	must(t, p.stdin.Close())
	must(t, p.cmd.Wait())
}

// dataDir is a directory which the server's user can reach. What still runs in
// it after the test is ended.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(tempRoot(), "hostpanel-test-")
	must(t, err)
	must(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() {
		data := filepath.Join(dir, "postgres")
		if n, _ := readNote(data); n != nil {
			_ = (&server{pid: n.pid, data: data}).stop(crash)
		}
		must(t, os.RemoveAll(dir))
	})
	return dir
}

// madeDir is a data directory with a cluster that has been used and stopped,
// which takes a fraction of the time to make one.
func madeDir(t *testing.T) string {
	t.Helper()
	from, err := sample()
	must(t, err)
	to := home{dir: dataDir(t)}
	o, err := ownerOf(from)
	must(t, err)
	must(t, copyTree(from.data(), to.data(), o.own))
	must(t, copyTree(from.passwordFile(), to.passwordFile(), o.own))
	return to.dir
}

var sampleDir string

var sample = sync.OnceValues(func() (home, error) {
	var err error
	if sampleDir, err = os.MkdirTemp(tempRoot(), "hostpanel-test-"); err != nil {
		return home{}, err
	}
	c, err := Start(context.Background(), Options{Dir: sampleDir})
	if err != nil {
		return home{}, err
	}
	return c.home, c.Stop()
})

func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c
}

// refused holds that o does not start, because of reason, in these words.
func refused(t *testing.T, o Options, reason error, words ...string) {
	t.Helper()
	c, err := Start(t.Context(), o)
	if err == nil {
		t.Fatalf("it started: %v", c.Stop())
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("%v is not: %v", err, reason)
	}
}

func run(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), sql)
	must(t, err)
}

func ask(t *testing.T, url, sql string) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	must(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}

func expect(t *testing.T, url, sql, want string) {
	t.Helper()
	if got := ask(t, url, sql); got != want {
		t.Errorf("%s: %s, want %s", sql, got, want)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

func isThere(path string) bool { _, err := os.Lstat(path); return err == nil }

func signal(t *testing.T, s server, sig syscall.Signal) {
	t.Helper()
	must(t, syscall.Kill(s.pid, sig))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
