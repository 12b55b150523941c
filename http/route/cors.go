package route

import (
	"net/http"
	"slices"
)

// CORS says from which browsers the routes of an area may be called.
type CORS struct {
	// PerKey leaves it to the caller's key. A preflight carries no key, so it
	// is answered for every origin.
	PerKey bool
	// Origins that may call, if it is not left to the key.
	Origins []string
}

const (
	corsHeaders      = "X-API-Key, Content-Type, Accept, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-ID, traceparent"
	corsTokenHeaders = ", Authorization, If-Match" // where the caller's token is not a public key
	corsExposed      = "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, " +
		"X-RateLimit-Reset, X-Request-ID, X-Error-Code, Idempotent-Replayed, X-Unknown-Fields, Deprecation, Sunset"
	corsVary   = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
	corsMaxAge = "7200"
)

// before sets the headers of answers that are given before the caller is
// known. Such answers are the same for everybody, so every page may read them.
func (c *CORS) before(h http.Header, from string) {
	if c == nil {
		return
	}
	h.Set("Vary", "Origin")
	switch {
	case c.PerKey:
		expose(h, "*")
	case c.admits(from):
		expose(h, from)
	}
}

// admitted sets the headers once the caller's key admits the origin.
func (c *CORS) admitted(h http.Header, from string) {
	switch {
	case c == nil || !c.PerKey:
	case from == "":
		c.refused(h)
	default:
		expose(h, from)
	}
}

func expose(h http.Header, to string) {
	h.Set("Access-Control-Allow-Origin", to)
	h.Set("Access-Control-Expose-Headers", corsExposed)
}

// refused takes back what was said before the caller was known.
func (*CORS) refused(h http.Header) {
	h.Del("Access-Control-Allow-Origin")
	h.Del("Access-Control-Expose-Headers")
}

// crashed lets every page read that something is wrong with us.
func (c *CORS) crashed(h http.Header) {
	if c != nil && c.PerKey {
		expose(h, "*")
	}
}

func (c *CORS) admits(from string) bool {
	o, ok := parseOrigin(from)
	return ok && slices.ContainsFunc(c.Origins, o.matches)
}

// isPreflight tells whether a browser asks if it may call.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// answers tells whether a preflight from that origin is answered at all.
func (c *CORS) answers(from string) bool { return c != nil && (c.PerKey || c.admits(from)) }

// headers are the request headers that a browser may send.
func (c *CORS) headers() string {
	if c.PerKey {
		return corsHeaders
	}
	return corsHeaders + corsTokenHeaders
}

// preflight sets the headers of the answer to a preflight.
func (c *CORS) preflight(h http.Header, from, allow string) {
	h.Set("Access-Control-Allow-Origin", from)
	h.Del("Access-Control-Expose-Headers")
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers", c.headers())
	h.Set("Access-Control-Max-Age", corsMaxAge)
	h.Set("Vary", corsVary)
	h.Set("Content-Length", "0")
}
