package route

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"

	"hostpanel/domain/field"
	"hostpanel/eventstore/clock"
)

// An Area is a group of routes that share a part of the paths, an access rule
// and an owner in the API document.
type Area struct {
	Name   string
	About  string
	Prefix string // of its paths; also of unknown ones, for CORS
	Access Access // of routes without one of their own
	CORS   *CORS  // nil: none
	Routes []Route
}

// Options are what all routes share.
type Options struct {
	Title, Version string             // of the API document
	License        string             // SPDX, of the API document; "": not said
	Examples       map[string]Example // of the API document, by operation
	Webhooks       []Webhook          // of the API document
	PublicURL      func() string
	Once           OnceKeys
	Unavailable    func(error) bool // tells that the database is away
	Trusted        []netip.Prefix   // proxies whose X-Forwarded-For counts
	Language       string           // of requests that name none; "": as their fields say
	Timeout        time.Duration    // of a call; zero: 30 s, for which an Idempotency-Key counts as busy
	Bodies         int64            // bytes of bodies in memory at a time; zero: 32 MiB
	Streams        int              // that may be open at a time; zero: 5,000
	Heartbeat      time.Duration    // between the signs of life of a stream; zero: 15 s
	Log            *slog.Logger
	ErrorPage      func(c Call, status int, detail string) *Document          // shows a refusal to people; nil: plainly
	Answered       func(method, route string, status int, took time.Duration) // is told of each answer; nil: nothing is
	Past           *Past                                                      // nil: the present
	Now            func() time.Time                                           // for what the log tells; nil: the clock
}

// A Table serves routes.
type Table struct {
	options   Options
	areas     []Area
	declared  map[string]*endpoint
	variable  *mux.Router // its routes have the names of declared paths
	endpoints []*endpoint
	audience  *audience
	budget    *bodyBudget

	description description // of the API by itself
}

// An endpoint is everything that is done with one path.
type endpoint struct {
	path    string // as it is declared: "/sites/{id:int}/"
	plain   string // as the API document has it: "/sites/{id}/"
	area    *Area
	methods map[string]*Route
	first   *Route   // whose access rule holds for methods that there are not
	writes  []*Route // likewise, of methods that would change something
	allow   string
}

// Mount makes the table of all routes. It panics when a declaration makes no
// sense: a route without an access rule, a method declared twice.
func Mount(o Options, areas ...Area) *Table {
	t := &Table{options: o.complete(), declared: map[string]*endpoint{}, audience: newAudience(o.Streams), budget: newBodyBudget(o.Bodies)}
	t.areas = append(slices.Clone(areas), t.docs())
	for i := range t.areas {
		t.collect(&t.areas[i])
	}
	slices.SortFunc(t.endpoints, func(a, b *endpoint) int { return strings.Compare(a.path, b.path) }) // "{" sorts behind all letters
	var variable []string
	for _, e := range t.endpoints {
		e.allow = allowed(e.methods)
		t.declared[e.path] = e
		if strings.Contains(e.path, "{") {
			variable = append(variable, e.path)
		}
	}
	t.variable = compiled(variable)
	t.description = t.describe()
	return t
}

