//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"hostpanel/eventstore/clock"
)

// A server is a running postmaster: our child, or one that we have found.
type server struct {
	pid     int
	address address
	data    string
	exited  chan struct{} // closed at its end; nil: not our child
}

// A farewell is a way to end a server: signals, each with the time that it is
// given to work.
type farewell []struct {
	signal   syscall.Signal
	patience time.Duration
}

var (
	// shutdown breaks off what runs and writes everything down.
	shutdown = farewell{{syscall.SIGINT, time.Minute}, {syscall.SIGQUIT, 10 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}
	// crash drops everything where it is; the next start recovers.
	crash = farewell{{syscall.SIGQUIT, 10 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}
)

// errBusy says that the port was taken in the last moment, or that sessions of
// a killed server have not noticed its death yet. It passes.
var errBusy = errors.New("in use")

// busyLimit bounds how often that is hoped.
const busyLimit = 15 * time.Second

// launch starts the server where none runs, and returns when it answers.
func (c *Cluster) launch(ctx context.Context, at address) error {
	b, err := c.binaries(ctx)
	if err != nil {
		return err
	}
	c.begins(Starting)
	for hope := clock.Now().Add(busyLimit); ; {
		err := c.try(ctx, b, at)
		if !errors.Is(err, errBusy) || clock.Now().After(hope) {
			return err
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

func (c *Cluster) try(ctx context.Context, b binaries, at address) error {
	if err := c.home.clearNotes(); err != nil {
		return err
	}
	at, err := at.settled(ctx)
	if err != nil {
		return err
	}
	log, err := c.journal()
	if err != nil {
		return err
	}
	defer log.close()
	s, err := c.spawn(b, at, log)
	if err != nil {
		return err
	}
	if err := c.ready(ctx, s); err != nil {
		_ = s.stop(crash)
		return explain(err, log.said())
	}
	c.server = s
	return nil
}

func explain(err error, said string) error {
	if strings.Contains(said, "in use") {
		return fmt.Errorf("%w: %w: %s", err, errBusy, said)
	}
	return fmt.Errorf("%w: %s", err, said)
}

func (c *Cluster) spawn(b binaries, at address, log journal) (*server, error) {
	args := append([]string{"-D", c.home.data()}, c.settings(at)...)
	cmd := c.owner.command(exec.Command(b.path("postgres"), args...)) //nolint:noctx // it outlives the context of its start
	cmd.Stdout, cmd.Stderr = log.to, log.to
	cmd.WaitDelay = time.Second // sessions that linger hold the log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{pid: cmd.Process.Pid, address: at, data: c.home.data(), exited: make(chan struct{})}
	dismiss := func() {}
	if c.options.Volatile {
		dismiss = guard(s.pid, c.grave())
	}
	go func() {
		_ = cmd.Wait() // its log tells why
		dismiss()
		close(s.exited)
	}()
	return s, nil
}

// ready waits until the server answers and the panel's database is there.
func (c *Cluster) ready(ctx context.Context, s *server) error {
	for {
		err := c.ping(ctx, s.address)
		if err == nil || hopeless(err) {
			return err
		}
		if s.gone() {
			return errors.New("the server ended at once")
		}
		if pause(ctx, 10*time.Millisecond) != nil {
			return fmt.Errorf("the server does not answer: %w", err)
		}
	}
}

func (s *server) gone() bool {
	if s.exited == nil {
		return !isPostmaster(s.pid, s.data)
	}
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// stop ends the server, politely first. A server that has ended is no error.
func (s *server) stop(how farewell) error {
	for _, step := range how {
		if s.gone() {
			return nil
		}
		if err := syscall.Kill(s.pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d: %w", s.pid, err)
		}
		if s.endsWithin(step.patience) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not end", s.pid)
}

func (s *server) endsWithin(patience time.Duration) bool {
	for end := clock.Now().Add(patience); clock.Now().Before(end); {
		if s.gone() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return s.gone()
}
