package notices

import (
	"context"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

func (s *Area) preferenceRoutes() []route.Route {
	return []route.Route{
		route.Get(preferencesPath, "What the user wants to hear of", record.Found[preferences]).As("preferences_read").
			Finding(s.findPreferences).
			Saying("A user who never set any hears of everything."),
		route.Put(preferencesPath, "Change what the user wants to hear of", s.setPreferences).As("preferences_replace").
			Finding(s.findPreferences).
			Saying("What is left out stays as it is."),
		route.Patch(preferencesPath, "Change some of what the user wants to hear of", s.setPreferences).As("preferences_change").
			Finding(s.findPreferences),
	}
}

// preferences are what the caller wants to hear of.
type preferences struct {
	user    int64
	version int // 0: the defaults
	notice.Preferences
}

// Fields are one of each type, and that of the panel itself.
func (p *preferences) Fields() field.Set { return p.Preferences.Fields() }

func (p *preferences) Tag() string {
	return record.Tag(notice.PreferencesCategory, strconv.FormatInt(p.user, 10), p.version)
}

func (s *Area) preferences(ctx context.Context, c route.Call) (*preferences, error) {
	user := caller.Of(c).ID
	wishes, version, err := s.Callers.Scope(c).Notices().Preferences(ctx, user)
	return &preferences{user, version, wishes}, err
}

func (s *Area) findPreferences(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.preferences(ctx, c))
}

func (s *Area) setPreferences(ctx context.Context, c route.Call, p *preferences) (*preferences, error) {
	if err := record.Execute(ctx, s.Commands, c, p.version, notice.SetPreferences{User: p.user, Values: c.Sent.Values()}); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*preferences, error) { return s.preferences(ctx, c) })
}
