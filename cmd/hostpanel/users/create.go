package users

import (
	"context"
	"encoding/json"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

type userCreate struct {
	console.PasswordInput
	Email     string `arg:"" help:"Address, which is the user name too."`
	Superuser bool   `help:"May operate the whole installation."`
	Tenant    int64  `placeholder:"ID" help:"Tenant to belong to."`
	Role      string `placeholder:"ROLE" help:"In that tenant: member (default) or admin."`
	Name      string `help:"Of the person."`
	Language  string `placeholder:"es" help:"Of mails and pages; none: HOSTPANEL_LANGUAGE."`
	SendLink  bool   `xor:"password" help:"Mail a link to choose a password, instead of setting one."`
}

// Run opens an account, by the rules and with the words of the API.
func (u userCreate) Run(ctx context.Context, s config.Settings, c console.Console) error {
	if u.Role != "" && u.Tenant == 0 {
		return console.Misused("--role goes with a --tenant")
	}
	person, err := u.person(s.Language)
	if err != nil {
		return err
	}
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		if err := mayOpen(ctx, p, person, u.Tenant); err != nil {
			return err
		}
		password, err := u.password(ctx, c, person.email)
		if err != nil {
			return err
		}
		if err := openAccount(ctx, p, person, u, password); err != nil {
			return err
		}
		fmt.Fprintf(
			c.Out, "%s has an account%s\n", console.OneLine(person.email),
			map[bool]string{true: "; the link to choose a password is on its way"}[u.SendLink],
		)
		return nil
	})
}

// password is the one that the account begins with; none if a link is sent.
func (u userCreate) password(ctx context.Context, c console.Console, username string) (string, error) {
	if u.SendLink {
		return "", nil
	}
	return u.Read(ctx, c, func(p string) error { return account.CheckPassword(p, username) })
}

// A person is who an account is opened for.
type person struct{ email, name, language, role string }

// Fields are the rules for what is said about a person: those of the API.
func (p *person) Fields() field.Set {
	return field.Set{
		field.Text("email", &p.email).Is(field.Email).Required(),
		field.Text("name", &p.name).Blank().Max(200),
		field.Text("language", &p.language).Spoken(),
		field.Text("role", &p.role).Among(string(account.Member), string(account.Admin)).Default(string(account.Member)),
	}
}

// person reads the arguments as the API would.
func (u userCreate) person(otherwise string) (p person, err error) {
	given := map[string]string{"email": u.Email, "name": u.Name}
	for name, value := range map[string]string{"language": u.Language, "role": u.Role} {
		if value != "" {
			given[name] = value
		}
	}
	text, err := json.Marshal(given)
	if err == nil {
		_, err = p.Fields().Speaking(otherwise).DecodeJSON(text, field.Create)
	}
	return p, err
}

// mayOpen refuses early what the log would refuse in the end, so that no
// password is asked for in vain.
func mayOpen(ctx context.Context, p *program.Program, who person, tenant int64) error {
	all := p.Tables.For(projections.System)
	_, taken, err := all.Accounts().UserByEmail(ctx, who.email)
	if err == nil && taken {
		err = domain.RefuseField("email", field.AlreadyExists("user", "email"))
	}
	if err != nil || tenant == 0 {
		return err
	}
	found, err := all.Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: tenant})
	if domain.CodeOf(err) == domain.NotFound || err == nil && found.Status == hosting.Gone {
		err = domain.RefuseField("tenant", field.NoSuchPK(tenant))
	}
	return err
}

func openAccount(ctx context.Context, p *program.Program, who person, u userCreate, password string) error {
	ids, err := p.Store.NextIDs(ctx, "user")
	if err != nil {
		return err
	}
	subject, err := p.Store.Subject(ctx, who.email)
	if err != nil {
		return err
	}
	at := p.Store.Clock().Now().UTC()
	open := account.Open{
		User: ids[0], SubjectID: subject, Email: who.email, Name: who.name, Language: who.language, Superuser: u.Superuser, At: at,
	}
	var more []domain.Command
	if u.Tenant != 0 {
		more = append(more, account.GrantMembership{User: ids[0], Tenant: u.Tenant, Role: account.Role(who.role), At: at})
	}
	return p.Sagas.Accounts.Open(ctx, program.AtConsole, open, password, more...)
}
