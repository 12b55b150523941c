package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Patience is how long a connection may take for each part of its life. A zero
// stands for the usual time.
type Patience struct {
	Header, Request, Answer, Idle time.Duration
	Parting                       time.Duration // for calls that run when the program stops
}

// usual has the times of a Patience. A checkout may have to wait 20 seconds for a
// payment provider, so answers have more time than that.
func (p Patience) usual() Patience {
	return Patience{
		Header:  cmp.Or(p.Header, 10*time.Second),
		Request: cmp.Or(p.Request, 30*time.Second),
		Answer:  cmp.Or(p.Answer, time.Minute),
		Idle:    cmp.Or(p.Idle, 2*time.Minute),
		Parting: cmp.Or(p.Parting, 25*time.Second),
	}
}

const headerMax = 32 << 10 // bytes

// Serve answers on the listener until ctx ends, then lets calls that are
// running finish, and ends those that would go on. It returns nil after that.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	p := s.Settings.Patience.usual()
	table := s.table()
	s.serving.Store(table)
	server := &http.Server{
		Handler:           table,
		ReadHeaderTimeout: p.Header, ReadTimeout: p.Request, WriteTimeout: p.Answer, IdleTimeout: p.Idle,
		MaxHeaderBytes:               headerMax,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(table.EndStreams)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Parting)
	defer cancel()
	err := server.Shutdown(parting)
	if err == nil {
		err = table.AwaitSockets(parting)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.log().WarnContext(ctx, "calls were cut off when the program stopped")
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving on %s: %w", listener.Addr(), err)
	}
	return nil
}
