// Package users has the commands that open, list and close accounts
// (docs/accounts.md).
package users

import (
	"context"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/projections"
)

// Command is `hostpanel user`.
type Command struct {
	Create          userCreate          `cmd:"" help:"Open an account."`
	Passwd          userPasswd          `cmd:"" help:"Set the password of an account, and end its sessions."`
	SecondFactorOff userSecondFactorOff `cmd:"" help:"Switch off the second factor of a user who has lost it."`
	Erase           userErase           `cmd:"" help:"Close an account, and erase the person's data."`
	Export          userExport          `cmd:"" help:"Write all that is known of a person, as JSON or as a page."`
	List            userList            `cmd:"" help:"List accounts, newest first."`
	Show            userShow            `cmd:"" help:"Show one account."`
}

type userList struct {
	Search string `placeholder:"TEXT" help:"Only those with it in their address or name."`
	Limit  int64  `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Run lists accounts.
func (l userList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Accounts().Users(ctx, l.listing())
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, userColumns)
	})
}

func (l userList) listing() projections.Listing {
	return projections.Listing{
		Search: strings.Fields(l.Search), Limit: l.Limit,
		Order: []projections.Ordering{{Field: "created_at", Descending: true}},
	}
}

var userColumns = field.ColumnsOf[projections.User]("id", "email", "name", "may", "state", "created_at", "last_sign_in")

type userShow struct {
	Email string `arg:"" help:"Of the account."`
	JSON  bool   `name:"json" help:"For programs."`
}

// Run shows an account and its tenants.
func (s userShow) Run(ctx context.Context, settings config.Settings, c console.Console) error {
	return program.With(ctx, settings, c, func(p *program.Program) error {
		u, err := userNamed(ctx, p, s.Email)
		if err != nil {
			return err
		}
		member, err := p.Tables.For(projections.System).Accounts().Memberships(ctx, u.ID)
		if err != nil {
			return err
		}
		if s.JSON {
			return c.JSON(withMemberships(&u, member))
		}
		printUser(c, u, member)
		return nil
	})
}

// withMemberships are an account's fields with its memberships.
func withMemberships(u *projections.User, member []projections.Membership) field.Set {
	return append(u.Columns(), field.Objects("memberships", &member))
}

func printUser(c console.Console, u projections.User, member []projections.Membership) {
	fmt.Fprintf(c.Out, "%s  %s\n\n", c.Ink().Bold(console.OneLine(u.Email)), c.Ink().Status(u.State()))
	tenants := strings.Join(console.Each(member, func(m projections.Membership) string {
		return fmt.Sprintf("%d %s (%s)", m.Tenant, m.TenantName, m.Role)
	}), ", ")
	factor := map[bool]string{true: "a second one is on"}[u.SecondFactor]
	set := append(u.Columns(), field.Text("tenants", &tenants), field.Text("factor", &factor))
	c.Values(set, "id", "name", "language", "may", "tenants", "factor", "created_at", "last_sign_in")
}
