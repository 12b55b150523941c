package notice

import (
	"strings"

	"hostpanel/domain"
)

// A Mail is a message, ready to be sent. A second sending of it is the same
// message again, so it carries nothing that may be read only once.
type Mail struct {
	MessageID string // without angle brackets; equal on every retry
	From      string
	To        string
	ReplyTo   string
	Subject   string
	Text      string
	HTML      string
	Headers   map[string]string
}

// RecipientRefused is the code of a permanent failure that says: this address
// accepts no mail, from any sender.
const RecipientRefused = "recipient_refused"

// CheckHeader refuses what would break out of a mail header: line breaks and
// other control characters.
func CheckHeader(name, value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }) {
		return domain.RefuseField(name, "Line breaks are not allowed.")
	}
	return nil
}

// Check refuses a mail of which some header could be broken out of.
func (m Mail) Check() error {
	headers := [][2]string{
		{"message_id", m.MessageID}, {"from", m.From}, {"to", m.To}, {"reply_to", m.ReplyTo}, {"subject", m.Subject},
	}
	for name, value := range m.Headers {
		headers = append(headers, [2]string{"headers", name}, [2]string{"headers", value})
	}
	for _, header := range headers {
		if err := CheckHeader(header[0], header[1]); err != nil {
			return err
		}
	}
	return nil
}
