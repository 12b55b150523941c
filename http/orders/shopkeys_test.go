package orders_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/paneltest"
)

// cards are the keys that a page lists.
func cards(b *paneltest.Browser) (names []string) {
	for _, h := range paneltest.Elements(b.Page, "h3") {
		names = append(names, paneltest.TextOf(h))
	}
	return names
}

func TestAKeyIsCreatedWithThePasswordAndShownOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 5, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/storefront/keys/")
	for _, try := range []struct {
		fields  []string
		message string
	}{
		{[]string{"name", "Shop"}, "This field may not be blank."},
		{[]string{"name", "Shop", "password", "wrong"}, "The current password is wrong."},
		{[]string{"password", paneltest.Password}, "This field is required."},
		{
			[]string{"name", "Shop", "password", paneltest.Password, "rate_limit_per_minute", "0"},
			"Ensure this value is greater than or equal to 1.",
		},
		{
			[]string{"name", "Shop", "password", paneltest.Password, "allowed_domains", "shop.example\r\n\r\nnot a domain!"},
			"2: Enter a valid domain or origin.",
		},
		{[]string{"name", "Shop", "password", paneltest.Password, "mode", "free"}, `"free" is not a valid choice.`},
		{[]string{"name", "Shop", "password", paneltest.Password, "expires_at", "soon"}, "Datetime has wrong format."},
	} {
		w := b.Twin().Send("create", try.fields...)
		paneltest.Refused(t, w, http.StatusBadRequest, try.message)
		if strings.Contains(w.Body.String(), "caballos") {
			t.Error("the password is shown again")
		}
	}
	before := b.SessionID()
	sent := b.Twin()
	w := b.Send("create", "name", "My shop", "password", paneltest.Password, "allowed_domains",
		"shop.example\r\n*.shop.example\r\n", "expires_at", "2099-01-02T03:04")
	key := b.ShownKey()
	if w.Code != http.StatusOK || !strings.HasPrefix(key, "sfk_test_") || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", key, "Origin",
		"https://eu.shop.example"); w.Code != http.StatusOK {
		t.Errorf("the key opens nothing: %d", w.Code)
	}
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", key, "Origin",
		"https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("the key opens everywhere: %d", w.Code)
	}
	text := b.Get("/storefront/keys/").Body.String()
	paneltest.Has(t, text, key[:len("sfk_test_12345678")], "My shop", "shop.example, *.shop.example",
		"2 Jan 2099, 03:04 UTC")
	if strings.Contains(text, key) || strings.Contains(s.Logged.String(), key) {
		t.Error("the key is shown twice, or logged")
	}
	if b.SessionID() == before || sent.IsIn() {
		t.Error("the id of before the password was asked for is still good")
	}
	if n := s.Count(t, `select count(*) from events where name = 'storefront.api_key_issued' and actor = 'operator:5'`); n != 1 {
		t.Errorf("%d facts", n)
	}
}

func TestAPasswordCountsForTenMinutes(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	asks := func() bool {
		b.Get("/storefront/keys/")
		_, sent := b.Fill("create")
		_, asks := sent["password"]
		return asks
	}
	if !asks() {
		t.Fatal("signing in counts")
	}
	b.Send("create", "name", "One", "password", paneltest.Password)
	if b.ShownKey() == "" || asks() {
		t.Fatal("the password is asked for again")
	}
	if b.Send("create", "name", "Two"); b.ShownKey() == "" {
		t.Fatal("no key")
	}
	b.Get("/storefront/keys/")
	if _, err := s.Owner.Exec(
		t.Context(), `update browser_sessions set confirmed_at = now() - interval '10 minutes 1 second'`,
	); err != nil {
		t.Fatal(err)
	}
	paneltest.Refused(t, b.Send("create", "name", "Three"), http.StatusBadRequest, "This field may not be blank.")
	if !asks() {
		t.Error("the password is not asked for again")
	}
}

func TestAFormThatIsSentTwiceMakesOneKey(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/storefront/keys/")
	b.Send("create", "name", "One", "password", paneltest.Password)
	b.Get("/storefront/keys/")
	keys, told := map[string]bool{}, 0
	for _, w := range s.AtOnce(10, func(int) *httptest.ResponseRecorder {
		one := b.Twin()
		w := one.Send("create", "name", "Two")
		return w
	}) {
		switch w.Code {
		case http.StatusOK:
			keys[w.Body.String()] = true
		case http.StatusConflict:
			told++
			paneltest.Has(t, w.Body.String(), "This key was created already")
		}
	}
	if n := s.Events(t, "storefront.api_key_issued"); len(keys) != 1 || told != 9 || n != 2 {
		t.Errorf("%d shown, %d told, %d facts", len(keys), told, n)
	}
}

func TestARevokedKeyOpensNothingAtOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 5, paneltest.RootMail, "es", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/storefront/keys/")
	b.Send("create", "name", "Shop", "password", paneltest.Password)
	key := b.ShownKey()
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", key); w.Code != http.StatusOK {
		t.Fatalf("%d", w.Code)
	}
	b.Get("/storefront/keys/")
	stale := b.Twin()
	paneltest.Refused(t, stale.Send(key[9:17], "form_token", ""), http.StatusForbidden, "El formulario estaba anticuado.")
	if alerts := strings.Count(rendered(stale.Page), `role="alert"`); alerts != 1 {
		t.Errorf("%d forms complain", alerts)
	}
	paneltest.Goes(t, b.Send(key[9:17]), "/storefront/keys/")
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", key); w.Code != http.StatusUnauthorized {
		t.Errorf("%d", w.Code)
	}
	paneltest.Has(t, b.Get("/storefront/keys/").Body.String(), "La clave está revocada.", "Revocada")
	path, sent := b.Fill("create", "form", "revoke", "of", "nosuchkey")
	if w := b.Do("POST", path, sent.Encode()); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

func rendered(n *html.Node) string {
	var text strings.Builder
	if err := html.Render(&text, n); err != nil {
		panic(err)
	}
	return text.String()
}
