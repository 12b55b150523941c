package hosting

import (
	"context"

	"hostpanel/domain/field"
)

// The servers that hosting resources run on, as the panel needs them. What does
// not work is answered with a *domain.Failure, whose class decides about the next
// attempt (docs/sagas.md, "Errors"). An error without a class counts as unknown.

// EngineServer is one server of a hosting engine, which knows no idempotency keys. A
// kind that it does not have is a permanent failure, "not_supported"; an object
// that is not the one that was meant is "drift". Besides the panel's kinds an
// engine may have "cms", an installation of a program in a site, and "proxy".
type EngineServer interface {
	// Server names the server in queues ("engine:<server>") and claims.
	Server() string
	// Find looks an object up by its natural key, by our reference in it, or
	// by both. It reads only. Applied tells whether it has been carried out.
	Find(ctx context.Context, kind, name, ref string) (EngineObject, bool, error)
	// Create makes an object and returns the engine's id of it.
	Create(context.Context, EngineObject) (int64, error)
	// Change brings an object, known by its id, to what is wanted. Doing it
	// again changes nothing. One that is not there is a permanent failure,
	// "absent".
	Change(context.Context, EngineObject) error
	// Remove deletes one object, known by its id, and nothing that belongs to
	// it. One that is gone already is a success.
	Remove(context.Context, EngineObject) error
	// List reads everything of a kind that a client owns. Applied is not told.
	List(ctx context.Context, kind string, owner int64) ([]EngineObject, error)
	// Usage reads what a client uses.
	Usage(ctx context.Context, owner int64) (Usage, error)
}

// An EngineStart is a start of the panel at an engine that counts them. A copy of the panel
// has another one with the same number.
type EngineStart struct {
	N    int64
	Mark string // random
}

// A FormChecker is an EngineServer that does not take every value that the panel
// takes.
type FormChecker interface {
	// CheckForm returns the fields of an object whose values the engine would
	// refuse or spoil, each with the reason. Of a change only the fields count
	// that it names. With an error, those that it can judge without the engine
	// are there.
	CheckForm(context.Context, EngineObject) (field.Errors, error)
}

// A Rehearser is an EngineServer that tells which calls would bring objects to what is
// wanted.
type Rehearser interface {
	// Rehearse returns the calls in their order. It reads, and changes nothing. Objects
	// without an id would be made, the owner before what belongs to it.
	Rehearse(context.Context, ...EngineObject) ([]EngineCall, error)
}

// An EngineCall is a call that changes a record at the engine.
type EngineCall struct {
	Call    string // such as client_update
	Record  string // such as "tenant t12"
	Changes []EngineChange
}

// An EngineChange is a field of a record at the engine before and after a call, in the
// engine's words.
type EngineChange struct{ Field, From, To string }

// SyncErrors are what customers are told of the code with which the engine has
// refused to do something. Nothing in them comes from the engine itself
// (docs/hosting.md, "The engine").
var SyncErrors = map[string]string{
	"absent":          "The server does not know this record any more.",
	"invalid":         "The server refuses these values.",
	"leads_back":      "Mail to this address would come back to it. Please change where it goes.",
	"name_taken":      "The server has another one with this name.",
	"not_supported":   "The server cannot do this.",
	"owner_missing":   "The tenant has no account at the server yet.",
	"parent_missing":  "What this is a part of does not exist at the server.",
	"password_weak":   "The server wants a stronger password.",
	"reserved_name":   "This name belongs to the server itself. Please contact support.",
	"reserved_login":  "This username belongs to the server itself. Please contact support.",
	"secret_needed":   "The password is no longer at hand. Please set it again.",
	"foreign":         "The server has one with this name that belongs to another customer.",
	"quota_exceeded":  "The server has no room for this.",
	"engine_refused":  "The server has accepted this and could not carry it out. The next change tries again.",
	"not_shown":       "The server has accepted this and does not show it. The next change tries again.",
	"not_issued":      notIssued,
	"not_ready":       notIssued,
	"not_covered":     notIssued,
	"rate_limited":    "The certificate authority has issued too many certificates for this domain lately.",
	"site_inactive":   "The site is not active.",
	"invalid_request": "The server refuses these values.",
}

const notIssued = "The certificate was not issued. Do all its names lead to the site?"

// Unexplained is what customers are told of any other code.
const Unexplained = "The server refused the change. Please contact support."
