package caller

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// What happens at the doors is written into the journal of the user whom it
// concerns, "security-<user>" (docs/security.md, "What is written down").

const (
	// throughConfirm is how those come who are asked for their password again.
	throughConfirm = "confirmation"
	// throughCode is how those come whose password was right, and whose code of
	// the second factor was missing or wrong.
	throughCode = "code"
)

var noActiveAccount = &route.Refusal{
	Status: http.StatusUnauthorized, Slug: "not_authenticated",
	Detail: "No active account found with the given credentials",
}

// A Proof is what a user signs in with. Code is of the second factor, for users
// who have one.
type Proof struct{ Username, Password, Code string }

// Authenticate tells who signs in, or refuses with noActiveAccount, or with
// 429 after too many failures. It takes as long, and leaves as much behind,
// for an account that is not there as for a wrong password. After a right
// password without a right code, it returns the user too, with [CodeMissing] or
// another refusal.
func (s *Callers) Authenticate(ctx context.Context, c route.Call, p Proof, through string) (projections.User, error) {
	done, err := s.Limiter.attempt(ctx, p.Username, c.IP)
	if err != nil {
		return projections.User{}, err
	}
	user, _, err := s.System().Accounts().UserByEmail(ctx, p.Username)
	if err != nil {
		return projections.User{}, err
	}
	right, err := s.deps.Credentials.CheckPassword(ctx, user.ID, p.Password)
	if err != nil {
		return projections.User{}, err
	}
	if !right || !user.IsActive {
		if err := s.journal.noteRefusal(ctx, c, user, through); err != nil {
			return projections.User{}, err
		}
		return projections.User{}, noActiveAccount
	}
	return user, s.Factor.complete(ctx, c, user, p.Code, through, done)
}

// Confirm tells whether it is really the user who asks, by the password. After
// too many failures it refuses with 429.
func (s *Callers) Confirm(ctx context.Context, c route.Call, user projections.User, password string) (bool, error) {
	done, err := s.Limiter.attempt(ctx, user.Email, c.IP)
	if err != nil {
		return false, err
	}
	right, err := s.deps.Credentials.CheckPassword(ctx, user.ID, password)
	switch {
	case err != nil:
		return false, err
	case !right:
		return false, s.journal.noteRefusal(ctx, c, user, throughConfirm)
	}
	return true, done()
}

// A journal is where that is written down.
type journal struct {
	commands record.Commands
	limits   Limits
	now      func() time.Time
	log      *slog.Logger
}

func (j *journal) noteSignIn(ctx context.Context, c route.Call, user projections.User, through string) error {
	return j.note(ctx, c.Cause(), Identity{projections.Identity{User: user}}.actor(),
		account.NoteSignIn{User: user.ID, SubjectID: user.Subject, IP: c.IP.String(), Through: through, At: j.now().UTC()})
}

// noteRefusal writes down that a password was wrong; for user 0, who does not
// exist, it does so too.
func (j *journal) noteRefusal(ctx context.Context, c route.Call, user projections.User, through string) error {
	return j.note(ctx, c.Cause(), "system:access",
		account.NoteRefusal{User: user.ID, SubjectID: user.Subject, IP: c.IP.String(), Through: through, At: j.now().UTC()})
}

// NoteReuse records that a refresh token was used twice, which warns its user.
func (s *Callers) NoteReuse(ctx context.Context, c route.Call, r domain.Rotation) error {
	return s.journal.note(ctx, c.Cause(), "system:access", account.NoteReuse{User: r.User, Family: r.Family, At: s.journal.now().UTC()})
}

// noteDenied writes down that a known user was turned away, a few times an
// hour: who knocks all day fills no log.
func (j *journal) noteDenied(ctx context.Context, r route.Request, user projections.User) {
	const anHour = 10
	who := Identity{projections.Identity{User: user}}
	left, err := j.limits.Take(ctx, "denied:"+who.Principal(), anHour, time.Hour)
	if err == nil && left.Allowed {
		err = j.note(ctx, domain.Metadata{ID: uuid.New(), Request: r.ID}, who.actor(),
			account.NoteDenied{User: user.ID, Method: r.Method, Route: r.Route, At: j.now().UTC()})
	}
	if err != nil {
		j.log.WarnContext(ctx, "a refusal was not written down", "user", user.ID, "err", err.Error())
	}
}

// noteOrigin writes down from which websites a key comes, each once: one that
// its owner does not know has copied it. Made-up origins fill no log.
func (k *Keys) noteOrigin(ctx context.Context, r route.Request, c route.Caller) error {
	const most, longest = 50, 255
	key, _ := c.Detail.(projections.APIKey)
	origin := strings.ToLower(r.Header.Get("Origin"))
	if origin == "" || len(origin) > longest || len(key.Origins) >= most || slices.Contains(key.Origins, origin) {
		return nil
	}
	// Many calls at once from a new website are one request to write it down.
	cause := domain.Metadata{ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(key.ID+" "+origin)), Request: r.ID}
	fact := account.NoteKeyOrigin{User: key.Owner, Key: key.ID, Origin: origin, At: k.journal.now().UTC()}
	if err := k.journal.note(ctx, cause, c.Principal, fact); err != nil {
		k.journal.log.WarnContext(ctx, "the website of a key was not written down", "key", key.ID, "err", err.Error())
	}
	k.Forget(key.ID)
	return nil
}

func (j *journal) note(ctx context.Context, cause domain.Metadata, actor string, fact domain.Command) error {
	cause.Actor, cause.IdempotencyKey = actor, nil
	_, err := j.commands.Execute(ctx, cause, fact)
	return err
}
