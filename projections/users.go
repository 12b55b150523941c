package projections

import (
	"context"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// users is who may sign in, and to which tenants they belong.
var users = New("users", `
	create table users (
		id            bigint  primary key,
		subject       uuid    not null,
		email         text    not null, -- also the user name (blank: erased)
		name          text    not null,
		language      text    not null,
		is_superuser  boolean not null,
		is_active     boolean not null default true,
		active_tenant bigint,
		has_password  boolean not null default false,
		opened_for    text    not null, -- "order:<uuid>", or blank
		created_at    timestamptz not null,
		updated_at    timestamptz not null,
		version       int     not null  -- of the user's stream
	);
	create unique index users_email on users (lower(email)) where email <> '';
	create index users_subject on users (subject);
	create index users_superusers on users (id) where is_superuser;

	create table memberships (
		user_id    bigint not null,
		tenant     bigint not null,
		role       text   not null, -- member, admin
		granted_at timestamptz not null,
		primary key (user_id, tenant)
	);
	create index memberships_tenant on memberships (tenant)`,

	On(`insert into users (id, subject, email, name, language, is_superuser, opened_for, created_at, updated_at, version)
		values ($1, $3, $4, $5, $6, $7, $8, recorded_at(), recorded_at(), $2)`,
		func(at eventstore.Recorded, e account.Opened) []any {
			return user(at, e.SubjectID, e.Email, e.Name, e.Language, e.Superuser, e.For)
		}).Unique("users_email", domain.RefuseField("email", field.AlreadyExists("user", "email"))),
	On(`update users set active_tenant = $3, updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.Recorded, e account.TenantActivated) []any { return user(at, orNull(e.Tenant)) }),
	On(`update users set has_password = true, updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.Recorded, _ account.PasswordChanged) []any { return user(at) }),
	On(`update users set is_active = false, updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.Recorded, _ account.Deactivated) []any { return user(at) }),

	On(`insert into memberships (user_id, tenant, role, granted_at) values ($1, $2, $3, recorded_at())
		on conflict (user_id, tenant) do update set role = excluded.role`,
		func(at eventstore.Recorded, e account.MembershipGranted) []any {
			return []any{at.Stream.ID, e.Tenant, e.Role}
		}),
	On(`delete from memberships where user_id = $1 and tenant = $2`,
		func(at eventstore.Recorded, e account.MembershipRevoked) []any { return []any{at.Stream.ID, e.Tenant} }),
	userVersion[account.MembershipGranted](),
	userVersion[account.MembershipRevoked](),
).
	ReadBy("users", operators, ofUser("id")).
	ReadBy("memberships", operators, ofTenant("tenant"), ofUser("user_id"))

// user are the arguments of a statement: which user, the version of the
// stream, and more from $3 on.
func user(at eventstore.Recorded, more ...any) []any {
	return append([]any{at.Stream.ID, at.Version}, more...)
}

// userVersion raises the version that an ETag shows.
func userVersion[E domain.Event]() Handler {
	return On(`update users set updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.Recorded, _ E) []any { return user(at) })
}

// A User may sign in.
type User struct {
	ID           int64
	Subject      uuid.UUID // of the person's data
	Email        string    // also the user name; blank once erased
	Name         string
	Language     string
	IsSuperuser  bool
	IsActive     bool
	ActiveTenant *int64
	HasPassword  bool
	OpenedFor    string // "order:<uuid>", or blank
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int // of the user's stream
}

const userColumns = `id, subject, email, name, language, is_superuser, is_active, active_tenant, has_password, opened_for,
	created_at, updated_at, version`

// A Membership lets a user act for a tenant.
type Membership struct {
	UserID     int64
	Tenant     int64
	TenantName string
	Role       account.Role
	GrantedAt  time.Time
}

// User returns a user: one's own account, or any for operators.
func (s Scope) User(ctx context.Context, id int64) (User, error) {
	w := s.self("id")
	w.and("id = ?", id)
	return one[User](ctx, s, "User", `select `+userColumns+` from users`, w)
}

// UserByEmail finds who has the address, in whatever case it is written.
func (s Scope) UserByEmail(ctx context.Context, email string) (User, bool, error) {
	w := s.operators()
	w.and("lower(email) = ?", strings.ToLower(strings.TrimSpace(email)))
	w.and("email <> ?", "")
	return maybe(one[User](ctx, s, "User", `select `+userColumns+` from users`, w))
}

// UserBySubject finds the account of the person whose data has this subject.
func (s Scope) UserBySubject(ctx context.Context, subject uuid.UUID) (User, bool, error) {
	w := s.operators()
	w.and("subject = ?", subject)
	return maybe(one[User](ctx, s, "User", `select `+userColumns+` from users`, w))
}

// Superusers are all who may operate the installation, oldest first.
func (s Scope) Superusers(ctx context.Context) ([]User, error) {
	w := s.operators()
	return list[User](ctx, s, `select `+userColumns+` from users`, w, " and is_superuser and is_active order by id")
}

const membershipColumns = `m.user_id, m.tenant, coalesce(t.spec ->> 'name', '') as tenant_name, m.role, m.granted_at`

const fromMemberships = ` from memberships m left join resources t on t.kind = 'tenant' and t.id = m.tenant`

// Memberships are the tenants that a user may act for: one's own, or anybody's
// for operators.
func (s Scope) Memberships(ctx context.Context, user int64) ([]Membership, error) {
	w := s.allOr(owned("m.user_id", s.caller.User)) // though colleagues' rows may be read, see Members
	w.and("m.user_id = ?", user)
	return list[Membership](ctx, s, `select `+membershipColumns+fromMemberships, w, " order by m.tenant")
}

// Members are the users who may act for the caller's tenant.
func (s Scope) Members(ctx context.Context, tenant int64) ([]Membership, error) {
	w := s.tenantOrAll("m.tenant")
	w.and("m.tenant = ?", tenant)
	return list[Membership](ctx, s, `select `+membershipColumns+fromMemberships, w, " order by m.user_id")
}
