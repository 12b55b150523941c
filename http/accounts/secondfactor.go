package accounts

import (
	"context"
	"encoding/base32"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pquerna/otp/totp"

	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const factorPath = mePath + "second-factor/"

// routes are the calls with which users set up their second factor
// (docs/accounts.md, "Second factor"). Their answers have secrets: none is kept.
func (s *factors) routes() []route.Route {
	const state = "The second factor is on already, or it is not; or no proposal is open (invalid_state)."
	remove := route.Delete(factorPath, "Switch the second factor off", s.disableFactor).As("second_factor_disable").Keeping("")
	all := []route.Route{
		route.Get(factorPath, "Whether sign-ins need a code", s.showFactor).As("second_factor_read").For(s.callers.Enrolling()),
		route.Post(factorPath, "Make the secret of a second factor", s.proposeFactor).As("second_factor_propose").
			Saying("Put it into an app for one-time passwords (TOTP), and send a code within an hour. Nothing changes before that."),
		route.Post(factorPath+"enable/", "Switch the second factor on, by a code of the app", s.enableFactor).As("second_factor_enable").
			Saying(
				"All sessions and tokens end, because they began with the password alone. This session goes on under " +
					"a new cookie. The recovery codes are shown this once.",
			),
		route.Post(factorPath+"recovery-codes/", "Make new recovery codes, in place of the former ones", s.renewCodes).As(
			"second_factor_recovery_codes",
		).
			Saying("They are shown this once."),
		remove,
	}
	for i := range all[1:] {
		r := &all[1+i]
		*r = r.For(s.callers.EnrollingConfirmed()).Caching("no-store").
			Failing(
				http.StatusForbidden,
				"The call came with a token (session_required), without the CSRF token, or the password has to be "+
					"given again (reauthentication_required).",
			).
			Failing(http.StatusConflict, state)
		if r.Method == http.MethodPost {
			*r = r.With(http.StatusOK).Keeping("")
		}
	}
	return all
}

// A factorState tells of the second factor of the own account.
type factorState struct {
	Enabled, Required bool
	Left              int64
}

// Fields are the state.
func (f *factorState) Fields() field.Set {
	return field.Set{
		field.Flag("enabled", &f.Enabled).Doc("Whether a sign-in needs a code too."),
		field.Flag("required", &f.Required).Doc(
			"Whether this installation requires a second factor of the user. Without one, all other calls are " +
				"refused (second_factor_required).",
		),
		field.Int("recovery_codes_left", &f.Left),
	}
}

func (s *factors) showFactor(ctx context.Context, c route.Call) (*factorState, error) {
	return s.factorState(ctx, caller.Of(c).User)
}

func (s *factors) factorState(ctx context.Context, user projections.User) (*factorState, error) {
	left, err := s.accounts.RecoveryCodesLeft(ctx, user.ID)
	return &factorState{user.SecondFactor, s.callers.Factor.IsRequired(user), int64(left)}, err
}

// A factorProposal is what an app needs to show codes.
type factorProposal struct{ Secret, URI string }

// Fields are the secret, in two forms.
func (f *factorProposal) Fields() field.Set {
	return field.Set{
		field.Text("secret", &f.Secret).Doc("In base32, to be typed into an app: SHA-1, 6 digits, 30 seconds."),
		field.Text("otpauth_uri", &f.URI).Doc("The same as an address, to be shown as a QR code."),
	}
}

func (s *factors) proposeFactor(ctx context.Context, c route.Call, _ *route.Nothing) (*factorProposal, error) {
	who := caller.Of(c)
	secret, err := s.accounts.ProposeFactor(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	address, err := factorURI(c, who.Email, secret)
	return &factorProposal{secret, address}, err
}

// factorURI is the address by which apps take a secret. It names the panel and
// the account.
func factorURI(c route.Call, email, secret string) (string, error) {
	panel, err := url.Parse(c.URL("/"))
	if err != nil {
		return "", fmt.Errorf("name the panel in a second factor: %w", err)
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return "", fmt.Errorf("read the secret of a second factor: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "hostpanel " + panel.Hostname(), AccountName: email, Secret: raw})
	if err != nil {
		return "", fmt.Errorf("write the address of a second factor: %w", err)
	}
	return key.URL(), nil
}

// A shownCode is a code that an app shows.
type shownCode struct{ Code string }

// Fields are the code.
func (o *shownCode) Fields() field.Set { return field.Set{otpField(&o.Code).Required()} }

// recoveryCodes are shown once.
type recoveryCodes struct{ Codes []string }

// Fields are the codes.
func (r *recoveryCodes) Fields() field.Set {
	return field.Set{field.Texts("recovery_codes", &r.Codes, nil).Doc("Each is good for one sign-in without the app.")}
}

// An enabledFactor comes with recovery codes, and with a token for the session
// that goes on.
type enabledFactor struct {
	recoveryCodes
	CSRFToken string
}

// Fields are the codes and the token.
func (e *enabledFactor) Fields() field.Set {
	return append(e.recoveryCodes.Fields(),
		field.Text("csrf_token", &e.CSRFToken).Doc("For the header X-CSRF-Token from now on; it replaces that of the page."))
}

func (s *factors) enableFactor(ctx context.Context, c route.Call, q *shownCode) (*enabledFactor, error) {
	codes, cookie, err := s.switchOn(ctx, c, q.Code)
	if err != nil {
		return nil, err
	}
	c.Set("Set-Cookie", cookie.String())
	return &enabledFactor{recoveryCodes{codes}, s.callers.Token(cookie.Value)}, nil
}

// switchOn puts the proposed second factor in force. All sessions end; the
// browser goes on with the cookie.
func (s *factors) switchOn(ctx context.Context, c route.Call, code string) (codes []string, cookie *http.Cookie, err error) {
	who := caller.Of(c)
	if codes, err = s.accounts.EnableFactor(ctx, c.Cause(), who.ID, caller.PlainCode(code)); err != nil {
		return nil, nil, err
	}
	cookie, err = s.callers.ReopenSession(ctx, c)
	return codes, cookie, err
}

func (s *factors) renewCodes(ctx context.Context, c route.Call, _ *route.Nothing) (*recoveryCodes, error) {
	codes, err := s.accounts.RenewRecoveryCodes(ctx, c.Cause(), caller.Of(c).ID)
	return &recoveryCodes{codes}, err
}

func (s *factors) disableFactor(ctx context.Context, c route.Call) error {
	return s.accounts.DisableFactor(ctx, c.Cause(), caller.Of(c).ID, "")
}
