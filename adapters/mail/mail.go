// Package mail composes the letters that the panel sends, as every mail
// program reads them (MIME). How a letter leaves the house is the business of
// the packages below it: smtp hands it to a mail server, folder puts it into a
// directory.
package mail

import (
	"bytes"
	"errors"
	"fmt"
	netmail "net/mail"
	"regexp"
	"time"

	gomail "github.com/wneessen/go-mail"

	"hostpanel/domain"
	"hostpanel/domain/notice"
)

// A Letter is a composed message: what the envelope says and what is in it.
type Letter struct {
	From, To string // addresses alone, without names
	Content  []byte // RFC 5322, lines end with CRLF
}

// Compose renders a message. Whatever could smuggle a header or a recipient
// in is refused, as a permanent failure; its text holds nothing of the message.
func Compose(m notice.Mail, at time.Time) (Letter, error) {
	letter, err := compose(m, at)
	if err != nil {
		return Letter{}, domain.Fail(domain.Permanent, "malformed", err)
	}
	return letter, nil
}

func compose(m notice.Mail, at time.Time) (Letter, error) {
	if err := check(m); err != nil {
		return Letter{}, err
	}
	from, fromErr := address("From", m.From)
	to, toErr := address("To", m.To)
	if err := errors.Join(fromErr, toErr); err != nil {
		return Letter{}, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	setAddress(msg, gomail.HeaderFrom, from)
	setAddress(msg, gomail.HeaderTo, to)
	if m.ReplyTo != "" {
		reply, err := address("Reply-To", m.ReplyTo)
		if err != nil {
			return Letter{}, err
		}
		setAddress(msg, gomail.HeaderReplyTo, reply)
	}
	fill(msg, m, at)
	var content bytes.Buffer
	if _, err := msg.WriteTo(&content); err != nil {
		return Letter{}, fmt.Errorf("render the message: %w", err)
	}
	return Letter{from.Address, to.Address, content.Bytes()}, nil
}

func fill(msg *gomail.Msg, m notice.Mail, at time.Time) {
	msg.SetDateWithValue(at)
	msg.SetMessageIDWithValue(m.MessageID)
	setText(msg, gomail.HeaderSubject, m.Subject)
	for name, value := range m.Headers {
		setText(msg, gomail.Header(name), value)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
}

// address reads one address, with or without a name. The library's own error
// quotes the address, so it is not passed on.
func address(header, text string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not an address", header)
	}
	return a, nil
}

var (
	headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
	messageID  = regexp.MustCompile(`^[^\s<>@]+@[^\s<>@]+$`)
	own        = regexp.MustCompile(
		`(?i)^(from|sender|to|cc|bcc|reply-to|subject|date|message-id|mime-version|return-path|received|content-.*)$`,
	)
	language = regexp.MustCompile(`(?i)^content-language$`) // only the sender writes it
)

// check refuses what would change the headers (L-2 in docs/rules.md).
func check(m notice.Mail) error {
	if err := m.Check(); err != nil {
		return err
	}
	if !messageID.MatchString(m.MessageID) {
		return errors.New("the message id has not the form of one")
	}
	for name := range m.Headers {
		if !headerName.MatchString(name) || own.MatchString(name) && !language.MatchString(name) {
			return errors.New("a further header is not allowed")
		}
	}
	return nil
}
