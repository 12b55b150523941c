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

// How long a connection may take for each part of its life. A checkout may
// have to wait 20 seconds for a payment provider, so answers have more time
// than that.
const (
	headerTime  = 10 * time.Second
	requestTime = 30 * time.Second
	answerTime  = 60 * time.Second
	idleTime    = 2 * time.Minute
	partingTime = 25 * time.Second // for calls that run when the program stops
	headerMax   = 32 << 10         // bytes
)

// Serve answers on the listener until ctx ends, then lets calls that are
// running finish. It returns nil after that.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes:               headerMax,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
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
