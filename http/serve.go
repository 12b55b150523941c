package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// patience is how long a connection may take for each part of its life.
type patience struct {
	header, request, answer, idle time.Duration
	parting                       time.Duration // for calls that run when the program stops
}

// usual patience. A checkout may have to wait 20 seconds for a payment
// provider, so answers have more time than that.
var usual = patience{
	header: 10 * time.Second, request: 30 * time.Second, answer: time.Minute, idle: 2 * time.Minute, parting: 25 * time.Second,
}

const headerMax = 32 << 10 // bytes

// Serve answers on the listener until ctx ends, then lets calls that are
// running finish, and ends those that would go on. It returns nil after that.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	p := s.patience
	if p == (patience{}) {
		p = usual
	}
	table := s.table()
	s.serving.Store(table)
	server := &http.Server{
		Handler:           table,
		ReadHeaderTimeout: p.header, ReadTimeout: p.request, WriteTimeout: p.answer, IdleTimeout: p.idle,
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
	parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.parting)
	defer cancel()
	err := server.Shutdown(parting)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log().WarnContext(ctx, "calls were cut off when the program stopped")
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving on %s: %w", listener.Addr(), err)
	}
	return nil
}
