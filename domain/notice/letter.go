package notice

import (
	"fmt"
	"html/template"
	"net/mail"
	"strings"
	"unicode"
)

// An Occasion is why somebody is written to about an account.
type Occasion string

const (
	FirstOrder Occasion = "first_order" // an order is set up, and the account was opened for it
	NextOrder  Occasion = "next_order"  // an order is set up for an account that was there before
	Invitation Occasion = "invitation"  // an operator has opened the account
	Reset      Occasion = "reset"       // somebody has asked for a new password

	ApprovalLost Occasion = "approval_lost" // the customer agreed to pay, and the money could not be fetched
)

// A Letter is what a mail about an account needs to know. It holds no
// password: who is to choose one gets a link that works once.
type Letter struct {
	Occasion  Occasion
	MessageID string // equal on every retry
	From      string // as in a header: "Host <panel@example.com>"
	ReplyTo   string // blank: the sender
	To, Name  string
	Language  string // "es", "es-MX", or else English
	PanelURL  string
	Username  string // blank: the letter is not about an account
	Link      string // to choose a password, or to sign in
	Order     string // number; of orders alone
	Plan      string // name; of orders alone
}

// Write makes a mail of the letter. Receiving it twice does no harm: it is the
// same mail with the same link. It is refused where a header could be broken
// out of; what people typed stays on its line.
func (l Letter) Write() (Mail, error) {
	l.Name, l.Plan = oneLine(l.Name), oneLine(l.Plan)
	t := inLanguage(letters, l.Language)[l.Occasion]
	words := inLanguage(letterWords, l.Language)
	if err := CheckHeader("email", l.To); err != nil {
		return Mail{}, err
	}
	m := Mail{
		MessageID: l.MessageID, From: l.From, ReplyTo: l.ReplyTo, To: (&mail.Address{Name: l.Name, Address: l.To}).String(), Subject: l.fill(t.subject),
		Text:    l.text(t, words),
		Headers: map[string]string{"Auto-Submitted": "auto-generated", "Content-Language": words.Language},
	}
	if err := m.Check(); err != nil {
		return Mail{}, err
	}
	var err error
	m.HTML, err = l.page(t, words)
	return m, err
}

// fill puts the order into a sentence.
func (l Letter) fill(sentence string) string {
	return strings.NewReplacer("{number}", l.Order, "{plan}", l.Plan).Replace(sentence)
}

// oneLine keeps what somebody typed from looking like lines of ours.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// greeting needs no name: some people have given none.
func (l Letter) greeting(w words) string {
	if l.Name == "" {
		return w.Hello + ","
	}
	return w.Hello + w.Before + " " + l.Name + ","
}

// text is the mail for those who read no HTML.
func (l Letter) text(t letterText, w words) string {
	lines := []string{l.greeting(w), "", l.fill(t.news)}
	if l.Username != "" {
		lines = append(lines, "", w.Panel+": "+l.PanelURL, w.User+": "+l.Username, "", t.call+":", l.Link)
	}
	if t.once {
		lines = append(lines, "", w.Validity)
	}
	return strings.Join(append(lines, "", t.ignore, "", w.Bye, ""), "\n")
}

// page is the mail for those who read HTML.
func (l Letter) page(t letterText, w words) (string, error) {
	var b strings.Builder
	err := letterPage.Execute(&b, map[string]any{
		"Letter": l, "Words": w, "Title": l.fill(t.subject), "Greeting": l.greeting(w), "News": l.fill(t.news), "Call": t.call, "Once": t.once, "Ignore": t.ignore,
	})
	if err != nil {
		return "", fmt.Errorf("write a letter: %w", err)
	}
	return b.String(), nil
}

var letterPage = template.Must(template.New("letter").Parse(`<!doctype html>
<html lang="{{.Words.Language}}">
<head><meta charset="utf-8"><title>{{.Title}}</title></head>
<body style="font-family:sans-serif;line-height:1.5;color:#1f2937">
<p>{{.Greeting}}</p>
<p>{{.News}}</p>
{{if .Letter.Username}}<p>{{.Words.Panel}}: <a href="{{.Letter.PanelURL}}">{{.Letter.PanelURL}}</a><br>
{{.Words.User}}: <strong>{{.Letter.Username}}</strong></p>
<p><a href="{{.Letter.Link}}" style="background:#4f46e5;color:#ffffff;padding:10px 18px;border-radius:6px;text-decoration:none">{{.Call}}</a></p>
{{end}}{{if .Once}}<p>{{.Words.Validity}}</p>
{{end}}<p style="color:#6b7280">{{.Ignore}}</p>
<p>{{.Words.Bye}}</p>
</body>
</html>
`))
