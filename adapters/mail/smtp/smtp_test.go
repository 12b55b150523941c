package smtp_test

import (
	"context"
	"errors"
	"mime"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"

	"hostpanel/adapters/mail/smtp"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/sagas/notices"
)

var _ notices.Mail = (*smtp.Server)(nil)

func letter() notice.Mail {
	return notice.Mail{MessageID: "o.1.welcome@panel.test", To: "jose@customer.test", Subject: "Hi", Text: "Hello\n.\nthere\n"}
}

func send(t *testing.T, url string, m notice.Mail) error {
	t.Helper()
	s, err := smtp.New(url, "Panel <panel@panel.test>")
	if err != nil {
		t.Fatal(err)
	}
	return s.Send(t.Context(), m)
}

func wantFailure(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	var f *domain.Failure
	if !errors.As(err, &f) || f.Class != class || f.Code != code {
		t.Errorf("got %v, want %s failure %s", err, class, code)
	}
	if err != nil && strings.Contains(err.Error(), "jose") {
		t.Errorf("the failure quotes the recipient: %v", err)
	}
}

func wantLetters(t *testing.T, s *server, n int) {
	t.Helper()
	if have := len(s.letters()); have != n {
		t.Errorf("the server accepted %d letters, not %d", have, n)
	}
}

func TestALetterArrives(t *testing.T) {
	s := start(t, nil)
	if err := send(t, "smtp://127.0.0.1:"+s.port, letter()); err != nil {
		t.Fatal(err)
	}
	wantLetters(t, s, 1)
	for _, want := range []string{
		"From: \"Panel\" <panel@panel.test>\r\n", "Message-ID: <o.1.welcome@panel.test>\r\n",
		"Hello\r\n.\r\nthere\r\n",
	} {
		if !strings.Contains(s.letters()[0], want) {
			t.Errorf("%q is not in\n%s", want, s.letters()[0])
		}
	}
}

// What looks like an encoded word in a name or a subject is shown as it was typed,
// by programs that decode it in quotes too.
func TestWhatLooksEncodedArrivesAsItWasTyped(t *testing.T) {
	for _, typed := range []string{
		"=?utf-8?q?Bank?=", "=?UTF-8?B?QmFuaw==?=", "Ana =?utf-8?q?=42ank?= Núñez", "a =? b", "=?=?",
		"=?x?q?y?= " + strings.Repeat("ñ=?", 40), `"=?utf-8?q?Bank?="`,
	} {
		s, m := start(t, nil), letter()
		from, to := netmail.Address{Name: typed, Address: "panel@panel.test"}, netmail.Address{Name: typed, Address: "jose@customer.test"}
		m.From, m.To, m.ReplyTo, m.Subject, m.Headers = from.String(), to.String(), from.String(), typed,
			map[string]string{"X-Order": typed}
		if err := send(t, "smtp://127.0.0.1:"+s.port, m); err != nil {
			t.Fatal(err)
		}
		wantLetters(t, s, 1)
		read, err := netmail.ReadMessage(strings.NewReader(s.letters()[0]))
		if err != nil {
			t.Fatal(err)
		}
		for name, address := range map[string]string{"From": from.Address, "To": to.Address, "Reply-To": from.Address} {
			shown, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get(name)) // in quotes too
			if err != nil || shown != typed+" <"+address+">" {
				t.Errorf("%s: %q, not %q (%v)", name, shown, typed, err)
			}
			if parsed, err := netmail.ParseAddress(read.Header.Get(name)); err != nil || parsed.Name != typed || parsed.Address != address {
				t.Errorf("%s: %v, not %q (%v)", name, parsed, typed, err)
			}
		}
		for _, name := range []string{"Subject", "X-Order"} {
			if shown, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get(name)); err != nil || shown != typed {
				t.Errorf("%s: %q, not %q (%v)", name, shown, typed, err)
			}
		}
		for line := range strings.Lines(s.letters()[0]) {
			if len(line) > 76+len("\r\n") {
				t.Errorf("%d characters: %s", len(line), line)
			}
		}
	}
}

