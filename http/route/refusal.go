package route

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Refusal is an answer that is no success, in the words of HTTP.
type Refusal struct {
	Status   int
	Detail   string
	Code     string // in the body, and X-Error-Code
	Slug     string // X-Error-Code of a body without code
	After    time.Duration
	Location string   // of a redirect, which has no body
	More     []Member // further members of the body
	fields   field.Errors
	list     []string // instead of an object
}

// A Member is a further member of a refusal's body: a text, or JSON.
type Member struct {
	Name, Value string
	JSON        []byte // instead of Value
}

func (r *Refusal) Error() string {
	switch {
	case r.fields != nil:
		return r.fields.Error()
	case r.list != nil:
		return strings.Join(r.list, " ")
	}
	return fmt.Sprintf("%d %s", r.Status, r.Detail)
}

// SeeOther sends a browser to another page.
func SeeOther(location string) error {
	return &Refusal{Status: http.StatusSeeOther, Location: location}
}

// Refusals that every route may answer with.
var (
	unknownPath   = &Refusal{Status: http.StatusNotFound, Detail: "Not found.", Slug: "not_found"}
	notAcceptable = &Refusal{
		Status: http.StatusNotAcceptable, Detail: "Could not satisfy the request Accept header.",
		Slug: "not_acceptable",
	}
	tooLarge = &Refusal{Status: http.StatusRequestEntityTooLarge, Detail: "Request body too large.", Code: "request_too_large"}
	stale    = &Refusal{
		Status: http.StatusPreconditionFailed, Detail: "The resource was changed in the meantime.",
		Code: "precondition_failed",
	}
	crashed     = &Refusal{Status: http.StatusInternalServerError, Detail: "A server error occurred.", Slug: "server_error"}
	unavailable = &Refusal{
		Status: http.StatusServiceUnavailable, Code: "unavailable", After: retryAfter,
		Detail: "The service is temporarily unavailable.",
	}
)

const retryAfter = 5 * time.Second // of a 503 that does not say

func notAllowed(method string) *Refusal {
	return &Refusal{
		Status: http.StatusMethodNotAllowed, Detail: fmt.Sprintf("Method \"%s\" not allowed.", method),
		Slug: "method_not_allowed",
	}
}

func unsupported(mediaType string) *Refusal {
	return &Refusal{
		Status: http.StatusUnsupportedMediaType, Slug: "unsupported_media_type",
		Detail: fmt.Sprintf("Unsupported media type \"%s\" in request.", mediaType),
	}
}

func throttled(wait time.Duration) *Refusal {
	unit, n := "seconds", seconds(wait)
	if n == 1 {
		unit = "second"
	}
	return &Refusal{
		Status: http.StatusTooManyRequests, Slug: "throttled", After: wait,
		Detail: fmt.Sprintf("Request was throttled. Expected available in %d %s.", n, unit),
	}
}

// Throttle refuses a call that may be repeated after the wait.
func Throttle(wait time.Duration) error { return throttled(wait) }

// seconds are whole ones, at least one.
func seconds(d time.Duration) int64 { return max(int64(math.Ceil(d.Seconds())), 1) }

// statuses says how each refusal of the business looks in HTTP.
var statuses = map[domain.Code]Refusal{
	domain.Invalid:     {Status: http.StatusBadRequest, Slug: "invalid"},
	domain.Denied:      {Status: http.StatusForbidden, Slug: "permission_denied"},
	domain.NotFound:    {Status: http.StatusNotFound, Slug: "not_found"},
	domain.Conflict:    {Status: http.StatusConflict, Code: "conflict"},
	domain.Stale:       {Status: http.StatusPreconditionFailed, Code: "precondition_failed"},
	domain.Throttled:   {Status: http.StatusTooManyRequests, Slug: "throttled", After: time.Minute},
	domain.Unavailable: {Status: http.StatusServiceUnavailable, Code: "unavailable", After: retryAfter},
}

// refusalOf tells how an error looks to the caller. nil: it is a fault of ours,
// which only the log may know.
func (t *Table) refusalOf(err error) *Refusal {
	var refusal *Refusal
	var syntax *field.SyntaxError
	var business *domain.Error
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &syntax):
		return &Refusal{Status: http.StatusBadRequest, Detail: syntax.Error(), Slug: "parse_error"}
	case t.options.Unavailable != nil && t.options.Unavailable(err), errors.Is(err, context.DeadlineExceeded):
		return unavailable
	}
	if wrong := field.ErrorsOf(err); len(wrong) > 0 {
		return &Refusal{Status: http.StatusBadRequest, Slug: slugOf(err), fields: wrong}
	}
	if errors.As(err, &business) {
		return businessRefusal(business)
	}
	return nil
}

// slugOf is the reason of a refusal about fields, which only a header tells.
func slugOf(err error) string {
	var business *domain.Error
	if errors.As(err, &business) && business.Reason != "" {
		return business.Reason
	}
	return "invalid"
}

func businessRefusal(e *domain.Error) *Refusal {
	r, known := statuses[e.Code]
	if !known {
		return nil
	}
	r.Detail = e.Message
	if e.Reason != "" {
		r.Code = e.Reason
	}
	if e.Reason == "idempotency_in_progress" {
		r.After = time.Second
	}
	if r.Detail == "" {
		r.Detail = http.StatusText(r.Status)
	}
	return &r
}

// body is the JSON of the refusal.
func (r *Refusal) body() []byte {
	switch {
	case r.fields != nil:
		return r.fields.AppendJSON(nil)
	case r.list != nil:
		return field.AppendTexts(nil, r.list)
	}
	b := field.AppendText([]byte(`{"detail":`), r.Detail)
	if r.Code != "" {
		b = field.AppendText(append(b, `,"code":`...), r.Code)
	}
	for _, m := range r.More {
		b = append(field.AppendText(append(b, ','), m.Name), ':')
		if m.JSON != nil {
			b = append(b, m.JSON...)
		} else {
			b = field.AppendText(b, m.Value)
		}
	}
	return append(b, '}')
}

// headers that tell the refusal apart for programs.
func (r *Refusal) headers(h http.Header) {
	if r.Location != "" {
		h.Set("Location", r.Location)
		return
	}
	h.Set("X-Error-Code", r.Slug)
	if r.Code != "" {
		h.Set("X-Error-Code", r.Code)
	}
	if r.After > 0 {
		h.Set("Retry-After", strconv.FormatInt(seconds(r.After), 10))
	}
}

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
