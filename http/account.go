package http

import (
	"context"
	"net/url"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// own is what people see and change of themselves (docs/accounts.md, "Pages").
func (s *Server) own() route.Area {
	d := s.accountDesk()
	return route.Area{
		Name: "Account", Access: s.session(),
		About: "What people see and change of their own account.",
		Routes: []route.Route{
			view(accountPath, "The own account", d.look).As("account_page"),
			s.press(accountPath, "Change the own account", d).As("account"),
		},
	}
}

func (s *Server) accountDesk() desk {
	return desk{show: s.showAccount, forms: map[string]taker{
		"profile": s.changing("profile", "name", "language"), "tenant": s.changing("tenant", "active_tenant"),
		"password": s.takePassword, "sessions": s.endSessions,
	}}
}

// A section is a part of a page with its form, or with what to say when there
// is nothing to fill in.
type section struct {
	Name, Title, About, Empty string
	Form                      *form
}

func (s *Server) showAccount(ctx context.Context, c route.Call, back *returned) (*route.Document, error) {
	tenant, err := s.tenantForm(ctx, c)
	if err != nil {
		return nil, err
	}
	w := texts[readers(c)]
	var sections []section
	for _, f := range []*form{profileForm(c), tenant, newPassword(c), {Name: "sessions", IsGrave: true}} {
		part := section{Empty: w["tenant_none"], Name: "tenant"}
		if f != nil {
			f.Action = accountPath
			filled := s.fill(c, *f, back)
			part = section{Name: f.Name, Form: &filled}
		}
		part.Title, part.About = w[part.Name+"_title"], w[part.Name+"_about"]
		sections = append(sections, part)
	}
	return s.sheet(c, back.statusOf(), "account", "account_title", map[string]any{"Sections": sections, "Wide": true})
}

func profileForm(c route.Call) *form {
	who := visitOf(c).who
	return &form{Name: "profile", Inputs: []input{
		{Name: "name", Value: who.Name, Autocomplete: "name", Long: 200},
		{Name: "language", Type: "select", Value: who.Language, Options: languages(who.Language)},
	}}
}

// languages are those of the panel, and the reader's own if it is another one:
// whoever changes the name does not change that.
func languages(own string) []option {
	all := []option{{"en", texts["en"]["language_en"]}, {"es", texts["es"]["language_es"]}}
	for _, o := range all {
		if o.Value == own {
			return all
		}
	}
	return append(all, option{own, own})
}

// hintsShown bounds the tenants that a superuser is offered. Any other is
// named by its number.
const hintsShown = 100

// tenantForm chooses among the own tenants; superusers among all. nil: there
// is nothing to choose from.
func (s *Server) tenantForm(ctx context.Context, c route.Call) (*form, error) {
	who := visitOf(c).who
	active := ""
	if who.ActiveTenant != nil {
		active = strconv.FormatInt(*who.ActiveTenant, 10)
	}
	if who.IsSuperuser {
		hints, err := s.tenantHints(ctx, c)
		return &form{Name: "tenant", Inputs: []input{{Name: "active_tenant", Key: "tenant_number", Value: active, Plain: true, Hints: hints}}}, err
	}
	memberships, err := s.scope(c).Memberships(ctx, who.ID)
	if err != nil || len(memberships) == 0 {
		return nil, err
	}
	w := texts[readers(c)]
	options := []option{{"", w["no_tenant"]}}
	for _, m := range memberships {
		options = append(options, option{strconv.FormatInt(m.Tenant, 10), m.TenantName + " (" + w["role_"+string(m.Role)] + ")"})
	}
	return &form{Name: "tenant", Inputs: []input{{Name: "active_tenant", Type: "select", Value: active, Options: options}}}, nil
}

func (s *Server) tenantHints(ctx context.Context, c route.Call) ([]option, error) {
	tenants, err := s.scope(c).Tenants(ctx, projections.Listing{Limit: hintsShown})
	hints := make([]option, 0, len(tenants.Rows))
	for _, t := range tenants.Rows {
		hints = append(hints, option{strconv.FormatInt(t.ID, 10), t.TenantName})
	}
	return hints, err
}

func newPassword(c route.Call) *form {
	return &form{Name: "password", Inputs: []input{
		{Name: "username", Type: "username", Value: visitOf(c).who.Email},
		{Name: "current_password", Type: "password", Autocomplete: "current-password", Required: true},
		{Name: "new_password", Type: "password", Autocomplete: "new-password", Required: true, Long: passwordMax},
		{Name: "password_repeat", Type: "password", Autocomplete: "new-password", Required: true, Long: passwordMax},
	}}
}

// changing changes some fields of the account, by the rules of /api/me/.
func (s *Server) changing(notice string, names ...string) taker {
	return func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
		m, err := s.me(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := changeRecord(m, sent, names...); err != nil {
			return nil, err
		}
		if _, err := s.changeMe(ctx, c, m); err != nil {
			return nil, err
		}
		return s.done(accountPath, notice), nil
	}
}

// takePassword ends all sessions but the one in which it is done, which goes
// on under a new id.
func (s *Server) takePassword(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	who, password := visitOf(c).who, sent.Get("new_password")
	if err := s.askAgain(ctx, c, "current_password", sent); err != nil {
		return nil, err
	}
	if wrong := refusedPassword("new_password", password, sent.Get("password_repeat"), who.Email); wrong != nil {
		return nil, wrong
	}
	if err := s.Accounts.Change(ctx, c.Cause(), who.ID, password); err != nil {
		return nil, err
	}
	now, _, err := s.system().Identity(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	id, err := s.Sessions.OpenSession(ctx, now.ID, now.SessionVersion)
	if err != nil {
		return nil, err
	}
	return s.done(accountPath, "password", s.cookie(sessionCookie, id, 0)), s.Sessions.EndSession(ctx, visitOf(c).id)
}

// askAgain checks that whoever sits at the browser now knows the password,
// which stands in a field of the form.
func (s *Server) askAgain(ctx context.Context, c route.Call, name string, sent url.Values) error {
	if err := needed(sent, name); err != nil {
		return err
	}
	right, err := s.confirm(ctx, c, visitOf(c).who.User, sent.Get(name))
	if err == nil && !right {
		err = domain.RefuseField(name, "The current password is wrong.")
	}
	return err
}

// endSessions signs the user out everywhere.
func (s *Server) endSessions(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	_, err := s.Commands.Execute(ctx, c.Cause(), account.EndSessions{User: visitOf(c).who.ID, At: s.now()})
	if err != nil {
		return nil, err
	}
	return s.done(loginPath, "sessions", s.cookie(sessionCookie, "", -1)), nil
}
