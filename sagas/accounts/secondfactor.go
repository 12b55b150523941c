package accounts

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

// errNoProposal refuses to confirm a second factor that is not being set up.
var errNoProposal error = &domain.Error{
	Code: domain.Conflict, Message: "No second factor is being set up, or it took more than an hour. Begin again.", Reason: "invalid_state",
}

// ProposeFactor makes the secret of a second factor, and returns it. It is not in
// force before [Service.EnableFactor].
func (s *Service) ProposeFactor(ctx context.Context, user int64) (secret string, err error) {
	secret = credentials.NewFactorSecret()
	err = s.vault.ProposeFactor(ctx, user, secret)
	if errors.Is(err, credentials.ErrProposal) {
		err = account.ErrSecondFactorOn
	}
	return secret, err
}

// ProposedFactor returns the secret that is being set up; "": there is none.
func (s *Service) ProposedFactor(ctx context.Context, user int64) (secret string, err error) {
	secret, err = s.vault.ProposedFactor(ctx, user)
	if errors.Is(err, credentials.ErrProposal) {
		err = nil
	}
	return secret, err
}

// EnableFactor puts the proposed second factor in force, if the code is right, and
// returns recovery codes. Sessions and tokens of the user end. A wrong code is
// refused at the field otp.
func (s *Service) EnableFactor(ctx context.Context, cause domain.Metadata, user int64, code string) ([]string, error) {
	confirm, err := s.vault.ConfirmFactor(ctx, user, code)
	if err != nil {
		return nil, orNoProposal(err)
	}
	if confirm == nil {
		return nil, domain.RefuseField("otp", "The code is wrong.")
	}
	codes, rows, err := s.recovery(ctx, user)
	if err != nil {
		return nil, err
	}
	_, err = s.store.ExecuteWith(ctx, cause, slices.Concat(confirm, rows), account.EnableSecondFactor{User: user, At: s.runner.Now()})
	return codes, orNoProposal(err)
}

// RenewRecoveryCodes makes new recovery codes for a user with a second factor. The
// former ones end.
func (s *Service) RenewRecoveryCodes(ctx context.Context, cause domain.Metadata, user int64) ([]string, error) {
	codes, rows, err := s.recovery(ctx, user)
	if err != nil {
		return nil, err
	}
	_, err = s.store.ExecuteWith(ctx, cause, rows, account.RenewRecoveryCodes{User: user, At: s.runner.Now()})
	return codes, err
}

// DisableFactor lets the password suffice again. An operator gives a reason.
func (s *Service) DisableFactor(ctx context.Context, cause domain.Metadata, user int64, reason string) error {
	_, err := s.store.ExecuteWith(
		ctx, cause, credentials.DropFactorRows(user),
		account.DisableSecondFactor{User: user, Reason: reason, At: s.runner.Now()},
	)
	return err
}

// RecoveryCodesLeft is the number of recovery codes that a user has not used.
func (s *Service) RecoveryCodesLeft(ctx context.Context, user int64) (int, error) {
	return s.vault.RecoveryCodesLeft(ctx, user)
}

// recovery makes a set of recovery codes, and the rows that store it.
func (s *Service) recovery(ctx context.Context, user int64) ([]string, []eventstore.TxStatement, error) {
	codes, hashes, err := s.vault.NewRecoveryCodes(ctx)
	return codes, credentials.RecoveryRows(user, hashes), err
}

func orNoProposal(err error) error {
	if errors.Is(err, credentials.ErrProposal) {
		return errNoProposal
	}
	return err
}
