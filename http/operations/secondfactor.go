package operations

import (
	"context"
	"net/http"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

func (s *users) disableFactorRoute() route.Route {
	return route.Post(userPath+"disable_second_factor/", "Switch off the second factor of a user who has lost it", s.disableFactor).
		As("user_disable_second_factor").Of("User").For(s.SuperuserConfirmed()).Finding(s.findUser).With(http.StatusOK).
		Saying("Make sure first that it is the user who asks. The password suffices then, and the recovery codes end.").
		Failing(http.StatusConflict, "The second factor is not on (invalid_state), or others were faster.")
}

func (s *users) disableFactor(ctx context.Context, c route.Call, why *verdict) (*userRecord, error) {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	if err := s.Accounts.DisableFactor(ctx, c.CauseOf(domain.Versions{account.Stream(u.ID): u.Version}), u.ID, why.Reason); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) })
}
