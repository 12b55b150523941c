package accounts

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// accountPages are what people see and change of themselves (docs/accounts.md, "Pages").
func (a *Area) accountPages() route.Area {
	d := a.profile.accountDesk()
	sessions := web.FormPage{Show: a.signIns.showSignIns, Forms: map[string]web.FormHandler{
		"session_end": a.signIns.takeEnd, "sessions_end": a.signIns.takeEndOthers,
	}}
	return route.Area{
		Name: "Account", Access: a.callers.Session(),
		About: "What people see and change of their own account.",
		Routes: []route.Route{
			web.View(web.AccountPath, "The own account", d.Look).As("account_page"),
			a.web.Press(web.AccountPath, "Change the own account", d).As("account"),
			web.View(web.SessionsPath, "Where the user has signed in", sessions.Look).As("sessions_page"),
			a.web.Press(web.SessionsPath, "End sessions and tokens", sessions).As("sessions_form").Of("Session"),
		},
	}
}

func (s *profile) accountDesk() web.FormPage {
	return web.FormPage{Show: s.showAccount, Forms: map[string]web.FormHandler{
		"profile": s.takeProfile, "tenant": s.changing("tenant", "active_tenant"),
		"password": s.takePassword, "sessions": s.endSessions,
	}}
}

// A section is a part of a page with its form, or with what to say when there
// is nothing to fill in.
type section struct {
	Name, Title, About, Empty string
	Form                      *web.Form
	Path, Way                 string // of the page where there is more about it, and what leads there; "": here
}

func (s *profile) showAccount(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	tenant, err := s.tenantForm(ctx, c)
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	var sections []section
	for _, f := range []*web.Form{profileForm(c), tenant, newPassword(c), {Name: "sessions", IsGrave: true}} {
		part := section{Empty: w["tenant_none"], Name: "tenant"}
		if f != nil {
			f.Action = web.AccountPath
			filled := s.web.Fill(c, *f, back)
			part = section{Name: f.Name, Form: &filled}
		}
		if part.Name == "sessions" {
			part.Path, part.Way = web.SessionsPath, w["session_list_title"]
		}
		part.Title, part.About = w[part.Name+"_title"], w[part.Name+"_about"]
		sections = append(sections, part)
	}
	factor := section{
		Name: "factor", Title: w["factor_title"], About: w["factor_about"], Empty: w["factor_is_off"],
		Path: caller.FactorPath, Way: w["factor_change"],
	}
	if caller.VisitOf(c).Who.SecondFactor {
		factor.Empty = w["factor_is_on"]
	}
	sections = slices.Insert(sections, len(sections)-1, factor) // before what ends the sessions
	return s.web.Sheet(c, back.StatusOf(), "account", "account_title", map[string]any{"Sections": sections, "Wide": true})
}

func profileForm(c route.Call) *web.Form {
	who := caller.VisitOf(c).Who
	return &web.Form{Name: "profile", Inputs: []web.Input{
		{Name: "name", Value: who.Name, Autocomplete: "name", Long: 200},
		{Name: "language", Type: "select", Value: who.Language, Options: languages(who.Language)},
		web.VersionInput(profileOf(who)),
	}}
}

// profileOf are the fields that the form of the profile changes.
func profileOf(who caller.Identity) field.Set {
	return (&me{Identity: who.Identity}).Fields().Only("name", "language")
}

func (s *profile) takeProfile(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	c, err := web.Unchanged(c, sent, profileOf(caller.VisitOf(c).Who))
	if err != nil {
		return nil, err
	}
	return s.changing("profile", "name", "language")(ctx, c, sent)
}

// languages are those of the panel, and the reader's own if it is another one:
// a change of the name does not change that.
func languages(own string) []web.Option {
	all := []web.Option{{Value: "en", Text: web.Texts["en"]["language_en"]}, {Value: "es", Text: web.Texts["es"]["language_es"]}}
	for _, o := range all {
		if o.Value == own {
			return all
		}
	}
	return append(all, web.Option{Value: own, Text: own})
}