func TestARefusalBeforeTheLastAnswerIsTheServersOwnVerdict(t *testing.T) { // L-3
	for _, stage := range []string{"MAIL", "RCPT", "DATA", "END"} {
		for code, want := range map[int]struct {
			class domain.Class
			code  string
		}{
			421: {domain.Transient, "smtp_421"}, 450: {domain.Transient, "smtp_450"},
			550: {domain.Permanent, "smtp_550"}, 552: {domain.Permanent, "smtp_552"},
		} {
			if stage == "RCPT" && want.class == domain.Permanent {
				want.code = notice.RecipientRefused
			}
			s := start(t, map[string]func(*gosmtp.Conn) error{stage: refuse(code)})
			wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, letter()), want.class, want.code)
			wantLetters(t, s, 0)
		}
	}
}

// A relay that is not set up for us refuses every recipient. No address is to
// blame for that, nor for a mailbox that is full today.
func TestOnlyARefusalOfTheRecipientItselfSaysSo(t *testing.T) {
	none := gosmtp.NoEnhancedCode
	for _, answer := range []struct {
		code   int
		status gosmtp.EnhancedCode
		words  string
		want   string
	}{
		{550, gosmtp.EnhancedCode{5, 1, 1}, "no such user jose", notice.RecipientRefused},
		{550, gosmtp.EnhancedCode{5, 1, 10}, "null MX", notice.RecipientRefused},
		{550, gosmtp.EnhancedCode{5, 4, 1}, "Recipient address rejected: Access denied", notice.RecipientRefused},
		{554, gosmtp.EnhancedCode{5, 2, 1}, "mailbox disabled", notice.RecipientRefused},
		{550, none, "no such user jose", notice.RecipientRefused},
		{551, none, "jose is not local", notice.RecipientRefused},
		{553, none, "mailbox name not allowed", notice.RecipientRefused},
		{550, gosmtp.EnhancedCode{5, 7, 1}, "your address is listed as a source of unwanted mail", "smtp_550"},
		{554, gosmtp.EnhancedCode{5, 7, 1}, "relay access denied", "smtp_554"},
		{553, gosmtp.EnhancedCode{5, 1, 8}, "bad sender", "smtp_553"},
		{552, gosmtp.EnhancedCode{5, 2, 2}, "mailbox full", "smtp_552"},
		{530, none, "authentication required", "smtp_530"},
		{554, none, "transaction failed", "smtp_554"},
	} {
		s := start(t, map[string]func(*gosmtp.Conn) error{"RCPT": saying(answer.code, answer.status, answer.words)})
		wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, letter()), domain.Permanent, answer.want)
	}
	s := start(t, map[string]func(*gosmtp.Conn) error{"RCPT": saying(451, gosmtp.EnhancedCode{4, 1, 1}, "try again: greylisted")})
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, letter()), domain.Transient, "smtp_451")
}

func TestAConnectionLostBeforeTheMessageIsTriedAgain(t *testing.T) { // L-3
	for _, stage := range []string{"MAIL", "RCPT"} {
		s := start(t, map[string]func(*gosmtp.Conn) error{stage: drop})
		wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, letter()), domain.Transient, "unreachable")
	}
}

func TestAConnectionLostInTheMiddleOfTheMessageIsTriedAgain(t *testing.T) {
	s := start(t, map[string]func(*gosmtp.Conn) error{"DATA": drop})
	long := letter()
	long.Text = strings.Repeat("a long letter, longer than all buffers on the way\n", 1<<19)
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, long), domain.Transient, "unreachable")
	wantLetters(t, s, 0)
}

