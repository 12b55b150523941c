package operations

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Accounts as operators see them in a browser (docs/operations.md, "In the browser").

const userPagePath = web.UsersPath + "{id:int}/"

func (s *users) pageRoutes() []route.Route {
	return append([]route.Route{
		web.ViewList(s.list(), web.UsersPath, "The accounts").As("users_page"),
	}, web.ActRoutes(s.userDesk(), userPagePath, "user", "User", "An account", "Do something with an account")...)
}

// list is the page of accounts.
func (s *users) list() web.List[userRecord] {
	flags := []string{"true", "false"}
	return web.List[userRecord]{
		Web: s.web, Name: "users", Fields: (*userRecord).Fields, Cards: userCards, Read: s.listUsers, Search: "users_search", Wide: true,
		More: ofAccount,
		Choices: []web.Choice{
			{Name: "is_superuser", Text: "superuser_", Values: flags, Value: web.IsTrue},
			{Name: "is_active", Text: "user_is_", Values: flags, Value: web.IsTrue},
		},
	}
}

var userCards = web.Cards{Page: web.UsersPath, Title: "email", Badges: []string{"is_active"}, Note: []string{"name"}}

// ofAccount adds what an account may do, for which tenants, and since when there is one.
func ofAccount(c route.Call, u *userRecord, card *web.Card) {
	w, tenants := web.Texts[web.Readers(c)], make([]string, len(u.Memberships))
	card.Badges[0].Class = map[bool]string{true: "active", false: "failed"}[u.IsActive]
	if u.IsSuperuser {
		card.Badges = append(card.Badges, web.Badge{Class: "provisioning", Text: w["superuser_true"]})
	}
	for i, m := range u.Memberships {
		tenants[i] = m.TenantName
	}
	card.Note = append(card.Note, web.Told(web.Aspect{Text: strings.Join(tenants, ", ")}, w.Moment("", &u.CreatedAt, ""))...)
}

// userDesk is the page of an account with its forms.
func (s *users) userDesk() web.ActPage[*userRecord] {
	return web.ActPage[*userRecord]{
		Web: s.web, Show: s.showUser,
		Find: func(ctx context.Context, c route.Call) (*userRecord, error) { return s.userRecord(ctx, c, c.ID("id")) },
		Acts: []web.Act[*userRecord]{
			{Name: "mail_link", IsOpen: isActive, Asks: true, Do: s.mailLink},
			{
				Name: "disable_factor", IsOpen: func(u *userRecord) bool { return u.SecondFactor }, Grave: true, Asks: true,
				Inputs: reasonInput[*userRecord],
				Do: web.Pressed(func(ctx context.Context, c route.Call, _ *userRecord, why *verdict) error {
					_, err := s.disableFactor(ctx, c, why)
					return err
				}),
			},
			{
				Name: "grant_superuser", IsOpen: func(u *userRecord) bool { return isActive(u) && !u.IsSuperuser },
				Grave: true, Asks: true, Do: s.flagging("is_superuser", "true"),
			},
			{
				Name: "revoke_superuser", IsOpen: func(u *userRecord) bool { return u.IsSuperuser }, Grave: true,
				Asks: true, Do: s.flagging("is_superuser", "false"),
			},
			{Name: "deactivate_user", IsOpen: isActive, Grave: true, Do: func(
				ctx context.Context, c route.Call, _ *userRecord, _ url.Values,
			) error {
				_, err := s.deactivateUser(ctx, c, &route.Nothing{})
				return err
			}},
			{
				Name: "erase_user", IsOpen: func(u *userRecord) bool { return !u.IsActive && u.Email != "" },
				Grave: true, Asks: true, Leaves: web.UsersPath, Inputs: addressInput, Do: s.eraseByForm,
			},
			{
				Name: "activate_user", IsOpen: func(u *userRecord) bool { return !u.IsActive }, Asks: true,
				Do: s.flagging("is_active", "true"),
			},
		},
	}
}

// addressInput asks for the address of the account, so that no other one is erased.
func addressInput(*userRecord) []web.Input {
	return []web.Input{{Name: "email", Required: true, Autocomplete: "off", Long: 254, Plain: true}}
}

