package operations_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// Operators read what the customer was written to, without the secrets of links.
func TestOperatorsReadTheMailsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	path := "orders/" + s.Known["running"] + "/"
	s.Accepted(t, path+"resend_mail/", `{"reason":"it was lost"}`)
	var mails []struct{ Template, State, To, Subject, Text string }
	s.Until(t, "the mails have gone out", func() bool {
		w := s.Operate("GET", path+"mails/", "")
		if err := json.Unmarshal(w.Body.Bytes(), &mails); w.Code != http.StatusOK || err != nil {
			t.Fatal(w.Code, w.Body)
		}
		sent := map[string]int{}
		for _, m := range mails {
			if m.State == "sent" {
				sent[m.Template]++
			}
		}
		return sent["next_order"] == 1 && sent["first_order"] == 1 &&
			len(mails) == 2 // the first one told of invoice and success
	})
	for _, m := range mails {
		if !strings.Contains(m.To, "ana@example.com") || m.Subject == "" || m.Text == "" {
			t.Errorf("%+v", m)
		}
		if _, secret, has := strings.Cut(m.Text, "/set-password/?token="); has != (m.Template == "first_order") ||
			has && !strings.HasPrefix(secret, "…\n") {
			t.Errorf("%s brings a link: %s", m.Template, m.Text)
		}
		if _, secret, has := strings.Cut(m.Text, "/unsubscribe/"); has && !strings.HasPrefix(secret, "…/") {
			t.Errorf("%s brings a link: %s", m.Template, m.Text)
		}
	}
	b := s.Browser(t).Enter(paneltest.OpMail)
	text := b.Get("/storefront/" + path).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "Mails to the customer", mails[0].Subject, `badge sent">sent`, "/set-password/?token=…")
	if w := s.Operate("GET", "orders/"+s.Known["unpaid"]+"/mails/", ""); w.Body.String() != "[]" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.Operate("GET", "orders/"+s.Known["run"]+"/mails/", ""); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
