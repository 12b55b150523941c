package projections

import (
	"context"

	"hostpanel/domain/account"
)

// An Identity is a user with what they may do in their active tenant. Who is
// no longer a member of it, and no superuser, has none.
type Identity struct {
	User
	Role account.Role // "": none
}

// Identity tells who a user is, by one read.
func (s Scope) Identity(ctx context.Context, id int64) (Identity, bool, error) {
	w := s.self("u.id")
	w.and("u.id = ?", id)
	return maybe(one[Identity](ctx, s, "User", `
		select u.id, u.subject, u.email, u.name, u.language, u.is_superuser, u.is_active,
			case when u.is_superuser or m.role is not null then u.active_tenant end as active_tenant,
			u.has_password, u.opened_for, u.created_at, u.updated_at, u.version, coalesce(m.role, '') as role
		from users u left join memberships m on m.user_id = u.id and m.tenant = u.active_tenant`, w))
}
