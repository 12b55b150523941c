package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Monitor serves /healthz, /readyz and /metrics for a process without the API,
// until ctx ends. Every caller who reaches the address may read them.
func Monitor(ctx context.Context, listener net.Listener, health Health, metrics http.Handler) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { tellHealth(w, health.Alive()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		tellHealth(w, health.Ready(ctx))
	})
	mux.Handle("GET /metrics", metrics)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: Patience{}.usual().Header, WriteTimeout: Patience{}.usual().Answer}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve health on %s: %w", listener.Addr(), err)
	}
	return nil
}

// tellHealth writes what /healthz and /readyz of the API answer.
func tellHealth(w http.ResponseWriter, failed map[string]string) {
	d, err := healthOf(failed, time.Time{})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", d.Type)
	if d.Status != 0 {
		w.WriteHeader(d.Status)
	}
	_, _ = w.Write(d.Body)
}
