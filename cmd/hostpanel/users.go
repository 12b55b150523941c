package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/projections"
)

type userCommand struct {
	Create userCreate `cmd:"" help:"Open an account."`
	Passwd userPasswd `cmd:"" help:"Set the password of an account, and end its sessions."`
	Erase  userErase  `cmd:"" help:"Close an account, and erase the person's data."`
	List   userList   `cmd:"" help:"List accounts, newest first."`
	Show   userShow   `cmd:"" help:"Show one account."`
}

type userList struct {
	Search string `placeholder:"TEXT" help:"Only those with it in their address or name."`
	Limit  int64  `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Run lists accounts.
func (l userList) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		found, err := p.tables.For(projections.System).Users(ctx, l.listing())
		if err != nil {
			return err
		}
		if l.JSON {
			return c.json(each(found.Rows, asUser))
		}
		i := c.ink()
		t := table{head: []string{"user", "address", "name", "may", "state", "opened (UTC)", "last sign-in (UTC)"}}
		for _, u := range found.Rows {
			t.add(number(u.ID), plain(u.Email), plain(u.Name), plain(may(u)), painted(state(u), i.status), moment(u.CreatedAt), plain(momentOr(u.LastLoginAt, "never")))
		}
		t.print(c)
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
	return moment(*t).text
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
		ID: u.ID, Email: u.Email, Name: u.Name, Language: u.Language, IsSuperuser: u.IsSuperuser, IsActive: u.IsActive, HasPassword: u.HasPassword,
		ActiveTenant: u.ActiveTenant, LastLoginAt: u.LastLoginAt, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
}

type userShow struct {
	Email string `arg:"" help:"Of the account."`
	JSON  bool   `name:"json" help:"For programs."`
}

// Run shows an account and its tenants.
func (s userShow) Run(ctx context.Context, settings Settings, c console) error {
	return with(ctx, settings, c, func(p *program) error {
		u, err := p.userNamed(ctx, s.Email)
		if err != nil {
			return err
		}
		member, err := p.tables.For(projections.System).Memberships(ctx, u.ID)
		if err != nil {
			return err
		}
		if s.JSON {
			line := asUser(u)
			line.Memberships = each(member, asMembership)
			return c.json(line)
		}
		c.user(u, member)
		return nil
	})
}

func asMembership(m projections.Membership) membershipLine {
	return membershipLine{m.Tenant, m.TenantName, string(m.Role)}
}

func (c console) user(u projections.User, member []projections.Membership) {
	i := c.ink()
	fmt.Fprintf(c.out, "%s  %s\n\n", i.bold(oneLine(u.Email)), i.status(state(u)))
	for _, line := range [][2]string{
		{"id", strconv.FormatInt(u.ID, 10)},
		{"name", u.Name},
		{"language", u.Language},
		{"may", may(u)},
		{"tenants", strings.Join(each(member, func(m projections.Membership) string {
			return fmt.Sprintf("%d %s (%s)", m.Tenant, m.TenantName, m.Role)
		}), ", ")},
		{"opened", momentOr(&u.CreatedAt, "")},
		{"signed in", momentOr(u.LastLoginAt, "never")},
	} {
		if line[1] != "" {
			fmt.Fprintf(c.out, "  %s %s\n", i.faint(fmt.Sprintf("%-10s", line[0])), oneLine(line[1]))
		}
	}
}
