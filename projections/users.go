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
// superusers has one row, which counts the active ones, and a check that there is
// one.
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
		active_through   bigint, -- the tenant that the user administers, whose sub-tenant the active one is
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

	On(func(at eventstore.RecordedEvent, e account.Opened) Change {
		return insert("users", Row{
			{"id", at.Stream.ID},
			{"subject", e.SubjectID},
			{"email", e.Email},
			{"name", e.Name},
			{"language", e.Language},
			{"is_superuser", e.Superuser},
			{"opened_for", e.For},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}).Unique("users_email", errAddressTaken),
	On(func(_ eventstore.RecordedEvent, e account.Opened) Change {
		if !e.Superuser {
			return Change{}
		}
		return count("superusers", onlyRow, Row{{"active", 1}})
	}),
	superusers[account.Reactivated](1, true, false), superusers[account.SuperuserGranted](1, false, true),
	superusers[account.Deactivated](-1, true, true).Unique("last_superuser", account.ErrLastSuperuser),
	superusers[account.SuperuserRevoked](-1, true, true).Unique("last_superuser", account.ErrLastSuperuser),

	userChange(func(e account.ProfileChanged) Row {
		return Row{
			{"email_refused_at", either(is(col("subject"), e.SubjectID), keep, null)},
			{"subject", e.SubjectID},
			{"email", e.Email},
			{"name", e.Name},
			{"language", e.Language},
		}
	}).Unique("users_email", errAddressTaken),
	userChange(func(e account.TenantActivated) Row {
		return Row{{"active_tenant", domain.OrNull(e.Tenant)}, {"active_through", domain.OrNull(e.Through)}}
	}),
	userChange(func(account.PasswordChanged) Row {
		return append(signedOut(), Column{"has_password", true}, Column{"password_version", plus("session_version", 1)})
	}),
	userChange(func(account.SessionsEnded) Row { return signedOut() }),
	userChange(func(account.SecondFactorEnabled) Row { return append(signedOut(), Column{"second_factor", true}) }),
	userChange(func(account.SecondFactorDisabled) Row { return Row{{"second_factor", false}} }),
	userChange(func(account.RecoveryCodesRenewed) Row { return nil }),
	userChange(func(account.Deactivated) Row { return append(signedOut(), Column{"is_active", false}) }),
	userChange(func(account.Reactivated) Row { return Row{{"is_active", true}} }),
	userChange(func(account.SuperuserGranted) Row { return Row{{"is_superuser", true}} }),
	userChange(func(account.SuperuserRevoked) Row { return append(signedOut(), Column{"is_superuser", false}) }),
	userChange(func(account.LinkRequested) Row { return nil }),
	userChange(func(account.JoiningOffered) Row { return nil }),
	userChange(func(account.AddressRefused) Row { return Row{{"email_refused_at", now}} }),
	userChange(func(account.AddressAccepted) Row { return Row{{"email_refused_at", nil}} }),
	userChange(func(account.MembershipGranted) Row { return nil }),
	userChange(func(account.MembershipRevoked) Row { return nil }),

	On(func(at eventstore.RecordedEvent, _ account.SignedIn) Change {
		return update("users", its(at), Row{{"last_login_at", now}})
	}),
	erasing("users", Row{{"email", ""}, {"name", ""}, {"email_refused_at", nil}, {"erased_at", now}}),

	On(func(at eventstore.RecordedEvent, e account.MembershipGranted) Change {
		return upsert("memberships", membership(at, e.Tenant), Row{{"role", e.Role}, {"granted_at", now}}, Row{{"role", excluded("role")}})
	}),
	On(func(at eventstore.RecordedEvent, e account.MembershipRevoked) Change {
		return remove("memberships", membership(at, e.Tenant))
	}),
).
	ReadBy("users", operators, ofUser("id")).
	ReadBy("memberships", operators, ofTenant("tenant"), ofUser("user_id")).
	Today()

var errAddressTaken = domain.RefuseField("email", field.AlreadyExists("user", "email"))

var onlyRow = Row{{"only_row", true}}

// superusers counts the active superusers by what happens to a user who was one, or
// was active, before.
func superusers[E domain.Event](by int, superuser, active bool) Handler {
	return On(func(at eventstore.RecordedEvent, _ E) Change {
		c := count("superusers", onlyRow, Row{{"active", by}})
		if by < 0 { // a row of its own would break the condition
			c = update("superusers", onlyRow, Row{{"active", plus("active", by)}})
		}
		return c.using("u", "users", its(at)).provided(is(of("u", "is_superuser"), superuser)).provided(is(of("u", "is_active"), active))
	})
}

// signedOut ends the user's sessions.
func signedOut() Row { return Row{{"session_version", plus("session_version", 1)}} }

func membership(at eventstore.RecordedEvent, tenant int64) Row {
	return Row{{"user_id", at.Stream.ID}, {"tenant", tenant}}
}

// userChange is what an event does to the row of its user: at least it raises
// the version that an ETag shows.
func userChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change { return update("users", its(at), changed(at, set(e))) })
}

// An AccountReader reads users and memberships.
type AccountReader Scope

// Accounts returns the reader of accounts.
func (s Scope) Accounts() AccountReader { return AccountReader(s) }

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

const userStanding = `u.has_password, u.second_factor, u.session_version, u.password_version, u.last_login_at,
	u.opened_for, u.erased_at, u.email_refused_at, u.created_at, u.updated_at, u.version`

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
	return one[User](ctx, s.db, "User", `select `+userColumns+fromUsers, w)
}

