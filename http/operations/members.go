package operations

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A membershipRecord is a tenant for which a user may act.
type membershipRecord struct {
	projections.Membership
	user projections.User
}

// Tag is that of the user, of whose history the membership is a part.
func (m *membershipRecord) Tag() string {
	tag := record.Tag("membership", strconv.FormatInt(m.UserID, 10)+"-"+strconv.FormatInt(m.Tenant, 10), m.user.Version)
	return tag + "." + strconv.Itoa(m.TenantVersion)
}

// A membershipForm is what operators say of a new membership.
type membershipForm struct {
	Tenant int64
	Role   account.Role
}

// Fields are the form of a new membership.
func (m *membershipForm) Fields() field.Set {
	return field.Set{field.Ref("tenant", &m.Tenant).Required(), projections.RoleField(&m.Role)}
}

func (s *users) membershipRoutes() []route.Route {
	const inactive = "The user is not active (invalid_state), or others were faster."
	return []route.Route{
		route.Post(membershipsPath, "Let a user act for a tenant", s.grantMembership).As("membership_create").Of("User").For(
			s.callers.SuperuserConfirmed(),
		).
			Finding(s.findUser).Checking(route.Check(s.checkMembership)).Resuming(s.showMembership).
			Saying("The first tenant becomes the active one.").Failing(http.StatusConflict, inactive),
		route.Patch(membershipPath, "Change what a user may do for a tenant", s.changeMembership).
			As("membership_change").Of("Membership").For(
			s.callers.SuperuserConfirmed(),
		).
			Finding(s.findMembership).Resuming(s.showMembership).Failing(http.StatusConflict, inactive),
		route.Delete(membershipPath, "Let a user act for a tenant no longer", s.revokeMembership).
			As("membership_delete").Of("Membership").For(
			s.callers.SuperuserConfirmed(),
		).
			Finding(s.findMembership).Failing(http.StatusConflict, lostRace),
	}
}

// membership is what a user may do for a tenant.
func (s *users) membership(ctx context.Context, c route.Call, user, tenant int64) (*membershipRecord, error) {
	u, err := s.userRecord(ctx, c, user)
	if err != nil {
		return nil, err
	}
	for i := range u.Memberships {
		if m := &u.Memberships[i]; m.Tenant == tenant {
			return m, nil
		}
	}
	return nil, route.Missing("Membership")
}

func (s *users) findMembership(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.membership(ctx, c, c.ID("id"), c.ID("tenant")))
}

// checkMembership looks for the tenant.
func (s *users) checkMembership(ctx context.Context, c route.Call, m *membershipForm, wrong *field.Errors) error {
	return record.MayRefer(wrong, "tenant", &m.Tenant, s.tenantExists(ctx, c))
}

var errMemberAlready = domain.RefuseField(field.NonField, "The fields user, tenant must make a unique set.")

// grantMembership makes a user a member who is none.
func (s *users) grantMembership(ctx context.Context, c route.Call, m *membershipForm) (*membershipRecord, error) {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	c.Location(strings.TrimSuffix(c.Path, "/") + "/" + strconv.FormatInt(m.Tenant, 10) + "/")
	grant := func(u *userRecord) error {
		if slices.ContainsFunc(u.Memberships, func(known membershipRecord) bool { return known.Tenant == m.Tenant }) {
			return errMemberAlready
		}
		return s.setRole(ctx, c, u.User, m.Tenant, m.Role)
	}
	err := record.Persist(c, u, grant, func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) })
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*membershipRecord, error) { return s.membership(ctx, c, u.ID, m.Tenant) })
}

// showMembership answers a repeat whose first answer was never given.
func (s *users) showMembership(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	tenant := c.ID("tenant")
	if made, err := strconv.ParseInt(path.Base(location), 10, 64); err == nil && tenant == 0 {
		tenant = made
	}
	m, err := record.Shown(c, func() (*membershipRecord, error) { return s.membership(ctx, c, c.ID("id"), tenant) })
	if err != nil {
		return nil, err
	}
	return m.Fields(), nil
}

func (s *users) changeMembership(ctx context.Context, c route.Call, m *membershipRecord) (*membershipRecord, error) {
	role := m.Role
	find := func() (*membershipRecord, error) { return s.membership(ctx, c, m.UserID, m.Tenant) }
	err := record.Persist(c, m, func(m *membershipRecord) error { return s.setRole(ctx, c, m.user, m.Tenant, role) }, find)
	if err != nil {
		return nil, err
	}
	return record.Shown(c, find)
}

// setRole says what a user may do for a tenant. The user is in the version that
// was found, so that a removed member is not added again.
func (s *users) setRole(ctx context.Context, c route.Call, u projections.User, tenant int64, role account.Role) error {
	if !u.IsActive {
		return notActive
	}
	cause := c.Cause()
	cause.ExpectedVersions = domain.Versions{account.Stream(u.ID): u.Version}
	_, err := s.commands.Execute(ctx, cause, account.GrantMembership{User: u.ID, Tenant: tenant, Role: role, At: s.callers.Now()})
	return err
}

func (s *users) revokeMembership(ctx context.Context, c route.Call) error {
	m := c.Subject.(*membershipRecord) //nolint:forcetypeassert // found by findMembership
	return record.Execute(
		ctx, s.commands, c, m.user.Version,
		account.RevokeMembership{User: m.UserID, Tenant: m.Tenant, At: s.callers.Now()},
	)
}
