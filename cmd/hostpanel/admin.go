package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/projections"
)

// ensureAdmin opens the first superuser's account when there is none. A
// password that was drawn is shown once, and nowhere kept.
func (p *program) ensureAdmin(ctx context.Context, c console) error {
	superusers, err := p.tables.For(projections.System).Superusers(ctx)
	if err != nil || len(superusers) > 0 {
		return err
	}
	ids, err := p.store.NextIDs(ctx, "user")
	if err != nil {
		return err
	}
	l := login{Username: p.config.adminEmail, Password: cmp.Or(p.config.adminPassword, newPassword())}
	s := seeder{program: p, at: time.Now().UTC()}
	s.user(ctx, ids[0], l, "Administrator", true)
	if s.err != nil {
		return s.err
	}
	_, err = p.store.ExecuteWith(ctx, domain.Metadata{Actor: "system:setup"}, s.rows, s.commands...)
	if domain.CodeOf(err) == domain.Invalid { // another process, which starts at the same time, has done it
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the first superuser's account: %w", err)
	}
	if p.config.adminPassword == "" {
		fmt.Fprintf(c.err, "\nFirst superuser: %s\nPassword:        %s   (shown only this once)\n\n", l.Username, l.Password)
	}
	return nil
}
