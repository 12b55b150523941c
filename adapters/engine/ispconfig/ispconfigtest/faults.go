package ispconfigtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Fault goes wrong once. Of a call that is lost Before it is carried out
// nothing happens; one that is lost After it has happened, but without an
// answer.
type Fault struct {
	Function string // or one of several: "mail_user_add|mail_user_update"
	What     Wrong
	Delay    time.Duration
	used     bool
}

// Wrong is what a fault does.
type Wrong int

// What can go wrong.
const (
	Nothing     Wrong = iota
	Before            // cut, not carried out
	After             // cut, carried out
	Empty500          // carried out, answered with an empty 500
	HTML              // carried out, answered with a page
	Truncated         // carried out, answered with half of the answer
	Huge              // carried out, answered with 17 MiB
	Maintenance       // not carried out
	Permission        // not carried out
	Slow              // carried out after Delay
	Missing           // not carried out: this engine has no such function
)

// Order lets the next call of a function go wrong.
func (e *Engine) Order(f Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, &f)
}

func (e *Engine) strike(function string) *Fault {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.faults {
		if !f.used && slices.Contains(strings.Split(f.Function, "|"), function) {
			f.used = true
			return f
		}
	}
	return &Fault{}
}

func (f *Fault) carriesOut() bool {
	return f.What != Before && f.What != Maintenance && f.What != Permission && f.What != Missing
}

func (f *Fault) tell(w http.ResponseWriter, r *http.Request, a answer) {
	switch f.What {
	case Before, After:
		panic(http.ErrAbortHandler)
	case Empty500:
		a = answer{http.StatusInternalServerError, "text/html", ""}
	case HTML:
		a = html()
	case Truncated:
		a.body = a.body[:len(a.body)/2]
	case Huge:
		a.body = string(make([]byte, 17<<20))
	case Maintenance:
		a = remote("This ISPConfig installation is currently under maintenance. We should be back shortly. Thank you for your patience.")
	case Permission:
		a = remote("You do not have the permissions to access this function.")
	case Missing:
		a = fault("invalid_method", "Method "+f.Function+" does not exist")
	case Slow:
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
	case Nothing:
	}
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}
