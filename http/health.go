package http

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"hostpanel/http/route"
)

// healthSchema is the body of a health check.
var healthSchema = map[string]any{
	"type": "object", "required": []string{"status"},
	"properties": map[string]any{
		"status": map[string]any{"type": "string", "enum": []string{"ok", "unavailable"}},
		"as_of": map[string]any{
			"type": "string", "format": "date-time", "description": "The moment that a view of the past shows. The present has none.",
		},
		"checks": map[string]any{
			"type": "object", "additionalProperties": map[string]any{"type": "string"},
			"description": "What is wrong, by the name of the failed check.",
		},
	},
}

// watch is the area for monitoring: health checks and metrics.
func (s *Server) watch() route.Area {
	area := route.Area{
		Name: "Health", Access: route.Open,
		About: "Whether the panel is well.",
		Routes: []route.Route{
			route.File("/healthz", "Tell that the process lives", s.alive).As("healthz").Caching("no-store").
				Sending("application/json", healthSchema).OrWith(http.StatusServiceUnavailable).
				Failing(http.StatusServiceUnavailable, "A part that the process runs itself has ended; checks says which."),
			route.File("/readyz", "Tell whether requests can be served", s.ready).As("readyz").Caching("no-store").
				Sending("application/json", healthSchema).OrWith(http.StatusServiceUnavailable).
				Failing(http.StatusServiceUnavailable, "Something that every request needs is missing; checks says what."),
		},
	}
	if s.Metrics != nil {
		area.Routes = append(area.Routes, route.File("/metrics", "Figures about the panel, in the text format of Prometheus", s.figures).
			As("metrics").For(s.watcher()).Caching("no-store").Sending("text/plain", nil))
	}
	return area
}

// watcher admits callers on this machine, and superusers.
func (s *Server) watcher() route.Access {
	access := s.callers().Superuser().As("this machine, or superuser")
	identify, admit := access.Identify, access.Admit
	access.Identify = func(ctx context.Context, r route.Request) (route.Caller, error) {
		if isLocal(r) {
			return route.Caller{}, nil
		}
		return identify(ctx, r)
	}
	access.Admit = func(ctx context.Context, r route.Request, c route.Caller) error {
		if isLocal(r) {
			return nil
		}
		return admit(ctx, r, c)
	}
	return access
}

// isLocal tells whether the caller is on this machine. A request that a proxy
// forwarded is not local, even if the proxy is on this machine.
func isLocal(r route.Request) bool {
	return r.IP.IsLoopback() && r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}

func (s *Server) alive(context.Context, route.Call) (*route.Document, error) {
	return healthOf(s.Health.Alive(), s.AsOf)
}

const readyTime = 5 * time.Second

func (s *Server) ready(ctx context.Context, _ route.Call) (*route.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	return healthOf(s.Health.Ready(ctx), s.AsOf)
}

// healthOf answers with the failed checks, and of a view of the past with its moment.
func healthOf(checks map[string]string, asOf time.Time) (*route.Document, error) {
	health := struct {
		Status string            `json:"status"`
		AsOf   time.Time         `json:"as_of,omitzero"`
		Checks map[string]string `json:"checks,omitempty"`
	}{"ok", asOf, checks}
	if len(checks) > 0 {
		health.Status = "unavailable"
	}
	body, err := json.Marshal(health)
	if err != nil {
		return nil, fmt.Errorf("tell what is missing: %w", err)
	}
	if len(checks) == 0 {
		return &route.Document{Type: "application/json", Body: body}, nil
	}
	return &route.Document{
		Status: http.StatusServiceUnavailable, Type: "application/json", Body: body,
		Header: http.Header{"X-Error-Code": {"unavailable"}, "Retry-After": {"5"}},
	}, nil
}

// figures returns the document of the metrics handler.
func (s *Server) figures(ctx context.Context, c route.Call) (*route.Document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Path, nil)
	if err != nil {
		return nil, fmt.Errorf("collect figures: %w", err)
	}
	r.Header.Set("Accept", c.Header.Get("Accept"))
	page := &caught{header: http.Header{}, status: http.StatusOK}
	s.Metrics.ServeHTTP(page, r)
	return &route.Document{Status: page.status, Type: page.header.Get("Content-Type"), Body: page.body.Bytes()}, nil
}

// caught buffers the answer of another handler.
type caught struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *caught) Header() http.Header         { return c.header }
func (c *caught) WriteHeader(status int)      { c.status = status }
func (c *caught) Write(b []byte) (int, error) { return c.body.Write(b) }
