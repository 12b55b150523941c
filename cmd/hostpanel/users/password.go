package users

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/account"
	"hostpanel/projections"
)

type userPasswd struct {
	console.PasswordInput
	Email string `arg:"" help:"Of the account."`
}

// Run sets a password. Everybody who is signed in to the account has to sign
// in again.
func (u userPasswd) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		user, err := userNamed(ctx, p, u.Email)
		if err != nil {
			return err
		}
		if !user.IsActive {
			return errors.New("the account is closed; no user can sign in to it")
		}
		password, err := u.Read(ctx, c, func(p string) error { return account.CheckPassword(p, user.Email) })
		if err != nil {
			return err
		}
		if err := p.Sagas.Accounts.Change(ctx, program.AtConsole, user.ID, password); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s has a new password\n", console.OneLine(user.Email))
		return nil
	})
}

// userConfirmed is the user with an address, once the operator has confirmed it.
func userConfirmed(ctx context.Context, p *program.Program, c console.Console, email string, yes bool) (projections.User, error) {
	user, err := userNamed(ctx, p, email)
	if err == nil && !yes {
		err = c.Confirm(ctx, user.Email)
	}
	return user, err
}

// userNamed finds an account by its address.
func userNamed(ctx context.Context, p *program.Program, email string) (projections.User, error) {
	user, found, err := p.Tables.For(projections.System).Accounts().UserByEmail(ctx, email)
	if err == nil && !found {
		err = errors.New("no account has this address")
	}
	return user, err
}
