package projections

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/eventstore"
)

// users is who may sign in, and to which tenants they belong. The table of
// superusers has one row, and a check that there is one: it is counted anew
// whenever one of them leaves, while no other process writes.
var users = New("users", `
	create table users (
		id               bigint  primary key,
		subject          uuid    not null,
		email            text    not null, -- also the user name (blank: erased)
		email_key        text    not null generated always as (lower(email)) stored,
		name             text    not null,
		search           text    not null generated always as (lower(email || chr(10) || name)) stored,
		language         text    not null,
		is_superuser     boolean not null,
		is_active        boolean not null default true,
		active_tenant    bigint,
		has_password     boolean not null default false,
		second_factor    boolean not null default false, -- a sign-in needs a code too
		session_version  int     not null default 1,
		password_version int     not null default 0, -- the session version that the last change of the password made
		last_login_at    timestamptz,
		opened_for       text    not null, -- "order:<uuid>", or blank
		erased_at        timestamptz,
		email_refused_at timestamptz, -- a mail server has refused the address for good
		created_at       timestamptz not null,
		updated_at       timestamptz not null,
		version          int     not null  -- of the user's stream
	) with (fillfactor = 80);
	create unique index users_email on users (email_key) where email_key <> '';
	create index users_newest on users (created_at desc, id desc) where erased_at is null;
	create index users_subject on users (subject);
	create index users_superusers on users (id) where is_superuser;

	create table superusers (
		only_row boolean primary key default true check (only_row),
		active   bigint  not null constraint last_superuser check (active > 0)
	);

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
		func(at eventstore.RecordedEvent, e account.Opened) []any {
			return user(at, e.SubjectID, e.Email, e.Name, e.Language, e.Superuser, e.For)
		}).Unique("users_email", errAddressTaken),
	userChange(`email_refused_at = case when subject = $3 then email_refused_at end, subject = $3, email = $4, name = $5, language = $6`, func(e account.ProfileChanged) []any {
		return []any{e.SubjectID, e.Email, e.Name, e.Language}
	}).Unique("users_email", errAddressTaken),
	userChange(`active_tenant = $3`, func(e account.TenantActivated) []any { return []any{orNull(e.Tenant)} }),
	userChange(`has_password = true, session_version = session_version + 1, password_version = session_version + 1`,
		func(account.PasswordChanged) []any { return nil }),
	userChange(`session_version = session_version + 1`, func(account.SessionsEnded) []any { return nil }),
	userChange(`second_factor = true, session_version = session_version + 1`, func(account.SecondFactorEnabled) []any { return nil }),
	userChange(`second_factor = false`, func(account.SecondFactorDisabled) []any { return nil }),
	userChange(``, func(account.RecoveryCodesRenewed) []any { return nil }),
	userChange(`is_active = false, session_version = session_version + 1`, func(account.Deactivated) []any { return nil }),
	userChange(`is_active = true`, func(account.Reactivated) []any { return nil }),
	userChange(`is_superuser = true`, func(account.SuperuserGranted) []any { return nil }),
	userChange(`is_superuser = false, session_version = session_version + 1`, func(account.SuperuserRevoked) []any { return nil }),
	userChange(``, func(account.LinkRequested) []any { return nil }),
	userChange(`email_refused_at = recorded_at()`, func(account.AddressRefused) []any { return nil }),
	userChange(`email_refused_at = null`, func(account.AddressAccepted) []any { return nil }),
	userChange(``, func(account.MembershipGranted) []any { return nil }),
	userChange(``, func(account.MembershipRevoked) []any { return nil }),

	On(countSuperusers+`exists (select from users where id = $1 and is_superuser)`+instead,
		func(at eventstore.RecordedEvent, _ account.Deactivated) []any { return []any{at.Stream.ID} }).
		Unique("last_superuser", account.ErrLastSuperuser),
	On(countSuperusers+`true`+instead, func(eventstore.RecordedEvent, account.SuperuserRevoked) []any { return []any{} }).
		Unique("last_superuser", account.ErrLastSuperuser),

	On(`update users set last_login_at = recorded_at() where id = $1`,
		func(at eventstore.RecordedEvent, _ account.SignedIn) []any { return []any{at.Stream.ID} }),
	erasing(`update users set email = '', name = '', email_refused_at = null, erased_at = recorded_at() where subject = $1`),

	On(`insert into memberships (user_id, tenant, role, granted_at) values ($1, $2, $3, recorded_at())
		on conflict (user_id, tenant) do update set role = excluded.role`,
		func(at eventstore.RecordedEvent, e account.MembershipGranted) []any {
			return []any{at.Stream.ID, e.Tenant, e.Role}
		}),
	On(`delete from memberships where user_id = $1 and tenant = $2`,
		func(at eventstore.RecordedEvent, e account.MembershipRevoked) []any {
			return []any{at.Stream.ID, e.Tenant}
		}),
).
	ReadBy("users", operators, ofUser("id")).
	ReadBy("memberships", operators, ofTenant("tenant"), ofUser("user_id"))

var errAddressTaken = domain.RefuseField("email", field.AlreadyExists("user", "email"))

const (
	countSuperusers = `insert into superusers (active) select (select count(*) from users where is_superuser and is_active) where `
	instead         = ` on conflict (only_row) do update set active = excluded.active`
)

// user are the arguments of a statement: which user, the version of the
// stream, and more from $3 on.
func user(at eventstore.RecordedEvent, more ...any) []any {
	return append([]any{at.Stream.ID, at.Version}, more...)
}

// userChange is what an event does to the row of its user: at least it raises
// the version that an ETag shows. The arguments begin with $3.
func userChange[E domain.Event](set string, args func(E) []any) Handler {
	if set != "" {
		set += ", "
	}
	return On(`update users set `+set+`updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.RecordedEvent, e E) []any { return user(at, args(e)...) })
}

