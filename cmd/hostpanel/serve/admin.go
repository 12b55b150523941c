package serve

import (
	"cmp"
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/projections"
)

// ensureAdmin opens the first superuser's account when there is none. A
// password that was drawn is shown once, and nowhere kept.
func ensureAdmin(ctx context.Context, p *program.Program, c console.Console) error {
	superusers, err := p.Tables.For(projections.System).Accounts().Superusers(ctx)
	if err != nil || len(superusers) > 0 {
		return err
	}
	ids, err := p.Store.NextIDs(ctx, "user")
	if err != nil {
		return err
	}
	l := Login{Username: p.Config.AdminEmail, Password: cmp.Or(p.Config.AdminPassword, newPassword())}
	s := seeder{program: p, at: p.Store.Clock().Now().UTC()}
	s.user(ctx, ids[0], l, "Administrator", true)
	if s.err != nil {
		return s.err
	}
	_, err = p.Store.ExecuteWith(ctx, domain.Metadata{Actor: "system:setup"}, s.rows, s.commands...)
	if domain.CodeOf(err) == domain.Invalid { // another process, which starts at the same time, has done it
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the first superuser's account: %w", err)
	}
	if p.Config.AdminPassword == "" {
		fmt.Fprintf(c.Err, "\nFirst superuser: %s\nPassword:        %s   (shown only this once)\n\n", l.Username, l.Password)
	}
	return nil
}
