package notice

import (
	"slices"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/texts"
)

// An Unsubscription is what the link at the end of a mail does: this user
// wants no more mails of that sort (docs/notifications.md, "Unsubscribing").
type Unsubscription struct {
	User       int64
	Preference string // "email_on_invoice"
}

// ThroughLink tells of preferences that were set by a link in a mail.
const ThroughLink = "link in a mail"

// Command switches the mails off. A second time changes nothing.
func (u Unsubscription) Command() SetPreferences {
	return SetPreferences{User: u.User, Values: field.Values{u.Preference: []byte("false")}, Through: ThroughLink}
}

// About is what the mails are about, in the words that stand in them:
// "invoices and payments".
func (u Unsubscription) About(language string) string {
	return texts.Say(language, "letter.sorts."+u.Preference)
}

// Actor names who unsubscribes: the holder of the link acts for its user.
func (u Unsubscription) Actor() string { return "user:" + strconv.FormatInt(u.User, 10) }

// Token is the proof that a mail of ours carries, fit for a URL. It never
// expires, for mails are kept for years, and without the key none can be made
// for another user, or for another sort of mails.
func (u Unsubscription) Token(key []byte) string {
	return signed(key, append(begin(unsubscribing, u.User), u.Preference...))
}

// ReadUnsubscription reads a token that was made with one of the keys.
func ReadUnsubscription(token string, keys ...[]byte) (Unsubscription, bool) {
	user, rest, ok := readSigned(unsubscribing, token, keys...)
	u := Unsubscription{User: user, Preference: string(rest)}
	return u, ok && u.isAboutMail()
}

func (u Unsubscription) isAboutMail() bool {
	return slices.ContainsFunc(Types, func(t Type) bool { return t.Preference() == u.Preference })
}
