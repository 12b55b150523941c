// Package smtp hands messages to a mail server. It knows exactly how far a
// conversation came, because that decides whether a letter may be sent again:
// before the final dot nothing has been sent, after it only the server's
// answer tells (docs/adapters.md, "Mail"; rule L-3).
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"slices"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"hostpanel/adapters/mail"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore/clock"
)

// A Server is a mail server that takes our messages.
type Server struct {
	server
	from string
}

// New reads the address of a mail server,
// `smtp[s]://user:password@host:port?tls=required`, and the sender of messages
// that name none. docs/adapters.md lists the forms.
func New(address, from string) (*Server, error) {
	s, err := parse(address)
	if err != nil {
		return nil, err
	}
	return &Server{s, from}, nil
}

// Send is done when the server has answered 250 to the whole message. Failures:
// transient and permanent before that, as the server says (4xx, 5xx) or
// because it could not be reached; unknown when its last answer was lost.
// Their texts hold the server's code, never its words, which quote addresses.
func (s *Server) Send(ctx context.Context, m notice.Mail) error {
	if m.From == "" {
		m.From = s.from
	}
	letter, err := mail.Compose(m, clock.Now())
	if err != nil {
		return err
	}
	return s.connected(ctx, func(c *smtp.Client) error { return deliver(c, letter) })
}

// Check connects, encrypts and signs in as for a message, and sends none.
func (s *Server) Check(ctx context.Context) error {
	return s.connected(ctx, func(*smtp.Client) error { return nil })
}

// Address is the server's host and port.
func (s *Server) Address() string { return s.address }

// connected does something with a server that has let us in.
func (s *Server) connected(ctx context.Context, do func(*smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		return refused("connect", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return s.converse(conn, do)
}

func (s *Server) dial(ctx context.Context) (net.Conn, error) {
	if s.implicit {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, "tcp", s.address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
}

func (s *Server) converse(conn net.Conn, do func(*smtp.Client) error) error {
	c, err := smtp.NewClient(conn, s.host)
	if err != nil {
		return refused("greeting", err)
	}
	if err := s.introduce(c); err != nil {
		return err
	}
	if err := do(c); err != nil {
		return err // and close the connection: a QUIT would end a message that stands half written
	}
	_ = c.Quit() // the letter is accepted whatever becomes of the farewell
	return nil
}

// introduce greets, encrypts and signs in.
func (s *Server) introduce(c *smtp.Client) error {
	if err := c.Hello(s.hello); err != nil {
		return refused("EHLO", err)
	}
	if offered, _ := c.Extension("STARTTLS"); offered && !s.implicit && s.policy != none {
		if err := c.StartTLS(s.tls); err != nil {
			return refused("STARTTLS", err)
		}
	} else if !s.implicit && s.policy == required {
		return domain.Fail(domain.Transient, "no_tls", errors.New("the mail server does not offer TLS, which is required"))
	}
	if s.user == "" {
		return nil
	}
	if err := c.Auth(s.login(c)); err != nil {
		return refused("AUTH", err)
	}
	return nil
}

func deliver(c *smtp.Client, letter mail.Letter) error {
	if err := c.Mail("<" + letter.From + ">"); err != nil {
		return refused("MAIL", err)
	}
	if err := c.Rcpt("<" + letter.To + ">"); err != nil {
		return aboutRecipient(refused("RCPT", err), err)
	}
	data, err := c.Data()
	if err != nil {
		return refused("DATA", err)
	}
	if _, err := data.Write(letter.Content); err != nil {
		return refused("message", err) // without the final dot a server keeps nothing
	}
	return accepted(data.Close())
}

// aboutRecipient gives a refusal a code of its own if it is about the recipient and
// not about us, about a full mailbox or about what is sent: a relay that wants
// nothing from us says so at the same place, and no address is to blame.
func aboutRecipient(refusal, err error) error {
	answer, answered := errors.AsType[*textproto.Error](err)
	if !answered || !isAboutRecipient(answer) {
		return refusal
	}
	return domain.Fail(domain.Permanent, notice.RecipientRefused, fmt.Errorf("RCPT: the recipient was refused with %d", answer.Code))
}

var (
	// statusCode is what a careful server says besides (RFC 3463).
	statusCode = regexp.MustCompile(`^([245]\.[0-9]{1,3}\.[0-9]{1,3})\b`)
	// ofRecipient are the status codes that mean: no such mailbox or domain, it
	// has moved, it is closed, or (some large hosts) the directory has none.
	ofRecipient = []string{"5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.6", "5.1.9", "5.1.10", "5.2.0", "5.2.1", "5.4.1"}
	// ofMailbox are what servers answer that say no more.
	ofMailbox = []int{550, 551, 553}
)

func isAboutRecipient(answer *textproto.Error) bool {
	if status := statusCode.FindString(answer.Msg); status != "" {
		return answer.Code >= 500 && slices.Contains(ofRecipient, status)
	}
	return slices.Contains(ofMailbox, answer.Code)
}

// accepted reads the end of a conversation: only an answer of the server can
// say that it did not take the letter.
func accepted(err error) error {
	answer, answered := errors.AsType[*textproto.Error](err)
	switch {
	case err == nil, answered && answer.Code/100 == 2:
		return nil
	case answered:
		return refused("end of message", err)
	}
	return domain.Fail(domain.Unknown, "answer_lost", errors.New("the connection was lost after the message"))
}

// refused classifies what went wrong before the server had the message.
func refused(stage string, err error) error {
	answer, answered := errors.AsType[*textproto.Error](err)
	switch {
	case answered && answer.Code >= 500:
		return domain.Fail(domain.Permanent, fmt.Sprintf("smtp_%d", answer.Code), fmt.Errorf("%s: refused with %d", stage, answer.Code))
	case answered:
		return domain.Fail(domain.Transient, fmt.Sprintf("smtp_%d", answer.Code), fmt.Errorf("%s: refused with %d", stage, answer.Code))
	}
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
		return domain.Fail(domain.Transient, "timeout", fmt.Errorf("%s: %w", stage, err))
	}
	return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("%s: %w", stage, err))
}
