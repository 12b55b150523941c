package route

import (
	"context"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

const onceHeader = "Idempotency-Key"

var (
	badKey = &Refusal{
		Status: http.StatusBadRequest, Detail: "Invalid Idempotency-Key header.", Code: "idempotency_key_invalid",
	}
	keyReused = &Refusal{
		Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused",
		Detail: "This Idempotency-Key was already used with a different request.",
	}
	stillRunning = &domain.Error{
		Code: domain.Conflict, Reason: "idempotency_in_progress",
		Message: "A request with this Idempotency-Key is still being processed.",
	}
)

// repeat answers a request that was made before under the same key.
func (x *exchange) repeat() error {
	values, sent := x.r.Header[onceHeader]
	if !sent || x.route.keep == "" || x.call.Caller.Principal == "" || x.t.options.Once == nil {
		return nil
	}
	text, ok := onceText(values[0])
	if !ok {
		return badKey
	}
	body, err := x.read()
	if err != nil {
		return nil //nolint:nilerr // a body that cannot be read is refused where bodies are
	}
	key := x.onceKey(text, body)
	before, err := x.t.options.Once.Look(x.r.Context(), *key)
	if err != nil {
		return err
	}
	return x.repeated(key, before)
}

// repeated answers according to what became of the request with the key. nil:
// there was none.
func (x *exchange) repeated(key *domain.IdempotencyKey, before domain.Replay) error {
	switch before.State {
	case domain.ReplayRunning:
		return stillRunning
	case domain.ReplayReused:
		return keyReused
	case domain.ReplayFinished:
		x.call.json, _ = field.Parse(x.body) // it was right
		x.tellUnknown()
		x.replay(before)
		return errAnswered
	case domain.ReplayOpen:
		x.key = key
		return x.resume(before)
	default:
		x.key, x.call.key = key, key
		return nil
	}
}

// overtaken looks a key up once more when its request is refused: a repeat that
// ran at the same time may have done what stands in the way by now. Its answer
// is then this one's, too.
func (x *exchange) overtaken(err error) error {
	refusal := x.t.refusalOf(err)
	if x.key == nil || x.isRepeat || refusal == nil || refusal.Status < http.StatusBadRequest ||
		refusal.Status >= http.StatusInternalServerError {
		return err
	}
	key := x.key
	x.key, x.call.key, x.isRepeat = nil, nil, true
	before, lost := x.t.options.Once.Look(x.r.Context(), *key)
	if lost != nil {
		return lost
	}
	if before.State == domain.ReplayFree {
		return err
	}
	x.call.reply = &reply{header: http.Header{}}
	return x.repeated(key, before)
}

// onceText is the key without quotes: 1 to 255 visible ASCII characters.
func onceText(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	invisible := strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	return s, len(s) >= 1 && len(s) <= 255 && !invisible
}

func (x *exchange) onceKey(text string, body []byte) *domain.IdempotencyKey {
	path := x.r.URL.Path
	if x.r.URL.RawQuery != "" {
		path += "?" + x.r.URL.RawQuery
	}
	var shows string
	var tenant int64
	if x.route.Access.OfTenant {
		tenant = x.call.Caller.Tenant
	}
	if x.route.Status == http.StatusOK {
		shows = x.t.url(x.t.record(x.r.URL.Path))
	}
	return &domain.IdempotencyKey{
		Principal: x.call.Caller.Principal, Tenant: tenant, Method: x.r.Method, Path: x.r.URL.Path, Key: text,
		Fingerprints: x.t.options.Once.Fingerprints([]byte(x.r.Method), []byte(path), []byte(x.r.Header.Get("Content-Type")), body),
		Status:       x.route.Status, Location: shows, Keep: x.route.keep,
	}
}

// record is the path of the record that a change of the path answers with:
// "/tenants/3/" of "/tenants/3/activate/".
func (t *Table) record(path string) string {
	if e, _ := t.find(path); e != nil && e.methods[http.MethodGet] != nil || strings.Count(path, "/") < 3 {
		return path
	}
	path = strings.TrimSuffix(path, "/")
	return t.record(path[:strings.LastIndex(path, "/")+1])
}

// made sets the status and place of an answer that was given before. Only what
// was made, or is being made, says where it stands.
func (x *exchange) made(before domain.Replay) {
	x.call.reply.status = before.Status
	if before.Status != http.StatusOK {
		x.call.reply.location = before.Location
	}
}

// replay gives the answer that was given before.
func (x *exchange) replay(before domain.Replay) {
	h := x.w.Header()
	h.Set("Idempotent-Replayed", "true")
	x.made(before)
	x.call.reply.etag = before.ETag
	x.headers(h)
	if len(before.Body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	x.send(before.Status, indented(before.Body, x.indent))
}

// resume makes the answer that was never given, from the record.
func (x *exchange) resume(before domain.Replay) error {
	ctx := x.r.Context()
	x.made(before)
	resume := x.route.Resume
	if resume == nil {
		resume = x.t.show
	}
	answer, err := resume(ctx, x.call, strings.TrimPrefix(before.Location, x.t.url("")))
	if err != nil {
		return err
	}
	x.w.Header().Set("Idempotent-Replayed", "true")
	x.answer(answer)
	return errAnswered
}

// finish keeps the answer for a repeat.
func (x *exchange) finish(status int, answer Answer) {
	if x.key == nil {
		return
	}
	var body []byte
	if answer != nil {
		body = answer.AppendKept(nil)
	}
	ctx, cancel := x.later()
	defer cancel()
	if err := x.t.options.Once.Finish(ctx, *x.key, status, x.call.reply.etag, body); err != nil {
		x.fault = err // the answer stands; a repeat makes it anew
	}
}

// release ends the request of a key without an answer to keep, so that a
// repeat may go on where it stopped. What was refused has left nothing behind.
func (x *exchange) release(status int) {
	if x.key == nil || status < http.StatusInternalServerError {
		return
	}
	ctx, cancel := x.later()
	defer cancel()
	if err := x.t.options.Once.Release(ctx, *x.key); err != nil {
		x.t.options.Log.ErrorContext(ctx, "an idempotency key stays busy", "request_id", x.call.RequestID, "err", err.Error())
	}
}

// later is a context for what has to be done even if the client has gone.
func (x *exchange) later() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(x.r.Context()), 5*time.Second)
}
