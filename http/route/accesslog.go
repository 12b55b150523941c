package route

import (
	"regexp"

	"github.com/google/uuid"
)

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
