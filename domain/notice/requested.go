package notice

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A notification may come by mail as well, or by mail alone. That it shall is
// an event of its own, with everything that the mail will say: what is sent days
// later, when a mail server is back, is what was to be said then
// (docs/notifications.md, "By mail").

type (
	// ConfirmMail records that the mail server accepted the notification's mail.
	ConfirmMail struct {
		ID uuid.UUID
		At time.Time
	}
	// GiveUpMail records that the mail will not be sent any more, and why.
	GiveUpMail struct {
		ID   uuid.UUID
		Code string
		At   time.Time
	}
)

type (
	// MailRequested: a notification is to be mailed, in these words and this language.
	MailRequested struct {
		User     int64     `json:"user"`
		Type     Type      `json:"type"`
		Template string    `json:"template"`
		Language string    `json:"language"`
		Title    string    `json:"title"`
		Message  string    `json:"message"`
		URL      string    `json:"url"`
		Tenant   int64     `json:"tenant,omitempty"` // whose name it comes in
		At       time.Time `json:"at"`
	}
	// Mailed: a mail server has accepted the mail.
	Mailed struct {
		At   time.Time `json:"at"`
		User int64     `json:"user,omitempty"`
	}
	// MailGivenUp: the mail will not be sent; Code says why.
	MailGivenUp struct {
		Code string    `json:"code"`
		At   time.Time `json:"at"`
		User int64     `json:"user"`
	}
)

// Text is what the mail says.
func (e MailRequested) Text() Text {
	return Text{Template: e.Template, Language: e.Language, Type: e.Type, Title: e.Title, Message: e.Message, URL: e.URL}
}

func (c ConfirmMail) decide(n Notification) ([]NotificationEvent, error) {
	return n.unlessMailed(Mailed{At: c.At, User: n.User})
}

func (c GiveUpMail) decide(n Notification) ([]NotificationEvent, error) {
	return n.unlessMailed(MailGivenUp{Code: c.Code, At: c.At, User: n.User})
}

// unlessMailed answers with what became of the mail, if it has not come to an
// end before. A notification that was deleted meanwhile makes no difference:
// the mail is a thing of its own.
func (n Notification) unlessMailed(e NotificationEvent) ([]NotificationEvent, error) {
	switch {
	case !n.Requested:
		return nil, domain.Refuse(domain.NotFound, "No mail of this notification was asked for.")
	case n.Mailed, n.GivenUp:
		return nil, nil
	}
	return []NotificationEvent{e}, nil
}

func (MailRequested) EventName() string { return "notification.mail_requested" }
func (Mailed) EventName() string        { return "notification.mailed" }
func (MailGivenUp) EventName() string   { return "notification.mail_given_up" }

func (e MailRequested) Says() string {
	return fmt.Sprintf("user %d is to get a mail: %s", e.User, e.Title)
}

func (Mailed) Says() string        { return "sent by mail" }
func (e MailGivenUp) Says() string { return "will not be sent by mail: " + wording.Spaced(e.Code) }

func (e MailRequested) evolve(n Notification) Notification {
	n.Requested, n.User = true, e.User
	return n
}

func (Mailed) evolve(n Notification) Notification      { n.Mailed = true; return n }
func (MailGivenUp) evolve(n Notification) Notification { n.GivenUp = true; return n }

func (c ConfirmMail) Stream() domain.Stream { return notification(c.ID) }
func (c GiveUpMail) Stream() domain.Stream  { return notification(c.ID) }
