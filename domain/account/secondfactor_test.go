package account_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

var factorOn = account.SecondFactorEnabled{At: noon}

func TestASecondFactorIsSwitchedOnOnce(t *testing.T) {
	enable := account.EnableSecondFactor{User: 12, At: noon}
	given(t, opened).When(enable).Then(factorOn)
	given(t, opened, factorOn).When(enable).ThenRefused(domain.Conflict, "The second factor is on already.")
	given(t, opened, gone).When(enable).ThenRefused(domain.NotFound, noUser)
	given(t).When(enable).ThenRefused(domain.NotFound, noUser)
	given(t, opened, factorOn, account.SecondFactorDisabled{At: noon}).When(enable).Then(factorOn)
}

func TestASecondFactorIsSwitchedOff(t *testing.T) {
	disable := account.DisableSecondFactor{User: 12, Reason: " lost ", At: noon}
	off := account.SecondFactorDisabled{Reason: "lost", At: noon}
	given(t, opened, factorOn).When(disable).Then(off)
	given(t, opened, factorOn, gone).When(disable).Then(off) // before the account is opened again
	given(t, opened).When(disable).ThenRefused(domain.Conflict, "The second factor is not on.")
	given(t).When(disable).ThenRefused(domain.NotFound, noUser)
}

func TestANewPasswordDoesNotSwitchTheSecondFactorOff(t *testing.T) {
	if u := account.Decider.Replay(opened, factorOn, account.PasswordChanged{At: noon}); !u.SecondFactor || u.SessionVersion != 3 {
		t.Errorf("%+v", u)
	}
}

func TestRecoveryCodesBelongToASecondFactor(t *testing.T) {
	renew := account.RenewRecoveryCodes{User: 12, At: noon}
	given(t, opened, factorOn).When(renew).Then(account.RecoveryCodesRenewed{At: noon})
	given(t, opened).When(renew).ThenRefused(domain.Conflict, "The second factor is not on.")
	given(t, opened, factorOn, gone).When(renew).ThenRefused(domain.NotFound, noUser)
	u := account.Decider.Replay(opened, factorOn, account.RecoveryCodesRenewed{At: noon}, account.SecondFactorDisabled{At: noon})
	if u.SecondFactor || u.SessionVersion != 2 {
		t.Errorf("%+v", u)
	}
}
