package notice

import (
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// EventTypes lists every event that the streams of this package may hold.
var EventTypes = []domain.EventType{
	domain.Register[Raised](),
	domain.Register[Read](),
	domain.Register[MarkedUnread](),
	domain.Register[MailRequested](),
	domain.Register[Mailed](),
	domain.Register[MailGivenUp](),
	domain.Register[Deleted](),
	domain.Register[AllRead](),
	domain.Register[PreferencesSet](),
}

type (
	// Raised: a notification stands in the list of its user. Metadata holds ids only.
	Raised struct {
		User     int64             `json:"user"`
		Type     Type              `json:"type"`
		Title    string            `json:"title"`
		Message  string            `json:"message"`
		URL      string            `json:"url"`
		Metadata map[string]string `json:"metadata,omitempty"`
		At       time.Time         `json:"at"`
	}
	// What becomes of a notification says whose it is, so that a reader of this
	// event alone knows the user. What was written before that was so, does not.
	Read struct {
		At   time.Time `json:"at"`
		User int64     `json:"user,omitempty"`
	}
	// MarkedUnread: a notification that was read counts as unread again.
	MarkedUnread struct {
		User int64 `json:"user,omitempty"`
	}
	// Deleted: the user has deleted the notification.
	Deleted struct {
		User int64 `json:"user,omitempty"`
	}
	// AllRead is about everything that the user was told until Through.
	AllRead struct {
		Through time.Time `json:"through"`
	}
	// PreferencesSet holds what changed.
	PreferencesSet struct {
		Values  field.Values `json:"values"`
		Through string       `json:"through,omitempty"` // how, if not by the preferences themselves
	}
)

func (Raised) EventName() string         { return "notification.raised" }
func (Read) EventName() string           { return "notification.read" }
func (MarkedUnread) EventName() string   { return "notification.marked_unread" }
func (Deleted) EventName() string        { return "notification.deleted" }
func (AllRead) EventName() string        { return "notification.all_read" }
func (PreferencesSet) EventName() string { return "notification.preferences_set" }

func (e Raised) Says() string     { return fmt.Sprintf("user %d is told: %s", e.User, e.Title) }
func (Read) Says() string         { return "read" }
func (MarkedUnread) Says() string { return "marked as unread" }
func (Deleted) Says() string      { return "deleted" }
func (AllRead) Says() string      { return "everything so far read" }

func (e PreferencesSet) Says() string {
	return "preferences changed" + wording.Around(" by a ", e.Through, "") + ": " + wording.Keys(e.Values)
}

func (e Raised) evolve(n Notification) Notification     { n.Raised, n.User = true, e.User; return n }
func (Read) evolve(n Notification) Notification         { n.Read = true; return n }
func (MarkedUnread) evolve(n Notification) Notification { n.Read = false; return n }
func (Deleted) evolve(n Notification) Notification      { n.Deleted = true; return n }
