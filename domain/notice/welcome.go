package notice

import (
	"fmt"
	"html/template"
	"net/mail"
	"strings"
)

// A Welcoming is what the welcome mail needs to know. It holds no password:
// whoever is new gets a link to choose one.
type Welcoming struct {
	MessageID   string // equal on every retry
	From        string // as in a header: "Host <panel@example.com>"
	To, Name    string
	Language    string // "es", or else English
	PanelURL    string
	Username    string
	Link        string // set a password (new account) or sign in (existing one)
	NewAccount  bool
	OrderNumber string
	PlanName    string
}

// Welcome writes the mail to somebody whose order is set up. Receiving it
// twice does no harm: it is the same mail with the same link. It is refused
// where a header could be broken out of.
func Welcome(w Welcoming) (Mail, error) {
	speech := welcomeTexts["en"]
	if isSpanish(w.Language) {
		speech = welcomeTexts["es"]
	}
	for name, value := range map[string]string{"customer_name": w.Name, "plan_name": w.PlanName, "email": w.To} {
		if err := CheckHeader(name, value); err != nil {
			return Mail{}, err
		}
	}
	m := Mail{
		MessageID: w.MessageID, From: w.From,
		To:      (&mail.Address{Name: w.Name, Address: w.To}).String(),
		Subject: strings.ReplaceAll(speech.Subject, "{number}", w.OrderNumber),
		Text:    speech.text(w),
		Headers: map[string]string{"Auto-Submitted": "auto-generated", "Content-Language": speech.Language},
	}
	if err := m.Check(); err != nil {
		return Mail{}, err
	}
	var err error
	m.HTML, err = speech.page(w)
	return m, err
}

// page is the mail for those who read HTML.
func (t welcomeText) page(w Welcoming) (string, error) {
	var b strings.Builder
	if err := welcomePage.Execute(&b, struct {
		Welcoming
		T    welcomeText
		Call string
	}{w, t, t.call(w.NewAccount)}); err != nil {
		return "", fmt.Errorf("write the welcome mail: %w", err)
	}
	return b.String(), nil
}

// A welcomeText is the mail in one language.
type welcomeText struct {
	Language, Subject     string
	Hello, Ready, User    string
	Panel                 string
	SetPassword, SignIn   string
	Validity, Ignore, Bye string
}

func (t welcomeText) call(isNew bool) string {
	if isNew {
		return t.SetPassword
	}
	return t.SignIn
}

// text is the mail for those who read no HTML.
func (t welcomeText) text(w Welcoming) string {
	lines := []string{
		t.Hello + " " + w.Name + ",", "",
		t.Ready + " " + w.PlanName + " (" + w.OrderNumber + ").", "",
		t.Panel + ": " + w.PanelURL,
		t.User + ": " + w.Username, "",
		t.call(w.NewAccount) + ":", w.Link,
	}
	if w.NewAccount {
		lines = append(lines, "", t.Validity)
	}
	return strings.Join(append(lines, "", t.Ignore, "", t.Bye, ""), "\n")
}

var welcomeTexts = map[string]welcomeText{
	"en": {
		Language:    "en",
		Subject:     "Your order {number} is ready",
		Hello:       "Hello",
		Ready:       "Everything has been set up for your order:",
		User:        "User name",
		Panel:       "Control panel",
		SetPassword: "Choose your password",
		SignIn:      "Sign in with your present password",
		Validity:    "The link can be used once and is valid for 72 hours. Afterwards you can ask for a new one on the sign-in page.",
		Ignore:      "If you did not order anything, you can ignore this message.",
		Bye:         "Kind regards",
	},
	"es": {
		Language:    "es",
		Subject:     "Su pedido {number} está listo",
		Hello:       "Hola,",
		Ready:       "Ya está todo preparado para su pedido:",
		User:        "Nombre de usuario",
		Panel:       "Panel de control",
		SetPassword: "Elija su contraseña",
		SignIn:      "Inicie sesión con su contraseña actual",
		Validity:    "El enlace solo puede usarse una vez y es válido durante 72 horas. Después podrá pedir uno nuevo en la página de inicio de sesión.",
		Ignore:      "Si usted no ha hecho ningún pedido, puede ignorar este mensaje.",
		Bye:         "Un saludo",
	},
}

var welcomePage = template.Must(template.New("welcome").Parse(`<!doctype html>
<html lang="{{.T.Language}}">
<head><meta charset="utf-8"><title>{{.PlanName}}</title></head>
<body style="font-family:sans-serif;line-height:1.5;color:#1f2937">
<p>{{.T.Hello}} {{.Name}},</p>
<p>{{.T.Ready}} <strong>{{.PlanName}}</strong> ({{.OrderNumber}}).</p>
<p>{{.T.Panel}}: <a href="{{.PanelURL}}">{{.PanelURL}}</a><br>
{{.T.User}}: <strong>{{.Username}}</strong></p>
<p><a href="{{.Link}}" style="background:#4f46e5;color:#ffffff;padding:10px 18px;border-radius:6px;text-decoration:none">{{.Call}}</a></p>
{{if .NewAccount}}<p>{{.T.Validity}}</p>
{{end}}<p style="color:#6b7280">{{.T.Ignore}}</p>
<p>{{.T.Bye}}</p>
</body>
</html>
`))
