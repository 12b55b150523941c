package notice

import (
	"net/mail"
	"strings"
	"unicode"

	"hostpanel/domain/texts"
)

// An Occasion is the reason of a mail.
type Occasion string

const (
	FirstOrder Occasion = "first_order" // an order is set up, and the account was opened for it
	NextOrder  Occasion = "next_order"  // an order is set up for an account that was there before
	Invitation Occasion = "invitation"  // an operator has opened the account
	Reset      Occasion = "reset"       // a new password was requested

	ApprovalLost Occasion = "approval_lost" // the customer agreed to pay, and the money could not be fetched

	OrderTenant Occasion = "order_tenant" // an order was placed by whom may let it join a tenant

	News Occasion = "news" // a notification that comes by mail, too
)

// A Letter is what a mail needs to know. It holds no password: who is to
// choose one gets a link that works once.
type Letter struct {
	Occasion    Occasion
	MessageID   string // equal on every retry
	From        string // as in a header: "Host <panel@example.com>"
	ReplyTo     string // blank: the sender
	To, Name    string
	Language    string // "es", "es-MX", or else English
	PanelURL    string
	Username    string // blank: the letter is not about an account
	Link        string // to choose a password, to sign in, or to what is new
	Order       string // number; of orders alone
	Plan        string // name; of orders alone
	Invoiced    bool   // there is an invoice for the order
	News        Text   // of notifications alone
	Unsubscribe string // link to want no more of them; blank: there is none
	Brand       Brand
}

// Write makes a mail of the letter. Receiving it twice does no harm: it is the
// same mail with the same link. It is refused where a header could be broken
// out of; what people typed stays on its line.
func (l Letter) Write() (Mail, error) {
	l.Name, l.Plan, l.Brand = oneLine(l.Name), oneLine(l.Plan), l.Brand.plain()
	if err := CheckHeader("email", l.To); err != nil {
		return Mail{}, err
	}
	w := wordsIn(l.Language)
	t := l.says(w)
	m := Mail{
		MessageID: l.MessageID, From: l.From, ReplyTo: l.ReplyTo,
		To: (&mail.Address{Name: l.Name, Address: l.To}).String(), Subject: t.subject,
		Text: l.text(t, w), Headers: l.headers(w),
	}
	if err := m.Check(); err != nil {
		return Mail{}, err
	}
	var err error
	m.HTML, err = l.page(t, w)
	return m, err
}

// headers tell programs that no person wrote the mail, and how its reader gets
// no more of them by one click (RFC 2369, RFC 8058).
func (l Letter) headers(w words) map[string]string {
	all := map[string]string{"Auto-Submitted": "auto-generated", "Content-Language": w.Language}
	if l.Unsubscribe != "" {
		all["List-Unsubscribe"], all["List-Unsubscribe-Post"] = "<"+l.Unsubscribe+">", "List-Unsubscribe=One-Click"
	}
	return all
}

// oneLine keeps typed text from looking like lines of ours.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// greeting needs no name: some people have given none.
func (l Letter) greeting() string {
	if l.Name == "" {
		return texts.Say(l.Language, "letter.hello")
	}
	return texts.Say(l.Language, "letter.hello_name", "name", l.Name)
}

// text is the mail for those who read no HTML. It says the same.
func (l Letter) text(t letterText, w words) string {
	lines := []string{l.greeting(), "", t.news}
	if l.Username != "" {
		lines = append(lines, "", w.Panel+": "+l.PanelURL, w.User+": "+l.Username)
	}
	if l.calls(t) {
		lines = append(lines, "", t.call+":", l.Link)
	}
	if t.once {
		lines = append(lines, "", w.Validity)
	}
	lines = append(lines, "", t.ignore)
	if l.Unsubscribe != "" {
		lines = append(lines, w.Stop+":", l.Unsubscribe)
	}
	lines = append(lines, "", w.Bye)
	return strings.Join(append(lines, l.Brand.signature()...), "\n") + "\n"
}

// calls tells whether the letter leads somewhere.
func (l Letter) calls(t letterText) bool { return t.call != "" && l.Link != "" }

// A letterKind is what letters of one occasion have in common in all languages.
type letterKind struct {
	once bool // its link works once
}

// letters are all occasions but notifications. The texts have the same names (package
// texts, "letter.texts.").
var letters = map[Occasion]letterKind{
	FirstOrder: {once: true}, NextOrder: {}, Invitation: {once: true}, Reset: {once: true}, ApprovalLost: {}, OrderTenant: {},
}

// words are what all letters in one language share.
type words struct {
	Language         string
	Panel, User, Bye string
	Validity         string // of a link that works once
	Open             string // what the button of news says
	Stop             string // how to get no more news
}

func wordsIn(language string) words {
	say := func(name string) string { return texts.Say(language, "letter."+name) }
	return words{
		Language: texts.Spoken(language), Bye: say("bye"), Panel: say("panel"), User: say("user"),
		Validity: say("validity"), Open: say("open"), Stop: say("stop"),
	}
}

// A letterText is what one letter says in one language.
type letterText struct {
	subject, news string
	call          string // what the link is for
	once          bool   // the link works once
	ignore        string // for whom the letter was not meant
}

// says is what this letter says, with nothing left to fill in.
func (l Letter) says(w words) letterText {
	if l.Occasion == News {
		about := texts.Say(l.Language, "letter.sorts."+l.News.Type.Preference())
		return letterText{
			subject: oneLine(l.News.Title), news: l.News.Message, call: w.Open,
			ignore: texts.Say(l.Language, "letter.why", "sort", about),
		}
	}
	say := func(part string) string {
		return texts.Say(l.Language, "letter.texts."+string(l.Occasion)+"."+part, "number", l.Order, "plan", l.Plan)
	}
	news := say("news")
	if l.Invoiced {
		news += " " + texts.Say(l.Language, "letter.invoiced")
	}
	return letterText{subject: say("subject"), news: news, call: say("call"), ignore: say("ignore"), once: letters[l.Occasion].once}
}
