package notice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
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

// unsubscribing is the first byte of the tokens: which form they have.
const unsubscribing = 1

// Token is the proof that a mail of ours carries, fit for a URL. It never
// expires, for mails are kept for years, and without the key none can be made
// for another user, or for another sort of mails.
func (u Unsubscription) Token(key []byte) string {
	said := u.said()
	return base64.RawURLEncoding.EncodeToString(append(said, signature(key, said)...))
}

// ReadUnsubscription reads a token that was made with one of the keys. How
// long it takes tells nothing of what would have been right.
func ReadUnsubscription(token string, keys ...[]byte) (Unsubscription, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	end := len(raw) - sha256.Size
	if err != nil || end < saidMin || raw[0] != unsubscribing || base64.RawURLEncoding.EncodeToString(raw) != token {
		return Unsubscription{}, false
	}
	known := false
	for _, key := range keys {
		known = hmac.Equal(raw[end:], signature(key, raw[:end])) || known
	}
	u := Unsubscription{User: int64(binary.BigEndian.Uint64(raw[1:])), Preference: string(raw[saidMin:end])} //nolint:gosec // the same bits
	return u, known && u.isAboutMail()
}

// saidMin is how many bytes stand before the preference: the version and the user.
const saidMin = 1 + 8

func (u Unsubscription) said() []byte {
	said := binary.BigEndian.AppendUint64([]byte{unsubscribing}, uint64(u.User)) //nolint:gosec // the same bits
	return append(said, u.Preference...)
}

func (u Unsubscription) isAboutMail() bool {
	return slices.ContainsFunc(Types, func(t Type) bool { return t.Preference() == u.Preference })
}

func signature(key, said []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(said)
	return mac.Sum(nil)
}
