package witness

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"hostpanel/eventstore/tlog"
)

// longest bounds a request and an answer, in bytes.
const longest = 64 << 10

// Handler serves the witness over HTTP, as C2SP describes it.
func (w *Witness) Handler(log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		line, err := w.submitted(http.MaxBytesReader(rw, r.Body, longest))
		if err != nil {
			log.WarnContext(r.Context(), "a checkpoint is not cosigned", "error", err)
			refuse(rw, err)
			return
		}
		answer(rw, "text/plain; charset=utf-8", http.StatusOK, line)
	})
	mux.HandleFunc("GET /{hash}/checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		text := w.ofHash(r.PathValue("hash"))
		if text == "" {
			http.NotFound(rw, r)
			return
		}
		answer(rw, "text/plain; charset=utf-8", http.StatusOK, text)
	})
	return mux
}

func (w *Witness) submitted(body io.Reader) (line string, err error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", tlog.ErrSubmission, err)
	}
	s, err := tlog.ParseSubmission(string(text))
	if err != nil {
		return "", err
	}
	return w.Add(s)
}

// ofHash is the last checkpoint of the log whose origin has this hash.
func (w *Witness) ofHash(hash string) string {
	for origin := range w.logs {
		if fmt.Sprintf("%x", sha256.Sum256([]byte(origin))) == hash {
			return w.Checkpoint(origin)
		}
	}
	return ""
}

// statuses are how refusals are answered.
var statuses = map[error]int{
	ErrUnknown: http.StatusNotFound, ErrUnsigned: http.StatusForbidden, ErrProof: http.StatusUnprocessableEntity,
	errBackward: http.StatusBadRequest, tlog.ErrSubmission: http.StatusBadRequest, tlog.ErrCheckpoint: http.StatusBadRequest,
}

func refuse(rw http.ResponseWriter, err error) {
	var conflict *Conflict
	if errors.As(err, &conflict) {
		answer(rw, "text/x.tlog.size", http.StatusConflict, fmt.Sprintf("%d\n", conflict.Size))
		return
	}
	for known, status := range statuses {
		if errors.Is(err, known) {
			http.Error(rw, known.Error(), status)
			return
		}
	}
	http.Error(rw, "the checkpoint could not be kept", http.StatusInternalServerError)
}

func answer(rw http.ResponseWriter, media string, status int, text string) {
	rw.Header().Set("Content-Type", media)
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, text) // a caller that has left is told nothing
}

// What a request and its answer may take, and a connection between them.
const (
	callLimit = 10 * time.Second
	idleLimit = 3 * time.Minute
)

// Serve serves the witness until ctx ends.
func (w *Witness) Serve(ctx context.Context, listener net.Listener, log *slog.Logger) error {
	server := &http.Server{
		Handler: w.Handler(log), ReadHeaderTimeout: callLimit, ReadTimeout: callLimit, WriteTimeout: callLimit,
		IdleTimeout: idleLimit,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	return server.Shutdown(last)
}
