package domain

import (
	"time"

	"github.com/google/uuid"
)

// A Rotation tells what became of a refresh token that was used
// (docs/security.md, "Refresh tokens").
type Rotation struct {
	State  RotationState
	User   int64     // whose it is; 0: unknown
	Family uuid.UUID // what began with one sign-in: its first token and all that replaced it
}

// A RotationState says what a refresh token was worth when it was shown.
type RotationState string

const (
	TokenFresh RotationState = "fresh" // good until now; who rotated or revoked it has used it up
	TokenUsed  RotationState = "used"  // used a moment ago, or revoked
	// used long ago: there is a copy. The family has been revoked by this very call; only one is told
	TokenReused  RotationState = "reused"
	TokenUnknown RotationState = "unknown" // never issued, or expired
)

// A SignIn is a browser or a program in which a user has signed in.
type SignIn struct {
	ID        uuid.UUID
	IsBrowser bool
	StartedAt time.Time
	SeenAt    time.Time // when it was used lastly
}

// A Session is that of a person in a browser.
type Session struct {
	ID          uuid.UUID // names it, and opens nothing
	User        int64
	Version     int       // session version of the user when it began
	StartedAt   time.Time // when they signed in
	ConfirmedAt time.Time // when they were last asked for the password again; zero: not since
	StaysUntil  time.Time // when it ends, if the user chose to stay signed in; zero: it ends without visits
}

// A Link is a one-time link that has just been made. Nothing but this keeps
// its token in clear text.
type Link struct {
	Token     string
	ExpiresAt time.Time
}
