package sagas

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// The welcome mail brings a new account its one-time link, and an existing one
// the way to sign in. It never holds up an order: what does not get through in
// time is left to a run of its own (docs/sagas.md, "Mail").

// mailDef is the list of a run that sends one delayed mail.
const mailDef = "mail/1"

// SetPassword is the purpose of the links in welcome mails, and of their
// secrets on the way there.
const SetPassword = "set_password"

// linkRows store a new one-time link for a user, and its secret for the mail.
func (s *Sagas) linkRows(user int64, effect string) []eventstore.Row {
	token := eventstore.NewToken()
	rows := eventstore.TokenRows(token, SetPassword, user, s.times.LateBudget+s.times.LinkLife)
	return append(rows, s.store.HandOff(SetPassword, effect, []byte(token), s.times.LateBudget))
}

// welcomeCall sends the mail, now or later: the key, and so the message and
// its link, are the same each time.
func (s *Sagas) welcomeCall(ctx context.Context, job Job) (Call, error) {
	key := effectKey(job.Order, "welcome")
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Call{}, err
	}
	if o.CustomerEmail == "" {
		return Call{}, domain.Fail(domain.Permanent, "no_address", errors.New("the customer's data has been erased"))
	}
	token, err := s.link(ctx, job, key)
	if err != nil {
		return Call{}, err
	}
	return Call{
		Request: map[string]any{"message": messageID(key, s.mailFrom), "subject": o.Subject, "link": job.Opened},
		Do: func(ctx context.Context) (Result, error) {
			return Result{External: messageID(key, s.mailFrom)}, s.mail.Send(ctx, s.welcomeMail(o, key, token))
		},
		Confirmed: func(Result) Work {
			rows := []eventstore.Row{eventstore.Shred(key)}
			if token != "" {
				rows = append(rows, eventstore.ExtendToken(token, s.times.LinkLife))
			}
			return Work{Commands: []domain.Command{order.ConfirmMail{ID: job.Order, At: s.now()}}, Rows: rows}
		},
	}, nil
}

// link is the secret of the mail's link; empty for an account that was there
// before. A secret that has run out on the way is replaced.
func (s *Sagas) link(ctx context.Context, job Job, key string) (string, error) {
	if !job.Opened {
		return "", nil
	}
	secret, err := s.store.OpenHandOff(ctx, SetPassword, key)
	if !errors.Is(err, eventstore.ErrShredded) {
		return string(secret), err
	}
	rows := append([]eventstore.Row{eventstore.Shred(key)}, s.linkRows(job.User, key)...)
	rows[0].Key = "secret_handoff/" + key + "/0" // before the new one
	rows[len(rows)-1].Key += "/1"
	if _, err := s.store.ExecuteWith(ctx, domain.Cause{Actor: "system:mail"}, rows); err != nil {
		return "", err
	}
	secret, err = s.store.OpenHandOff(ctx, SetPassword, key)
	return string(secret), err
}

// delayMail lets the order go on without its mail. One that was refused for
// good is not tried again.
func (s *Sagas) delayMail(job Job, final bool) Work {
	work := Work{Commands: []domain.Command{order.DelayMail{ID: job.Order, At: s.now()}}}
	if final {
		work = work.and(s.giveUpMail(job, true))
	}
	return work
}

// giveUpMail leaves the mail to an operator. Its link stays valid.
func (s *Sagas) giveUpMail(job Job, _ bool) Work {
	return Work{
		Commands: []domain.Command{order.GiveUpMail{ID: job.Order, At: s.now()}},
		Rows:     []eventstore.Row{eventstore.Shred(effectKey(job.Order, "welcome"))},
	}
}

func (w Work) and(more Work) Work {
	w.Commands, w.Rows = append(w.Commands, more.Commands...), append(w.Rows, more.Rows...)
	return w
}

// lateMail is the run that goes on with a delayed mail; not, if the mail is
// given up in the same breath.
func (s *Sagas) lateMail(ctx context.Context, id uuid.UUID, facts []eventstore.Recorded) (Start, bool, error) {
	for _, f := range facts {
		if _, over := f.Event.(order.WelcomeMailGivenUp); over && f.Stream == order.Stream(id) {
			return Start{}, false, nil
		}
	}
	run, _, err := eventstore.Fold(ctx, s.store, Decider, StreamOf("provision:"+id.String()))
	if err != nil {
		return Start{}, false, err
	}
	key := effectKey(id, "welcome")
	job := run.Job
	job.Effect = key
	return Start{Key: "mail:" + key, Def: mailDef, Steps: s.places([]string{"send"}), Job: job, Order: id}, true, nil
}

// messageID follows from the key, so a mail that is sent twice is recognised
// as one.
func messageID(key, from string) string {
	host := "localhost"
	if a, err := mail.ParseAddress(from); err == nil {
		_, host, _ = strings.Cut(a.Address, "@")
	}
	return RunID(key).String() + "@" + host
}

// A letter is the welcome mail in one language.
type letter struct{ subject, greeting, active, first, signIn, user, closing string }

var letters = map[string]letter{
	"en": {
		subject: "Welcome: your order %s", greeting: "Hello %s,", active: "your order %s (%s) is ready.",
		first: "Choose your password here (the link works once, within 72 hours):", signIn: "Sign in here:",
		user: "Your user name: %s", closing: "Keep this message to yourself.",
	},
	"es": {
		subject: "Bienvenido: su pedido %s", greeting: "Hola, %s:", active: "su pedido %s (%s) está listo.",
		first: "Elija aquí su contraseña (el enlace sirve una sola vez, durante 72 horas):", signIn: "Inicie sesión aquí:",
		user: "Su nombre de usuario: %s", closing: "No comparta este mensaje.",
	},
}

// inLanguage picks the texts for "es", "es-MX", "en" …; English serves all others.
func inLanguage[T any](texts map[string]T, language string) T {
	short, _, _ := strings.Cut(language, "-")
	if t, ok := texts[short]; ok {
		return t
	}
	return texts["en"]
}

func (s *Sagas) welcomeMail(o projections.Order, key, token string) notice.Mail {
	l := inLanguage(letters, o.Language)
	how, url := l.signIn, s.publicURL()+"/login/"
	if token != "" {
		how, url = l.first, s.publicURL()+"/set-password/?token="+token
	}
	user := strings.ToLower(strings.TrimSpace(o.CustomerEmail))
	text := strings.Join([]string{
		fmt.Sprintf(l.greeting, oneLine(o.CustomerName)), "", fmt.Sprintf(l.active, o.OrderNumber, oneLine(o.PlanName)), "",
		fmt.Sprintf(l.user, user), "", how, url, "", l.closing, "",
	}, "\n")
	return notice.Mail{
		MessageID: messageID(key, s.mailFrom), From: s.mailFrom, To: o.CustomerEmail, Subject: fmt.Sprintf(l.subject, o.OrderNumber), Text: text,
	}
}

// oneLine keeps what a customer typed from looking like lines of ours.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