func (o Options) complete() Options {
	o.Now = clock.Or(o.Now)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.PublicURL == nil {
		o.PublicURL = func() string { return "" }
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = heartbeat
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	return o
}

// routers are kept by their paths: to compile these takes longer than all else in a table.
var routers sync.Map

// compiled is a router of paths with variables. It only names the path that matches.
func compiled(paths []string) *mux.Router {
	key := strings.Join(paths, "\n")
	known, is := routers.Load(key)
	if !is {
		r := mux.NewRouter().SkipClean(true)
		for _, path := range paths {
			r.Path(pattern(path)).Name(path)
		}
		known, _ = routers.LoadOrStore(key, r)
	}
	return known.(*mux.Router) //nolint:forcetypeassert // nothing else is kept
}

func (t *Table) collect(a *Area) {
	for _, r := range a.Routes {
		if r.Access.Identify == nil {
			r.Access = a.Access
		}
		switch {
		case r.Access.Identify == nil:
			panic(fmt.Sprintf("route: %s %s has no access rule", r.Method, r.Path))
		case !strings.HasPrefix(r.Path, a.Prefix):
			panic(fmt.Sprintf("route: %s is outside of %s", r.Path, a.Prefix))
		case r.answers() != 1:
			panic(fmt.Sprintf("route: %s %s needs one of Serve, Show, Follow and Converse", r.Method, r.Path))
		}
		r.bodyMax = r.longestBody()
		if fields := r.Request.Fields; fields != nil {
			r.Request.Fields = func() field.Set { return fields().Speaking(t.options.Language) }
			r.known = sync.OnceValue(r.names)
		}
		e := t.endpoint(a, r.Path)
		if e.methods[r.Method] != nil {
			panic(fmt.Sprintf("route: %s %s is declared twice", r.Method, r.Path))
		}
		e.methods[r.Method] = &r
		if e.first == nil {
			e.first = &r
		}
		if !isSafe(r.Method) {
			e.writes = append(e.writes, &r)
		}
	}
}

// answers is how many ways of answering the route has.
func (r *Route) answers() (n int) {
	for _, has := range []bool{r.Serve != nil, r.Show != nil, r.Follow != nil, r.Converse != nil} {
		if has {
			n++
		}
	}
	return n
}

func (t *Table) endpoint(a *Area, path string) *endpoint {
	for _, e := range t.endpoints {
		if e.path == path {
			return e
		}
	}
	e := &endpoint{path: path, plain: plainPath(path), area: a, methods: map[string]*Route{}}
	t.endpoints = append(t.endpoints, e)
	return e
}

var allowOrder = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// allowed is the header Allow of an endpoint.
func allowed(methods map[string]*Route) string {
	var names []string
	for _, m := range allowOrder {
		if methods[m] != nil || m == "OPTIONS" || m == "HEAD" && methods["GET"] != nil {
			names = append(names, m)
		}
	}
	return strings.Join(names, ", ")
}

// isSafe tells whether a method only reads.
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// of is the route of a method; HEAD is GET without a body.
func (e *endpoint) of(method string) *Route {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return e.methods[method]
}

var pathVariable = regexp.MustCompile(`\{(\w+):([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}|\{(\w+)\}`)

// shapes are the names for common variables in paths.
var shapes = map[string]string{
	"int":  `-?[0-9]+`,
	"uuid": `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
	"":     `[^/]+`,
}

// pattern is a path in the notation of the router.
func pattern(path string) string {
	return pathVariable.ReplaceAllStringFunc(path, func(v string) string {
		name, shape, _ := strings.Cut(strings.Trim(v, "{}"), ":")
		if strings.HasSuffix(v, "}}") { // the shape ends in a count
			shape += "}"
		}
		if known, is := shapes[shape]; is {
			shape = known
		}
		return "{" + name + ":" + shape + "}"
	})
}

// plainPath is a path as the API document has it: "/sites/{id}/".
func plainPath(path string) string { return pathVariable.ReplaceAllString(path, "{$1$3}") }

// find is the endpoint of a path, and what its variables are.
func (t *Table) find(path string) (*endpoint, map[string]string) {
	if !clean(path) {
		return nil, nil
	}
	if e := t.declared[path]; e != nil && e.path == e.plain {
		return e, nil
	}
	var match mux.RouteMatch
	if !t.variable.Match(&http.Request{URL: &url.URL{Path: path}}, &match) {
		return nil, nil
	}
	return t.declared[match.Route.GetName()], match.Vars
}

// clean paths are UTF-8 and have no empty, "." or ".." segments. Others are
// never corrected.
func clean(path string) bool {
	if !strings.HasPrefix(path, "/") || !isText(path) {
		return false
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		if path != "/" && segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// corsOf is the CORS rule of the area that a path lies in.
func (t *Table) corsOf(path string) *CORS {
	for i := range t.areas {
		if a := &t.areas[i]; a.CORS != nil && a.Prefix != "" && strings.HasPrefix(path, a.Prefix) {
			return a.CORS
		}
	}
	return nil
}

// url is the absolute URL of a path of ours.
func (t *Table) url(path string) string {
	return strings.TrimSuffix(t.options.PublicURL(), "/") + path
}
