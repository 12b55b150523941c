package accounts

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const mePath = "/api/me/"

// ownArea has the calls of a signed-in user about the own account
// (docs/accounts.md).
func (s *Area) ownArea() route.Area {
	return route.Area{
		Name: "Own account", Prefix: "/api/", Access: s.callers.User(),
		About: "What users see and change of their own account.",
		Routes: append([]route.Route{
			route.Get(mePath, "Who is signed in", s.profile.showMe).As("me_read").Finding(s.profile.findMe),
			route.Patch(mePath, "Change the name, the language or the active tenant", s.profile.changeMe).
				As("me_change").Finding(s.profile.findMe),
			route.Post(
				mePath+"password/", "Change the password; all tokens and sessions so far end",
				s.profile.changePassword,
			).As("me_password").
				With(http.StatusOK).Caching("no-store").Keeping("").
				Saying("Answers with a new pair of tokens.").
				Failing(http.StatusTooManyRequests, "Too many calls, or the current password was wrong too often."),
			s.profile.confirmRoute(),
			route.Post("/api/password-reset/", "Have a link to set a new password mailed", s.passwords.askReset).As("password_reset").
				For(route.Open).With(http.StatusOK).Caching("no-store").Keeping("").
				Saying("The answer does not tell whether there is such an account.").
				Failing(http.StatusTooManyRequests, "Too many calls from this address."),
		}, append(s.signIns.routes(), s.factors.routes()...)...),
	}
}

// A me is the own account.
type me struct {
	projections.Identity
	activeName  *string // of the active tenant
	memberships []membership
}

// A membership is a tenant that the user may act for.
type membership struct{ projections.Membership }

// Fields are the tenant and what the user may do there.
func (m *membership) Fields() field.Set {
	return field.Set{
		field.Int("tenant", &m.Tenant),
		field.Text("tenant_name", &m.TenantName),
		field.Text("role", (*string)(&m.Role)).Among(string(account.Member), string(account.Admin)),
	}
}

// Fields are the account as its user sees it.
func (m *me) Fields() field.Set {
	username := m.Email
	return field.Set{
		field.Int("id", &m.ID).ReadOnly(),
		field.Text("username", &username).ReadOnly(),
		field.Text("email", &m.Email).ReadOnly(),
		field.Text("name", &m.Name).Max(200).Is(field.Plain).Blank(),
		field.Text("language", &m.Language).Is(field.Language),
		field.Flag("is_superuser", &m.IsSuperuser).ReadOnly(),
		field.NullRef("active_tenant", &m.ActiveTenant).Doc("In whose name the user acts; one of the memberships, or null."),
		field.NullText("active_tenant_name", &m.activeName).ReadOnly(),
		field.Objects("memberships", &m.memberships),
		field.Time("created_at", &m.CreatedAt).ReadOnly(),
	}
}

// Tag names the version of the account with all that is shown of it.
func (m *me) Tag() string {
	names := sha256.New()
	for _, one := range m.memberships {
		fmt.Fprintf(names, "%d %q %s\n", one.Tenant, one.TenantName, one.Role)
	}
	return fmt.Sprintf("user-%d-%d-%x", m.ID, m.Version, names.Sum(nil)[:4])
}

// me reads the account as it is now, after whatever the call has changed.
func (s *profile) me(ctx context.Context, c route.Call) (*me, error) {
	found, _, err := s.callers.Scope(c).Accounts().Identity(ctx, caller.Of(c).ID)
	if err != nil {
		return nil, err
	}
	m := &me{Identity: found}
	scope := s.callers.Reading(caller.Identity{Identity: found})
	all, err := scope.Accounts().Memberships(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		m.memberships = append(m.memberships, membership{one})
	}
	return m, m.nameTenant(ctx, scope)
}

// nameTenant looks for the active tenant among the user's own; a superuser's
// may be any.
func (m *me) nameTenant(ctx context.Context, scope projections.Scope) error {
	if m.ActiveTenant == nil {
		return nil
	}
	for i := range m.memberships {
		if one := &m.memberships[i]; one.Tenant == *m.ActiveTenant {
			m.activeName = &one.TenantName
			return nil
		}
	}
	tenant, err := scope.Hosting().Tenant(ctx, *m.ActiveTenant)
	if record.IsMissing(err) {
		return nil // it is leaving
	}
	m.activeName = &tenant.TenantName
	return err
}

func (s *profile) findMe(ctx context.Context, c route.Call) (any, string, error) {
	m, err := s.me(ctx, c)
	if err != nil {
		return nil, "", err
	}
	return m, m.Tag(), nil
}

func (s *profile) showMe(_ context.Context, c route.Call) (*me, error) {
	m, _ := c.Subject.(*me)
	c.ETag(m.Tag())
	return m, nil
}

// changeMe carries out what differs from what was.
func (s *profile) changeMe(ctx context.Context, c route.Call, to *me) (*me, error) {
	was := caller.Of(c)
	var commands []domain.Command
	if to.Name != was.Name || to.Language != was.Language {
		commands = append(commands, account.ChangeProfile{
			User: was.ID, SubjectID: was.Subject, Email: was.Email, Name: to.Name, Language: to.Language, At: s.callers.Now(),
		})
	}
	if wanted := (caller.Identity{Identity: to.Identity}).Tenant(); wanted != was.Tenant() {
		if err := s.exists(ctx, c, wanted); err != nil {
			return nil, err
		}
		commands = append(commands, account.ActivateTenant{User: was.ID, Tenant: wanted, Through: was.Administered(), At: s.callers.Now()})
	}
	if len(commands) > 0 {
		if _, err := s.commands.Execute(ctx, c.CauseOf(domain.Versions{account.Stream(to.ID): to.Version}), commands...); err != nil {
			return nil, err
		}
	}
	m, err := s.me(ctx, c)
	if err == nil {
		c.ETag(m.Tag())
	}
	return m, err
}

// exists refuses a tenant that there is not for the user, or no more.
func (s *profile) exists(ctx context.Context, c route.Call, tenant int64) error {
	if tenant == 0 {
		return nil
	}
	_, err := s.callers.Scope(c).Hosting().Tenant(ctx, tenant)
	if record.IsMissing(err) {
		return domain.RefuseField("active_tenant", field.NoSuchPK(tenant))
	}
	return err
}

// A message is an answer in words.
type message struct{ Detail string }

// Fields are the words.
func (t *message) Fields() field.Set { return field.Set{field.Text("detail", &t.Detail)} }
