package sagastest

import (
	"context"
	netmail "net/mail"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
)

// A Mail is a mail server, with all that it has sent.
type Mail struct {
	Lies
	Mu   sync.Mutex
	Sent []notice.Mail
}

// NewMail has sent nothing.
func NewMail() *Mail { return &Mail{} }

// Send takes a mail.
func (m *Mail) Send(ctx context.Context, mail notice.Mail) error {
	to, err := netmail.ParseAddress(mail.To)
	if err != nil {
		return domain.Fail(domain.Permanent, "malformed", err)
	}
	call := callOf(mail)
	if err := m.ask(ctx, false, call, to.Address); err != nil {
		return err
	}
	m.Mu.Lock()
	m.Sent = append(m.Sent, mail)
	m.Mu.Unlock()
	return m.ask(ctx, true, call, to.Address)
}

// callOf tells letters from notifications, and from the question which tenant an unpaid
// order joins. Whether that is asked depends on how fast the customer pays.
func callOf(mail notice.Mail) string {
	_, isNews := mail.Headers["List-Unsubscribe"]
	switch {
	case isNews:
		return "notify"
	case strings.Contains(mail.Text, order.JoinPath):
		return "offer"
	}
	return "send"
}

// To are the letters that an address has got.
func (m *Mail) To(address string) []notice.Mail { return m.got(address, "send") }

// News are the notifications to an address.
func (m *Mail) News(address string) []notice.Mail { return m.got(address, "notify") }

// Offers are the offers to join a tenant.
func (m *Mail) Offers(address string) []notice.Mail { return m.got(address, "offer") }

func (m *Mail) got(address, call string) (mails []notice.Mail) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, mail := range m.Sent {
		to, err := netmail.ParseAddress(mail.To)
		if err == nil && to.Address == address && callOf(mail) == call {
			mails = append(mails, mail)
		}
	}
	return mails
}
