package notice

import (
	"bytes"
	"fmt"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// PreferencesCategory is that of the streams "preferences-<user>".
const PreferencesCategory = "preferences"

// Preferences are what a user wants to hear of. A user without preferences gets
// everything.
type Preferences struct {
	OnTicketReply, OnInvoice, OnHostingAlert, OnVPSAlert, OnSystem bool // by mail
	InApp                                                          bool
}

// DefaultPreferences are those of a user who never set any.
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

// Wishes are a user's preferences, folded from their history.
type Wishes struct {
	Set Preferences `json:"set"`
	own bool
}

// Preferences are those that hold, set or not.
func (w Wishes) Preferences() Preferences {
	if !w.own {
		return DefaultPreferences()
	}
	return w.Set
}

// Preferring is the behaviour of the streams "preferences-<user>".
var Preferring = domain.Decider[Wishes, SetPreferences, PreferencesSet]{
	Decide: func(w Wishes, c SetPreferences) ([]PreferencesSet, error) { return c.decide(w) },
	Evolve: func(w Wishes, e PreferencesSet) Wishes { return e.evolve(w) },
}

// SetPreferences changes what a user wants to hear of. Values holds the fields
// that were sent.
type SetPreferences struct {
	User    int64
	Values  field.Values
	Through string // how, if not by the preferences themselves: "link in a mail"
}

// decide keeps only what differs from what holds.
func (c SetPreferences) decide(w Wishes) ([]PreferencesSet, error) {
	now := w.Preferences()
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

func (e PreferencesSet) evolve(w Wishes) Wishes {
	p := w.Preferences()
	if err := p.Fields().Load(e.Values); err != nil {
		return w // checked when it was set; what cannot be read changes nothing
	}
	return Wishes{Set: p, own: true}
}

// Stream is the history of the user's preferences.
func (c SetPreferences) Stream() domain.Stream {
	return domain.Stream{Category: PreferencesCategory, ID: strconv.FormatInt(c.User, 10)}
}
