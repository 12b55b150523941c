package notice

import (
	"fmt"
	"html/template"
	"strings"
)

// page is the mail for those who read HTML.
func (l Letter) page(t letterText, w words) (string, error) {
	var b strings.Builder
	err := letterPage.Execute(&b, map[string]any{
		"Letter": l, "Brand": l.Brand, "Words": w, "Title": t.subject, "Greeting": l.greeting(), "News": t.news,
		"Calls": l.calls(t), "Call": t.call, "Once": t.once, "Ignore": t.ignore,
	})
	if err != nil {
		return "", fmt.Errorf("write a letter: %w", err)
	}
	return b.String(), nil
}

// letterPage is the one page of all letters. Mail programs know no style
// sheets, so everything is styled where it stands; nothing but the logo is
// fetched from anywhere.
var letterPage = template.Must(template.New("letter").Parse(`<!doctype html>
<html lang="{{.Words.Language}}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title></head>
<body style="margin:0;padding:24px;background:#ffffff;font-family:sans-serif;line-height:1.5;color:#1f2937">
<div style="max-width:600px;margin:0 auto">
{{with .Brand}}{{if or .LogoURL .Name}}<div style="padding:0 0 12px;margin:0 0 24px;border-bottom:3px solid {{.Color}}">
{{if .LogoURL}}<img src="{{.LogoURL}}" alt="{{.Name}}" height="40" style="height:40px;border:0">{{else}}` +
	`<strong style="font-size:20px">{{.Name}}</strong>{{end}}
</div>
{{end}}{{end}}<p>{{.Greeting}}</p>
<p>{{.News}}</p>
{{if .Letter.Username}}<p>{{.Words.Panel}}: <a href="{{.Letter.PanelURL}}">{{.Letter.PanelURL}}</a><br>
{{.Words.User}}: <strong>{{.Letter.Username}}</strong></p>
{{end}}{{if .Calls}}<p style="margin:24px 0"><a href="{{.Letter.Link}}" style="display:inline-block;` +
	`background:{{.Brand.Color}};color:{{.Brand.Ink}};padding:10px 18px;border-radius:6px;text-decoration:none">{{.Call}}</a></p>
{{end}}{{if .Once}}<p>{{.Words.Validity}}</p>
{{end}}<p style="color:#6b7280">{{.Ignore}}{{with .Letter.Unsubscribe}} ` +
	`<a href="{{.}}" style="color:#6b7280">{{$.Words.Stop}}</a>{{end}}</p>
<p>{{.Words.Bye}}{{with .Brand.Name}}<br>{{.}}{{end}}</p>
{{with .Brand}}{{if or .FooterText .FooterURL}}` +
	`<p style="padding:12px 0 0;margin:24px 0 0;border-top:1px solid #d1d5db;font-size:13px;color:#6b7280">
{{range .Footer}}{{.}}<br>
{{end}}{{with .FooterURL}}<a href="{{.}}" style="color:#6b7280">{{.}}</a>{{end}}
</p>
{{end}}{{end}}</div>
</body>
</html>
`))