func (s *users) eraseByForm(ctx context.Context, c route.Call, u *userRecord, sent url.Values) error {
	if sent.Get("email") != u.Email {
		return domain.RefuseField("email", "This is not the address of the account.")
	}
	return s.eraseUser(ctx, c)
}

func isActive(u *userRecord) bool { return u.IsActive }

// mailLink mails a link with which the user sets a password. It is shown to none but them.
func (s *users) mailLink(ctx context.Context, c route.Call, _ *userRecord, _ url.Values) error {
	_, err := s.makeResetLink(ctx, c, &linkForm{Send: true})
	return err
}

// flagging changes a flag of the account, as a change by the API does.
func (s *users) flagging(name, value string) func(context.Context, route.Call, *userRecord, url.Values) error {
	return func(ctx context.Context, c route.Call, u *userRecord, _ url.Values) error {
		fields := u.Fields()
		c, err := web.ReadRecord(ctx, c, u, fields.Only(name), fields, url.Values{name: {value}}, field.Patch, s.checkUser)
		if err == nil {
			_, err = s.changeUser(ctx, c, u)
		}
		return err
	}
}

// showUser is the page of an account.
func (s *users) showUser(
	ctx context.Context, c route.Call, u *userRecord, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	sessions, err := s.sessionsOf(ctx, u)
	if err != nil {
		return nil, err
	}
	var tenants []web.Aspect
	for _, m := range u.Memberships {
		tenants = append(
			tenants,
			web.Aspect{Name: w["role_"+string(m.Role)], Text: m.TenantName, Path: web.CustomersPath + numbered(m.Tenant)},
		)
	}
	return s.web.Sheet(c, back.StatusOf(), "user", "user_title", map[string]any{
		"Title": u.Email, "User": web.CardsOf(c, s.list(), []userRecord{*u})[0], "Facts": userFacts(w, u, sessions), "Tenants": tenants,
		"Acts": acts, "Wide": true,
	})
}

// userFacts are who the user is, and how they sign in.
func userFacts(w web.Words, u *userRecord, sessions *sessionCount) []web.Aspect {
	facts := w.Values(u.Columns(), "name", "language")
	for _, m := range u.Memberships {
		if u.ActiveTenant != nil && m.Tenant == *u.ActiveTenant {
			facts = append(facts, web.Aspect{Name: w["user_acts_for"], Text: m.TenantName, Path: web.CustomersPath + numbered(m.Tenant)})
		}
	}
	facts = append(facts, w.Values(u.Columns(), "has_password", "has_second_factor")...)
	facts = append(facts, web.Aspect{Name: w["user_sessions"], Text: strconv.FormatInt(sessions.Sessions, 10)},
		w.Moment(w["user_last_login"], u.LastLoginAt, w["user_never"]))
	return append(facts, w.Values(u.Columns(), "created_at", "updated_at", "email_refused_at")...)
}

// Sessions counts the sessions of users in browsers.
type Sessions interface {
	// CountSessions counts a user's sessions that have not ended. The version is
	// that of the account; sessions of another are over.
	CountSessions(ctx context.Context, user int64, version int) (int64, error)
}

// A sessionCount tells whether a user is signed in.
type sessionCount struct {
	Sessions    int64
	HasPassword bool
}

// Fields are the figures.
func (n *sessionCount) Fields() field.Set {
	return field.Set{
		field.Int("sessions", &n.Sessions).ReadOnly().Doc("In browsers, that have not ended."),
		field.Flag("has_password", &n.HasPassword).ReadOnly().Doc("Whether the user has chosen one."),
	}
}

func (s *users) sessionsRoute() route.Route {
	return route.Get(userPath+"sessions/", "Whether a user is signed in", func(ctx context.Context, c route.Call) (*sessionCount, error) {
		return s.sessionsOf(ctx, c.Subject.(*userRecord)) //nolint:forcetypeassert // found by findUser
	}).As("user_sessions").Of("User").Finding(s.findUser).Caching("no-store")
}

func (s *users) sessionsOf(ctx context.Context, u *userRecord) (*sessionCount, error) {
	n, err := s.sessions.CountSessions(ctx, u.ID, u.SessionVersion)
	return &sessionCount{n, u.HasPassword}, err
}
