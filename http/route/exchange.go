package route

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// An exchange is one request and its answer.
type exchange struct {
	t       *Table
	w       http.ResponseWriter
	r       *http.Request
	started time.Time

	cors      *CORS
	endpoint  *endpoint
	slashless bool // the path lacks its final slash
	route     *Route
	access    Access
	call      Call
	key       *domain.OnceKey // of the request, while its answer is not kept
	indent    int

	body   []byte
	isRead bool
	status int // sent; 0: nothing yet
	fault  error
}

// checks are what a call goes through, in this order. The first that refuses
// is the answer (docs/api.md, "Order of checks").
var checks = []func(*exchange) error{
	(*exchange).locate,
	(*exchange).answerPreflight,
	(*exchange).addSlash,
	(*exchange).negotiate,
	(*exchange).identify,
	(*exchange).admit,
	(*exchange).count,
	(*exchange).chooseMethod,
	(*exchange).repeat,
	(*exchange).findSubject,
	(*exchange).takeBody,
	(*exchange).serve,
}

// errAnswered ends the checks: the answer is sent.
var errAnswered = errors.New("answered")

// ServeHTTP answers one request.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{t: t, w: w, r: r, started: t.options.Now()}
	x.begin()
	defer x.log()
	defer x.recover()
	for _, check := range checks {
		err := check(x)
		if errors.Is(err, errAnswered) {
			return
		}
		if err != nil {
			x.refuse(err)
			return
		}
	}
}

// begin sets what every answer carries.
func (x *exchange) begin() {
	h := x.w.Header()
	id := x.r.Header.Get("X-Request-Id")
	unique := uuid.Must(uuid.NewV7())
	if !isRequestID(id) {
		id = unique.String()
	}
	h.Set("X-Request-Id", id)
	x.cors = x.t.corsOf(x.r.URL.Path)
	x.cors.before(h, x.r.Header.Get("Origin"))
	x.secure(h)
	x.call = Call{
		RequestID: id, Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.Query(), Header: x.r.Header,
		IP: x.t.clientIP(x.r), id: unique, reply: &reply{header: http.Header{}}, table: x.t,
	}
}

func isRequestID(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return len(s) >= 8 && len(s) <= 128 && strings.Trim(s, allowed) == ""
}

func (x *exchange) locate() error {
	path := x.r.URL.Path
	x.endpoint, x.call.Vars = x.t.find(path)
	if x.endpoint == nil && !strings.HasSuffix(path, "/") {
		x.endpoint, x.call.Vars = x.t.find(path + "/")
		x.slashless = x.endpoint != nil
	}
	if x.endpoint == nil {
		if isPreflight(x.r) && x.cors.answers(x.r.Header.Get("Origin")) {
			x.w.Header().Set("Access-Control-Allow-Origin", x.r.Header.Get("Origin"))
		}
		return unknownPath
	}
	x.w.Header().Set("Allow", x.endpoint.allow)
	x.route = x.endpoint.of(x.r.Method)
	x.access = x.endpoint.first.Access
	if x.route != nil {
		x.access = x.route.Access
	}
	return nil
}

func (x *exchange) answerPreflight() error {
	from := x.r.Header.Get("Origin")
	if !isPreflight(x.r) || !x.cors.answers(from) {
		return nil
	}
	if x.r.Header.Get(apiKeyHeader) != "" && x.cors.PerKey {
		if err := x.identify(); err != nil {
			return err
		}
		if err := x.admit(); err != nil {
			return err
		}
	}
	preflight(x.w.Header(), from, x.endpoint.allow)
	x.send(http.StatusOK, nil)
	return errAnswered
}

func (x *exchange) addSlash() error {
	if !x.slashless || x.endpoint.first.raw {
		return nil
	}
	status := http.StatusPermanentRedirect
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	location := x.r.URL.EscapedPath() + "/"
	if x.r.URL.RawQuery != "" {
		location += "?" + x.r.URL.RawQuery
	}
	return &Refusal{Status: status, Location: location}
}

func (x *exchange) request() Request { return Request{x.r, x.call.IP} }

func (x *exchange) identify() (err error) {
	x.call.Caller, err = x.access.Identify(x.r.Context(), x.request())
	return err
}

func (x *exchange) admit() error {
	if x.access.Admit != nil {
		if err := x.access.Admit(x.r.Context(), x.request(), x.call.Caller); err != nil {
			if errors.Is(err, WrongOrigin) {
				x.cors.refused(x.w.Header())
			} else {
				x.cors.admitted(x.w.Header(), x.r.Header.Get("Origin"))
			}
			return err
		}
	}
	x.cors.admitted(x.w.Header(), x.r.Header.Get("Origin"))
	return nil
}

// count spends one call of the caller's quota. Who cannot count, cannot admit.
func (x *exchange) count() error {
	if x.access.Limit == nil {
		return nil
	}
	l, err := x.access.Limit(x.r.Context(), x.request(), x.call.Caller)
	if err != nil {
		x.fault = err
		return unavailable
	}
	l.headers(x.w.Header())
	if !l.Allowed {
		return throttled(l.Wait)
	}
	return nil
}

