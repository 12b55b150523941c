package users

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// userNamed finds an account by its address.
func userNamed(ctx context.Context, p *program.Program, email string) (projections.User, error) {
	user, found, err := p.Tables.For(projections.System).Accounts().UserByEmail(ctx, email)
	if err == nil && !found {
		err = errors.New("no account has this address")
	}
	return user, err
}
