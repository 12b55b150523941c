package domain

import (
	"errors"
	"fmt"
	"time"
)

// A Class says what a failed call to the outside means for the next attempt
// (docs/sagas.md, "Errors").
type Class string

const (
	Transient Class = "transient" // certainly not done: try again later
	Unknown   Class = "unknown"   // no answer: look before trying again
	Permanent Class = "permanent" // will not work, however often it is tried
	Waiting   Class = "wait"      // not yet; asking again costs nothing
)

// A Failure is what an adapter answers when a call to the outside did not
// work. Its text may be shown to operators, never to customers.
type Failure struct {
	Class      Class
	Code       string        // short and stable, such as "name_taken"
	RetryAfter time.Duration // as the other side asked for; zero: not said
	Err        error

	// Lacks names what the other side does not grant us, whatever is asked, until an
	// operator has mended it: "login", or a function. Blank: it is about what was
	// asked. Rest is how long all that is asked of it had better wait.
	Lacks string
	Rest  time.Duration
}

func (f *Failure) Error() string { return fmt.Sprintf("%s failure (%s): %v", f.Class, f.Code, f.Err) }
func (f *Failure) Unwrap() error { return f.Err }

// Fail returns a [Failure].
func Fail(class Class, code string, err error) error {
	return &Failure{Class: class, Code: code, Err: err}
}

// LackOf is what the other side does not grant us, if err is about that.
func LackOf(err error) string {
	var f *Failure
	if errors.As(err, &f) {
		return f.Lacks
	}
	return ""
}

// ClassOf tells how to treat err. What an adapter did not classify may have
// happened, so it is unknown.
func ClassOf(err error) Class {
	var f *Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return Unknown
}
