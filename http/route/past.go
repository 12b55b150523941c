package route

import (
	"net/http"
	"strings"
	"time"
)

// A Past makes of a [Table] a view of the past: nothing can be changed, and only some
// callers may look (docs/audit.md, "Going back in time").
type Past struct {
	At     time.Time
	Admits func(Caller) bool // tells who may look
	Serves map[string]bool   // routes by name that are for all callers; those that change something let them sign in
}

// asOf is the header that tells which moment an answer shows.
const asOf = "X-As-Of"

const ofThePast = "view_of_the_past" // code of what a view of the past refuses

// ErrPast refuses what would change something.
var ErrPast error = &Refusal{
	Status: http.StatusMethodNotAllowed, Code: ofThePast,
	Detail: "This is a view of the past: nothing can be changed here.",
}

// NotInPast refuses those who may not look back.
var NotInPast error = &Refusal{
	Status: http.StatusForbidden, Code: ofThePast, Detail: "This is a view of the past: it is for superusers only.",
}

// moment is the time of the view in the header.
func (p *Past) moment() string { return p.At.UTC().Format(time.RFC3339Nano) }

// serves tells whether the route is for all callers.
func (p *Past) serves(r *Route) bool { return r != nil && p.Serves[r.Name] }

// stayPast refuses calls that would change something, also those of superusers.
func (x *exchange) stayPast() error {
	past := x.t.options.Past
	if past == nil || isSafe(x.r.Method) || past.serves(x.route) {
		return nil
	}
	var safe []string
	for method := range strings.SplitSeq(x.endpoint.allow, ", ") {
		if isSafe(method) {
			safe = append(safe, method)
		}
	}
	x.w.Header().Set("Allow", strings.Join(safe, ", "))
	return ErrPast
}

// mayLookBack refuses callers who may not see the past.
func (x *exchange) mayLookBack() error {
	past := x.t.options.Past
	if past == nil || past.serves(x.route) || past.Admits(x.call.Caller) {
		return nil
	}
	return NotInPast
}
