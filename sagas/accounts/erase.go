package accounts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/projections"
)

// Erase ends an account and destroys the personal data in it: the keys of the
// person's data, and everything to sign in with (docs/log.md, "Personal data").
// The engine gets neutral contact data by the runs that it starts. Mails to the
// person that are files are deleted; after a crash in between that is done by hand.
// A second time changes nothing.
func (s *Service) Erase(ctx context.Context, cause domain.Metadata, user int64) error {
	subjects, addresses, err := s.subjects(ctx, user)
	if err != nil {
		return err
	}
	return s.erase(ctx, cause, subjects, addresses, user)
}

// EraseSubject erases a person again in a database that comes from a backup older than
// the erasure. Other subjects of the same person are in the list of erasures too.
func (s *Service) EraseSubject(ctx context.Context, subject uuid.UUID) error {
	owner, known, err := s.tables.For(projections.System).Accounts().UserBySubject(ctx, subject)
	if err != nil {
		return err
	}
	cause, subjects := domain.Metadata{Actor: "system:erasures"}, []uuid.UUID{subject}
	if !known {
		return s.erase(ctx, cause, subjects, nil)
	}
	return s.erase(ctx, cause, subjects, []string{owner.Email}, owner.ID)
}

// erase is one transaction. Then the mails to the addresses are deleted, and the list of
// erasures is written.
func (s *Service) erase(ctx context.Context, cause domain.Metadata, subjects []uuid.UUID, addresses []string, users ...int64) error {
	var commands []domain.Command
	rows := append(
		eventstore.EraseRows(subjects...), s.forget(subjects), idempotency.EraseAnswers(subjects...), credentials.ForgetShown(subjects),
	)
	for _, user := range users {
		commands = append(commands, account.Deactivate{User: user, At: s.runner.Now()})
		rows = append(rows, credentials.SignOutRows(user)...)
	}
	for _, subject := range subjects {
		commands = append(commands, account.EraseSubject{Subject: subject, At: s.runner.Now()})
	}
	pushes, err := s.pushes(ctx, subjects)
	if err != nil {
		return err
	}
	if _, err := s.store.ExecuteWith(ctx, cause, rows, append(commands, pushes...)...); err != nil {
		return err
	}
	if s.listed != nil {
		s.listed(context.WithoutCancel(ctx))
	}
	if s.outbox == nil {
		return nil
	}
	return s.outbox.Forget(ctx, addresses)
}

// pushes bring what the panel still knows to the engine, in place of the contact
// data that the engine has of these people. They come after the erasures, so the
// runs that they start find no personal data.
func (s *Service) pushes(ctx context.Context, subjects []uuid.UUID) (commands []domain.Command, err error) {
	found, err := s.tables.For(projections.System).Hosting().WithContactOf(ctx, subjects)
	for _, r := range found {
		commands = append(commands, hosting.Push{Ref: hosting.Ref{Kind: r.Kind, ID: r.ID}})
	}
	return commands, err
}

// subjects are those of a user's data: one for each address that the account
// has had, and the addresses. One that another account has by now is left out.
func (s *Service) subjects(ctx context.Context, user int64) (all []uuid.UUID, addresses []string, err error) {
	history, err := s.store.Read(ctx, account.Stream(user))
	if err != nil {
		return nil, nil, err
	}
	for _, r := range history {
		for _, subject := range r.Subjects {
			if slices.Contains(all, subject) {
				continue
			}
			owner, known, err := s.tables.For(projections.System).Accounts().UserBySubject(ctx, subject)
			if err != nil {
				return nil, nil, err
			}
			if !known || owner.ID == user {
				all, addresses = append(all, subject), append(addresses, addressIn(r.Event)...)
			}
		}
	}
	return all, addresses, nil
}

// addressIn is the address that an event gives an account; none: it was erased, or
// is not told.
func addressIn(event domain.Event) (addresses []string) {
	var email string
	switch e := event.(type) {
	case account.Opened:
		email = e.Email
	case account.ProfileChanged:
		email = e.Email
	}
	if email == "" {
		return nil
	}
	return []string{email}
}
