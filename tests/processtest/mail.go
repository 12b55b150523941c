//go:build system

package processtest

import (
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// OnlyMail is the text of the one mail about an order.
func OnlyMail(t *testing.T, dir, number string) string {
	t.Helper()
	mails := MailsAbout(t, dir, number)
	if len(mails) != 1 {
		t.Fatalf("%d mails about %s instead of one", len(mails), number)
	}
	return mails[0]
}

// MailsAbout are the texts of all mails about an order.
func MailsAbout(t *testing.T, dir, number string) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if m := ReadMail(t, path); strings.Contains(m.Header.Get("Subject"), number) {
			texts = append(texts, PlainText(t, m))
		}
	}
	return texts
}

// Sendings are how often each message has been sent: letters about orders and
// accounts, and notifications.
func Sendings(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "outbox", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, path := range files {
		times[ReadMail(t, path).Header.Get("Message-Id")]++
	}
	return times
}

// PlainText is a mail as those see it who read no HTML.
func PlainText(t *testing.T, m *mail.Message) string {
	t.Helper()
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextPart()
	if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("the mail begins with no plain text: %v", err)
	}
	text, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ReadMail reads a mail of the outbox.
func ReadMail(t *testing.T, path string) *mail.Message {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	m, err := mail.ReadMessage(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

var oneTimeLink = regexp.MustCompile(`https?://\S+/set-password/\?token=[A-Za-z0-9_-]+`)

// LinkIn is the path of the one-time link in a mail, which has no password.
func LinkIn(t *testing.T, text string) string {
	t.Helper()
	links := oneTimeLink.FindAllString(text, -1)
	if len(links) != 1 || regexp.MustCompile(`(?i)password:[ \t]*\S`).MatchString(text) {
		t.Fatalf("the mail should have one link and no password:\n%s", text)
	}
	return PathOf(t, links[0])
}
