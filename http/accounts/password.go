package accounts

import (
	"context"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// A passwordChange proves that it is the user who asks.
type passwordChange struct{ Current, New string }

// Fields are both passwords.
func (p *passwordChange) Fields() field.Set {
	return field.Set{
		field.Text("current_password", &p.Current).Required().Verbatim().Max(account.PasswordRead).Secret(),
		field.Text("new_password", &p.New).Required().Verbatim().Max(account.PasswordRead).Secret(),
	}
}

// changePassword ends all tokens that the user has, and gives new ones.
func (s *profile) changePassword(ctx context.Context, c route.Call, p *passwordChange) (*pair, error) {
	who := caller.Of(c)
	right, err := s.callers.Confirm(ctx, c, who.User, p.Current)
	if err != nil {
		return nil, err
	}
	var wrong field.Errors
	if !right {
		wrong.Add("current_password", "The current password is wrong.")
	}
	for _, message := range account.PasswordProblems(p.New, who.Email) {
		wrong.Add("new_password", message)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if err := s.accounts.Change(ctx, c.Cause(), who.ID, p.New); err != nil {
		return nil, err
	}
	now, _, err := s.callers.System().Accounts().Identity(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	return s.tokens.issue(ctx, now.ID, now.SessionVersion)
}

const resetAnswer = "If the account exists, a message has been sent."
