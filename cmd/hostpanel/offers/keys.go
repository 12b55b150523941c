package offers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
)

// Keys is `hostpanel keys`.
type Keys struct {
	List   keysList   `cmd:"" help:"List the storefront keys of websites."`
	Create keysCreate `cmd:"" help:"Make a key for a website; it is shown this once."`
	Change keysChange `cmd:"" help:"Change what is agreed on with a key's website."`
	Revoke keysRevoke `cmd:"" help:"End a key for good."`
}

type keysList struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists keys; their secret part is not kept.
func (l keysList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Orders().APIKeys(ctx, projections.Listing{Limit: all})
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, keyColumns)
	})
}

var keyColumns = field.ColumnsOf[projections.APIKey]("id", "name", "mode", "rate_limit_per_minute", "websites", "created_at", "ended")

const fieldsOfKeys = `Fields are those of the API: name="Our website" allowed_domains='["https://example.com"]' ` +
	`rate_limit_per_minute=60 expires_at=2027-01-31T00:00:00Z.`

type keysCreate struct {
	Mode   string   `required:"" enum:"live,test" help:"live takes real money, test none."`
	Owner  string   `placeholder:"EMAIL" help:"A superuser; the first one when absent."`
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"At least name."`
}

// Help tells how fields are written.
func (keysCreate) Help() string { return fieldsOfKeys }

// Run makes a key, by the rules and with the words of the API.
func (cmd keysCreate) Run(ctx context.Context, s config.Settings, c console.Console) error {
	spec := storefront.APIKey{}
	if _, err := fieldsFrom(spec.Fields(), cmd.Fields, field.Create); err != nil {
		return err
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		owner, err := superuser(ctx, p, cmd.Owner)
		if err != nil {
			return err
		}
		text := storefront.DrawKey(storefront.Mode(cmd.Mode), rand.Read)
		key, _ := storefront.ParseKey(text)
		_, err = p.Store.Execute(ctx, program.AtConsole, storefront.IssueKey{
			ID: key.ID, Mode: key.Mode, Hash: storefront.HashKey(text), Spec: spec.Fields().Values(), CreatedBy: owner,
			Owner: owner, At: p.Store.Clock().Now(),
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(c.Out, text)
		fmt.Fprintln(c.Err, "This is the key, shown only this once. The website sends it as X-API-Key.")
		return nil
	})
}

// superuser finds the owner of a key, who may see its orders.
func superuser(ctx context.Context, p *program.Program, email string) (int64, error) {
	found, err := p.Tables.For(projections.System).Accounts().Superusers(ctx)
	if err != nil {
		return 0, err
	}
	for _, user := range found {
		if email == "" || strings.EqualFold(user.Email, email) {
			return user.ID, nil
		}
	}
	if email == "" {
		return 0, errors.New(
			`there is no superuser yet: "hostpanel serve" makes the first, and so does "hostpanel user create EMAIL --superuser"`,
		)
	}
	return 0, fmt.Errorf(`%s is not an active superuser: "hostpanel user list" shows who is`, email)
}

type keysChange struct {
	ID     string   `arg:"" help:"As the list shows it."`
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"What changes."`
}

// Help tells how fields are written.
func (keysChange) Help() string { return fieldsOfKeys }

// Run changes a key.
func (cmd keysChange) Run(ctx context.Context, s config.Settings, c console.Console) error {
	spec := storefront.APIKey{}
	sent, err := fieldsFrom(spec.Fields(), cmd.Fields, field.Patch)
	if err != nil {
		return err
	}
	return commandKey(ctx, s, c, cmd.ID, "changed", func(p *program.Program) domain.Command {
		return storefront.ChangeKey{ID: cmd.ID, Spec: sent.Values(), At: p.Store.Clock().Now()}
	})
}

type keysRevoke struct {
	ID string `arg:"" help:"As the list shows it."`
}

// Run ends a key. Other processes may take five seconds to notice.
func (cmd keysRevoke) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return commandKey(ctx, s, c, cmd.ID, "ended", func(p *program.Program) domain.Command {
		return storefront.RevokeKey{ID: cmd.ID, At: p.Store.Clock().Now()}
	})
}

func commandKey(
	ctx context.Context, s config.Settings, c console.Console, id, done string,
	command func(*program.Program) domain.Command,
) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		_, err := p.Store.Execute(ctx, program.AtConsole, command(p))
		if domain.CodeOf(err) == domain.NotFound {
			return fmt.Errorf("there is no key %s", id)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "the key %s is %s\n", id, done)
		return nil
	})
}
