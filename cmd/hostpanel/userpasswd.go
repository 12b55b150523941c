package main

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain/account"
	"hostpanel/projections"
)

type userPasswd struct {
	passwordInput
	Email string `arg:"" help:"Of the account."`
}

// Run sets a password. Everybody who is signed in to the account has to sign
// in again.
func (u userPasswd) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		user, err := p.userNamed(ctx, u.Email)
		if err != nil {
			return err
		}
		if !user.IsActive {
			return errors.New("the account is closed; nobody can sign in to it")
		}
		password, err := u.read(ctx, c, func(p string) error { return account.CheckPassword(p, user.Email) })
		if err != nil {
			return err
		}
		if err := p.sagas.Accounts().Change(ctx, atConsole, user.ID, password); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s has a new password\n", oneLine(user.Email))
		return nil
	})
}

type userErase struct {
	Email string `arg:"" help:"Of the account."`
	Yes   bool   `help:"Do not ask again."`
}

// Run closes an account and erases what is known about the person. What
// happened stays in the log, without them.
func (u userErase) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		user, err := p.userNamed(ctx, u.Email)
		if err != nil {
			return err
		}
		if !u.Yes {
			if err := c.confirmed(ctx, user.Email); err != nil {
				return err
			}
		}
		if err := p.sagas.Accounts().Erase(ctx, atConsole, user.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "user-%d is erased\n", user.ID)
		return nil
	})
}

// userNamed finds an account by its address.
func (p *program) userNamed(ctx context.Context, email string) (projections.User, error) {
	user, found, err := p.tables.For(projections.System).UserByEmail(ctx, email)
	if err == nil && !found {
		err = errors.New("nobody has an account with this address")
	}
	return user, err
}
