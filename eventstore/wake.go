package eventstore

import (
	"context"
	"sync"
	"time"
)

// channel is where processes tell each other that the log has grown.
const channel = "hostpanel_log"

// notifyEvery bounds how often one process tells the others. Each NOTIFY is a
// commit of its own; inside the appends it would halve their speed.
const notifyEvery = 10 * time.Millisecond

// A signal wakes everybody who waits for more of the log.
type signal struct {
	mu      sync.Mutex
	closing chan struct{}
	raised  chan struct{} // has room for one: tell the other processes
}

// Changed returns a channel that is closed when the log grows next. It is a
// hint: whoever waits for it also looks once a second.
func (s *Store) Changed() <-chan struct{} {
	s.signal.mu.Lock()
	defer s.signal.mu.Unlock()
	return s.signal.closing
}

// raise wakes this process, and lets the others be told.
func (s *signal) raise() {
	s.wake()
	select {
	case s.raised <- struct{}{}:
	default:
	}
}

func (s *signal) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.closing)
	s.closing = make(chan struct{})
}

// Follow tells other processes of appends made here, and wakes this one for
// theirs, until ctx ends. Without it, polling alone carries the news.
func (s *Store) Follow(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { s.tell(ctx) })
	wg.Go(func() { s.listen(ctx) })
	wg.Wait()
}

// tellOthers does not wait for the disk: what it says is lost in a crash anyway.
const tellOthers = `select pg_notify($1, $2) from (select set_config('synchronous_commit', 'off', true)) relaxed`

func (s *Store) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.signal.raised:
		}
		if _, err := s.pool.Exec(ctx, tellOthers, channel, s.identity); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot tell other processes of the log's growth", "err", err)
		}
		sleep(ctx, notifyEvery)
	}
}

// listen keeps one connection open for the news of other processes.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.listenOnce(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "not listening for the log's growth, polling goes on", "err", err)
			sleep(ctx, time.Second)
		}
	}
}

func (s *Store) listenOnce(ctx context.Context) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // a connection that listens does not go back to the pool
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	for {
		news, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if news.Payload != s.identity {
			s.signal.wake()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
