//go:build unix

package eventstoretest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ownRendezvous is one of this test alone, whose server ends soon after its last user.
func ownRendezvous(t *testing.T) rendezvous {
	t.Helper()
	root, err := os.MkdirTemp("", "meet")
	must(t, err)
	r := newRendezvous(root, 500*time.Millisecond)
	t.Cleanup(func() {
		eventually(t, "the supervisor ends", func() bool { return r.unlocked() })
		must(t, os.RemoveAll(root))
	})
	return r
}

// unlocked tells whether no supervisor runs.
func (r rendezvous) unlocked() bool {
	lock, err := os.Open(filepath.Join(r.folder, "lock"))
	if err != nil {
		return true
	}
	defer func() { _ = lock.Close() }()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come true: %s", what)
		}
	}
}

// A user is another test binary that has joined.
type user struct {
	cmd     *exec.Cmd
	address string
}

// TestMain lets this binary be such a user.
func TestMain(m *testing.M) {
	folder := os.Getenv("HOSTPANEL_TEST_USER_OF")
	if folder == "" {
		os.Exit(m.Run())
	}
	linger, _ := time.ParseDuration(os.Getenv("HOSTPANEL_TEST_LINGER"))
	address, _, err := rendezvous{folder, linger}.join(context.Background())
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Println(address)
	select {} // until it is killed
}

func join(t *testing.T, r rendezvous, env ...string) user {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "HOSTPANEL_TEST_USER_OF="+r.folder, "HOSTPANEL_TEST_LINGER="+r.linger.String())...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	u := user{cmd: cmd}
	t.Cleanup(u.kill)
	said, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	u.address = strings.TrimSpace(said)
	return u
}

func (u user) kill() {
	_ = u.cmd.Process.Kill()
	_ = u.cmd.Wait()
}

// serverOf is the process of the server, and the folder of its data.
func serverOf(t *testing.T, address string) (pid int, data string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	must(t, conn.QueryRow(t.Context(), "select current_setting('data_directory')").Scan(&data))
	must(t, conn.QueryRow(t.Context(), "select (regexp_split_to_array(pg_read_file('postmaster.pid'), E'\n'))[1]::int").Scan(&pid))
	return pid, data
}

func gone(pid int, data string) bool {
	_, err := os.Stat(data)
	return syscall.Kill(pid, 0) != nil && os.IsNotExist(err)
}

func TestAFolderOfAnotherUserIsRefused(t *testing.T) {
	r := rendezvous{folder: filepath.Join(t.TempDir(), "theirs")}
	must(t, os.Mkdir(r.folder, 0o777))
	must(t, os.Chmod(r.folder, 0o777)) //nolint:gosec // it is open to others, as one of another user is
	if _, _, err := r.join(t.Context()); err == nil || !strings.Contains(err.Error(), "not a folder of this user alone") {
		t.Error(err)
	}
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	cmd := join(t, ownRendezvous(t), "HOME=/nowhere", "TMPDIR=/nowhere")
	if !strings.HasPrefix(cmd.address, "refused: ") || !strings.Contains(cmd.address, "/nowhere") {
		t.Error(cmd.address)
	}
}
