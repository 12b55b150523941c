package route

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// answer sends a record or a list.
func (x *exchange) answer(a Answer) {
	status := x.call.reply.status
	if status == 0 {
		status = x.route.Status
	}
	var body []byte
	if a != nil {
		body = a.AppendJSON(make([]byte, 0, 1024))
	}
	if x.route.hashed && x.call.reply.etag == "" && a != nil {
		x.call.reply.etag = hashTag(body, x.route.Answer.Many || x.route.Answer.Paged)
	}
	x.finish(status, a)
	h := x.w.Header()
	x.headers(h)
	if x.isKnown(status) {
		x.send(http.StatusNotModified, nil)
		return
	}
	if a != nil {
		h.Set("Content-Type", "application/json")
	}
	x.send(status, indented(body, x.indent))
}

// headers of a successful answer.
func (x *exchange) headers(h http.Header) {
	if x.route != nil && x.route.Cache != "" {
		h.Set("Cache-Control", x.route.Cache)
	}
	if x.call.reply.etag != "" {
		h.Set("ETag", x.call.reply.etag)
	}
	if x.call.reply.location != "" {
		h.Set("Location", x.call.reply.location)
	}
	for name, values := range x.call.reply.header {
		h[name] = values
	}
}

// document sends something other than a record.
func (x *exchange) document(d *Document) {
	defer d.close()
	status := d.Status
	if status == 0 {
		status = x.route.Status
	}
	x.call.reply.etag, x.call.reply.location = "", "" // those of a record are not the document's
	if d.ETag != "" {
		x.call.reply.etag = `"` + d.ETag + `"`
	}
	h := x.w.Header()
	x.headers(h)
	if d.Cache != "" {
		h.Set("Cache-Control", d.Cache)
	}
	if x.route == nil || x.route.page { // without a route it is an error page
		x.securePage(h, d)
	}
	for name, values := range d.Header {
		h[name] = values
	}
	if x.isKnown(status) {
		x.send(http.StatusNotModified, nil)
		return
	}
	if d.Type != "" {
		h.Set("Content-Type", d.Type)
	}
	if d.File != nil {
		d.send(x, status)
		return
	}
	x.send(status, d.Body)
}

// send writes the answer. HEAD is told how long the body would be.
func (x *exchange) send(status int, body []byte) {
	if !opens(x, status, int64(len(body))) {
		return
	}
	if _, err := x.w.Write(body); err != nil {
		x.t.options.Log.DebugContext(x.r.Context(), "the client has gone", "request_id", x.call.RequestID)
	}
}

// opens sends the head of an answer, and tells whether a body of this length follows.
func opens(x *exchange, status int, length int64) bool {
	if x.call.Caller.Settle != nil {
		panic("route: an answer to a caller who was only remembered")
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		x.w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	}
	x.status = status
	x.w.WriteHeader(status)
	return x.r.Method != http.MethodHead && length > 0
}

// isKnown tells whether the client has the answer already.
func (x *exchange) isKnown(status int) bool {
	reading := x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
	return reading && status == http.StatusOK && x.call.reply.etag != "" &&
		anyTag(x.r.Header.Values("If-None-Match"), x.call.reply.etag, weakly)
}

// indented is the body for readers who asked for it with "indent".
func indented(body []byte, by int) []byte {
	if by == 0 || len(body) == 0 {
		return body
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", strings.Repeat(" ", by)); err != nil {
		return body
	}
	return b.Bytes()
}

// show is the answer of the GET route of a path.
func (t *Table) show(ctx context.Context, c Call, location string) (Answer, error) {
	e, vars := t.find(location)
	if e == nil || e.methods[http.MethodGet] == nil || e.methods[http.MethodGet].Serve == nil {
		return nil, unknownPath
	}
	r := e.methods[http.MethodGet]
	c.Vars, c.Path, c.Method = vars, location, http.MethodGet
	if r.Find != nil {
		subject, _, err := r.Find(ctx, c)
		if err != nil {
			return nil, err
		}
		c.Subject = subject
	}
	return r.Serve(ctx, c)
}
