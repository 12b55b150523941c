package mail

import (
	"encoding/base64"
	netmail "net/mail"
	"strings"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
)

// Mail programs decode "=?…?=" in a header (RFC 2047), many of them in quotes
// too, and the library sends it as it is. A text that contains the mark is
// therefore encoded itself, whatever else is in it.
const encodedMark = "=?"

// encodedBytes is how much of a text one encoded word holds. A line with one has at
// most 76 characters; the first has the name of the header, too.
const encodedBytes = 33

// encoded is a text in encoded words, each on a line of its own.
func encoded(text string) string {
	var words []string
	for text != "" {
		end := min(len(text), encodedBytes)
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:end]))+"?=")
		text = text[end:]
	}
	return strings.Join(words, "\r\n ")
}

// setText writes a header that holds a text.
func setText(msg *gomail.Msg, name gomail.Header, text string) {
	if strings.Contains(text, encodedMark) {
		msg.SetGenHeaderPreformatted(name, encoded(text))
		return
	}
	msg.SetGenHeader(name, text)
}

// setAddress writes a header that holds an address, with or without a name.
func setAddress(msg *gomail.Msg, name gomail.AddrHeader, a *netmail.Address) {
	if strings.Contains(a.Name, encodedMark) {
		bare := netmail.Address{Address: a.Address}
		msg.SetGenHeaderPreformatted(gomail.Header(name), encoded(a.Name)+"\r\n "+bare.String())
		return
	}
	msg.SetAddrHeaderFromMailAddress(name, a)
}
