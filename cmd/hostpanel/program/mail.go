package program

import (
	"context"
	"net/url"
	"path/filepath"

	"hostpanel/adapters/mail/folder"
	"hostpanel/adapters/mail/smtp"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/sagas/notices"
)

// A Mailer is where mails go: a mail server, or the outbox.
type Mailer interface {
	notices.Mail
	// Check tells whether mails would be taken, and sends none.
	Check(ctx context.Context) error
	// Address is the server's host and port, or the folder.
	Address() string
}

// Mail is what the settings name.
func (p *Program) Mail() (Mailer, error) {
	if p.Config.SMTPURL == "" {
		return folder.New(filepath.Join(p.Config.DataDir, "outbox")), nil
	}
	server, err := smtp.New(p.Config.SMTPURL, p.MailFrom())
	if err != nil {
		return nil, console.Misused("SMTP_URL: %w", err)
	}
	return server, nil
}

// MailFrom is the sender of mails that name none.
func (p *Program) MailFrom() string {
	if p.Config.MailFrom != "" {
		return p.Config.MailFrom
	}
	host := "localhost"
	if u, err := url.Parse(p.Config.PublicURL); err == nil && u.Hostname() != "" && !config.IsLoopback(u.Hostname()) {
		host = u.Hostname()
	}
	return "hostpanel@" + host
}

// checkMail warns when mails would not be taken now. They wait, and are sent
// when the server is back.
func (p *Program) checkMail(ctx context.Context) {
	if p.Sagas.Runner.KeepRecovery(ctx) != nil {
		return
	}
	m, err := p.Mail()
	if err == nil {
		err = m.Check(ctx)
	}
	if err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "mails are not taken now and wait: hostpanel doctor tells more", "server", m.Address(), "error", err)
	}
}
