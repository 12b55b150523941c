package users

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
)

type userSecondFactorOff struct {
	Email  string `arg:"" help:"Of the account."`
	Reason string `required:"" placeholder:"TEXT" help:"Why; it stands in the log."`
	Yes    bool   `help:"Do not ask again."`
}

// Run switches off the second factor of a user who has lost it. The log keeps the
// reason.
func (u userSecondFactorOff) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		user, err := userConfirmed(ctx, p, c, u.Email, u.Yes)
		if err != nil {
			return err
		}
		if err := p.Sagas.Accounts.DisableFactor(ctx, program.AtConsole, user.ID, u.Reason); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s signs in with the password alone\n", console.OneLine(user.Email))
		return nil
	})
}
