package notice_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hostpanel/domain/notice"
)

var welcoming = notice.Welcoming{
	MessageID: "o.6f1c.welcome@panel.example", From: "Panel <panel@example.com>",
	To: "ana@example.com", Name: "Ana Ruiz", Language: "es",
	PanelURL: "https://panel.example/", Username: "ana@example.com",
	Link:       "https://panel.example/set-password/?token=abc",
	NewAccount: true, OrderNumber: "ORD-20261121-7F3K9Q", PlanName: "Básico",
}

func welcome(t *testing.T, change func(*notice.Welcoming)) notice.Mail {
	t.Helper()
	w := welcoming
	change(&w)
	m, err := notice.Welcome(w)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ExampleWelcome() {
	m, err := notice.Welcome(welcoming)
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
func TestAWelcomeMayComeTwice(t *testing.T) {
	same := func(*notice.Welcoming) {}
	if one, two := welcome(t, same), welcome(t, same); !reflect.DeepEqual(one, two) || one.MessageID != welcoming.MessageID {
		t.Errorf("%+v\n%+v", one, two)
	}
}

func TestWhoHasAnAccountSignsIn(t *testing.T) {
	m := welcome(t, func(w *notice.Welcoming) {
		w.NewAccount, w.Language, w.Link = false, "en", "https://panel.example/login/"
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
		m := welcome(t, func(w *notice.Welcoming) { w.Language = language })
		for _, part := range []string{"Ana Ruiz", "Básico", "ORD-20261121-7F3K9Q", "https://panel.example/set-password/?token=abc", "ana@example.com", "72"} {
			if !strings.Contains(m.Text, part) || !strings.Contains(m.HTML, part) {
				t.Errorf("%q: %s is missing\n%s\n%s", language, part, m.Text, m.HTML)
			}
		}
	}
}

// L-2: a customer's name is a text, not a part of the page or of a header.
func TestANameCannotBreakOut(t *testing.T) {
	m := welcome(t, func(w *notice.Welcoming) { w.Name = `<script>"Ana"</script>, <evil@example.com>` })
	if strings.Contains(m.HTML, "<script>") || strings.Count(m.To, "@") != 2 || !strings.HasSuffix(m.To, " <ana@example.com>") {
		t.Errorf("%s\n%s", m.To, m.HTML)
	}
	m = welcome(t, func(w *notice.Welcoming) { w.Link = "javascript:alert(1)" })
	if strings.Contains(m.HTML, `href="javascript`) {
		t.Error(m.HTML)
	}
	for name, change := range map[string]func(*notice.Welcoming){
		"customer_name": func(w *notice.Welcoming) { w.Name = "Ana\r\nBcc: all@example.com" },
		"email":         func(w *notice.Welcoming) { w.To = "ana@example.com\nBcc: all@example.com" },
		"plan_name":     func(w *notice.Welcoming) { w.PlanName = "Básico\n" },
		"subject":       func(w *notice.Welcoming) { w.OrderNumber = "ORD\x00" },
		"message_id":    func(w *notice.Welcoming) { w.MessageID = "a\u2028b" },
		"from":          func(w *notice.Welcoming) { w.From = "panel@example.com\r\n" },
	} {
		w := welcoming
		change(&w)
		if m, err := notice.Welcome(w); err == nil || err.Error() != name+": Line breaks are not allowed." {
			t.Errorf("%s: %v %+v", name, err, m)
		}
	}
}

func TestAHeaderOfOurOwnIsChecked(t *testing.T) {
	m := welcome(t, func(*notice.Welcoming) {})
	m.Headers["X-Order"] = "1\r\n2"
	if err := m.Check(); err == nil {
		t.Error("a header was broken out of")
	}
	if err := notice.CheckHeader("subject", "Ñandú – 日本"); err != nil {
		t.Error(err)
	}
}
