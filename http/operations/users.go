package operations

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	usersPath       = operationsPrefix + "users/"
	userPath        = usersPath + "{id:int}/"
	membershipsPath = userPath + "memberships/"
	membershipPath  = membershipsPath + "{tenant:int}/"
)

// A userRecord is an account as operators see and change it.
type userRecord struct {
	projections.User
	Memberships []membershipRecord

	before   projections.User // as it was found
	password string           // a new one; "": none
}

// Fields are the account as operators see it.
func (u *userRecord) Fields() field.Set {
	set := u.User.Fields()
	password := field.Text("password", &u.password).Secret().Verbatim().Max(account.PasswordRead).Doc(
		"Absent for a new account: its owner is mailed a link to choose one.",
	)
	const beforeLanguage, beforeLogin = 4, 9
	return slices.Concat(set[:beforeLanguage], field.Set{password}, set[beforeLanguage:beforeLogin],
		field.Set{field.Objects("memberships", &u.Memberships)}, set[beforeLogin:])
}

// Tag changes with everything that the record shows: also with the names of
// tenants, and when the user signs in.
func (u *userRecord) Tag() string {
	tag, beside := record.Tag(account.Category, strconv.FormatInt(u.ID, 10), u.Version), int64(0)
	for _, m := range u.Memberships {
		beside += int64(m.TenantVersion)
	}
	if u.LastLoginAt != nil {
		beside += u.LastLoginAt.UnixMicro()
	}
	if beside > 0 {
		tag += "." + strconv.FormatInt(beside, 36)
	}
	return tag
}

func (s *users) userRoutes() []route.Route {
	const lastSuperuser = "It is the last active superuser (last_superuser), or others were faster."
	return append([]route.Route{
		listing.Pages[userRecord](usersPath, "Accounts", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Flag("is_active", new(bool)).Doc("Only those who may sign in, or who may not."),
					field.Flag("is_superuser", new(bool)).Doc("Only superusers, or only others."),
					field.Int("tenant", new(int64)).Doc("Only those who may act for this tenant."),
				}
			},
			Search: "username, email and name", Ordering: []string{"username", "email", "name", "last_login_at"},
		}, s.listUsers).As("user_list"),
		route.Get(userPath, "An account", record.Found[userRecord]).As("user_read").Of("User").Finding(s.findUser),
		route.Post(usersPath, "Open an account", s.openAccount).As("user_create").For(s.callers.SuperuserConfirmed()).
			Checking(route.Check(s.checkUser)),
		route.Put(userPath, "Change an account", s.changeUser).As("user_replace").Of("User").For(s.callers.SuperuserConfirmed()).
			Finding(s.findUser).Checking(route.Check(s.checkUser)).Failing(http.StatusConflict, lastSuperuser),
		route.Patch(userPath, "Change some fields of an account", s.changeUser).As("user_change").Of("User").For(
			s.callers.SuperuserConfirmed(),
		).
			Finding(s.findUser).Checking(route.Check(s.checkUser)).Failing(http.StatusConflict, lastSuperuser),
		route.Delete(userPath, "End an account and erase what it tells of a person", s.eraseUser).As("user_delete").Of("User").For(
			s.callers.SuperuserConfirmed(),
		).
			Finding(s.findUser).Failing(http.StatusConflict, lastSuperuser).
			Saying("These places are not reached: " + strings.Join(account.NotReached, "; ") + "."),
		route.Post(userPath+"deactivate/", "End an account, for the time being", s.deactivateUser).As("user_deactivate").Of("User").
			Finding(s.findUser).With(http.StatusOK).Failing(http.StatusConflict, lastSuperuser).
			Saying("Sessions and tokens end at once. A second time changes nothing; is_active opens the account again."),
		s.resetLinkRoute(), s.disableFactorRoute(), s.sessionsRoute(),
	}, s.membershipRoutes()...)
}

func (s *users) listUsers(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[userRecord], error) {
	users, err := s.callers.Scope(c).Accounts().Users(ctx, l)
	if err != nil {
		return projections.Listed[userRecord]{}, err
	}
	ids := make([]int64, len(users.Rows))
	for i, u := range users.Rows {
		ids[i] = u.ID
	}
	memberships, err := s.callers.Scope(c).Accounts().MembershipsOf(ctx, ids...)
	return record.Map(users, err, func(u projections.User) userRecord { return userOf(u, memberships) })
}

// userOf is a user with those of the memberships that are theirs.
func userOf(u projections.User, memberships []projections.Membership) userRecord {
	record := userRecord{User: u, before: u}
	for _, m := range memberships {
		if m.UserID == u.ID {
			record.Memberships = append(record.Memberships, membershipRecord{Membership: m, user: u})
		}
	}
	return record
}

func (s *users) userRecord(ctx context.Context, c route.Call, id int64) (*userRecord, error) {
	user, err := s.callers.Scope(c).Accounts().User(ctx, id)
	if err != nil {
		return nil, err
	}
	memberships, err := s.callers.Scope(c).Accounts().MembershipsOf(ctx, id)
	record := userOf(user, memberships)
	return &record, err
}

func (s *users) findUser(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.userRecord(ctx, c, c.ID("id")))
}