// A User may sign in.
type User struct {
	ID              int64
	Subject         uuid.UUID // of the person's data
	Email           string    // also the user name; blank once erased
	Name            string
	Language        string
	IsSuperuser     bool
	IsActive        bool
	ActiveTenant    *int64
	HasPassword     bool
	SecondFactor    bool // a sign-in needs a code too
	SessionVersion  int  // sessions and tokens that name another are over
	PasswordVersion int  // the session version that the last change of the password made; 0: none
	LastLoginAt     *time.Time
	OpenedFor       string // "order:<uuid>", or blank
	ErasedAt        *time.Time
	EmailRefusedAt  *time.Time // since when mail servers have refused the address; nil: they have not
	CreatedAt       time.Time
	UpdatedAt       time.Time
	Version         int // of the user's stream
}

const userColumns = `u.id, u.subject, u.email, u.name, u.language, u.is_superuser, u.is_active, u.active_tenant, ` + userStanding

const userStanding = `u.has_password, u.second_factor, u.session_version, u.password_version, u.last_login_at, u.opened_for, u.erased_at, u.email_refused_at,
	u.created_at, u.updated_at, u.version`

// A Membership lets a user act for a tenant.
type Membership struct {
	UserID     int64
	Tenant     int64
	TenantName string
	Role       account.Role
	GrantedAt  time.Time

	TenantVersion int // of the tenant's stream, from which its name is
}

const fromUsers = ` from users u`

// User returns a user: one's own account, or any for operators. One that was
// erased is there for the program itself alone.
func (s AccountReader) User(ctx context.Context, id int64) (User, error) {
	w := s.users()
	w.and("u.id = ?", id)
	return one[User](ctx, s, "User", `select `+userColumns+fromUsers, w)
}

// users is the scope of accounts.
func (s AccountReader) users() *where {
	w := s.self("u.id")
	if !s.caller.System {
		w.conditions = append(w.conditions, notErased)
	}
	return w
}

const notErased = `u.erased_at is null`

