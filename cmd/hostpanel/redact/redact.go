// Package redact keeps secrets out of logs and out of what commands print
// (docs/operations.md, "Logs").
package redact

import (
	"context"
	"io"
	"log/slog"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/masking"
)

// NewLog writes structured lines to w, without secrets (docs/operations.md,
// "Logs"). slog's text form escapes line breaks and control characters.
func NewLog(w io.Writer, least slog.Level) *slog.Logger {
	return slog.New(redacted{slog.NewTextHandler(w, &slog.HandlerOptions{Level: least})})
}

// Masked stands where a secret stood.
const Masked = masking.Masked

// redacted keeps secrets out of the log: by the name of what is logged, and by
// its look. Callers of the logger need not do so.
type redacted struct{ next slog.Handler }

func (r redacted) Enabled(ctx context.Context, level slog.Level) bool {
	return r.next.Enabled(ctx, level)
}

func (r redacted) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, Mask(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(redact(a))
		return true
	})
	clean.AddAttrs(originAttrs(domain.OriginOf(ctx))...)
	return r.next.Handle(ctx, clean)
}

// originAttrs say what the work was done for that has written a line.
func originAttrs(o domain.Origin) (attrs []slog.Attr) {
	if !o.Cause.IsZero() {
		attrs = append(attrs, slog.String("cause", o.Cause.String()))
	}
	if o.Correlation != uuid.Nil {
		attrs = append(attrs, slog.String("correlation", o.Correlation.String()))
	}
	return attrs
}

func (r redacted) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = redact(a)
	}
	return redacted{r.next.WithAttrs(clean)}
}

func (r redacted) WithGroup(name string) slog.Handler { return redacted{r.next.WithGroup(name)} }

func redact(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch {
	case IsSecret(a.Key):
		return slog.String(a.Key, Masked)
	case value.Kind() == slog.KindGroup:
		var clean []slog.Attr
		for _, member := range value.Group() {
			clean = append(clean, redact(member))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case value.Kind() == slog.KindString, value.Kind() == slog.KindAny: // errors and everything that is written as text
		return slog.String(a.Key, Mask(value.String()))
	}
	return slog.Attr{Key: a.Key, Value: value}
}

// IsSecret tells whether the value under this name is never shown.
func IsSecret(key string) bool { return masking.IsSecret(key) }

// Mask replaces the secrets in a text, which it knows by their look.
func Mask(text string) string { return masking.Mask(text) }
