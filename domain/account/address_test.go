package account_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/account"
)

func TestARefusedAddressIsSoUntilItIsAnotherOrAMailGetsThrough(t *testing.T) {
	refuse := account.RefuseAddress{User: 12, SubjectID: ana, Code: "recipient_refused", At: noon}
	accept := account.AcceptAddress{User: 12, SubjectID: ana, At: noon}
	refused, accepted := account.AddressRefused{Code: "recipient_refused", At: noon}, account.AddressAccepted{At: noon}
	elsewhere := account.ProfileChanged{SubjectID: uuid.New(), Email: "ana@example.net", At: noon}
	given(t, opened).When(refuse).Then(refused)
	given(t, opened, refused).When(refuse).Then()
	given(t, opened, refused).When(accept).Then(accepted)
	given(t, opened).When(accept).Then()
	given(t, opened, refused, accepted).When(refuse).Then(refused)
	given(t, opened, refused, profile).When(refuse).Then() // another name, under the same address
	for _, late := range []account.Command{refuse, accept} {
		given(t, opened, refused, elsewhere).When(late).Then() // it is about the address before
		given(t, opened, elsewhere).When(late).Then()
		given(t).When(late).Then()
		given(t, opened, gone).When(late).Then()
	}
	if u := account.Decider.Replay(opened, refused, elsewhere); u.AddressRefused {
		t.Errorf("%+v", u)
	}
}
