package notice_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hostpanel/domain/notice"
)

var welcoming = notice.Letter{
	Occasion: notice.FirstOrder, MessageID: "o.6f1c.welcome@panel.example", From: "Panel <panel@example.com>",
	To: "ana@example.com", Name: "Ana Ruiz", Language: "es",
	PanelURL: "https://panel.example/", Username: "ana@example.com",
	Link:  "https://panel.example/set-password/?token=abc",
	Order: "ORD-20261121-7F3K9Q", Plan: "Básico",
}

func welcome(t *testing.T, change func(*notice.Letter)) notice.Mail {
	t.Helper()
	w := welcoming
	change(&w)
	m, err := w.Write()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ExampleLetter_Write() {
	m, err := welcoming.Write()
	fmt.Println(m.To)
	fmt.Println(m.Subject, err)
	fmt.Println(m.Text)
	// Output:
	// "Ana Ruiz" <ana@example.com>
	// Su pedido ORD-20261121-7F3K9Q está listo <nil>
	// Hola, Ana Ruiz,
	//
	// Ya está todo preparado para su pedido: Básico (ORD-20261121-7F3K9Q).
	//
	// Panel de control: https://panel.example/
	// Nombre de usuario: ana@example.com
	//
	// Elija su contraseña:
	// https://panel.example/set-password/?token=abc
	//
	// El enlace solo puede usarse una vez y es válido durante 72 horas. Después podrá pedir uno nuevo en la página de inicio de sesión.
	//
	// Si usted no ha hecho ningún pedido, puede ignorar este mensaje.
	//
	// Un saludo
}

// L-1, L-2: the same mail, whenever it is written.
func TestALetterMayComeTwice(t *testing.T) {
	same := func(*notice.Letter) {}
	if one, two := welcome(t, same), welcome(t, same); !reflect.DeepEqual(one, two) || one.MessageID != welcoming.MessageID {
		t.Errorf("%+v\n%+v", one, two)
	}
}

func TestWhoHasAnAccountSignsIn(t *testing.T) {
	m := welcome(t, func(w *notice.Letter) {
		w.Occasion, w.Language, w.Link = notice.NextOrder, "en", "https://panel.example/login/"
	})
	for _, body := range []string{m.Text, m.HTML} {
		if !strings.Contains(body, "Sign in with your present password") || !strings.Contains(body, "https://panel.example/login/") ||
			strings.Contains(body, "72 hours") || strings.Contains(body, "Choose your password") {
			t.Error(body)
		}
	}
	if m.Headers["Content-Language"] != "en" {
		t.Error(m.Headers)
	}
}

func TestBothBodiesSayTheSame(t *testing.T) {
	for _, language := range []string{"es", "es-MX", "en", "de", ""} {
		m := welcome(t, func(w *notice.Letter) { w.Language = language })
		for _, part := range []string{
			"Ana Ruiz", "Básico", "ORD-20261121-7F3K9Q", "https://panel.example/set-password/?token=abc",
			"ana@example.com", "72",
		} {
			if !strings.Contains(m.Text, part) || !strings.Contains(m.HTML, part) {
				t.Errorf("%q: %s is missing\n%s\n%s", language, part, m.Text, m.HTML)
			}
		}
	}
}

// L-2: a customer's name is a text, not a part of the page or of a header.
func TestANameCannotBreakOut(t *testing.T) {
	m := welcome(t, func(w *notice.Letter) { w.Name = `<script>"Ana"</script>, <evil@example.com>` })
	if strings.Contains(m.HTML, "<script>") || strings.Count(m.To, "@") != 2 || !strings.HasSuffix(m.To, " <ana@example.com>") {
		t.Errorf("%s\n%s", m.To, m.HTML)
	}
	m = welcome(t, func(w *notice.Letter) { w.Link = "javascript:alert(1)" })
	if strings.Contains(m.HTML, `href="javascript`) {
		t.Error(m.HTML)
	}
	for name, change := range map[string]func(*notice.Letter){
		"email":      func(w *notice.Letter) { w.To = "ana@example.com\nBcc: all@example.com" },
		"subject":    func(w *notice.Letter) { w.Order = "ORD\x00" },
		"message_id": func(w *notice.Letter) { w.MessageID = "a\u2028b" },
		"from":       func(w *notice.Letter) { w.From = "panel@example.com\r\n" },
	} {
		w := welcoming
		change(&w)
		if m, err := w.Write(); err == nil || err.Error() != name+": Line breaks are not allowed." {
			t.Errorf("%s: %v %+v", name, err, m)
		}
	}
}

// What people typed stays on its line, in the header and in the text.
func TestANameCannotLookLikeALineOfOurs(t *testing.T) {
	m := welcome(t, func(w *notice.Letter) {
		w.Name, w.Plan = "Ana\r\nBcc: all@example.com", "Básico\u2028\x00https://evil.example/"
	})
	if strings.ContainsAny(m.To, "\r\n") || strings.Contains(m.Text, "\nBcc:") || strings.Contains(m.Text, "\nhttps://evil") ||
		!strings.Contains(m.Text, "Básico https://evil.example/ (ORD-") {
		t.Errorf("%q\n%s", m.To, m.Text)
	}
}

// Each letter says what it is for, in both languages, and those with a link
// that works once say so.
func TestEveryOccasionHasItsWords(t *testing.T) {
	for occasion, once := range map[notice.Occasion]bool{
		notice.FirstOrder: true, notice.NextOrder: false, notice.Invitation: true, notice.Reset: true,
	} {
		seen := map[string]bool{}
		for _, language := range []string{"es", "en"} {
			m := welcome(t, func(w *notice.Letter) { w.Occasion, w.Language, w.Name = occasion, language, "" })
			if m.Subject == "" || seen[m.Subject] || strings.Contains(m.Text, "72") != once || strings.Contains(m.Text, "{") ||
				!strings.Contains(m.Text, welcoming.Link) || strings.HasPrefix(m.Text, " ") || strings.Contains(m.Text, ",,") {
				t.Errorf("%s, %s: %s\n%s", occasion, language, m.Subject, m.Text)
			}
			seen[m.Subject] = true
		}
	}
}

func TestAHeaderOfOurOwnIsChecked(t *testing.T) {
	m := welcome(t, func(*notice.Letter) {})
	m.Headers["X-Order"] = "1\r\n2"
	if err := m.Check(); err == nil {
		t.Error("a header was broken out of")
	}
	if err := notice.CheckHeader("subject", "Ñandú – 日本"); err != nil {
		t.Error(err)
	}
}
