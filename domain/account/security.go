package account

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// SecurityCategory is that of the journals "security-<user>". Number 0 is an
// unknown user: a refusal costs the same whether the account exists or not.
const SecurityCategory = "security"

// SecurityStream is the journal of one user.
func SecurityStream(user int64) domain.Stream {
	return domain.Stream{Category: SecurityCategory, ID: strconv.FormatInt(user, 10)}
}

// A Journal has no state: what is noted depends on nothing before it, so
// that journals may grow without end.
type Journal struct{}

// Security is the behaviour of the journals: whatever is noted, stands.
var Security = domain.Decider[Journal, Note, SecurityEvent]{
	Decide: func(_ Journal, c Note) ([]SecurityEvent, error) { return []SecurityEvent{c.fact()}, nil },
	Evolve: func(j Journal, _ SecurityEvent) Journal { return j },
}

type (
	// A Note is to be written into a journal.
	Note interface {
		domain.Command
		fact() SecurityEvent
	}
	// A SecurityEvent is an event that helps to investigate an attack.
	SecurityEvent interface {
		domain.Event
		security()
	}
)

// Ways to sign in.
const (
	ThroughToken = "token" // of the API
	ThroughPage  = "page"  // the login page, with a browser session
)

type (
	// NoteSignIn: a user signed in, from an address, through a way such as
	// [ThroughPage].
	NoteSignIn struct {
		User      int64
		SubjectID uuid.UUID // whose address it is
		IP        string
		Through   string
		At        time.Time
	}
	// NoteRefusal: a sign-in was refused. User 0 and no subject: the account does
	// not exist.
	NoteRefusal struct {
		User      int64
		SubjectID uuid.UUID
		IP        string
		Through   string
		At        time.Time
	}
	// NoteReuse: a refresh token was used a second time, so it may have been stolen.
	NoteReuse struct {
		User   int64
		Family uuid.UUID // of the tokens that are over now
		At     time.Time
	}
	// NoteDenied: a user asked for what their role does not allow. Route is
	// the pattern ("/operations/api/v1/users/{id}/"), never the path.
	NoteDenied struct {
		User          int64
		Method, Route string
		At            time.Time
	}
	// NoteKeyOrigin: a storefront key came from a website that it never came from.
	NoteKeyOrigin struct {
		User        int64  // the owner
		Key, Origin string // public id; origin such as "https://shop.example.com"
		At          time.Time
	}
)

func (c NoteSignIn) Stream() domain.Stream    { return SecurityStream(c.User) }
func (c NoteRefusal) Stream() domain.Stream   { return SecurityStream(c.User) }
func (c NoteReuse) Stream() domain.Stream     { return SecurityStream(c.User) }
func (c NoteDenied) Stream() domain.Stream    { return SecurityStream(c.User) }
func (c NoteKeyOrigin) Stream() domain.Stream { return SecurityStream(c.User) }

func (c NoteSignIn) fact() SecurityEvent {
	return SignedIn{SubjectID: c.SubjectID, IP: c.IP, Through: c.Through, At: c.At}
}

func (c NoteRefusal) fact() SecurityEvent {
	return SignInRefused{SubjectID: c.SubjectID, IP: c.IP, Through: c.Through, At: c.At}
}

func (c NoteReuse) fact() SecurityEvent { return TokenReused{Family: c.Family, At: c.At} }

func (c NoteDenied) fact() SecurityEvent {
	return AccessDenied{Method: c.Method, Route: c.Route, At: c.At}
}

func (c NoteKeyOrigin) fact() SecurityEvent {
	return KeyUsedFromNewOrigin{Key: c.Key, Origin: c.Origin, At: c.At}
}

type (
	// SignedIn: a sign-in succeeded. Through is the way, such as a form or the API.
	SignedIn struct {
		SubjectID uuid.UUID `json:"subject"`
		IP        string    `json:"ip"`
		Through   string    `json:"through"`
		At        time.Time `json:"at"`
	}
	// SignInRefused: a sign-in was refused. Without a subject the account does not exist.
	SignInRefused struct {
		SubjectID uuid.UUID `json:"subject"`
		IP        string    `json:"ip"`
		Through   string    `json:"through"`
		At        time.Time `json:"at"`
	}
	// TokenReused: a refresh token came a second time, which ended its family.
	TokenReused struct {
		Family uuid.UUID `json:"family"`
		At     time.Time `json:"at"`
	}
	// AccessDenied: a call was refused because of the user's role. Route is a pattern.
	AccessDenied struct {
		Method string    `json:"method"`
		Route  string    `json:"route"`
		At     time.Time `json:"at"`
	}
	// KeyUsedFromNewOrigin: a storefront key came from a website for the first time.
	KeyUsedFromNewOrigin struct {
		Key    string    `json:"key"`
		Origin string    `json:"origin"`
		At     time.Time `json:"at"`
	}
)

func (SignedIn) EventName() string             { return "security.signed_in" }
func (SignInRefused) EventName() string        { return "security.sign_in_refused" }
func (TokenReused) EventName() string          { return "security.token_reused" }
func (AccessDenied) EventName() string         { return "security.access_denied" }
func (KeyUsedFromNewOrigin) EventName() string { return "security.key_used_from_new_origin" }

func (e SignedIn) Says() string {
	return "signed in" + wording.Around(" (", e.Through, ")") + wording.Around(" from ", e.IP, "")
}

func (e SignInRefused) Says() string {
	return "could not sign in" + wording.Around(" (", e.Through, ")") + wording.Around(" from ", e.IP, "")
}

func (TokenReused) Says() string    { return "a refresh token was used again: its family has ended" }
func (e AccessDenied) Says() string { return "denied: " + e.Method + " " + e.Route }

func (e KeyUsedFromNewOrigin) Says() string {
	return "key " + e.Key + " used from a new website, " + e.Origin
}

func (SignedIn) security()             {}
func (SignInRefused) security()        {}
func (TokenReused) security()          {}
func (AccessDenied) security()         {}
func (KeyUsedFromNewOrigin) security() {}