func TestAConnectionLostAfterTheMessageLeavesItUnknown(t *testing.T) { // L-3, F-22
	for _, stage := range []string{"DATA", "END"} {
		s := start(t, map[string]func(*gosmtp.Conn) error{stage: drop})
		wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, letter()), domain.Unknown, "answer_lost")
	}
}

// silent waits until the test is over.
func silent(t *testing.T) func(*gosmtp.Conn) error {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return func(*gosmtp.Conn) error { <-over; return nil }
}

func TestASlowServerEndsThePatience(t *testing.T) {
	s := start(t, map[string]func(*gosmtp.Conn) error{"RCPT": silent(t)})
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port+"?timeout=50ms", letter()), domain.Transient, "timeout")
	s = start(t, map[string]func(*gosmtp.Conn) error{"END": silent(t)})
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port+"?timeout=50ms", letter()), domain.Unknown, "answer_lost")
}

func TestTheCallersEndIsTheEndOfTheConversation(t *testing.T) {
	reached := make(chan struct{})
	wait := silent(t)
	s := start(t, map[string]func(*gosmtp.Conn) error{"RCPT": func(c *gosmtp.Conn) error { close(reached); return wait(c) }})
	mailer, err := smtp.New("smtp://127.0.0.1:"+s.port, "panel@panel.test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	began := time.Now()
	wantFailure(t, mailer.Send(ctx, letter()), domain.Transient, "timeout")
	if time.Since(began) > 10*time.Second {
		t.Error("waited on after the caller had gone")
	}
}

func TestAServerThatIsAwayIsTriedAgain(t *testing.T) {
	wantFailure(t, send(t, "smtp://127.0.0.1:1", letter()), domain.Transient, "unreachable")
}

func TestALetterWithASmuggledHeaderIsNotSent(t *testing.T) { // L-2
	s := start(t, nil)
	m := letter()
	m.Subject = "Hi\r\nBcc: evil@x.test"
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port, m), domain.Permanent, "malformed")
	wantLetters(t, s, 0)
}

func TestPasswordsAndLettersTravelEncrypted(t *testing.T) {
	encryption, file := authority(t)
	for scheme, first := range map[string]bool{"smtp": false, "smtps": true} {
		s := listen(t, nil, encryption, first)
		if err := send(t, scheme+"://panel:right@127.0.0.1:"+s.port+"?tls=required&ca="+file, letter()); err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		wantLetters(t, s, 1)
		if !s.sealed || s.user != "panel" {
			t.Errorf("%s: encrypted %v, user %q", scheme, s.sealed, s.user)
		}
		wantFailure(t, send(t, scheme+"://panel:wrong@127.0.0.1:"+s.port+"?ca="+file, letter()), domain.Permanent, "smtp_535")
		// of an authority that is not trusted
		wantFailure(t, send(t, scheme+"://127.0.0.1:"+s.port, letter()), domain.Transient, "unreachable")
		wantLetters(t, s, 1)
	}
}

func TestRequiredEncryptionIsNotGivenUp(t *testing.T) {
	s := start(t, nil)
	wantFailure(t, send(t, "smtp://127.0.0.1:"+s.port+"?tls=required", letter()), domain.Transient, "no_tls")
	encryption, _ := authority(t)
	s = listen(t, nil, encryption, false)
	if err := send(t, "smtp://127.0.0.1:"+s.port+"?tls=none", letter()); err != nil || s.sealed {
		t.Errorf("told not to encrypt: %v, encrypted %v", err, s.sealed)
	}
}

func TestAddressesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, url := range []string{
		"", "mail.test", "http://mail.test", "smtp://", "smtp://mail.test?tls=maybe", "smtp://mail.test?timeout=fast",
		"smtp://mail.test?tlss=none",
		"smtp://mail.test?ca=/no/such/file", "smtp://panel:canary@mail.test?tls=none", "smtp://panel:canary@mail.test:port",
	} {
		if _, err := smtp.New(url, "panel@panel.test"); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
