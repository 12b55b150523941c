package caller

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/notice"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A SecondFactor is what is asked for beside the password.
type SecondFactor struct {
	credentials Credentials
	limiter     *Limiter
	journal     *journal
	isRequired  bool // of superusers
	isPast      bool
}

// How often a code of the second factor may be wrong, for an account over all
// addresses (docs/security.md, "Second factor").
const (
	wrongCodes    = 10
	wrongCodeTime = 15 * time.Minute
)

// What is refused after a right password. The code tells programs what to do.
var (
	CodeMissing = codeRefusal("A code of the second factor is required.")
	codeWrong   = codeRefusal("The code is wrong, or was used before.")
	codesSpent  = codeRefusal("There were too many wrong codes. Use a recovery code.")
)

func codeRefusal(detail string) *route.Refusal {
	return &route.Refusal{Status: http.StatusUnauthorized, Detail: detail, Code: "otp_required"}
}

// enrolFirst is what superusers without a second factor are told where the
// installation requires one.
var enrolFirst = &route.Refusal{
	Status: http.StatusForbidden, Code: "second_factor_required", Detail: "A superuser has to set up a second factor first.",
}

// FactorPath is the page of the second factor.
const FactorPath = notice.FactorPath

// Complete signs in a user who has given the password before, with a code.
func (s *SecondFactor) Complete(ctx context.Context, c route.Call, user projections.User, code, through string) error {
	done, err := s.limiter.attempt(ctx, user.Email, c.IP)
	if err != nil {
		return err
	}
	return s.complete(ctx, c, user, code, through, done)
}

// complete checks the code of a user with a second factor. Without a right one
// the attempt counts as a failure, though the password was right.
func (s *SecondFactor) complete(ctx context.Context, c route.Call, user projections.User, code, through string, done func() error) error {
	if s.isPast && !user.IsSuperuser {
		return errors.Join(done(), route.NotInPast)
	}
	if user.SecondFactor {
		refusal, err := s.checkCode(ctx, user.ID, PlainCode(code))
		if err != nil {
			return err
		}
		if refusal != nil {
			if err := s.journal.noteRefusal(ctx, c, user, throughCode); err != nil {
				return err
			}
			return refusal
		}
	}
	if err := done(); err != nil {
		return err
	}
	return s.journal.noteSignIn(ctx, c, user, through)
}

// PlainCode is a code without the spaces that apps show in it.
func PlainCode(text string) string { return strings.Join(strings.Fields(text), "") }

// checkCode uses a code up; nil: it is right. A text that is not of six digits is
// a recovery code. Attempts are counted before the check, and released on
// success. Many guesses at once therefore do not evade the limit.
func (s *SecondFactor) checkCode(ctx context.Context, user int64, code string) (*route.Refusal, error) {
	switch {
	case code == "":
		return CodeMissing, nil
	case !isFactorCode(code):
		return unlessRight(s.credentials.UseRecoveryCode(ctx, user, code))
	}
	key := s.limiter.key("second_factor", strconv.FormatInt(user, 10))
	left, err := s.limiter.limits.Take(ctx, key, wrongCodes, wrongCodeTime)
	if err != nil {
		return nil, err
	}
	if !left.Allowed {
		return codesSpent, nil
	}
	refusal, err := unlessRight(s.credentials.UseFactorCode(ctx, user, code))
	if err == nil && refusal == nil {
		err = s.limiter.limits.GiveBack(ctx, key)
	}
	return refusal, err
}

func unlessRight(right bool, err error) (*route.Refusal, error) {
	if err != nil || right {
		return nil, err
	}
	return codeWrong, nil
}

// isFactorCode tells whether a text has the form of a code of an app.
func isFactorCode(text string) bool {
	const digits = 6
	return len(text) == digits && strings.Trim(text, "0123456789") == ""
}

// IsRequired tells whether a user may do nothing without a second factor.
func (s *SecondFactor) IsRequired(user projections.User) bool {
	return s.isRequired && user.IsSuperuser
}

// mustEnrol tells whether a user has to set up a second factor before anything
// else.
func (s *Callers) mustEnrol(who Identity) bool {
	return s.Factor.IsRequired(who.User) && !who.SecondFactor
}

// enrolled refuses those who have to set up a second factor.
func (s *Callers) enrolled(_ context.Context, _ route.Request, c route.Caller) error {
	if s.mustEnrol(IdentityOf(c)) {
		return enrolFirst
	}
	return nil
}

// Enrolling admits users who have signed in, also those who have to set up a
// second factor first.
func (s *Callers) Enrolling() route.Access {
	return route.Access{
		Rule: "user", Scheme: "bearer", Challenge: BearerChallenge,
		Security: map[string]any{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, Instead: sessionCredentials(),
		Identify: s.identify(func(Identity) bool { return true }), Limit: s.limitUser,
	}
}

// EnrollingBySession admits those of [Callers.Enrolling] who call by session.
func (s *Callers) EnrollingBySession() route.Access { return bySession(s.Enrolling()) }

// EnrollingConfirmed admits those who, besides, have given the password again a
// moment ago.
func (s *Callers) EnrollingConfirmed() route.Access {
	return s.EnrollingBySession().As("user in a browser with the password given again").Requiring(func(
		_ context.Context, _ route.Request, c route.Caller,
	) error {
		if v, is := c.Detail.(Visit); !is || !s.IsFresh(v) {
			return passwordAgain
		}
		return nil
	})
}

// EnrollingSession admits browsers with a signed-in user, also one who has to
// set up a second factor first.
func (s *Callers) EnrollingSession() route.Access {
	access := s.Session()
	access.Admit = s.sameSite
	return access
}

// sentToEnrol sends browsers of those who have to set up a second factor to its
// page.
func (s *Callers) sentToEnrol(ctx context.Context, r route.Request, c route.Caller) error {
	if err := s.sameSite(ctx, r, c); err != nil {
		return err
	}
	if s.mustEnrol(IdentityOf(c)) {
		return route.SeeOther(FactorPath)
	}
	return nil
}
