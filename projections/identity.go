package projections

import (
	"context"

	"hostpanel/domain/account"
)

// An Identity is a user as they call: who they are, and what they may do in
// the tenant for which they act.
type Identity struct {
	User
	Role account.Role // in the active tenant; "": none, or a superuser who is no member
}

// Identity is read once for each call. A user who has left the active tenant
// acts for none, unless a superuser; a removed tenant is never active.
func (s AccountReader) Identity(ctx context.Context, user int64) (Identity, bool, error) {
	w := s.self("u.id")
	w.and("u.id = ?", user)
	w.conditions = append(w.conditions, notErased)
	return maybe(one[Identity](ctx, s, "User", selectIdentity, w))
}

const selectIdentity = `select u.id, u.subject, u.email, u.name, u.language, u.is_superuser, u.is_active,
		case when ended.id is null and (u.is_superuser or m.tenant is not null) then u.active_tenant end as active_tenant, ` + userStanding + `,
		case when ended.id is null then coalesce(m.role, '') else '' end as role
	from users u left join memberships m on m.user_id = u.id and m.tenant = u.active_tenant
	left join resources ended on ended.kind = 'tenant' and ended.id = u.active_tenant and not ended.present`
