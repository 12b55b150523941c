package accounts

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

const (
	sessionsPath = mePath + "sessions/"
	sessionPath  = sessionsPath + "{id:uuid}/"
)

// routes are the calls about where the user has signed in (docs/accounts.md,
// "Sessions").
func (s *signIns) routes() []route.Route {
	return []route.Route{
		route.Pages[signIn](sessionsPath, "Where the user has signed in, the last used first", s.listSignIns).As("me_session_list").
			Saying(
				"Browsers with a session, and programs with a refresh token. Where they are and what they call themselves is not stored.",
			),
		route.Delete(sessionPath, "End a session of a browser, or the tokens of a program", s.endSignIn).
			As("me_session_delete").Of("Session"),
		route.Post(sessionsPath+
			"end_others/", "End all sessions and tokens but those of the caller", s.endOtherSignIns).As("me_session_end_others").
			With(http.StatusOK).Keeping("").Saying("Answers with how many there were."),
	}
}

// A signIn is a browser or a program in which the user has signed in.
type signIn struct {
	domain.SignIn
	isCurrent bool
}

// Fields are what there is to know about it.
func (s *signIn) Fields() field.Set {
	kind := map[bool]string{true: "browser", false: "program"}[s.IsBrowser]
	return field.Set{
		field.UUID("id", &s.ID).ReadOnly(),
		field.Text("kind", &kind).Among("browser", "program").ReadOnly(),
		field.Time("started_at", &s.StartedAt).ReadOnly(),
		field.Time("last_seen_at", &s.SeenAt).ReadOnly().Doc(
			"To the minute for a browser. For a program it is when its tokens were replaced lastly.",
		),
		field.Flag("is_current", &s.isCurrent).ReadOnly().Doc("Whether the call comes from there."),
	}
}

func (s *signIns) listSignIns(ctx context.Context, c route.Call, w route.Window) (route.Page[signIn], error) {
	who, current := caller.Of(c), caller.SignInOf(c)
	found, count, err := s.sessions.SignIns(ctx, who.ID, who.SessionVersion, w.Offset, w.Limit)
	all := make([]signIn, len(found))
	for i, one := range found {
		one.StartedAt, one.SeenAt = one.StartedAt.UTC(), one.SeenAt.UTC().Truncate(time.Second)
		all[i] = signIn{one, one.ID == current}
	}
	return route.Page[signIn]{Count: count, Results: all}, err
}

func (s *signIns) endSignIn(ctx context.Context, c route.Call) error {
	return s.closeSignIn(ctx, c, c.UUID("id"))
}

func (s *signIns) closeSignIn(ctx context.Context, c route.Call, id uuid.UUID) error {
	who := caller.Of(c)
	was, err := s.sessions.CloseSignIn(ctx, who.ID, who.SessionVersion, id)
	if err == nil && !was {
		err = route.Missing("Session")
	}
	return err
}

// An endedSignIns is how many sign-ins were ended.
type endedSignIns struct{ Count int64 }

// Fields are the number.
func (e *endedSignIns) Fields() field.Set { return field.Set{field.Int("ended", &e.Count)} }

func (s *signIns) endOtherSignIns(ctx context.Context, c route.Call, _ *route.Nothing) (*endedSignIns, error) {
	who := caller.Of(c)
	n, err := s.sessions.CloseOtherSignIns(ctx, who.ID, who.SessionVersion, caller.SignInOf(c))
	return &endedSignIns{n}, err
}
