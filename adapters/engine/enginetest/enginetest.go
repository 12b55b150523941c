// Package enginetest is what the panel asks of every hosting engine, as tests:
// the tests of an adapter run them against it (docs/engines.md).
package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/conformance"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// An Engine is one to try, and what the suite has to know of the server behind
// it. What is nil is not tried.
type Engine struct {
	hosting.EngineServer
	Settle   func()        // lets the server carry out what it has accepted; nil: it does so itself
	Pass     func()        // lets a minute pass at the server; nil: what waits for that is not tried
	Patience time.Duration // how long the server may take for that; 0: a minute
	Books    func() string // all that the server keeps and has said, to search for secrets
	// Lose loses the answer to the next such call: "create", "change" or "remove". The call is carried out.
	Lose func(t conformance.T, call, kind string)
	// Cut loses the answer to the nth network call from now on; the call is carried out.
	// cut ends that, and reports whether such a call came.
	Cut func(n int) (cut func() bool)
	// Die ends the server at that step of a creation; it answers nothing until mend is called.
	// mend restarts it, and reports whether it had died.
	Die  func(kind string, steps int) (mend func() bool)
	Torn func() []string // what the server has that is not whole; nil: that cannot be
	// Serves checks that the server behind the engine does what the engine reports, for Observable kinds.
	Serves     func(context.Context, hosting.EngineObject) error
	Observable []string // kinds that Serves can check
	Address    string   // one that its web server has for sites; "": none is tried
	Lacks      []string // kinds that it has not
}

// A check is one thing that the panel asks of an engine, named in words.
type check struct {
	name  string
	test  func(*world)
	needs func(Engine) string // why it cannot be tried, if so
}

// campaigns are the checks that go through each death, cut and text in turn.
var campaigns = []string{
	"no lost answer leaves half an object behind",
	"what a server that died has left is completed",
	"hostile texts are refused before, or read back as they were sent",
}

var checks = []check{
	{"every kind is made, found, listed and removed", (*world).life, nil},
	{"what is true of an object is read back", (*world).readBack, nil},
	{"every kind is changed", (*world).changes, nil},
	{"a change is about the fields that it names", (*world).namedFields, nil},
	{"a change of what is not there says so", (*world).absent, nil},
	{"a site keeps its place when its name changes", (*world).renamed, nil},
	{"a record of another type is found by its new name", (*world).replaced, nil},
	{"a job is found by when it runs and what it does", (*world).rescheduled, nil},
	{"what was made without an answer is found and made once", (*world).lostCreation, losing},
	{"what was changed without an answer is changed again", (*world).lostChange, losing},
	{"what was removed without an answer is gone", (*world).lostRemoval, losing},
	{"no lost answer leaves half an object behind", (*world).cuts, cutting},
	{"what a server that died has left is completed", (*world).deaths, dying},
	{"what is applied is served", (*world).served, serving},
	{"twins at once are one", (*world).twins, nil},
	{"a name of another client is taken", (*world).taken, nil},
	{"nothing of another client is touched", (*world).foreign, nil},
	{"nothing belongs to what is not there", (*world).orphans, nil},
	{"nothing is left behind", (*world).leftBehind, nil},
	{"a database outlives its site", (*world).databases, nil},
	{"names that the server would change are refused", (*world).names, nil},
	{"what needs a secret is not made without", (*world).secretless, nil},
	{"secrets are kept nowhere", (*world).secrets, reading},
	{"what the engine has not is not supported", (*world).unsupported, nil},
	{"usage is of one client", (*world).usage, nil},
	{"hostile texts are refused before, or read back as they were sent", (*world).hostile, nil},
}

func losing(e Engine) string  { return missing(e.Lose == nil, "answers cannot be lost here") }
func cutting(e Engine) string { return missing(e.Cut == nil, "answers cannot be lost here") }
func dying(e Engine) string   { return missing(e.Die == nil, "the server does not die for tests") }
func serving(e Engine) string {
	return missing(e.Serves == nil, "what the servers do cannot be seen from here")
}
func reading(e Engine) string { return missing(e.Books == nil, "what is kept cannot be read here") }

func missing(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

// Run tries an engine in all but its campaigns. open starts an empty one for each test.
func Run(t *testing.T, open func(t *testing.T) Engine) { run(t, open, false) }

// RunCampaigns tries an engine in what takes long: each death, cut and hostile text in turn.
func RunCampaigns(t *testing.T, open func(t *testing.T) Engine) { run(t, open, true) }

func run(t *testing.T, open func(t *testing.T) Engine, campaign bool) {
	t.Helper()
	tag := conformance.NewTag()
	for _, c := range checks {
		if slices.Contains(campaigns, c.name) != campaign {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			// the sandbox serves nothing that could be looked at, and a real engine shows no books; the report says why
			if c.needs != nil && c.needs(e) != "" {
				t.Skip(c.needs(e))
			}
			w := newWorld(t, e, tag)
			c.test(w)
			if left := w.clean(t.Context()); len(left) > 0 {
				t.Errorf("not taken away again: %s", strings.Join(left, "; "))
			}
		})
	}
}

