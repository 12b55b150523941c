package route

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Call is one request to a route, as its handler sees it.
type Call struct {
	Caller    Caller
	IP        netip.Addr // of the client
	RequestID string
	Method    string
	Path      string // as it was called
	Vars      map[string]string
	Query     url.Values
	Header    http.Header
	Host      string    // as the request names it
	Body      []byte    // as it was sent; of routes that take it raw or as a form
	Sent      field.Set // the fields that the request brought
	Subject   any       // what Find has found

	id    uuid.UUID
	json  field.Value
	key   *domain.IdempotencyKey
	check func(context.Context, Call, any, *field.Errors) error
	blank func() field.Record
	exact bool // the caller has named the version of the subject, with If-Match
	reply *reply
	table *Table
}

// A reply is what a handler says about its answer besides the answer.
type reply struct {
	header   http.Header
	status   int
	etag     string
	location string

	correlation uuid.UUID
}

// Var is a variable of the path.
func (c Call) Var(name string) string { return c.Vars[name] }

// ID is a whole number in the path.
func (c Call) ID(name string) int64 {
	n, err := strconv.ParseInt(c.Vars[name], 10, 64)
	if err != nil {
		return 0 // no record has this number
	}
	return n
}

// UUID is an identifier in the path.
func (c Call) UUID(name string) uuid.UUID {
	id, err := uuid.Parse(c.Vars[name])
	if err != nil {
		return uuid.Nil // no record has this identifier
	}
	return id
}

// Param is a query parameter. The last one counts.
func (c Call) Param(name string) string {
	values := c.Query[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Form reads the body of a form.
func (c Call) Form() (url.Values, error) {
	if base, _, _ := strings.Cut(c.Header.Get("Content-Type"), ";"); strings.TrimSpace(base) != "application/x-www-form-urlencoded" {
		return nil, unsupported(c.Header.Get("Content-Type"))
	}
	form, err := url.ParseQuery(string(c.Body))
	if err != nil || !areTexts(form) {
		return nil, &Refusal{Status: http.StatusBadRequest, Detail: "The form could not be read.", Slug: "parse_error"}
	}
	return form, nil
}

// Cause is who asked for the change that the call makes, with the key under
// which the answer is kept. Set Location first: the key is stored with it.
func (c Call) Cause() domain.Metadata {
	m := domain.Metadata{ID: c.id, Actor: cmp.Or(c.Caller.Actor, c.Caller.Principal), Request: c.RequestID, IdempotencyKey: c.key}
	if header := c.Header.Get("Traceparent"); traceOf(header) != "" {
		m.Traceparent = header
	}
	return m
}

// Once is the call with a key that makes a repeat of it change nothing. Forms have a
// key of their own; the API takes it from the Idempotency-Key.
func (c Call) Once(key *domain.IdempotencyKey) Call {
	c.key = key
	return c
}

// CauseOf is the [Call.Cause] of a change of the subject, whose streams were
// found in these versions. If the caller has named the version with If-Match,
// it is this one that is changed or none.
func (c Call) CauseOf(found domain.Versions) domain.Metadata {
	cause := c.Cause()
	if c.exact {
		cause.ExpectedVersions = found
	}
	return cause
}

// Correlate names what the log files what comes of the call under.
func (c Call) Correlate(id uuid.UUID) { c.reply.correlation = id }

// IsExact tells whether the caller wants this version of the subject to be
// changed or none.
func (c Call) IsExact() bool { return c.exact }

// Exactly is the call of a form that wants the subject to be changed as it was found, or
// not at all.
func (c Call) Exactly() Call {
	c.exact = true
	return c
}

// ETag names the version of the record that the answer shows: "site-12-7".
func (c Call) ETag(version string) { c.reply.etag = `"` + version + `"` }

// Location says where the record stands that was made: a path.
func (c Call) Location(path string) {
	c.reply.location = c.URL(path)
	if c.key != nil {
		c.key.Location = c.reply.location
	}
}

// Status sets another status than that of the route.
func (c Call) Status(status int) {
	c.reply.status = status
	if c.key != nil {
		c.key.Status = status
	}
}

// Set sets a header of the answer.
func (c Call) Set(header, value string) { c.reply.header.Set(header, value) }

// URL is the absolute URL of a path of ours.
func (c Call) URL(path string) string { return c.table.url(path) }

// Missing is the refusal for a record that is not there for this caller.
func Missing(class string) error {
	return domain.Refuse(domain.NotFound, "No %s matches the given query.", class)
}

// OnceKeys remembers which requests were answered, and how
// (docs/api.md, "Repeating a request").
type OnceKeys interface {
	Look(context.Context, domain.IdempotencyKey) (domain.Replay, error)
	Finish(ctx context.Context, key domain.IdempotencyKey, status int, etag string, body []byte) error
	Release(context.Context, domain.IdempotencyKey) error
	Fingerprints(parts ...[]byte) [][]byte
}
