package route_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/http/route/routetest"
)

// memory keeps answers as the database does.
type memory struct {
	rows   map[string]domain.Replay
	prints map[string][]byte
}

func scope(k domain.IdempotencyKey) string {
	return strings.Join([]string{k.Principal, k.Method, k.Path, k.Key}, " ")
}

func (m *memory) begin(k domain.IdempotencyKey) {
	m.rows[scope(k)] = domain.Replay{State: domain.ReplayRunning, Status: k.Status, Location: k.Location}
	m.prints[scope(k)] = k.Fingerprints[0]
}

func (m *memory) Look(_ context.Context, k domain.IdempotencyKey) (domain.Replay, error) {
	r, known := m.rows[scope(k)]
	switch {
	case k.Key == "away":
		return r, errAway
	case !known:
		return domain.Replay{State: domain.ReplayFree}, nil
	case !bytes.Equal(k.Fingerprints[0], m.prints[scope(k)]):
		return domain.Replay{State: domain.ReplayReused}, nil
	}
	return r, nil
}

func (m *memory) Finish(_ context.Context, k domain.IdempotencyKey, status int, etag string, body []byte) error {
	if r, known := m.rows[scope(k)]; known {
		r.State, r.Status, r.ETag, r.Body = domain.ReplayFinished, status, etag, body
		m.rows[scope(k)] = r
	}
	return nil
}

func (m *memory) Release(_ context.Context, k domain.IdempotencyKey) error {
	if r, known := m.rows[scope(k)]; known {
		r.State = domain.ReplayOpen
		m.rows[scope(k)] = r
	}
	return nil
}

func (m *memory) Fingerprints(parts ...[]byte) [][]byte {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return [][]byte{sum[:]}
}

func TestConversations(t *testing.T) {
	routetest.Run(t, "testdata/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s, table := newShop()
		t.Cleanup(func() {
			if t.Failed() {
				t.Log(s.log.String())
			}
		})
		return routetest.Read(t, table.JSON()).Watch(t, table), routetest.Known{
			"key": goodKey, "bound": boundKey, "expired": expiredKey, "scarce": scarceKey, "base": public, "widget": widgetID,
			"expose": "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, " +
				"X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-ID, X-Error-Code, Idempotent-Replayed, " +
				"X-Unknown-Fields, Deprecation, Sunset",
			"deep": strings.Repeat("[", 33) + strings.Repeat("]", 33),
			"big":  `{"domain":"` + strings.Repeat("x", 1<<20) + `"}`,
		}
	})
}
