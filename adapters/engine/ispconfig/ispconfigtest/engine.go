// Package ispconfigtest is a hosting engine of the ISPConfig 3.2 line that
// serves nothing: its remote API over real HTTP, with its tables, its journal,
// its sessions and its habits, the dangerous ones included
// (docs/engine-ispconfig.md, "The double").
package ispconfigtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// User and Password are those of the remote user.
const (
	User     = "hostpanel"
	Password = "Remote-Secret-4711!"
)

// An Engine is one installation with one server, number 1, and a clock that
// only tests move.
type Engine struct {
	URL    string
	Logins *LoginBook

	Reserved  map[string]int64 // clients that have an address of the server alone; set before the first call
	Passwords PasswordRule     // set before the first call
	Wakes     bool             // an update of a client wakes whatever its flags say; set before the first call

	mu         sync.Mutex
	now        time.Time
	tables     map[string]*table
	groups     map[int]int // of clients
	nextGroup  int
	sessions   map[string]time.Time
	failures   int
	failedAt   time.Time
	journal    []*job
	updated    map[int]int // the last job that each server has carried out
	calls      map[string]int
	told       map[string]int // bytes
	violations []string
	faults     []*Fault
	password   string
	forbidden  []string // functions that the remote user may not call
	left       int      // steps until PHP ends; 0: it does not
	dead       bool     // it has
	slow       *stall   // a call that takes long; nil: none does
	between    func()
	acmeFails  bool
	jobFails   string
	used       map[string]int64
	traffic    object
	version    string
	transcript strings.Builder

	configValues map[string]string // by "group name", in lower case
}

// Start runs an engine for a test. A call that this engine's owner would
// regret fails the test.
func Start(t *testing.T) *Engine {
	t.Helper()
	e, end := Open()
	t.Cleanup(func() {
		end()
		for _, v := range e.Violations() {
			t.Errorf("the engine was asked for what it must never be asked for: %s", v)
		}
	})
	return e
}

// Open runs an engine until its end, for what is no test.
func Open() (e *Engine, end func()) {
	e = &Engine{
		now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), tables: tables(), groups: map[int]int{}, nextGroup: 2,
		sessions: map[string]time.Time{}, updated: map[int]int{}, calls: map[string]int{}, told: map[string]int{},
		used: map[string]int64{}, password: Password, version: "3.2.11p2",
	}
	e.Logins, e.Reserved, e.Passwords = &LoginBook{engine: e}, map[string]int64{}, PasswordRule{Length: 8, Strength: 3}
	server := httptest.NewServer(e)
	e.URL = server.URL
	return e, server.Close
}

// Now is the engine's time.
func (e *Engine) Now() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// Pass lets time pass.
func (e *Engine) Pass(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

// Calls tells how often a function has been called and reached the engine; of
// "" all of them.
func (e *Engine) Calls(function string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if function != "" {
		return e.calls[function]
	}
	sum := 0
	for _, n := range e.calls {
		sum += n
	}
	return sum
}

// Told tells how many bytes a function has answered; of "" all of them.
func (e *Engine) Told(function string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if function != "" {
		return e.told[function]
	}
	sum := 0
	for _, n := range e.told {
		sum += n
	}
	return sum
}

// Failures is the engine's count against our address.
func (e *Engine) Failures() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failures
}

// EndSessions lets every session expire.
func (e *Engine) EndSessions() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.sessions)
}

// Violations are the calls so far that must never be made.
func (e *Engine) Violations() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.violations)
}

// Forgive forgets the violations, for tests that commit them.
func (e *Engine) Forgive() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.violations = nil
}

// Answered is everything that has been answered, to search for secrets with.
func (e *Engine) Answered() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.transcript.String()
}

// Between is called between the check for an equal row and the insertion of a
// new one, when other calls get their chance.
func (e *Engine) Between(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.between = f
}

// Version sets what the engine calls itself.
func (e *Engine) Version(v string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.version = v
}

// Rows are the rows of a table whose column has the value, all columns as text.
func (e *Engine) Rows(name, column, value string) []map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []map[string]string
	for _, r := range e.tables[name].rows {
		if r.text(column) == value {
			shown := map[string]string{}
			for _, c := range e.tables[name].columns {
				shown[c] = r.text(c)
			}
			all = append(all, shown)
		}
	}
	return all
}

// Used sets what the collector has found: table, number, bytes.
func (e *Engine) Used(table string, id, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used[fmt.Sprintf("%s:%d", table, id)] = bytes
}

// Traffic sets the bytes of a domain this month.
func (e *Engine) Traffic(domain string, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.traffic = append(e.traffic, pair{domain, object{{"domain_id", "1"}, {"this_month", strconv.FormatInt(bytes, 10)}}})
}

// Tell makes a call without a session and without judging it. Its answer is
// the whole body.
func (e *Engine) Tell(function, arguments string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	value, err := parse([]byte(arguments))
	given, ok := value.(object)
	if err != nil || !ok {
		panic("ispconfigtest: the arguments are no object: " + arguments)
	}
	c := &call{engine: e, function: function, arguments: given, quiet: true}
	return c.answer().body
}

// ServeHTTP is the remote API.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if e.Dead() {
		panic(http.ErrAbortHandler)
	}
	function, _, _ := strings.Cut(r.URL.RawQuery, "&")
	struck := e.strike(function)
	var a answer
	if struck.carriesOut() {
		a = e.serve(function, body)
	}
	struck.tell(w, r, a)
}

func (e *Engine) serve(function string, body []byte) answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if reason := recover(); reason == (died{}) {
			panic(http.ErrAbortHandler)
		} else if reason != nil {
			panic(reason)
		}
	}()
	e.calls[function]++
	value, err := parse(body)
	given, ok := value.(object)
	if err != nil || !ok {
		return fault("invalid_data", "The JSON data is invalid")
	}
	c := &call{engine: e, function: function, arguments: given}
	a := c.admitted()
	c.step()
	e.told[function] += len(a.body)
	e.transcript.WriteString(a.body + "\n")
	return a
}

// An answer is what goes over the wire.
type answer struct {
	status int
	kind   string
	body   string
}

func ok(response any) answer {
	return answer{http.StatusOK, `application/json; charset="utf-8"`, php(object{{"code", "ok"}, {"message", ""}, {"response", response}})}
}

func fault(code, message string) answer {
	return answer{
		http.StatusOK, `application/json; charset="utf-8"`,
		php(object{{"code", code}, {"message", message}, {"response", false}}),
	}
}

func remote(message string) answer { return fault("remote_fault", message) }

const noPrimary = "<div class='alert alert-danger clear'>\n  <div class='alert-label'><strong><tmpl_var " +
	"name=\"error_txt\"></strong></div>\n" +
	"  <div class='alert-content'>\n    <ul style=\"list-style-type:none\">\n      <li>Primary ID fehlt!</li>\n    " +
	"</ul>\n  </div>\n</div>\n"

func html() answer { return answer{http.StatusOK, "text/html; charset=utf-8", noPrimary} }

// Skip passes over the next number of a table, as rows do that are gone.
func (e *Engine) Skip(table string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tables[table].next++
}
