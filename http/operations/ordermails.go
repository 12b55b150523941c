package operations

import (
	"context"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

var mailStates = []string{operations.MailSent, operations.MailWaits, operations.MailFailed, operations.MailGivenUp}

func (s *orders) listMails(ctx context.Context, c route.Call) ([]mailEntry, error) {
	if _, err := s.callers.Scope(c).Orders().OrderFile(ctx, c.UUID("uuid")); err != nil {
		return nil, err
	}
	found, err := s.mails.OrderMails(ctx, c.UUID("uuid"))
	all := make([]mailEntry, len(found))
	for i, m := range found {
		all[i] = mailEntry{m}
	}
	return all, err
}

// A mailEntry is a mail to the customer of an order.
type mailEntry struct{ operations.SentMail }

// Fields are the mail.
func (m *mailEntry) Fields() field.Set {
	return field.Set{
		field.Text("template", &m.Template).ReadOnly(),
		field.Text("state", &m.State).Among(mailStates...).ReadOnly(),
		field.Time("at", &m.At).ReadOnly().Doc("Of the last change of its state."),
		field.Text("message_id", &m.MessageID).ReadOnly(),
		field.Text("to", &m.To).ReadOnly(),
		field.Text("subject", &m.Subject).ReadOnly(),
		field.Text("text", &m.Text).ReadOnly(),
	}
}

// A mailRow is a mail on the page of an order.
type mailRow struct {
	Subject, To, State, StateText, Text string
	At                                  web.Aspect
}

func mailRows(w web.Words, all []operations.SentMail) []mailRow {
	rows := make([]mailRow, len(all))
	for i := range all {
		m := &all[i]
		rows[i] = mailRow{Subject: m.Subject, To: m.To, State: m.State, StateText: w["mail_is_"+m.State], Text: m.Text, At: w.Moment("", &m.At, "")}
	}
	return rows
}
