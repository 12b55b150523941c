// Package notice is what the panel tells its users: the notifications that it
// shows, the mails that it sends, and what each user wants to hear of
// (docs/notifications.md).
package notice

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// NotificationCategory is that of the streams "notification-<uuid>".
const NotificationCategory = "notification"

// A Type says what a notification is about, in the words of the API.
type Type string

const (
	Info    Type = "info"    // about nothing in particular
	Success Type = "success" // what was asked for is done
	Warning Type = "warning" // needs attention
	Error   Type = "error"
	Billing Type = "billing" // invoices and refunds
	Ticket  Type = "ticket"  // support
	Hosting Type = "hosting" // sites, mail, certificates
	VPS     Type = "vps"     // virtual servers
	System  Type = "system"  // the account and the installation
)

// Types are all that there are.
var Types = []Type{Info, Success, Warning, Error, Billing, Ticket, Hosting, VPS, System}

// A Notification is what its history amounts to.
type Notification struct {
	Raised  bool  `json:"raised"` // shown in the panel
	User    int64 `json:"user"`
	Read    bool  `json:"read,omitempty"`
	Deleted bool  `json:"deleted,omitempty"`

	Requested bool `json:"mail_requested,omitempty"`
	Mailed    bool `json:"mailed,omitempty"`
	GivenUp   bool `json:"mail_given_up,omitempty"` // its mail
}

// Notifications is the behaviour of the streams "notification-<uuid>".
var Notifications = domain.Decider[Notification, NotificationCommand, NotificationEvent]{
	Decide: func(n Notification, c NotificationCommand) ([]NotificationEvent, error) { return c.decide(n) },
	Evolve: func(n Notification, e NotificationEvent) Notification { return e.evolve(n) },
}

type (
	// A NotificationCommand asks for a notification or for a change of one.
	NotificationCommand interface {
		domain.Command
		decide(Notification) ([]NotificationEvent, error)
	}
	// A NotificationEvent belongs to the stream of a notification.
	NotificationEvent interface {
		domain.Event
		evolve(Notification) Notification
	}
)

type (
	// Raise tells a user something: in the panel, by mail, or both. The identifier
	// follows from what happened and from who is told, so no user is notified
	// twice, even if the preferences have changed.
	Raise struct {
		ID          uuid.UUID
		User        int64
		Text        Text
		Metadata    map[string]string // ids only
		InApp, Mail bool
		Tenant      int64 // whose name the mail comes in; 0: the panel's own
		At          time.Time
	}
	// MarkRead marks a notification as read. A second time changes nothing.
	MarkRead struct {
		ID uuid.UUID
		At time.Time
	}
	// Unread marks a notification as unread. WithAll says that it was read
	// along with all others, which its own history does not know.
	Unread struct {
		ID      uuid.UUID
		WithAll bool
	}
	// Delete deletes a notification. One that is deleted already is refused with
	// domain.NotFound.
	Delete struct{ ID uuid.UUID }
)

func (c Raise) decide(n Notification) ([]NotificationEvent, error) {
	switch {
	case n.Raised, n.Requested:
		return nil, nil
	case !strings.HasPrefix(c.Text.URL, "/") || strings.HasPrefix(c.Text.URL, "//"):
		return nil, domain.RefuseField("url", "Enter a path within the panel.")
	}
	var facts []NotificationEvent
	if c.InApp {
		facts = append(facts, Raised{
			User: c.User, Type: c.Text.Type, Title: c.Text.Title, Message: c.Text.Message,
			URL: c.Text.URL, Metadata: c.Metadata, At: c.At,
		})
	}
	if c.Mail {
		facts = append(facts, MailRequested{
			User: c.User, Type: c.Text.Type, Template: c.Text.Template, Language: c.Text.Language,
			Title: c.Text.Title, Message: c.Text.Message, URL: c.Text.URL, Tenant: c.Tenant, At: c.At,
		})
	}
	return facts, nil
}

func (c MarkRead) decide(n Notification) ([]NotificationEvent, error) {
	return n.unless(n.Read, Read{At: c.At, User: n.User})
}

func (c Unread) decide(n Notification) ([]NotificationEvent, error) {
	return n.unless(!n.Read && !c.WithAll, MarkedUnread{User: n.User})
}

func (c Delete) decide(n Notification) ([]NotificationEvent, error) {
	return n.unless(false, Deleted{User: n.User})
}

// unless answers with e if it is not so already. What is deleted is not there.
func (n Notification) unless(already bool, e NotificationEvent) ([]NotificationEvent, error) {
	switch {
	case !n.Raised || n.Deleted:
		return nil, domain.Refuse(domain.NotFound, "No Notification matches the given query.")
	case already:
		return nil, nil
	}
	return []NotificationEvent{e}, nil
}

func notification(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: NotificationCategory, ID: id.String()}
}

func (c Raise) Stream() domain.Stream    { return notification(c.ID) }
func (c MarkRead) Stream() domain.Stream { return notification(c.ID) }
func (c Unread) Stream() domain.Stream   { return notification(c.ID) }
func (c Delete) Stream() domain.Stream   { return notification(c.ID) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (Raise) Begins() {}
