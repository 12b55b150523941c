package mail_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/mail"
	"hostpanel/domain"
	"hostpanel/domain/notice"
)

var at = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func welcome() notice.Mail {
	return notice.Mail{
		MessageID: "o.6f1c.welcome@panel.test", From: "Panel <panel@panel.test>", To: "José Núñez <jose@customer.test>",
		ReplyTo: "help@panel.test", Subject: "Tu pedido está listo", Text: "Hola José,\n.\nhttps://panel.test/set-password/?token=abc\n",
		HTML:    "<p>Hola José</p>",
		Headers: map[string]string{"Auto-Submitted": "auto-generated", "X-Order": "ORD-1", "Content-Language": "es"},
	}
}

func TestALetterReadsAsItWasMeant(t *testing.T) {
	letter, err := mail.Compose(welcome(), at)
	if err != nil {
		t.Fatal(err)
	}
	if letter.From != "panel@panel.test" || letter.To != "jose@customer.test" {
		t.Errorf("envelope from %q to %q", letter.From, letter.To)
	}
	m, err := netmail.ReadMessage(bytes.NewReader(letter.Content))
	if err != nil {
		t.Fatal(err)
	}
	decode := new(mime.WordDecoder)
	for name, want := range map[string]string{
		"Message-ID": "<o.6f1c.welcome@panel.test>", "Subject": "Tu pedido está listo",
		"Auto-Submitted": "auto-generated", "X-Order": "ORD-1", "Content-Language": "es",
		"From": `"Panel" <panel@panel.test>`, "To": `José Núñez <jose@customer.test>`, "Reply-To": "<help@panel.test>",
		"Date": "Sat, 21 Nov 2026 12:00:00 +0000", "User-Agent": "", "Bcc": "",
	} {
		if have, err := decode.DecodeHeader(m.Header.Get(name)); err != nil || have != want {
			t.Errorf("%s: %q, not %q (%v)", name, have, want, err)
		}
	}
	wantParts(t, m, "text/plain", "Hola José,\r\n.\r\nhttps://panel.test/set-password/?token=abc\r\n", "text/html", "<p>Hola José</p>")
}

// Whatever the panel writes to people can be sent, in both languages.
func TestEveryLetterOfThePanelCanBeComposed(t *testing.T) {
	for _, occasion := range []notice.Occasion{notice.FirstOrder, notice.NextOrder, notice.Invitation, notice.Reset} {
		for _, language := range []string{"es", "en"} {
			m, err := notice.Letter{
				Occasion: occasion, MessageID: "u.12@panel.test", From: "Panel <panel@panel.test>",
				To: "jose@customer.test", Name: "José Núñez",
				Language: language, PanelURL: "https://panel.test/", Username: "jose@customer.test",
				Link: "https://panel.test/login/", Order: "ORD-1", Plan: "Básico",
			}.Write()
			if err != nil {
				t.Fatal(err)
			}
			if letter, err := mail.Compose(m, at); err != nil || letter.To != "jose@customer.test" {
				t.Errorf("%s, %s: %v %+v", occasion, language, err, letter)
			}
		}
	}
}

func wantParts(t *testing.T, m *netmail.Message, want ...string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s: %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for i := 0; i < len(want); i += 2 {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want[i]) || string(text) != want[i+1] {
			t.Errorf("%s: %q (%v)", part.Header.Get("Content-Type"), text, err)
		}
	}
}

func TestNothingCanBeSmuggledIntoTheHeaders(t *testing.T) { // L-2
	for name, change := range map[string]func(*notice.Mail){
		"subject":         func(m *notice.Mail) { m.Subject = "Hi\r\nBcc: evil@x.test" },
		"subject, bare":   func(m *notice.Mail) { m.Subject = "Hi\nBcc: evil@x.test" },
		"message id":      func(m *notice.Mail) { m.MessageID = "a@b.test>\r\nBcc: evil@x.test" },
		"no message id":   func(m *notice.Mail) { m.MessageID = "" },
		"name of a":       func(m *notice.Mail) { m.To = "Jo\r\nBcc: evil@x.test <jose@customer.test>" },
		"two recipients":  func(m *notice.Mail) { m.To = "jose@customer.test, evil@x.test" },
		"no recipient":    func(m *notice.Mail) { m.To = "" },
		"recipient":       func(m *notice.Mail) { m.To = "jose@customer.test>\r\nRCPT TO:<evil@x.test" },
		"sender":          func(m *notice.Mail) { m.From = "panel" },
		"reply-to":        func(m *notice.Mail) { m.ReplyTo = "a@b.test\r\nBcc: evil@x.test" },
		"header value":    func(m *notice.Mail) { m.Headers["X-Order"] = "1\r\nBcc: evil@x.test" },
		"header name":     func(m *notice.Mail) { m.Headers["X: 1\r\nBcc"] = "evil@x.test" },
		"header of ours":  func(m *notice.Mail) { m.Headers["bcc"] = "evil@x.test" },
		"content type":    func(m *notice.Mail) { m.Headers["Content-Type"] = "text/html" },
		"zero in subject": func(m *notice.Mail) { m.Subject = "a\x00b" },
	} {
		m := welcome()
		change(&m)
		letter, err := mail.Compose(m, at)
		var f *domain.Failure
		if !errors.As(err, &f) || f.Class != domain.Permanent || f.Code != "malformed" {
			t.Errorf("%s: %v\n%s", name, err, letter.Content)
			continue
		}
		if strings.Contains(err.Error(), "evil") || strings.Contains(err.Error(), "jose") {
			t.Errorf("%s: the error quotes the mail: %v", name, err)
		}
	}
}
