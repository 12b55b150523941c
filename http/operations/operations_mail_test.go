package operations_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/paneltest"
)

// A preview is a mail as the API shows it.
type preview struct {
	Template, Language  string
	Tenant              *int64
	From, ReplyTo       string
	Subject, Text, HTML string
	Headers             map[string]string
}

func mailPreview(t *testing.T, s *paneltest.Shop, headers []string, template, query string) (p preview) {
	t.Helper()
	w := s.Call("GET", "/operations/api/v1/mail-previews/"+template+"/"+query, "", headers...)
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &p) != nil {
		t.Fatalf("%s: %d %s", template, w.Code, w.Body)
	}
	return p
}

func TestOperatorsSeeEveryMailInBothLanguages(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	headers := paneltest.Bearer(s.Token(t, paneltest.Root, nil))
	w := s.Call("GET", "/operations/api/v1/mail-previews/", "", headers...)
	var listed []struct{ Template string }
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &listed) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var names []string
	for _, one := range listed {
		names = append(names, one.Template)
	}
	if !slices.Equal(names, notice.Templates()) || !slices.IsSorted(names) || len(names) < 15 {
		t.Fatalf("%v", names)
	}
	before := s.Count(t, `select count(*) from events`)
	for _, name := range names {
		en, es := mailPreview(t, s, headers, name, ""), mailPreview(t, s, headers, name, "?language=es")
		for language, p := range map[string]preview{"en": en, "es": es} {
			switch {
			case p.Template != name, p.Language != language, p.Tenant != nil, p.From == "", p.Subject == "",
				p.Headers["Content-Language"] != language:
				t.Errorf("%s: %+v", name, p)
			case !strings.Contains(p.HTML, `<html lang="`+language+`"`), strings.ContainsAny(p.Subject+p.Text, "{}"):
				t.Errorf("%s in %s:\n%s\n%s", name, language, p.Text, p.HTML)
			}
		}
		if en.Subject == es.Subject || en.Text == es.Text {
			t.Errorf("%s: both languages say %q", name, en.Subject)
		}
	}
	if after := s.Count(t, `select count(*) from events`); after != before {
		t.Errorf("%d facts came of looking", after-before)
	}
}

func TestAPreviewWearsTheTenantsBrand(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	headers := paneltest.Bearer(s.Token(t, paneltest.Root, nil))
	look := hosting.WhiteLabel{
		BrandName: "Nube Azul", PrimaryColor: "#123456", SecondaryColor: "#10B981",
		SidebarBGColor: "#1F2937", SidebarColor: "#F9FAFB", IsActive: true,
	}
	s.Tenant(t, 50, "Nube")
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 50}, Tenant: 50, Spec: look.Fields().Values()})
	plain, branded := mailPreview(t, s, headers, "invoice_created", ""), mailPreview(t, s, headers, "invoice_created",
		"?tenant=50")
	if branded.Tenant == nil || *branded.Tenant != 50 {
		t.Errorf("%+v", branded.Tenant)
	}
	for _, sign := range []string{"Nube Azul", "#123456"} {
		if !strings.Contains(branded.HTML, sign) || strings.Contains(plain.HTML, sign) {
			t.Errorf("%s:\n%s\n%s", sign, branded.HTML, plain.HTML)
		}
	}
	paneltest.Has(t, branded.From, "Nube Azul")
	if _, may := branded.Headers["List-Unsubscribe-Post"]; !may {
		t.Errorf("%v", branded.Headers)
	}
	if _, may := mailPreview(t, s, headers, "reset", "?tenant=50").Headers["List-Unsubscribe"]; may {
		t.Error("one may unsubscribe from a letter that one has asked for")
	}
}

func TestAPreviewOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	headers := paneltest.Bearer(s.Token(t, paneltest.Root, nil))
	for call, want := range map[string]struct {
		status int
		says   string
	}{
		"birthday/":                    {404, `{"detail":"No MailTemplate matches the given query."}`},
		"invoice_created/?language=de": {400, `{"language":[`},
		"invoice_created/?tenant=x":    {400, `{"tenant":["Enter a number."]}`},
		"invoice_created/?tenant=999":  {400, `{"tenant":["Invalid pk \"999\" - object does not exist."]}`},
		"invoice_created/?tenant=-1":   {400, `{"tenant":["Invalid pk \"-1\" - object does not exist."]}`},
		"..%2f..%2fusers/":             {404, `{"detail":`},
	} {
		w := s.Call("GET", "/operations/api/v1/mail-previews/"+call, "", headers...)
		if w.Code != want.status {
			t.Errorf("%s: %d %s", call, w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), want.says)
	}
}
