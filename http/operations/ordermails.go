package operations

import (
	"context"

	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

func (s *orders) listMails(ctx context.Context, c route.Call) ([]operations.SentMail, error) {
	if _, err := s.callers.Scope(c).Orders().OrderFile(ctx, c.UUID("uuid")); err != nil {
		return nil, err
	}
	return s.mails.OrderMails(ctx, c.UUID("uuid"))
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
		rows[i] = mailRow{
			Subject: m.Subject, To: m.To, State: m.State, StateText: w["mail_is_"+m.State], Text: m.Text,
			At: w.Moment("", &m.At, ""),
		}
	}
	return rows
}
