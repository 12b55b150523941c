package http_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Operators read what the customer was written to, without the secrets of links.
func TestOperatorsReadTheMailsOfAnOrder(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	path := "orders/" + s.known["running"] + "/"
	s.accepted(t, path+"resend_mail/", `{"reason":"it was lost"}`)
	var mails []struct{ Template, State, To, Subject, Text string }
	s.until(t, "the mails have gone out", func() bool {
		w := s.operate("GET", path+"mails/", "")
		if err := json.Unmarshal(w.Body.Bytes(), &mails); w.Code != http.StatusOK || err != nil {
			t.Fatal(w.Code, w.Body)
		}
		sent := map[string]int{}
		for _, m := range mails {
			if m.State == "sent" {
				sent[m.Template]++
			}
		}
		return sent["next_order"] == 1 && sent["first_order"] == 1 && len(mails) == 2 // the first one told of invoice and success
	})
	for _, m := range mails {
		if !strings.Contains(m.To, "ana@example.com") || m.Subject == "" || m.Text == "" {
			t.Errorf("%+v", m)
		}
		if _, secret, has := strings.Cut(m.Text, "/set-password/?token="); has != (m.Template == "first_order") || has && !strings.HasPrefix(secret, "…\n") {
			t.Errorf("%s brings a link: %s", m.Template, m.Text)
		}
		if _, secret, has := strings.Cut(m.Text, "/unsubscribe/"); has && !strings.HasPrefix(secret, "…/") {
			t.Errorf("%s brings a link: %s", m.Template, m.Text)
		}
	}
	b := s.browser(t).enter(opMail)
	text := b.get("/storefront/" + path).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, "Mails to the customer", mails[0].Subject, `badge sent">sent`, "/set-password/?token=…")
	if w := s.operate("GET", "orders/"+s.known["unpaid"]+"/mails/", ""); w.Body.String() != "[]" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.operate("GET", "orders/"+s.known["run"]+"/mails/", ""); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
