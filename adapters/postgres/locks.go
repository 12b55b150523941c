//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// stopTurnLimit bounds the wait of a stop for a start or stop elsewhere.
const stopTurnLimit = time.Minute

// locks say who uses a data directory. They are locks of the kernel, which end
// with the process however it ends; the files mean nothing by themselves.
type locks struct {
	serve *os.File // exclusive: serves the directory
	users *os.File // shared: uses the cluster
	turn  *os.File // exclusive: is starting or stopping the cluster
}

var errLocked = errors.New("locked")

func (l *locks) take(ctx context.Context, h home, serve bool) (err error) {
	if serve {
		if err := l.claim(h); err != nil {
			return err
		}
	}
	if l.turn, err = waitLock(ctx, h.turnLock()); err != nil {
		return err
	}
	l.users, err = lock(h.usersLock(), syscall.LOCK_SH)
	return err
}

// claim takes the directory for serving and leaves the process's number for
// those who come too late.
func (l *locks) claim(h home) (err error) {
	l.serve, err = lock(h.serveLock(), syscall.LOCK_EX)
	if errors.Is(err, errLocked) {
		pid, _ := os.ReadFile(h.serveLock())
		return fmt.Errorf("%s is served by process %s: %w", h.dir, strings.TrimSpace(string(pid)), ErrServed)
	}
	if err != nil {
		return err
	}
	if err := l.serve.Truncate(0); err != nil {
		return err
	}
	_, err = fmt.Fprintln(l.serve, os.Getpid())
	return err
}

// lastUser takes the turn and says whether the server is ours to stop.
func (l *locks) lastUser(h home) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTurnLimit)
	defer cancel()
	var err error
	if l.turn, err = waitLock(ctx, h.turnLock()); err != nil {
		return false, err
	}
	if l.serve != nil {
		return true, nil
	}
	return l.alone()
}

// alone tells whether this process alone uses the cluster. It is asked in turn
// only, so no process joins meanwhile.
func (l *locks) alone() (bool, error) {
	err := flock(l.users, syscall.LOCK_EX)
	if err != nil && !errors.Is(err, errLocked) {
		return false, err
	}
	return err == nil, flock(l.users, syscall.LOCK_SH)
}

func (l *locks) endTurn() { unlock(&l.turn) }

// release ends all locks.
func (l *locks) release(h home) {
	unlock(&l.users)
	if l.serve != nil {
		_ = os.Remove(h.serveLock())
	}
	unlock(&l.serve)
	unlock(&l.turn)
}

func unlock(f **os.File) {
	if *f != nil {
		_ = (*f).Close()
		*f = nil
	}
}

// lock opens path, makes it if need be, and locks it, or answers errLocked.
func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how); err != nil {
		_ = f.Close()
		return nil, err
	}
	if !stands(f, path) { // deleted by a server that has just ended
		_ = f.Close()
		return lock(path, how)
	}
	return f, nil
}

func flock(f *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case err != nil:
			return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
		default:
			return nil
		}
	}
}

func stands(f *os.File, path string) bool {
	opened, err := f.Stat()
	named, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(opened, named)
}

func waitLock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := lock(path, syscall.LOCK_EX)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return nil, fmt.Errorf("another process is starting or stopping the cluster: %w", err)
		}
	}
}

// pause waits for d, or for the end of ctx, which is an error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
