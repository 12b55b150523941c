// Package users has the commands that open, list and close accounts
// (docs/accounts.md).
package users

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
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
		if l.JSON {
			return c.JSON(console.Each(found.Rows, asUser))
		}
		i := c.Ink()
		t := console.Table{Head: []string{"user", "address", "name", "may", "state", "opened (UTC)", "last sign-in (UTC)"}}
		for _, u := range found.Rows {
			t.Add(console.Number(u.ID), console.Plain(u.Email), console.Plain(u.Name), console.Plain(may(u)), console.Painted(state(u), i.Status), console.Moment(u.CreatedAt), console.Plain(momentOr(u.LastLoginAt, "never")))
		}
		t.Print(c)
		return nil
	})
}

func (l userList) listing() projections.Listing {
	return projections.Listing{
		Search: strings.Fields(l.Search), Limit: l.Limit,
		Order: []projections.Ordering{{Field: "created_at", Descending: true}},
	}
}

// may is what an account is allowed beyond its tenants.
func may(u projections.User) string {
	if u.IsSuperuser {
		return "everything"
	}
	return "own tenants"
}

func state(u projections.User) string {
	switch {
	case u.Email == "":
		return "erased"
	case !u.IsActive:
		return "closed"
	case !u.HasPassword:
		return "waiting"
	}
	return "active"
}

func momentOr(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return console.Moment(*t).Text
}

// A userLine is an account as --json shows it.
type userLine struct {
	ID           int64            `json:"id"`
	Email        string           `json:"email"`
	Name         string           `json:"name"`
	Language     string           `json:"language"`
	IsSuperuser  bool             `json:"is_superuser"`
	IsActive     bool             `json:"is_active"`
	HasPassword  bool             `json:"has_password"`
	HasFactor    bool             `json:"has_second_factor"`
	ActiveTenant *int64           `json:"active_tenant"`
	LastLoginAt  *time.Time       `json:"last_login_at"`
	CreatedAt    time.Time        `json:"created_at"`
	UpdatedAt    time.Time        `json:"updated_at"`
	Memberships  []membershipLine `json:"memberships,omitempty"`
}

type membershipLine struct {
	Tenant int64  `json:"tenant"`
	Name   string `json:"tenant_name"`
	Role   string `json:"role"`
}

func asUser(u projections.User) userLine {
	return userLine{
		ID: u.ID, Email: u.Email, Name: u.Name, Language: u.Language, IsSuperuser: u.IsSuperuser, IsActive: u.IsActive, HasPassword: u.HasPassword, HasFactor: u.SecondFactor,
		ActiveTenant: u.ActiveTenant, LastLoginAt: u.LastLoginAt, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
}

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
			line := asUser(u)
			line.Memberships = console.Each(member, asMembership)
			return c.JSON(line)
		}
		printUser(c, u, member)
		return nil
	})
}

func asMembership(m projections.Membership) membershipLine {
	return membershipLine{m.Tenant, m.TenantName, string(m.Role)}
}

func printUser(c console.Console, u projections.User, member []projections.Membership) {
	i := c.Ink()
	fmt.Fprintf(c.Out, "%s  %s\n\n", i.Bold(console.OneLine(u.Email)), i.Status(state(u)))
	for _, line := range [][2]string{
		{"id", strconv.FormatInt(u.ID, 10)},
		{"name", u.Name},
		{"language", u.Language},
		{"may", may(u)},
		{"tenants", strings.Join(console.Each(member, func(m projections.Membership) string {
			return fmt.Sprintf("%d %s (%s)", m.Tenant, m.TenantName, m.Role)
		}), ", ")},
		{"factor", map[bool]string{true: "a second one is on"}[u.SecondFactor]},
		{"opened", momentOr(&u.CreatedAt, "")},
		{"signed in", momentOr(u.LastLoginAt, "never")},
	} {
		if line[1] != "" {
			fmt.Fprintf(c.Out, "  %s %s\n", i.Faint(fmt.Sprintf("%-10s", line[0])), console.OneLine(line[1]))
		}
	}
}
