package account

import (
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A second factor is asked for beside the password (docs/accounts.md, "Second
// factor"). Its secret and the recovery codes stand outside the log; here is
// only that it was switched on or off.

type (
	// EnableSecondFactor asks the user for a code at every sign-in from now on.
	EnableSecondFactor struct {
		User int64
		At   time.Time
	}
	// DisableSecondFactor lets the password suffice again. An operator gives a
	// reason.
	DisableSecondFactor struct {
		User   int64
		Reason string
		At     time.Time
	}
	// RenewRecoveryCodes records that the user has new recovery codes, which
	// replace the former ones.
	RenewRecoveryCodes struct {
		User int64
		At   time.Time
	}
)

// ErrSecondFactorOn refuses to set up a second factor beside another one.
var ErrSecondFactorOn error = &domain.Error{
	Code: domain.Conflict, Message: "The second factor is on already.", Reason: "invalid_state",
}

// ErrSecondFactorOff refuses what only an account with a second factor can do.
var ErrSecondFactorOff error = &domain.Error{
	Code: domain.Conflict, Message: "The second factor is not on.", Reason: "invalid_state",
}

func (c EnableSecondFactor) decide(u User) ([]Event, error) {
	switch {
	case !u.Active:
		return nil, u.absent()
	case u.SecondFactor:
		return nil, ErrSecondFactorOn
	}
	return []Event{SecondFactorEnabled{At: c.At}}, nil
}

func (c DisableSecondFactor) decide(u User) ([]Event, error) {
	switch {
	case !u.Exists:
		return nil, u.absent()
	case !u.SecondFactor:
		return nil, ErrSecondFactorOff
	}
	return []Event{SecondFactorDisabled{Reason: strings.TrimSpace(c.Reason), At: c.At}}, nil
}

func (c RenewRecoveryCodes) decide(u User) ([]Event, error) {
	switch {
	case !u.Active:
		return nil, u.absent()
	case !u.SecondFactor:
		return nil, ErrSecondFactorOff
	}
	return []Event{RecoveryCodesRenewed{At: c.At}}, nil
}

func (c EnableSecondFactor) Stream() domain.Stream  { return Stream(c.User) }
func (c DisableSecondFactor) Stream() domain.Stream { return Stream(c.User) }
func (c RenewRecoveryCodes) Stream() domain.Stream  { return Stream(c.User) }

type (
	// SecondFactorEnabled: a sign-in needs a code from now on. Sessions and
	// tokens that began with the password alone have ended.
	SecondFactorEnabled struct {
		At time.Time `json:"at"`
	}
	// SecondFactorDisabled: the password suffices again. Without a reason, the
	// user did it.
	SecondFactorDisabled struct {
		Reason string    `json:"reason,omitempty"`
		At     time.Time `json:"at"`
	}
	// RecoveryCodesRenewed: the user has new recovery codes.
	RecoveryCodesRenewed struct {
		At time.Time `json:"at"`
	}
)

func (SecondFactorEnabled) EventName() string  { return "account.second_factor_enabled" }
func (SecondFactorDisabled) EventName() string { return "account.second_factor_disabled" }
func (RecoveryCodesRenewed) EventName() string { return "account.recovery_codes_renewed" }

func (SecondFactorEnabled) Says() string  { return "second factor switched on" }
func (RecoveryCodesRenewed) Says() string { return "recovery codes made anew" }

func (e SecondFactorDisabled) Says() string {
	return "second factor switched off" + wording.Around(": ", e.Reason, "")
}

func (SecondFactorEnabled) evolve(u User) User  { u.SecondFactor = true; return u.signedOut() }
func (SecondFactorDisabled) evolve(u User) User { u.SecondFactor = false; return u }
func (RecoveryCodesRenewed) evolve(u User) User { return u }