func (l Limit) headers(h http.Header) {
	limit, left, reset := strconv.Itoa(l.Limit), strconv.Itoa(l.Remaining), strconv.FormatInt(seconds(l.Reset), 10)
	name := `"` + l.Name + `"`
	h.Set("RateLimit-Policy", name+";q="+limit+";w="+strconv.FormatInt(seconds(l.Window), 10))
	h.Set("RateLimit", name+";r="+left+";t="+reset)
	h.Set("X-RateLimit-Limit", limit)
	h.Set("X-RateLimit-Remaining", left)
	h.Set("X-RateLimit-Reset", reset)
}

func (x *exchange) chooseMethod() error {
	if x.route != nil {
		return nil
	}
	if x.r.Method == http.MethodOptions {
		x.send(http.StatusOK, nil)
		return errAnswered
	}
	return notAllowed(x.r.Method)
}

// findSubject loads what the path names, and compares its version with the
// one that the caller has seen.
func (x *exchange) findSubject() error {
	if err := x.checkNumbers(); err != nil {
		return err
	}
	if x.route.Find == nil {
		return nil
	}
	subject, version, err := x.route.Find(x.r.Context(), x.call)
	if err != nil {
		return err
	}
	x.call.Subject = subject
	return x.matchVersion(version)
}

// checkNumbers refuses numbers that no record can have.
func (x *exchange) checkNumbers() error {
	if x.route.Class == "" || !strings.Contains(x.endpoint.path, ":int}") {
		return nil
	}
	for name, value := range x.call.Vars {
		if !strings.Contains(x.endpoint.path, "{"+name+":int}") {
			continue
		}
		if _, err := strconv.ParseInt(value, 10, 64); err != nil || value[0] == '-' {
			return Missing(x.route.Class)
		}
	}
	return nil
}

// serve carries out the call and answers.
func (x *exchange) serve() error {
	ctx := x.r.Context()
	if x.route.Show != nil {
		d, err := x.route.Show(ctx, x.call)
		if err != nil {
			return err
		}
		x.document(d)
		return errAnswered
	}
	answer, err := x.route.Serve(ctx, x.call)
	if err != nil {
		return err
	}
	x.answer(answer)
	return errAnswered
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
	x.release(refusal.Status)
	h := x.w.Header()
	refusal.headers(h)
	switch {
	case refusal.Status == http.StatusUnauthorized && x.access.Challenge != "":
		h.Set("WWW-Authenticate", x.access.Challenge)
	case refusal.Status == http.StatusInternalServerError:
		x.cors.crashed(h)
	}
	x.sendRefusal(refusal)
}

func (x *exchange) sendRefusal(r *Refusal) {
	h := x.w.Header()
	switch {
	case r.Location != "":
		if x.route != nil && x.route.page {
			h.Set("Cache-Control", "no-store")
		}
		x.send(r.Status, nil)
	case x.route != nil && x.route.page:
		x.document(errorPage(r))
	default:
		h.Set("Content-Type", "application/json")
		x.send(r.Status, indented(r.body(), x.indent))
	}
}

// recover answers for a handler that panicked, if nothing is sent yet.
func (x *exchange) recover() {
	p := recover()
	switch {
	case p == nil:
		return
	case p == http.ErrAbortHandler: //nolint:errorlint // net/http compares it likewise
		panic(p)
	}
	x.t.options.Log.ErrorContext(x.r.Context(), "a handler panicked",
		"method", x.r.Method, "route", x.template(), "request_id", x.call.RequestID, "panic", p, "stack", string(debug.Stack()))
	if x.status == 0 {
		x.refuse(crashed)
	}
}

func (x *exchange) template() string {
	if x.endpoint == nil {
		return "(none)"
	}
	return plainPath(x.endpoint.path)
}

// log writes the line of the access log. It never holds the path as it was
// called, a query, a body or credentials.
func (x *exchange) log() {
	took := x.t.options.Now().Sub(x.started)
	attributes := []any{
		"method", x.r.Method, "route", x.template(), "status", x.status,
		"ms", float64(took.Microseconds()) / 1000, "request_id", x.call.RequestID,
	}
	if x.call.Caller.Principal != "" {
		attributes = append(attributes, "caller", x.call.Caller.Principal)
	}
	log := x.t.options.Log
	if x.fault != nil {
		log.ErrorContext(x.r.Context(), "request failed", append(attributes, "err", x.fault.Error())...)
		return
	}
	log.InfoContext(x.r.Context(), "request", attributes...)
}

// takeBody reads the body, if the route wants one, and parses it.
func (x *exchange) takeBody() error {
	if x.route.Show != nil {
		if x.r.Method != http.MethodPost {
			return nil
		}
		var err error
		x.call.Body, err = x.read()
		return err
	}
	if x.route.Request.Fields == nil {
		return nil
	}
	body, err := x.read()
	if err != nil {
		return err
	}
	if len(body) > 0 && !isJSON(x.r.Header.Get("Content-Type")) {
		return unsupported(x.r.Header.Get("Content-Type"))
	}
	x.call.json, err = field.Parse(body)
	return err
}

func isJSON(mediaType string) bool {
	base, _, _ := strings.Cut(mediaType, ";")
	return strings.EqualFold(strings.TrimSpace(base), "application/json")
}

// later is a context for what has to be done even if the client has gone.
func (x *exchange) later() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(x.r.Context()), 5*time.Second)
}