// checkUser looks for who has the address, and for the tenant. The last word
// on both is said where all addresses stand, and by the account itself.
func (s *users) checkUser(ctx context.Context, c route.Call, u *userRecord, wrong *field.Errors) error {
	if c.Sent.Has("email") && !record.IsWrong(*wrong, "email") {
		other, taken, err := s.callers.Scope(c).Accounts().UserByEmail(ctx, u.Email)
		if err != nil {
			return err
		}
		if taken && other.ID != u.ID {
			wrong.Add("email", field.AlreadyExists("user", "email"))
		}
	}
	if c.Sent.Has("password") && !record.IsWrong(*wrong, "password") {
		for _, message := range account.PasswordProblems(u.password, u.Email) {
			wrong.Add("password", message)
		}
	}
	if !c.Sent.Has("active_tenant") {
		return nil
	}
	return record.MayRefer(wrong, "active_tenant", u.ActiveTenant, s.tenantExists(ctx, c))
}

// tenantExists looks a tenant up, which is missing if the caller cannot see it.
func (s *users) tenantExists(ctx context.Context, c route.Call) func(id int64) error {
	return func(id int64) error {
		_, err := s.callers.Scope(c).Hosting().Tenant(ctx, id)
		return err
	}
}

func (s *users) openAccount(ctx context.Context, c route.Call, u *userRecord) (*userRecord, error) {
	subject, err := s.subjects.Subject(ctx, u.Email)
	if err != nil {
		return nil, err
	}
	if u.ID, err = record.NextNumber(ctx, s.numbers, "user"); err != nil {
		return nil, err
	}
	c.Location(usersPath + strconv.FormatInt(u.ID, 10) + "/")
	open := account.Open{
		User: u.ID, SubjectID: subject, Email: u.Email, Name: u.Name, Language: u.Language, Superuser: u.IsSuperuser, At: s.callers.Now(),
	}
	var more []domain.Command
	if u.ActiveTenant != nil {
		more = append(more, account.ActivateTenant{User: u.ID, Tenant: *u.ActiveTenant, At: s.callers.Now()})
	}
	if err := s.open(ctx, c, open, u, more); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) })
}

// open makes the account. A user who may not sign in is mailed no link.
func (s *users) open(ctx context.Context, c route.Call, open account.Open, u *userRecord, more []domain.Command) error {
	if !u.IsActive {
		more = append(more, account.Deactivate{User: u.ID, At: s.callers.Now()})
	}
	if u.IsActive || u.password != "" {
		return s.accounts.Open(ctx, c.Cause(), open, u.password, more...)
	}
	_, err := s.commands.Execute(ctx, c.Cause(), append([]domain.Command{open}, more...)...)
	return err
}

// changeUser changes what the request brought. The profile is kept as a whole,
// so it is made anew from the present one when another caller was faster.
func (s *users) changeUser(ctx context.Context, c route.Call, u *userRecord) (*userRecord, error) {
	find := func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) }
	again := func() (*userRecord, error) {
		fresh, err := find()
		if err == nil {
			err = fresh.Fields().Load(c.Sent.Values())
		}
		return fresh, err
	}
	err := record.Persist(c, u, func(u *userRecord) error { return s.tryChange(ctx, c, u) }, again)
	if err != nil {
		return nil, err
	}
	return record.Shown(c, find)
}

func (s *users) tryChange(ctx context.Context, c route.Call, u *userRecord) error {
	needsActive := u.password != "" || !same(u.ActiveTenant, u.before.ActiveTenant)
	if needsActive && !u.IsActive {
		return notActive
	}
	cause := c.Cause()
	cause.ExpectedVersions = domain.Versions{account.Stream(u.ID): u.before.Version}
	changes, err := s.changes(ctx, u)
	if err != nil {
		return err
	}
	if u.password != "" {
		return s.accounts.Change(ctx, cause, u.ID, u.password, changes...)
	}
	_, err = s.commands.Execute(ctx, cause, changes...)
	return err
}

// notActive is the answer to what only an active account can be told.
var notActive error = &domain.Error{Code: domain.Conflict, Message: "The user is not active.", Reason: "invalid_state"}

// changes are what makes the account that was found the one that is wanted, in
// an order in which each is possible.
func (s *users) changes(ctx context.Context, u *userRecord) (all []domain.Command, err error) {
	old, at, subject := u.before, s.callers.Now(), u.before.Subject
	if !strings.EqualFold(u.Email, old.Email) {
		if subject, err = s.subjects.Subject(ctx, u.Email); err != nil {
			return nil, err
		}
	}
	when := func(holds bool, c domain.Command) {
		if holds {
			all = append(all, c)
		}
	}
	when(!old.IsActive && u.IsActive, account.Reactivate{User: u.ID, At: at})
	when(u.Email != old.Email || u.Name != old.Name || u.Language != old.Language, account.ChangeProfile{
		User: u.ID, SubjectID: subject, Email: u.Email, Name: u.Name, Language: u.Language, At: at,
	})
	when(!old.IsSuperuser && u.IsSuperuser, account.GrantSuperuser{User: u.ID, At: at})
	when(old.IsSuperuser && !u.IsSuperuser, account.RevokeSuperuser{User: u.ID, At: at})
	when(!same(u.ActiveTenant, old.ActiveTenant), account.ActivateTenant{User: u.ID, Tenant: orZero(u.ActiveTenant), At: at})
	when(old.IsActive && !u.IsActive, account.Deactivate{User: u.ID, At: at})
	return all, nil
}

func same(a, b *int64) bool { return orZero(a) == orZero(b) }

func orZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (s *users) deactivateUser(ctx context.Context, c route.Call, _ *route.Nothing) (*userRecord, error) {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	if err := record.Execute(ctx, s.commands, c, u.Version, account.Deactivate{User: u.ID, At: s.callers.Now()}); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) })
}

func (s *users) eraseUser(ctx context.Context, c route.Call) error {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	return s.accounts.Erase(ctx, c.CauseOf(domain.Versions{account.Stream(u.ID): u.Version}), u.ID)
}
