package users

import (
	"context"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/account"
)

type userErase struct {
	Email string `arg:"" help:"Of the account."`
	Yes   bool   `help:"Do not ask again."`
}

// Run closes an account and erases what is known about the person. What
// happened stays in the log, without them.
func (u userErase) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		user, err := userConfirmed(ctx, p, c, u.Email, u.Yes)
		if err != nil {
			return err
		}
		if err := p.Sagas.Accounts.Erase(ctx, program.AtConsole, user.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "user-%d is erased\n", user.ID)
		fmt.Fprintf(c.Err, "Not reached (docs/accounts.md, \"Erasure\"):\n- %s\n", strings.Join(account.NotReached, "\n- "))
		return nil
	})
}
