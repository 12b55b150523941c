package http_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// shownKey is the key that a page shows.
func (b *browser) shownKey() string {
	for _, in := range elements(b.page, "textarea") {
		if attribute(in, "id") == "key" {
			return textOf(in)
		}
	}
	return ""
}

// cards are the keys that a page lists.
func (b *browser) cards() (names []string) {
	for _, h := range elements(b.page, "h3") {
		names = append(names, textOf(h))
	}
	return names
}

func TestAKeyIsCreatedWithThePasswordAndShownOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	s.resident(t, 5, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	b.get("/storefront/keys/")
	for _, try := range []struct {
		fields  []string
		message string
	}{
		{[]string{"name", "Shop"}, "This field may not be blank."},
		{[]string{"name", "Shop", "password", "wrong"}, "The current password is wrong."},
		{[]string{"password", password}, "This field is required."},
		{[]string{"name", "Shop", "password", password, "rate_limit_per_minute", "0"}, "Ensure this value is greater than or equal to 1."},
		{[]string{"name", "Shop", "password", password, "allowed_domains", "shop.example\r\n\r\nnot a domain!"}, "2: Enter a valid domain or origin."},
		{[]string{"name", "Shop", "password", password, "mode", "free"}, `"free" is not a valid choice.`},
		{[]string{"name", "Shop", "password", password, "expires_at", "soon"}, "Datetime has wrong format."},
	} {
		w := b.twin().send("create", try.fields...)
		refused(t, w, http.StatusBadRequest, try.message)
		if strings.Contains(w.Body.String(), "caballos") {
			t.Error("the password is shown again")
		}
	}
	before := b.sessionID()
	sent := b.twin()
	w := b.send("create", "name", "My shop", "password", password, "allowed_domains", "shop.example\r\n*.shop.example\r\n", "expires_at", "2099-01-02T03:04")
	key := b.shownKey()
	if w.Code != http.StatusOK || !strings.HasPrefix(key, "sfk_test_") || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := s.call("GET", "/storefront/api/plans/", "", "X-API-Key", key, "Origin", "https://eu.shop.example"); w.Code != http.StatusOK {
		t.Errorf("the key opens nothing: %d", w.Code)
	}
	if w := s.call("GET", "/storefront/api/plans/", "", "X-API-Key", key, "Origin", "https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("the key opens everywhere: %d", w.Code)
	}
	text := b.get("/storefront/keys/").Body.String()
	has(t, text, key[:len("sfk_test_12345678")], "My shop", "shop.example, *.shop.example", "2 Jan 2099, 03:04 UTC")
	if strings.Contains(text, key) || strings.Contains(s.logged.String(), key) {
		t.Error("the key is shown twice, or logged")
	}
	if b.sessionID() == before || sent.isIn() {
		t.Error("the id of before the password was asked for is still good")
	}
	if n := s.count(t, `select count(*) from events where name = 'storefront.api_key_issued' and actor = 'operator:5'`); n != 1 {
		t.Errorf("%d facts", n)
	}
}

func TestAPasswordCountsForTenMinutes(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	asks := func() bool {
		b.get("/storefront/keys/")
		_, sent := b.fill("create")
		_, asks := sent["password"]
		return asks
	}
	if !asks() {
		t.Fatal("signing in counts")
	}
	b.send("create", "name", "One", "password", password)
	if b.shownKey() == "" || asks() {
		t.Fatal("the password is asked for again")
	}
	if b.send("create", "name", "Two"); b.shownKey() == "" {
		t.Fatal("no key")
	}
	b.get("/storefront/keys/")
	if _, err := s.owner.Exec(t.Context(), `update browser_sessions set confirmed_at = now() - interval '10 minutes 1 second'`); err != nil {
		t.Fatal(err)
	}
	refused(t, b.send("create", "name", "Three"), http.StatusBadRequest, "This field may not be blank.")
	if !asks() {
		t.Error("the password is not asked for again")
	}
}

func TestAFormThatIsSentTwiceMakesOneKey(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	b.get("/storefront/keys/")
	b.send("create", "name", "One", "password", password)
	b.get("/storefront/keys/")
	keys, told := map[string]bool{}, 0
	for _, w := range s.atOnce(10, func(int) *httptest.ResponseRecorder {
		one := b.twin()
		w := one.send("create", "name", "Two")
		return w
	}) {
		switch w.Code {
		case http.StatusOK:
			keys[w.Body.String()] = true
		case http.StatusConflict:
			told++
			has(t, w.Body.String(), "This key was created already")
		}
	}
	if n := s.events(t, "storefront.api_key_issued"); len(keys) != 1 || told != 9 || n != 2 {
		t.Errorf("%d shown, %d told, %d facts", len(keys), told, n)
	}
}

func TestARevokedKeyOpensNothingAtOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	s.resident(t, 5, rootMail, "es", true)
	b := s.browser(t).enter(rootMail)
	b.get("/storefront/keys/")
	b.send("create", "name", "Shop", "password", password)
	key := b.shownKey()
	if w := s.call("GET", "/storefront/api/plans/", "", "X-API-Key", key); w.Code != http.StatusOK {
		t.Fatalf("%d", w.Code)
	}
	b.get("/storefront/keys/")
	stale := b.twin()
	refused(t, stale.send(key[9:17], "form_token", ""), http.StatusForbidden, "El formulario estaba anticuado.")
	if alerts := strings.Count(rendered(stale.page), `role="alert"`); alerts != 1 {
		t.Errorf("%d forms complain", alerts)
	}
	goes(t, b.send(key[9:17]), "/storefront/keys/")
	if w := s.call("GET", "/storefront/api/plans/", "", "X-API-Key", key); w.Code != http.StatusUnauthorized {
		t.Errorf("%d", w.Code)
	}
	has(t, b.get("/storefront/keys/").Body.String(), "La clave está revocada.", "Revocada")
	path, sent := b.fill("create", "form", "revoke", "of", "nosuchkey")
	if w := b.do("POST", path, sent.Encode()); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

func TestManyKeysComeInPages(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	b.get("/storefront/keys/")
	b.send("create", "name", "First", "password", password)
	for range 29 {
		b.get("/storefront/keys/")
		b.send("create", "name", "Key")
	}
	b.get("/storefront/keys/")
	if got := b.cards(); len(got) != 25 || got[0] != "Key" {
		t.Errorf("%v", got)
	}
	has(t, b.get("/storefront/keys/?page=2").Body.String(), `href="/storefront/keys/?page=1"`)
	if got := b.cards(); len(got) != 5 || got[4] != "First" {
		t.Errorf("%v", got)
	}
	for _, page := range []string{"0", "-1", "x", "99999999999999999999"} {
		if w := b.get("/storefront/keys/?page=" + page); w.Code != http.StatusOK || len(b.cards()) != 25 {
			t.Errorf("page %s: %d", page, w.Code)
		}
	}
}

func rendered(n *html.Node) string {
	var text strings.Builder
	if err := html.Render(&text, n); err != nil {
		panic(err)
	}
	return text.String()
}
