//go:build system

package tree_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"hostpanel/eventstore/tlog/tree"
)

func TestASealerFollowsTheLog(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 3)
	s := l.process()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		s.Run(ctx, slog.New(slog.NewTextHandler(io.Discard, nil)), func() <-chan struct{} { return nil })
	})
	defer wg.Wait()
	defer stop()
	for _, more := range []int64{0, 1, tree.SealAtOnce + 1} {
		l.add(more)
		for {
			lag, err := s.Lag(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lag.Events == 0 && lag.Since == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	stop()
	wg.Wait()
	l.whole(s, 5+tree.SealAtOnce)
}

func TestTheTreeGrowsWithTheLogAtEveryWidth(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 0)
	s := l.process()
	if n := sealAll(t, s); n != 0 || l.current(s).Size != 0 {
		t.Errorf("%d events of an empty log are sealed", n)
	}
	if c, err := l.current(s).Signed(); err != nil || c.Size != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, size := range []int64{1, 255, 256, 257, 1000, 1024, 65_537} {
		l.add(size - l.current(s).Size)
		sealAll(t, l.process()) // another process each time
		l.whole(s, size)
	}
	if _, err := s.Proof(t.Context(), 65_538); !errors.Is(err, tree.ErrNone) {
		t.Errorf("an event that is not there: %v", err)
	}
	l.add(3)
	if lag, err := s.Lag(t.Context()); err != nil || lag.Events != 3 || lag.Since == nil {
		t.Errorf("%+v, %v", lag, err)
	}
}