// hintsShown bounds the tenants that a superuser is offered. Any other is
// named by its number.
const hintsShown = 100

// tenantForm chooses among the own tenants; superusers among all. nil: there
// is nothing to choose from.
func (s *profile) tenantForm(ctx context.Context, c route.Call) (*web.Form, error) {
	who := caller.VisitOf(c).Who
	active := ""
	if who.ActiveTenant != nil {
		active = strconv.FormatInt(*who.ActiveTenant, 10)
	}
	if who.IsSuperuser {
		hints, err := s.tenantHints(ctx, c)
		return &web.Form{
			Name:   "tenant",
			Inputs: []web.Input{{Name: "active_tenant", Key: "tenant_number", Value: active, Plain: true, Hints: hints}},
		}, err
	}
	memberships, err := s.callers.Scope(c).Accounts().Memberships(ctx, who.ID)
	if err != nil || len(memberships) == 0 {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	options := []web.Option{{Value: "", Text: w["no_tenant"]}}
	for _, m := range memberships {
		options = append(
			options,
			web.Option{Value: strconv.FormatInt(m.Tenant, 10), Text: m.TenantName + " (" + w["role_"+string(m.Role)] + ")"},
		)
	}
	return &web.Form{Name: "tenant", Inputs: []web.Input{{Name: "active_tenant", Type: "select", Value: active, Options: options}}}, nil
}

func (s *profile) tenantHints(ctx context.Context, c route.Call) ([]web.Option, error) {
	tenants, err := s.callers.Scope(c).Hosting().Tenants(ctx, projections.Listing{Limit: hintsShown})
	hints := make([]web.Option, 0, len(tenants.Rows))
	for _, t := range tenants.Rows {
		hints = append(hints, web.Option{Value: strconv.FormatInt(t.ID, 10), Text: t.TenantName})
	}
	return hints, err
}

func newPassword(c route.Call) *web.Form {
	return &web.Form{Name: "password", Inputs: []web.Input{
		{Name: "username", Type: "username", Value: caller.VisitOf(c).Who.Email},
		{Name: "current_password", Type: "password", Autocomplete: "current-password", Required: true},
		{Name: "new_password", Type: "password", Autocomplete: "new-password", Required: true, Long: account.PasswordMax},
		{Name: "password_repeat", Type: "password", Autocomplete: "new-password", Required: true, Long: account.PasswordMax},
	}}
}

// changing changes some fields of the account, by the rules of /api/me/.
func (s *profile) changing(notice string, names ...string) web.FormHandler {
	return func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
		m, err := s.me(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := web.ChangeRecord(m, sent, names...); err != nil {
			return nil, err
		}
		if _, err := s.changeMe(ctx, c, m); err != nil {
			return nil, err
		}
		return s.web.Done(web.AccountPath, notice), nil
	}
}

// takePassword ends all sessions but the one in which it is done, which goes
// on under a new id.
func (s *profile) takePassword(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	who, password := caller.VisitOf(c).Who, sent.Get("new_password")
	if err := s.web.AskAgain(ctx, c, "current_password", sent); err != nil {
		return nil, err
	}
	if wrong := refusedPassword("new_password", password, sent.Get("password_repeat"), who.Email); wrong != nil {
		return nil, wrong
	}
	if err := s.accounts.Change(ctx, c.Cause(), who.ID, password); err != nil {
		return nil, err
	}
	cookie, err := s.callers.ReopenSession(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.web.Done(web.AccountPath, "password", cookie),
		s.sessions.EndSession(ctx, caller.VisitOf(c).ID)
}

// endSessions signs the user out everywhere.
func (s *profile) endSessions(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	_, err := s.commands.Execute(ctx, c.Cause(), account.EndSessions{User: caller.VisitOf(c).Who.ID, At: s.callers.Now()})
	if err != nil {
		return nil, err
	}
	return s.web.Done(caller.LoginPath, "sessions", s.callers.Cookie(caller.SessionCookie, "", -1)), nil
}
