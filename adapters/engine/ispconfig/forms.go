package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sync/singleflight"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A form is what one field of the panel becomes at the engine. The texts are a row
// of the table in docs/engine-ispconfig.md.
type form struct {
	field  string
	sent   string // what the panel sends, where it is not the value itself
	stored string // what the engine stores and answers, where it differs
	served string // what its servers make of it

	refused string           // what the caller reads about a value that cannot travel
	travels func(*wish) bool // nil: each value that the panel takes

	// known looks the value up at the engine; nil: it need not know it.
	known func(context.Context, *Engine, *wish) (bool, error)
}

// CheckForm returns the fields of an object whose values the engine would refuse,
// or would store or serve as something else, with the reason. Of a change only the
// fields count that it names. With an error, those that could be judged are there.
func (e *Engine) CheckForm(ctx context.Context, o hosting.EngineObject) (field.Errors, error) {
	r, err := resourceOf(o.Kind)
	if err != nil || len(r.forms) == 0 {
		return nil, nil //nolint:nilerr // what the engine lacks is refused elsewhere
	}
	return r.checkForms(ctx, e, &wish{EngineObject: o, server: r.on(e.api.Servers), asked: true})
}

func (r *resource) checkForms(ctx context.Context, e *Engine, w *wish) (wrong field.Errors, err error) {
	for _, f := range r.forms {
		if !w.touches([]string{f.field}) || wrong.Has(f.field) {
			continue
		}
		travels := f.travels == nil || f.travels(w)
		if travels && f.known != nil {
			known, failed := f.known(ctx, e, w)
			travels, err = known || failed != nil, errors.Join(err, failed)
		}
		if !travels {
			wrong.Add(f.field, f.refused)
		}
	}
	return wrong, err
}

// A memory keeps answers of the engine about servers for a minute. Several who ask at once
// wait for one call, each as long as it may.
type memory[T any] struct {
	calls singleflight.Group

	mu   sync.Mutex
	kept map[int64]remembered[T]
}

type remembered[T any] struct {
	answer T
	at     time.Time
}

const memoryLasts = time.Minute

// get returns the answer, and with an error the last one.
func (m *memory[T]) get(ctx context.Context, c *connection, server int64, ask func(context.Context, int64) (T, error)) (T, error) {
	now := c.Now()
	m.mu.Lock()
	last := m.kept[server]
	m.mu.Unlock()
	if !last.at.IsZero() && now.Sub(last.at) < memoryLasts {
		return last.answer, nil
	}
	done := m.calls.DoChan(decimal(server), func() (any, error) {
		longer, end := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
		defer end()
		answer, err := ask(longer, server)
		if err != nil {
			return last.answer, err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.kept == nil {
			m.kept = map[int64]remembered[T]{}
		}
		m.kept[server] = remembered[T]{answer, now}
		return answer, nil
	})
	select {
	case <-ctx.Done():
		return last.answer, domain.Fail(domain.Transient, "engine_busy", fmt.Errorf("wait for the engine: %w", ctx.Err()))
	case told := <-done:
		answer, _ := told.Val.(T)
		return answer, told.Err
	}
}

// speakable refuses what the engine would not take, or would store differently.
func (w *wish) speakable(ctx context.Context, e *Engine, r *resource) error {
	wrong, err := r.checkForms(ctx, e, w)
	switch {
	case err != nil:
		return err
	case len(wrong) > 0:
		return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("a %s whose %s the engine does not take", w.Kind, wrong[0].Field))
	case !r.canonical(w.Name):
		return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("a %s whose name is not as the engine stores it", w.Kind))
	}
	return nil
}

// unstorable tells whether the engine's columns lose a character: they hold three
// bytes of UTF-8.
func unstorable(c rune) bool { return c > 0xFFFF || c == 0 || c == unicode.ReplacementChar }

// storable is the form of a text that the engine keeps as it is.
func storable(name string) form {
	return form{
		field: name, stored: "without tags and line breaks", refused: "The hosting server takes no emoji and no tags here.",
		travels: func(w *wish) bool {
			s := w.text(name)
			return !strings.ContainsFunc(s, unstorable) && !strings.ContainsAny(s, "<>\r\n")
		},
	}
}

// single is the form of a text of one line that may hold tags.
func single(name string) form {
	return form{
		field: name, refused: "The hosting server takes no emoji and no line breaks here.",
		travels: func(w *wish) bool {
			return !strings.ContainsFunc(w.text(name), func(c rune) bool { return unstorable(c) || c == '\n' || c == '\r' })
		},
	}
}

// sending says how the panel sends the field.
func sending(f form, sent string) form { f.sent = sent; return f }

// storing says how the engine stores the field.
func (f form) storing(stored string) form { f.stored = stored; return f }

// matching is a form of a text that the engine takes only in this pattern.
func matching(name, pattern, refused string) form {
	re := regexp.MustCompile(pattern)
	return form{field: name, refused: refused, travels: func(w *wish) bool { return re.MatchString(w.text(name)) }}
}
