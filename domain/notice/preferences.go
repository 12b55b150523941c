package notice

import (
	"bytes"
	"fmt"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// PreferencesCategory is the category of the streams "preferences-<user>".
const PreferencesCategory = "preferences"

// Preferences select the notifications that a user gets. A user without
// preferences gets everything.
type Preferences struct {
	OnTicketReply, OnInvoice, OnHostingAlert, OnVPSAlert, OnSystem bool // by mail
	InApp                                                          bool
}

// DefaultPreferences are the preferences of a user who has set none.
func DefaultPreferences() Preferences {
	return Preferences{true, true, true, true, true, true}
}

func (p *Preferences) Fields() field.Set {
	return field.Set{
		field.Flag("email_on_ticket_reply", &p.OnTicketReply).Default(true),
		field.Flag("email_on_invoice", &p.OnInvoice).Default(true),
		field.Flag("email_on_hosting_alert", &p.OnHostingAlert).Default(true),
		field.Flag("email_on_vps_alert", &p.OnVPSAlert).Default(true),
		field.Flag("email_on_system", &p.OnSystem).Default(true),
		field.Flag("in_app_enabled", &p.InApp).Default(true),
	}
}

// Preference is the name of the preference that decides about mails of this
// type of notification.
func (t Type) Preference() string {
	switch t {
	case Ticket:
		return "email_on_ticket_reply"
	case Billing:
		return "email_on_invoice"
	case Hosting:
		return "email_on_hosting_alert"
	case VPS:
		return "email_on_vps_alert"
	default:
		return "email_on_system"
	}
}

// Mails tells whether the user wants mail about notifications of this type.
func (p Preferences) Mails(t Type) bool {
	return string(p.Fields().Values()[t.Preference()]) == "true"
}

// PreferencesState is a user's preferences, folded from their history.
type PreferencesState struct {
	Set *Preferences `json:"set"` // nil: none
}

// Preferences are the user's own, or the default ones.
func (s PreferencesState) Preferences() Preferences {
	if s.Set == nil {
		return DefaultPreferences()
	}
	return *s.Set
}

// Preferring is the behaviour of the streams "preferences-<user>".
var Preferring = domain.Decider[PreferencesState, SetPreferences, PreferencesSet]{
	Decide: func(s PreferencesState, c SetPreferences) ([]PreferencesSet, error) { return c.decide(s) },
	Evolve: func(s PreferencesState, e PreferencesSet) PreferencesState { return e.evolve(s) },
}

// SetPreferences changes a user's preferences. Values holds the fields of the
// request.
type SetPreferences struct {
	User    int64
	Values  field.Values
	Through string // how, if not by the preferences themselves: "link in a mail"
}

// decide keeps only the values that differ from the present ones.
func (c SetPreferences) decide(s PreferencesState) ([]PreferencesSet, error) {
	now := s.Preferences()
	holds, changed := now.Fields().Values(), field.Values{}
	for name, value := range c.Values {
		switch old, known := holds[name]; {
		case !known:
			return nil, fmt.Errorf("notice: there is no preference %s", name)
		case !bytes.Equal(old, value):
			changed[name] = value
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return []PreferencesSet{{Values: changed, Through: c.Through}}, nil
}

func (e PreferencesSet) evolve(s PreferencesState) PreferencesState {
	p := s.Preferences()
	if err := p.Fields().Load(e.Values); err != nil {
		return s // unreadable values change nothing
	}
	return PreferencesState{Set: &p}
}

// Stream is the history of the user's preferences.
func (c SetPreferences) Stream() domain.Stream {
	return domain.Stream{Category: PreferencesCategory, ID: strconv.FormatInt(c.User, 10)}
}