// A world is an engine, a client on it, and the numbers of what the client has
// by kind. The tag begins every name.
type world struct {
	conformance.T
	Engine
	tag    string
	client int64
	made   map[string]int64
}

func newWorld(t conformance.T, e Engine, tag string) *world {
	return &world{T: t, Engine: e, tag: tag, made: map[string]int64{}}
}

// beyond any number that an engine has given out.
const beyond = 2_000_000_000

// inhabited gives the client one of every kind.
func (w *world) inhabited() {
	w.Helper()
	w.client = w.create(w.tenant(17))
	for _, kind := range kinds {
		w.made[kind] = w.create(w.object(kind))
	}
	w.settle()
}

func (w *world) settle() {
	if w.Settle != nil {
		w.Settle()
	}
}

// create makes an object that has to be made.
func (w *world) create(o hosting.EngineObject) int64 {
	w.Helper()
	id, err := w.Create(w.Context(), o)
	if err != nil || id < 1 {
		w.Fatalf("create the %s %s: %d, %v", o.Kind, o.Name, id, err)
	}
	return id
}

func (w *world) change(o hosting.EngineObject) {
	w.Helper()
	if err := w.Change(w.Context(), o); err != nil {
		w.Fatalf("change the %s %s: %v", o.Kind, o.Name, err)
	}
}

func (w *world) remove(o hosting.EngineObject) {
	w.Helper()
	if err := w.Remove(w.Context(), o); err != nil {
		w.Fatalf("remove the %s %s: %v", o.Kind, o.Name, err)
	}
}

func (w *world) look(kind, name, ref string) (hosting.EngineObject, bool) {
	w.Helper()
	o, found, err := w.Find(w.Context(), kind, name, ref)
	if err != nil {
		w.Fatalf("find the %s %s: %v", kind, name, err)
	}
	return o, found
}

// there is an object that has to be found.
func (w *world) there(o hosting.EngineObject) hosting.EngineObject {
	w.Helper()
	found, is := w.look(o.Kind, o.Name, o.Ref)
	if !is {
		w.Fatalf("there is no %s %s", o.Kind, o.Name)
	}
	return found
}

// applied waits until an object has been carried out.
func (w *world) applied(o hosting.EngineObject) hosting.EngineObject {
	w.Helper()
	var found hosting.EngineObject
	if !w.eventually(func() bool {
		w.settle()
		found = w.there(o)
		return found.Applied
	}) {
		w.Fatalf(
			"the %s %s is not applied within %s: the engine's server is behind, or stands still (--patience)", o.Kind, o.Name, w.patience(),
		)
	}
	return found
}

func (w *world) patience() time.Duration { return cmp.Or(w.Patience, time.Minute) }

// eventually asks again, less often with time.
func (w *world) eventually(is func() bool) bool {
	limit := w.patience()
	for begun, pause := time.Now(), 10*time.Millisecond; !is(); pause = min(2*pause, time.Second) {
		if time.Since(begun) > limit || w.Context().Err() != nil {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

func (w *world) lose(call, kind string) {
	w.Helper()
	w.Lose(w.T, call, kind)
}

// fails wants a failure of a class, with one of the codes; none: with any.
func (w *world) fails(err error, class domain.Class, codes ...string) {
	w.Helper()
	f, ok := errors.AsType[*domain.Failure](err)
	if !ok || f.Class != class || len(codes) > 0 && !slices.Contains(codes, f.Code) {
		w.Errorf("a %s failure %s was expected, not: %v", class, strings.Join(codes, " or "), err)
	}
	w.tellsNoSecret(err)
}

func (w *world) tellsNoSecret(err error) {
	w.Helper()
	if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), newPassword)) {
		w.Errorf("the failure tells a secret: %v", err)
	}
}

func values(pairs ...any) field.Values {
	all := field.Values{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)], _ = json.Marshal(pairs[i+1])
	}
	return all
}

// with is an object with other values, which its change names.
func with(o hosting.EngineObject, pairs ...any) hosting.EngineObject {
	o.Values, o.Secrets, o.Changed = maps.Clone(o.Values), nil, nil
	for name, v := range values(pairs...) {
		o.Values[name] = v
		o.Changed = append(o.Changed, name)
	}
	slices.Sort(o.Changed)
	return o
}
