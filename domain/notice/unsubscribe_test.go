package notice_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"testing"

	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
)

var (
	presentKey = []byte("the key that signs today, 32 long")
	formerKey  = []byte("the key of the year before, so long")
	ana        = notice.Unsubscription{User: 12, Preference: "email_on_invoice"}
)

func ExampleReadUnsubscription() {
	token := notice.Unsubscription{User: 12, Preference: notice.Billing.Preference()}.Token(presentKey)
	u, ok := notice.ReadUnsubscription(token, presentKey)
	fmt.Println(u.User, u.Preference, ok)
	// Output: 12 email_on_invoice true
}

// A rotation of keys must not break the links in mails of last year.
func TestALinkToUnsubscribeOutlivesTheKeyThatSignedIt(t *testing.T) {
	token := ana.Token(formerKey)
	if u, ok := notice.ReadUnsubscription(token, presentKey, formerKey); !ok || u != ana {
		t.Errorf("%+v %v", u, ok)
	}
	if u, ok := notice.ReadUnsubscription(token, presentKey); ok {
		t.Errorf("read with a key that did not sign it: %+v", u)
	}
	if _, ok := notice.ReadUnsubscription(token); ok {
		t.Error("read without any key")
	}
}

func TestATokenToUnsubscribeFitsIntoAURL(t *testing.T) {
	for _, user := range []int64{1, 12, 1 << 62} {
		u := notice.Unsubscription{User: user, Preference: "email_on_ticket_reply"}
		if token := u.Token(presentKey); !regexp.MustCompile(`^[A-Za-z0-9_-]{40,120}$`).MatchString(token) {
			t.Error(token)
		}
	}
}

func TestEveryByteOfATokenToUnsubscribeCounts(t *testing.T) {
	token := ana.Token(presentKey)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			forged := append([]byte{}, raw...)
			forged[i] ^= 1 << bit
			if u, ok := notice.ReadUnsubscription(base64.RawURLEncoding.EncodeToString(forged), presentKey); ok {
				t.Errorf("byte %d, bit %d: %+v", i, bit, u)
			}
		}
	}
	for n := range len(token) {
		if u, ok := notice.ReadUnsubscription(token[:n], presentKey); ok {
			t.Errorf("the first %d characters: %+v", n, u)
		}
	}
	for _, other := range []string{token + "A", token + "=", token + "\n", token[:9] + "\r\n" + token[9:], " " + token, ""} {
		if u, ok := notice.ReadUnsubscription(other, presentKey); ok {
			t.Errorf("%q: %+v", other, u)
		}
	}
}

// What shows in the panel does not come by mail, and no mail stops it.
func TestOnlyMailsMayBeUnsubscribed(t *testing.T) {
	for _, preference := range []string{"in_app_enabled", "email_on_everything", ""} {
		token := notice.Unsubscription{User: 12, Preference: preference}.Token(presentKey)
		if u, ok := notice.ReadUnsubscription(token, presentKey); ok {
			t.Errorf("%q: %+v", preference, u)
		}
	}
}

func TestEveryTypeOfNotificationHasAPreferenceThatStopsItsMails(t *testing.T) {
	for _, kind := range notice.Types {
		wishes := notice.DefaultPreferences()
		if !wishes.Mails(kind) {
			t.Errorf("%s: not mailed to a user without preferences", kind)
		}
		for _, language := range []string{"en", "es"} {
			if (notice.Unsubscription{Preference: kind.Preference()}).About(language) == "" {
				t.Errorf("%s: no text says in %s what its mails are about", kind, language)
			}
		}
		for name := range wishes.Fields().Values() {
			wishes := notice.DefaultPreferences()
			if err := wishes.Fields().Load(field.Values{name: []byte("false")}); err != nil {
				t.Fatal(err)
			}
			if wishes.Mails(kind) == (name == kind.Preference()) {
				t.Errorf("%s with %s switched off: mailed %v", kind, name, wishes.Mails(kind))
			}
		}
	}
}

// Impatient people press the button again.
func TestUnsubscribingTwiceIsOneEvent(t *testing.T) {
	off := notice.PreferencesSet{Values: values(`{"email_on_invoice":false}`), Through: "link in a mail"}
	domaintest.Given(t, notice.Preferring, nil).When(ana.Command()).Then(off)
	domaintest.Given(t, notice.Preferring, []notice.PreferencesSet{off}).When(ana.Command()).Then()
	if now := notice.Preferring.Replay(off).Preferences(); now.Mails(notice.Billing) || !now.Mails(notice.Hosting) || !now.InApp {
		t.Errorf("%+v", now)
	}
}
