package route

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/storefront"
)

// An exchange is one request and its answer.
type exchange struct {
	t       *Table
	w       http.ResponseWriter
	r       *http.Request
	whole   context.Context //nolint:containedctx // of the request, which r's ends before when it takes too long
	started time.Time

	cors      *CORS
	endpoint  *endpoint
	slashless bool // the path lacks its final slash
	route     *Route
	access    Access
	call      Call
	key       *domain.IdempotencyKey // of the request, while its answer is not kept
	isRepeat  bool                   // the key was looked up for the last time
	indent    int
	fresh     bool // it started again: no caller is cached

	body   []byte
	isRead bool
	unread error // why the body could not be read
	held   int64 // of the budget for bodies
	status int   // sent; 0: nothing yet
	fault  error
}

// checks are what a call goes through, in this order. The first that refuses
// is the answer (docs/api.md, "Order of checks").
var checks = []func(*exchange) error{
	(*exchange).locate,
	(*exchange).answerPreflight,
	(*exchange).addSlash,
	(*exchange).stayPast,
	(*exchange).negotiate,
	(*exchange).identify,
	(*exchange).mayLookBack,
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
	ctx, cancel := context.WithTimeout(r.Context(), t.options.Timeout)
	defer cancel()
	x := &exchange{t: t, w: w, r: r.WithContext(ctx), whole: r.Context(), started: t.options.Now()}
	x.begin()
	defer x.log()
	defer x.letGo()
	x.run()
}

// run goes through the checks.
func (x *exchange) run() {
	defer x.recover()
	for _, check := range checks {
		if err := check(x); err != nil {
			x.end(err)
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
	if past := x.t.options.Past; past != nil {
		h.Set(asOf, past.moment())
	}
	x.call = Call{
		RequestID: id, Method: x.r.Method, Path: x.r.URL.Path, Query: parseQuery(x.r.URL.RawQuery), Header: x.r.Header, Host: x.r.Host,
		IP: x.t.clientIP(x.r), id: unique, reply: &reply{header: http.Header{}}, table: x.t,
	}
	origin := domain.Origin{Cause: domain.RequestCause(unique)}
	x.r, x.whole = x.r.WithContext(origin.With(x.r.Context())), origin.With(x.whole)
}

// isRequestID tells whether a client's id of a request may be kept. A key of the
// storefront is no id: the log keeps ids in clear text.
func isRequestID(s string) bool {
	if _, isKey := storefront.ParseKey(s); isKey {
		return false
	}
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
	switch {
	case x.route != nil:
		x.access = x.route.Access
	case !isSafe(x.r.Method) && len(x.endpoint.writes) > 0:
		x.access = x.endpoint.writes[0].Access
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
	x.cors.preflight(x.w.Header(), from, x.endpoint.allow)
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

func (x *exchange) request() Request {
	return Request{x.r, x.call.IP, x.call.RequestID, x.template(), x.fresh}
}

func (x *exchange) identify() (err error) {
	if len(x.access.Instead) > 0 {
		x.w.Header().Add("Vary", "Cookie")
	}
	x.call.Caller, err = x.access.Identify(x.r.Context(), x.request())
	return err
}

// writing is the rule for methods that the path lacks: that of a write which
// the caller may make, or of the first.
func (x *exchange) writing() {
	for _, r := range x.endpoint.writes {
		if fits := r.Access.Fits; fits == nil || fits(x.call.Caller) {
			x.access = r.Access
			return
		}
	}
}

func (x *exchange) admit() error {
	if x.route == nil && !isSafe(x.r.Method) {
		x.writing()
	}
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
	return x.spend(l)
}

func (x *exchange) spend(l Limit) error {
	if l.Name == "" {
		return nil
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
		return x.describe()
	}
	return notAllowed(x.r.Method)
}

// findSubject loads what the path names, and compares its version with the
// one that the caller has seen.
func (x *exchange) findSubject() error {
	if err := x.checkNumbers(); err != nil {
		return err
	}
	version, err := x.load()
	if err == nil && x.route.Bar != nil {
		err = x.route.Bar(x.r.Context(), x.call)
	}
	if err != nil || x.route.Find == nil {
		return err
	}
	return x.matchVersion(version)
}

func (x *exchange) load() (version string, err error) {
	if x.route.Find != nil {
		x.call.Subject, version, err = x.route.Find(x.r.Context(), x.call)
	}
	return version, err
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
	if x.route.Follow != nil {
		return x.follow()
	}
	if x.route.Converse != nil {
		return converse(x)
	}
	ctx := x.r.Context()
	if x.route.Show != nil {
		d, err := x.route.Show(ctx, x.call)
		if err == nil {
			err = x.settle()
		}
		if err != nil {
			d.close()
			return err
		}
		x.document(d)
		return errAnswered
	}
	x.call.check, x.call.blank = x.route.Check, x.route.blank
	answer, err := x.route.Serve(ctx, x.call)
	if domain.CodeOf(err) == domain.Stale {
		x.tellVersion(ctx)
	}
	if err == nil {
		err = x.settle()
	}
	if err != nil {
		return err
	}
	x.answer(answer)
	return errAnswered
}

// tellVersion names the version that the object has by now, to a caller who
// wanted to change another one.
func (x *exchange) tellVersion(ctx context.Context) {
	if x.route.Find == nil {
		return
	}
	if _, version, err := x.route.Find(ctx, x.call); err == nil {
		x.w.Header().Set("ETag", `"`+version+`"`)
	}
}