// UserNames are the names of those of the users whom the caller may know, by their
// numbers; of a user without a name it is the address.
func (s AccountReader) UserNames(ctx context.Context, users map[int64]bool) (map[int64]string, error) {
	if len(users) == 0 {
		return nil, nil
	}
	w := s.self("id")
	w.and("id = any(?)", slices.Collect(maps.Keys(users)))
	found, err := list[struct {
		ID   int64
		Name string
	}](ctx, s, `select id, coalesce(nullif(name, ''), email) as name from users`, w, "")
	names := map[int64]string{}
	for _, one := range found {
		names[one.ID] = one.Name
	}
	return names, err
}

// UserByEmail finds who has the address, in whatever case it is written.
func (s AccountReader) UserByEmail(ctx context.Context, email string) (User, bool, error) {
	w := s.operators()
	w.and("u.email_key = lower(?)", strings.TrimSpace(email))
	w.conditions = append(w.conditions, `u.email_key <> ''`)
	return maybe(one[User](ctx, s, "User", `select `+userColumns+fromUsers, w))
}

// UserBySubject finds the account of the person whose data has this subject.
func (s AccountReader) UserBySubject(ctx context.Context, subject uuid.UUID) (User, bool, error) {
	w := s.operators()
	w.and("u.subject = ?", subject)
	return maybe(one[User](ctx, s, "User", `select `+userColumns+fromUsers, w))
}

// Superusers are all who may operate the installation, oldest first.
func (s AccountReader) Superusers(ctx context.Context) ([]User, error) {
	w := s.operators()
	return list[User](ctx, s, `select `+userColumns+fromUsers, w, " and u.is_superuser and u.is_active order by u.id")
}

var usersBy = listedBy{
	columns: userColumns, from: "users u", id: "u.id", search: "u.search",
	fields: with(fieldsOf("u", "email", "name", "language", "is_superuser", "is_active", "active_tenant", "last_login_at"),
		"username", "u.email"),
}

// Users lists accounts to operators: by username, email, name, language,
// is_superuser, is_active, active_tenant, last_login_at, and the tenant for which they
// may act. Erased ones are gone.
func (s AccountReader) Users(ctx context.Context, l Listing) (Listed[User], error) {
	w := s.operators()
	w.conditions = append(w.conditions, notErased)
	l.Filters = w.taking(l.Filters, "tenant", "exists (select from memberships m where m.user_id = u.id and m.tenant = ?)")
	return part[User](ctx, s, usersBy, w, l)
}

const membershipColumns = `m.user_id, m.tenant, coalesce(t.spec ->> 'name', '') as tenant_name, m.role, m.granted_at, coalesce(t.version, 0) as tenant_version`

const fromMemberships = ` from memberships m left join resources t on t.kind = 'tenant' and t.id = m.tenant`

// inService leaves out memberships of tenants that are no more: they grant
// nothing.
const inService = `t.present is distinct from false`

// Memberships are the tenants that a user may act for: one's own, or any user's
// for operators.
func (s AccountReader) Memberships(ctx context.Context, user int64) ([]Membership, error) {
	w := s.allOr(owned("m.user_id", s.caller.User)) // though colleagues' rows may be read, see Members
	w.and("m.user_id = ?", user)
	w.conditions = append(w.conditions, inService)
	return list[Membership](ctx, s, `select `+membershipColumns+fromMemberships, w, " order by m.tenant")
}

// MembershipsOf are those of several users at once, to operators.
func (s AccountReader) MembershipsOf(ctx context.Context, users ...int64) ([]Membership, error) {
	w := s.operators()
	w.and("m.user_id = any(?)", users)
	w.conditions = append(w.conditions, inService)
	return list[Membership](ctx, s, `select `+membershipColumns+fromMemberships, w, " order by m.user_id, m.tenant")
}

// Members are the users who may act for the caller's tenant.
func (s AccountReader) Members(ctx context.Context, tenant int64) ([]Membership, error) {
	w := s.tenantOrAll("m.tenant")
	w.and("m.tenant = ?", tenant)
	return list[Membership](ctx, s, `select `+membershipColumns+fromMemberships, w, " order by m.user_id")
}
