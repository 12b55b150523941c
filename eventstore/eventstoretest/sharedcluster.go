//go:build unix

package eventstoretest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/postgres"
)

// supervisorName is the first argument of a test binary that does not test: it runs the
// Postgres of all test binaries.
const supervisorName = "hostpanel-test-postgres"

// common is where the test binaries of this user meet. Its place is read before a test
// changes the environment.
var common = newRendezvous(os.TempDir(), 20*time.Second)

// init lets no code of a test binary run in the supervisor.
func init() {
	if os.Args[0] != supervisorName {
		return
	}
	linger, err := time.ParseDuration(os.Args[2])
	if err == nil {
		err = supervise(rendezvous{folder: os.Args[1], linger: linger})
	}
	if err != nil {
		os.Exit(1) // those who asked know why
	}
	os.Exit(0)
}

// A rendezvous is the folder where the test binaries of a user find one Postgres. The socket
// "door" in it leads to the supervisor, which holds a lock on the file "lock".
type rendezvous struct {
	folder string
	linger time.Duration // how long the server stays after its last user
}

// newRendezvous has a place for each user, and for each way to find and run PostgreSQL.
func newRendezvous(root string, linger time.Duration) rendezvous {
	const longest = 60 // bytes: the path of a socket is short on every system
	if len(root) > longest {
		root = "/tmp"
	}
	found := sha256.Sum256(fmt.Append(nil, os.Getenv("PATH"), quick))
	return rendezvous{filepath.Join(root, fmt.Sprintf("hostpanel-tests-%d-%x", os.Geteuid(), found[:4])), linger}
}

func (r rendezvous) door() string { return filepath.Join(r.folder, "door") }

// errRefused is how the server did not start. Another attempt would fail as this one did.
var errRefused = errors.New("start the Postgres of the tests")

// join returns the address of the server, which is started if there is none. It runs as long
// as this process lives, however that ends, and some seconds longer. The connection is the
// first one to it.
func (r rendezvous) join(ctx context.Context) (address string, first *pgx.Conn, err error) {
	if err := r.open(); err != nil {
		return "", nil, err
	}
	exited := make(chan struct{})
	close(exited)
	for {
		address, first, err = r.ask(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, errRefused) {
			return address, first, err
		}
		select {
		case <-exited: // there was none, or it found another one that is ending
			if exited, err = r.spawn(); err != nil {
				return "", nil, err
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// open makes the folder. One of another user is of no use.
func (r rendezvous) open() error {
	if err := os.Mkdir(r.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(r.folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a folder of this user alone", r.folder)
	}
	return nil
}

// lines are the connections to supervisors. They end with this process.
var lines struct {
	sync.Mutex
	held []net.Conn
}

// ask asks the supervisor for the address of a server that answers.
func (r rendezvous) ask(ctx context.Context) (address string, first *pgx.Conn, err error) {
	line, err := new(net.Dialer).DialContext(ctx, "unix", r.door())
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			_ = line.Close()
			return
		}
		lines.Lock()
		defer lines.Unlock()
		lines.held = append(lines.held, line)
	}()
	defer context.AfterFunc(ctx, func() { _ = line.SetDeadline(time.Unix(1, 0)) })()
	said, err := bufio.NewReader(line).ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	address, failure, _ := strings.Cut(strings.TrimSpace(said), " ")
	if failure != "" {
		return "", nil, fmt.Errorf("%w: %s", errRefused, failure)
	}
	first, err = pgx.Connect(ctx, address)
	return address, first, err
}

// spawn starts a supervisor, which outlives this process and holds none of its files.
func (r rendezvous) spawn() (exited chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self) //nolint:noctx // it outlives this process
	cmd.Args = []string{supervisorName, r.folder, r.linger.String()}
	cmd.Dir, cmd.Env = "/", environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited = make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	return exited, nil
}

var environment = os.Environ()

// A supervisor runs the server for its users: each is a connection.
type supervisor struct {
	listener net.Listener
	started  chan struct{} // closed once there is an answer
	answer   string

	mu     sync.Mutex
	users  int
	ending bool
	left   chan struct{} // the last user has gone
}

// supervise runs a server as long as there are users. It does nothing if another supervisor
// does so, or is still ending.
func supervise(r rendezvous) error {
	lock, err := os.OpenFile(filepath.Join(r.folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // nothing was written
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	if err := os.WriteFile(lock.Name(), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return err
	}
	if err := os.Remove(r.door()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s := &supervisor{started: make(chan struct{}), left: make(chan struct{}, 1)}
	if s.listener, err = new(net.ListenConfig).Listen(context.Background(), "unix", r.door()); err != nil {
		return err
	}
	go s.accept()
	c, err := startCommon()
	if err != nil {
		s.answer = " " + strings.ReplaceAll(err.Error(), "\n", " ") + "\n"
	} else {
		s.answer = c.URL() + "\n"
	}
	close(s.started)
	if err != nil {
		s.idle(nil, time.Second)
		return err
	}
	broken := make(chan struct{})
	go func() {
		_ = c.Watch(context.Background(), slog.New(slog.DiscardHandler), nil)
		close(broken)
	}()
	s.idle(broken, r.linger)
	return c.Stop()
}

// startCommon starts the server with the roles of all its databases.
func startCommon() (*postgres.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := postgres.Start(ctx, postgres.Options{Volatile: true, Settings: quick})
	if err != nil {
		return nil, err
	}
	if err := signInCheaply(ctx, c); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// accept admits users until the listener is closed.
func (s *supervisor) accept() {
	for {
		user, err := s.listener.Accept()
		if err != nil {
			return
		}
		if !s.admit() {
			_ = user.Close() // it tries again, and finds the next supervisor
			return
		}
		go s.serve(user)
	}
}

func (s *supervisor) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.users++
	}
	return !s.ending
}

// serve answers a user, and waits for its end.
func (s *supervisor) serve(user net.Conn) {
	<-s.started
	_, _ = io.WriteString(user, s.answer)
	_, _ = io.Copy(io.Discard, user)
	_ = user.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		select {
		case s.left <- struct{}{}:
		default:
		}
	}
}

// idle returns when there was no user for some time, or once the server is broken. From
// then on no user is admitted.
func (s *supervisor) idle(broken <-chan struct{}, linger time.Duration) {
	for {
		select {
		case <-broken:
			s.close(true)
			return
		case <-s.left:
		case <-time.After(linger):
			if s.close(false) {
				return
			}
		}
	}
}

// close admits no further user, unless there are users who are not to be left alone.
func (s *supervisor) close(anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users > 0 && !anyway {
		return false
	}
	s.ending = true
	_ = s.listener.Close()
	return true
}
