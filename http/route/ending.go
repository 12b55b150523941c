package route

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"runtime/debug"

	"github.com/google/uuid"
)

// refuse answers with what err says to callers.
func (x *exchange) refuse(err error) {
	refusal := x.t.refusalOf(err)
	if refusal == nil {
		x.fault = err
		refusal = crashed
	}
	if x.fault == nil && refusal.Status >= http.StatusInternalServerError {
		x.fault = err
	}
	if errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		x.fault = nil // the client has gone, which is its right
	}
	x.release(refusal.Status)
	h := x.w.Header()
	refusal.headers(h)
	x.keepSecret()
	switch {
	case refusal.Status == http.StatusUnauthorized && x.access.Challenge != "":
		h.Set("WWW-Authenticate", x.access.Challenge)
	case refusal.Status == http.StatusInternalServerError:
		x.cors.crashed(h)
	}
	x.sendRefusal(refusal)
}

// keepSecret says that the answer must not be stored, if that holds for the
// successful answers of the path.
func (x *exchange) keepSecret() {
	if x.endpoint == nil {
		return
	}
	r := x.route
	if r == nil {
		r = x.endpoint.first
	}
	if r.Cache == "no-store" {
		x.w.Header().Set("Cache-Control", r.Cache)
	}
}

func (x *exchange) sendRefusal(r *Refusal) {
	h := x.w.Header()
	switch {
	case r.Location != "":
		if x.route != nil && x.route.page {
			h.Set("Cache-Control", "no-store")
		}
		x.send(r.Status, nil)
	case x.isForPeople():
		x.document(x.errorPage(r))
	default:
		h.Set("Content-Type", "application/json")
		x.send(r.Status, indented(r.body(), x.indent))
	}
}

// recover answers for a handler that panicked, if nothing is sent yet.
func (x *exchange) recover() {
	p := recover()
	switch p {
	case nil:
		return
	case http.ErrAbortHandler: // net/http ends the connection
		panic(p)
	}
	x.t.options.Log.ErrorContext(x.r.Context(), "a handler panicked",
		"method", x.r.Method, "route", x.template(), "request_id", x.call.RequestID, "panic", p, "stack", string(debug.Stack()))
	if x.status == 0 {
		x.end(crashed)
	}
}

func (x *exchange) template() string {
	if x.endpoint == nil {
		return "(none)"
	}
	return x.endpoint.plain
}

// log writes the line of the access log. It never holds the path as it was
// called, a query, a body or credentials.
func (x *exchange) log() {
	took := x.t.options.Now().Sub(x.started)
	if told := x.t.options.Answered; told != nil {
		told(x.r.Method, x.template(), x.status, took)
	}
	attributes := []any{
		"method", x.r.Method, "route", x.template(), "status", x.status,
		"ms", float64(took.Microseconds()) / 1000, "request_id", x.call.RequestID,
	}
	if x.call.reply.correlation != uuid.Nil {
		attributes = append(attributes, "correlation", x.call.reply.correlation)
	}
	if trace := traceOf(x.r.Header.Get("Traceparent")); trace != "" {
		attributes = append(attributes, "trace", trace)
	}
	if x.call.Caller.Principal != "" {
		attributes = append(attributes, "caller", x.call.Caller.Principal)
	}
	if x.call.Caller.Tenant != 0 {
		attributes = append(attributes, "tenant", x.call.Caller.Tenant)
	}
	log := x.t.options.Log
	if x.fault != nil {
		log.ErrorContext(x.r.Context(), "request failed", append(attributes, "err", x.fault.Error())...)
		return
	}
	log.InfoContext(x.r.Context(), "request", attributes...)
}

var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceOf is the trace that the caller says its request belongs to.
func traceOf(header string) string {
	if found := traceparent.FindStringSubmatch(header); found != nil {
		return found[1]
	}
	return ""
}