// users is the scope of accounts.
func (s AccountReader) users() *where {
	w := s.caller.self("u.id")
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
	w := s.caller.self("id")
	w.and("id = any(?)", slices.Collect(maps.Keys(users)))
	found, err := list[struct {
		ID   int64
		Name string
	}](ctx, s.db, `select id, coalesce(nullif(name, ''), email) as name from users`, w, "")
	names := map[int64]string{}
	for _, one := range found {
		names[one.ID] = one.Name
	}
	return names, err
}

// UserByEmail finds who has the address, in whatever case it is written.
func (s AccountReader) UserByEmail(ctx context.Context, email string) (User, bool, error) {
	w := s.caller.operators()
	w.and("u.email_key = lower(?)", strings.TrimSpace(email))
	w.conditions = append(w.conditions, `u.email_key <> ''`)
	return maybe(one[User](ctx, s.db, "User", `select `+userColumns+fromUsers, w))
}

// UserBySubject finds the account of the person whose data has this subject.
func (s AccountReader) UserBySubject(ctx context.Context, subject uuid.UUID) (User, bool, error) {
	w := s.caller.operators()
	w.and("u.subject = ?", subject)
	return maybe(one[User](ctx, s.db, "User", `select `+userColumns+fromUsers, w))
}

// Superusers are all who may operate the installation, oldest first.
func (s AccountReader) Superusers(ctx context.Context) ([]User, error) {
	w := s.caller.operators()
	return list[User](ctx, s.db, `select `+userColumns+fromUsers, w, " and u.is_superuser and u.is_active order by u.id")
}

var usersBy = listRules{
	columns: userColumns, from: "users u", id: "u.id", search: "u.search",
	fields: with(fieldsOf("u", "email", "name", "language", "is_superuser", "is_active", "active_tenant", "last_login_at"),
		"username", "u.email"),
}

// Users lists accounts to operators: by username, email, name, language,
// is_superuser, is_active, active_tenant, last_login_at, and the tenant for which they
// may act. Erased ones are gone.
func (s AccountReader) Users(ctx context.Context, l Listing) (Listed[User], error) {
	w := s.caller.operators()
	w.conditions = append(w.conditions, notErased)
	l.Filters = w.taking(l.Filters, "tenant", "exists (select from memberships m where m.user_id = u.id and m.tenant = ?)")
	return part[User](ctx, s.db, usersBy, w, l)
}

const membershipColumns = `m.user_id, m.tenant, coalesce(t.spec ->> 'name', '') as tenant_name, m.role, m.granted_at,
	coalesce(t.version, 0) as tenant_version`

const fromMemberships = ` from memberships m left join resources t on t.kind = 'tenant' and t.id = m.tenant`

// inService leaves out memberships of tenants that are no more: they grant
// nothing.
const inService = `t.present is distinct from false`

// Memberships are the tenants that a user may act for: one's own, or any user's
// for operators.
func (s AccountReader) Memberships(ctx context.Context, user int64) ([]Membership, error) {
	w := s.caller.allOr(owned("m.user_id", s.caller.User)) // though colleagues' rows may be read, see Members
	w.and("m.user_id = ?", user)
	w.conditions = append(w.conditions, inService)
	return list[Membership](ctx, s.db, `select `+membershipColumns+fromMemberships, w, " order by m.tenant")
}

// MembershipsOf are those of several users at once, to operators.
func (s AccountReader) MembershipsOf(ctx context.Context, users ...int64) ([]Membership, error) {
	w := s.caller.operators()
	w.and("m.user_id = any(?)", users)
	w.conditions = append(w.conditions, inService)
	return list[Membership](ctx, s.db, `select `+membershipColumns+fromMemberships, w, " order by m.user_id, m.tenant")
}

// Members are the users who may act for the caller's tenant.
func (s AccountReader) Members(ctx context.Context, tenant int64) ([]Membership, error) {
	w := s.caller.tenantOrAll("m.tenant")
	w.and("m.tenant = ?", tenant)
	return list[Membership](ctx, s.db, `select `+membershipColumns+fromMemberships, w, " order by m.user_id")
}

// An Identity is a user as they call: who they are, and what they may do in
// the tenant for which they act.
type Identity struct {
	User
	Role       account.Role // in the active tenant; "": none, or a superuser who is no member
	Through    *int64       // whose sub-tenant the active one is; nil: the user acts for it as a member
	TenantName string       // of the active tenant; "": none
}

// Identity is read once for each call. A user who has left the active tenant
// acts for none, unless a superuser; a removed tenant is never active. In a
// sub-tenant of theirs, administrators are what they are in its parent.
func (s AccountReader) Identity(ctx context.Context, user int64) (Identity, bool, error) {
	w := s.caller.self("u.id")
	w.and("u.id = ?", user)
	w.conditions = append(w.conditions, notErased)
	return maybe(one[Identity](ctx, s.db, "User", selectIdentity, w))
}

var selectIdentity = `select u.id, u.subject, u.email, u.name, u.language, u.is_superuser, u.is_active,
		case when active.present is distinct from false and (u.is_superuser or m.tenant is not null)
			then u.active_tenant end as active_tenant, ` + userStanding + `,
		case when active.present is distinct from false then coalesce(m.role, '') else '' end as role, u.active_through as through,
		case when active.present and (u.is_superuser or m.tenant is not null)
			then coalesce(active.spec ->> 'name', '') else '' end as tenant_name
	from users u left join memberships m on m.user_id = u.id
		and (m.tenant = u.active_tenant and u.active_through is null or m.tenant = u.active_through and m.role = 'admin' and ` +
	subTenant(`u.active_tenant`) + `)
	left join resources active on active.kind = 'tenant' and active.id = u.active_tenant`

// subTenant is the condition that a tenant is a sub-tenant of the one through which a user
// acts for it.
func subTenant(tenant string) string {
	return `exists (select from resources sub where sub.kind = 'tenant' and sub.id = ` + tenant + `
		and sub.parent = u.active_through and sub.requested_for = '')`
}
