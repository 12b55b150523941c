package domain

import (
	"errors"
	"fmt"
)

// A Code classifies a refusal. The HTTP status of each code is decided in one
// place, package http.
type Code string

const (
	Invalid     Code = "invalid"     // the request cannot be carried out as it is; Field says what is wrong
	Denied      Code = "denied"      // the caller may not do this
	NotFound    Code = "not_found"   // there is no such thing for this caller
	Conflict    Code = "conflict"    // not in the present state
	Stale       Code = "stale"       // no longer in the state that the caller has seen
	Throttled   Code = "throttled"   // too many requests
	Unavailable Code = "unavailable" // something that we need does not answer
)

// An Error is a refusal that the caller may read. Every other error is ours:
// it is logged in full and shown as "A server error occurred."
type Error struct {
	Code    Code
	Field   string // the offending field of the request, if there is one
	Message string
	Reason  string // machine-readable, such as "site_inactive"; the API shows it as "code"
}

func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Refuse returns an [Error] with the given code.
func Refuse(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// RefuseField returns an [Error] about one field of the request.
func RefuseField(field, message string) error {
	return &Error{Code: Invalid, Field: field, Message: message}
}

// RefusesField tells whether err refuses a command because of the field.
func RefusesField(err error, field string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == Invalid && e.Field == field
}

// CodeOf returns the code of the first refusal in err, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
