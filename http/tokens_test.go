package http_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/sealing"
	"hostpanel/http/caller"
	"hostpanel/http/route/routetest"
)

// Each file is a conversation of a user who signs in, or fails to.
func TestConversationsOfPeople(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/people/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := openShop(t, figures).people(t)
		return s.handler, s.known
	})
}

func figures(s *shop) {
	s.server.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("orders 7"))
	})
}

const (
	noCredentials = `{"detail":"Authentication credentials were not provided."}`
	noUserClaim   = `{"detail":"Token contained no recognizable user identification","code":"token_not_valid"}`
)

func invalidToken(message string) string {
	return `{"detail":"Given token not valid for any token type","code":"token_not_valid","messages":[{"token_class":"AccessToken","token_type":"access","message":"` +
		message + `"}]}`
}

// part encodes one of the first two parts of a token.
func part(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

func signed(t *testing.T, method jwt.SigningMethod, header map[string]any, key any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		token.Header[name] = value
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForgedTokensOpenNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	key := s.server.TokenKeys[0]
	good := claimsOf(root, nil)
	pair, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	genuine := strings.Split(s.known["root"], ".")
	kid := map[string]any{"kid": key.ID}
	forged := map[string]string{
		"no algorithm":                     signed(t, jwt.SigningMethodNone, kid, jwt.UnsafeAllowNoneSignatureType, good),
		"no algorithm, in capitals":        part(`{"alg":"NONE","kid":"`+key.ID+`"}`) + "." + genuine[1] + ".",
		"no algorithm, signature kept":     part(`{"alg":"none","kid":"`+key.ID+`"}`) + "." + genuine[1] + "." + genuine[2],
		"no signature":                     genuine[0] + "." + genuine[1] + ".",
		"two parts":                        genuine[0] + "." + genuine[1],
		"four parts":                       s.known["root"] + ".x",
		"RS256 by a key of the forger":     signed(t, jwt.SigningMethodRS256, kid, pair, good),
		"PS256 by a key of the forger":     signed(t, jwt.SigningMethodPS256, kid, pair, good),
		"RS256 that names our key as its":  part(`{"alg":"RS256","kid":"`+key.ID+`"}`) + "." + genuine[1] + "." + genuine[2],
		"HS256 by a public key":            signed(t, jwt.SigningMethodHS256, kid, pair.N.Bytes(), good),
		"HS384 by our key":                 signed(t, jwt.SigningMethodHS384, kid, key.Key, good),
		"HS512 by our key":                 signed(t, jwt.SigningMethodHS512, kid, key.Key, good),
		"another key":                      forge(t, caller.TokenKey{ID: key.ID, Key: []byte("another key of thirty-two bytes!")}, good),
		"an empty key":                     forge(t, caller.TokenKey{ID: key.ID, Key: []byte{}}, good),
		"a key id that is not ours":        forge(t, caller.TokenKey{ID: "ffffffff", Key: key.Key}, good),
		"no key id":                        signed(t, jwt.SigningMethodHS256, nil, key.Key, good),
		"a key id that is a number":        signed(t, jwt.SigningMethodHS256, map[string]any{"kid": 1}, key.Key, good),
		"a key id that is a path":          signed(t, jwt.SigningMethodHS256, map[string]any{"kid": "../../dev/null"}, []byte{0}, good),
		"a key brought along":              signed(t, jwt.SigningMethodHS256, map[string]any{"kid": "x", "jwk": map[string]any{"kty": "oct", "k": "AAAA"}}, []byte{0, 0, 0}, good),
		"a key to be fetched":              signed(t, jwt.SigningMethodRS256, map[string]any{"jku": "https://evil.example/", "x5u": "https://evil.example/"}, pair, good),
		"other claims under the signature": genuine[0] + "." + part(`{"user_id":"1"}`) + "." + genuine[2],
		"claims that are no object":        forgeRaw(t, key, `["root"]`),
		"claims that are no JSON":          forgeRaw(t, key, `{"user_id":`),
		"padding":                          genuine[0] + "." + genuine[1] + "." + genuine[2] + "=",
		"another spelling of the bits":     genuine[0] + "." + genuine[1] + "." + sameBits(genuine[2]),
	}
	for name, token := range forged {
		w := s.call("GET", "/api/me/", "", bearer(token)...)
		if w.Code != http.StatusUnauthorized || w.Body.String() != invalidToken("Token is invalid") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.call("GET", "/api/me/", "", bearer(s.known["root"])...); w.Code != http.StatusOK {
		t.Errorf("the genuine one: %d %s", w.Code, w.Body)
	}
}

// forgeRaw signs any text in place of the claims.
func forgeRaw(t *testing.T, key caller.TokenKey, claims string) string {
	t.Helper()
	text := part(`{"alg":"HS256","typ":"JWT","kid":"`+key.ID+`"}`) + "." + part(claims)
	signature, err := jwt.SigningMethodHS256.Sign(text, key.Key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// sameBits encodes the same signature differently: base64 ignores some bits of
// the last letter.
func sameBits(signature string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, signature[len(signature)-1])
	return signature[:len(signature)-1] + string(alphabet[last^1])
}

func TestEveryClaimOfATokenCounts(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	for name, c := range map[string]struct {
		other with
		want  string
	}{
		"as it is":              {nil, ""},
		"no end":                {with{"exp": nil}, invalidToken("Token is invalid")},
		"no id":                 {with{"jti": nil}, invalidToken("Token is invalid")},
		"no type":               {with{"token_type": nil}, invalidToken("Token is invalid")},
		"no audience":           {with{"aud": nil}, invalidToken("Token is invalid")},
		"no issuer":             {with{"iss": nil}, invalidToken("Token is invalid")},
		"no session version":    {with{"sv": nil}, invalidToken("Token is invalid")},
		"no user":               {with{"user_id": nil}, noUserClaim},
		"no beginning":          {with{"iat": nil}, ""},
		"another audience":      {with{"aud": "shop"}, invalidToken("Token is invalid")},
		"another issuer":        {with{"iss": "evil"}, invalidToken("Token is invalid")},
		"another type":          {with{"token_type": "sliding"}, invalidToken("Token has wrong type")},
		"a refresh token":       {with{"token_type": "refresh"}, invalidToken("Token has wrong type")},
		"over this very second": {with{"exp": time.Now().Unix()}, invalidToken("Token is expired")},
		"over, and of a shop":   {with{"exp": 1, "aud": "shop"}, invalidToken("Token is invalid")},
		"an end that is a text": {with{"exp": "tomorrow"}, invalidToken("Token is invalid")},
		"a later session":       {with{"sv": 2}, invalidToken("Token is invalid")},
		"a session before all":  {with{"sv": 0}, invalidToken("Token is invalid")},
		"a user in words":       {with{"user_id": "root"}, noUserClaim},
		"a user in a number":    {with{"user_id": 1}, invalidToken("Token is invalid")},
		"a user below zero":     {with{"user_id": "-1"}, noUserClaim},
		"user 0":                {with{"user_id": "0"}, noUserClaim},
		"too great a user":      {with{"user_id": "9223372036854775808"}, noUserClaim},
		"a longer token":        {with{"more": strings.Repeat("x", 8<<10)}, invalidToken("Token is invalid")},
	} {
		w := s.call("GET", "/api/me/", "", bearer(s.token(t, root, c.other))...)
		if c.want == "" && w.Code == http.StatusOK {
			continue
		}
		if w.Code != http.StatusUnauthorized || w.Body.String() != c.want || w.Header().Get("WWW-Authenticate") != `Bearer realm="api"` {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestOnlyOneWordIsTheScheme(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	for header, want := range map[string]int{
		"Bearer " + s.known["ana"]: 200, "bearer " + s.known["ana"]: 200, "BEARER   " + s.known["ana"]: 200,
		"JWT " + s.known["ana"]: 401, s.known["ana"]: 401, "": 401, "Bearer" + s.known["ana"]: 401, "Bearer:" + s.known["ana"]: 401,
	} {
		if w := s.call("GET", "/api/me/", "", "Authorization", header); w.Code != want {
			t.Errorf("%.10s…: %d %s", header, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/api/me/", nil)
	r.Header["Authorization"] = []string{"Bearer " + s.known["ana"], "Bearer " + s.known["root"]}
	w := httptest.NewRecorder()
	if s.handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("two headers: %d", w.Code)
	}
}

func TestATokenIsAsItIsDescribed(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	got := s.signIn(t, "ana@example.com", goodPassword)
	for text, want := range map[string]struct {
		kind string
		life time.Duration
	}{got.Access: {"access", time.Hour}, got.Refresh: {"refresh", 7 * 24 * time.Hour}} {
		token, parts, err := jwt.NewParser().ParseUnverified(text, jwt.MapClaims{})
		if err != nil {
			t.Fatal(err)
		}
		claims, _ := token.Claims.(jwt.MapClaims)
		header, _ := base64.RawURLEncoding.DecodeString(parts[0])
		if want := fmt.Sprintf(`{"alg":"HS256","kid":"%s","typ":"JWT"}`, s.server.TokenKeys[0].ID); string(header) != want {
			t.Errorf("header %s", header)
		}
		if claims["token_type"] != want.kind || claims["user_id"] != "2" || claims["aud"] != "panel" || claims["iss"] != "hostpanel" || claims["sv"] != float64(1) {
			t.Errorf("%v", claims)
		}
		if id, _ := claims["jti"].(string); len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
			t.Errorf("id %v", claims["jti"])
		}
		begin, _ := claims["iat"].(float64)
		if end, _ := claims["exp"].(float64); time.Duration(end-begin)*time.Second != want.life || len(claims) != 9 || claims["sid"] == nil {
			t.Errorf("%v", claims)
		}
	}
}

func TestTokensOfTheKeyBeforeStillOpen(t *testing.T) {
	t.Parallel()
	older, newer := sealing.NewSecretKey(), sealing.NewSecretKey()
	keys := func(list string) []caller.TokenKey {
		ring, err := sealing.ParseKeyring(list)
		if err != nil {
			t.Fatal(err)
		}
		return keysOf(ring)
	}
	s := openShop(t).people(t)
	s.server.TokenKeys = keys(older)
	s.rewire(t)
	before := s.signIn(t, "ana@example.com", goodPassword)
	s.server.TokenKeys = keys(newer + "," + older)
	s.rewire(t)
	if w := s.call("GET", "/api/me/", "", bearer(before.Access)...); w.Code != http.StatusOK {
		t.Fatalf("the former key's token: %d %s", w.Code, w.Body)
	}
	after := answered[tokens](t, s.call("POST", "/api/token/refresh/", `{"refresh":"`+before.Refresh+`"}`))
	token, _, err := jwt.NewParser().ParseUnverified(after.Access, jwt.MapClaims{})
	if err != nil || token.Header["kid"] != keys(newer)[0].ID {
		t.Fatalf("signed with %v", token.Header["kid"])
	}
	s.server.TokenKeys = keys(newer)
	s.rewire(t)
	if w := s.call("GET", "/api/me/", "", bearer(before.Access)...); w.Code != http.StatusUnauthorized || w.Body.String() != invalidToken("Token is invalid") {
		t.Fatalf("the removed key's token: %d %s", w.Code, w.Body)
	}
	if w := s.call("GET", "/api/me/", "", bearer(after.Access)...); w.Code != http.StatusOK {
		t.Fatalf("the new key's token: %d %s", w.Code, w.Body)
	}
}

// Changes of an account end its tokens, and the refusals give the reason.
func TestAStolenTokenDoesNotOutliveTheAccountsChanges(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	const none = `{"detail":"No active account found for the given token."}`
	now := time.Now()
	for user, c := range map[int64]struct {
		change          func()
		access, refresh string
	}{
		ana: {func() {
			s.call("POST", "/api/me/password/", `{"current_password":"`+goodPassword+`","new_password":"another good one"}`, bearer(s.known["ana"])...)
		}, `{"detail":"The user's password has been changed.","code":"password_changed"}`, `{"detail":"The user's password has been changed.","code":"password_changed"}`},
		ben: {func() { s.do(t, account.Deactivate{User: ben, At: now}) }, `{"detail":"User is inactive","code":"user_inactive"}`, none},
		eve: {func() { s.do(t, account.EndSessions{User: eve, At: now}) }, invalidToken("Token is invalid"), `{"detail":"Token is invalid","code":"token_not_valid"}`},
	} {
		stolen := s.signIn(t, emails[user], goodPassword)
		c.change()
		if w := s.call("GET", "/api/me/", "", bearer(stolen.Access)...); w.Code != http.StatusUnauthorized || w.Body.String() != c.access {
			t.Errorf("access of %d: %d %s", user, w.Code, w.Body)
		}
		if w := s.call("POST", "/api/token/refresh/", `{"refresh":"`+stolen.Refresh+`"}`); w.Code != http.StatusUnauthorized || w.Body.String() != c.refresh {
			t.Errorf("refresh of %d: %d %s", user, w.Code, w.Body)
		}
		if w := s.call("POST", "/api/token/verify/", `{"token":"`+stolen.Access+`"}`); w.Code != http.StatusUnauthorized {
			t.Errorf("verify of %d: %d %s", user, w.Code, w.Body)
		}
	}
	s.do(t, account.Reactivate{User: ben, At: now})
	if w := s.call("GET", "/api/me/", "", bearer(s.known["ben"])...); w.Body.String() != invalidToken("Token is invalid") {
		t.Errorf("after the account was opened again: %d %s", w.Code, w.Body)
	}
}

func TestAnErasedUserIsGone(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	stolen := s.signIn(t, "ben@example.com", goodPassword)
	if err := s.server.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, ben); err != nil {
		t.Fatal(err)
	}
	if w := s.call("GET", "/api/me/", "", bearer(stolen.Access)...); w.Code != http.StatusUnauthorized || w.Body.String() != `{"detail":"User not found","code":"user_not_found"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.call("POST", "/api/token/refresh/", `{"refresh":"`+stolen.Refresh+`"}`); w.Body.String() != `{"detail":"No active account found for the given token."}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client may use a refresh token twice at once. A later reuse means a stolen
// copy.
func TestARefreshTokenThatIsUsedAgainEndsItsFamily(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	first := s.signIn(t, "ana@example.com", goodPassword)
	other := s.signIn(t, "ana@example.com", goodPassword)
	refresh := func(token string) *httptest.ResponseRecorder {
		return s.call("POST", "/api/token/refresh/", `{"refresh":"`+token+`"}`)
	}
	second := answered[tokens](t, refresh(first.Refresh))
	const blacklisted = `{"detail":"Token is blacklisted","code":"token_not_valid"}`
	if w := refresh(first.Refresh); w.Code != http.StatusUnauthorized || w.Body.String() != blacklisted {
		t.Fatalf("at once: %d %s", w.Code, w.Body)
	}
	third := answered[tokens](t, refresh(second.Refresh)) // forgiven: the family lives
	if n := s.events(t, "security.token_reused"); n != 0 {
		t.Fatalf("%d events about a permitted reuse", n)
	}
	if _, err := s.owner.Exec(t.Context(), `update refresh_tokens set used_at = used_at - interval '11 seconds' where used_at is not null`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if w := refresh(first.Refresh); w.Code != http.StatusUnauthorized || w.Body.String() != blacklisted {
			t.Fatalf("later: %d %s", w.Code, w.Body)
		}
	}
	if w := refresh(third.Refresh); w.Code != http.StatusUnauthorized || w.Body.String() != blacklisted {
		t.Fatalf("the newest of the family: %d %s", w.Code, w.Body)
	}
	if n := s.count(t, `select count(*) from events where name = 'security.token_reused' and stream = 'security-2'`); n != 1 {
		t.Fatalf("%d events", n)
	}
	for name, pair := range map[string]tokens{"first": first, "second": second, "third": third} {
		if w := s.call("GET", "/api/me/", "", bearer(pair.Access)...); w.Code != http.StatusUnauthorized || w.Body.String() != invalidToken("Token is invalid") {
			t.Errorf("the %s access token of the family: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.call("GET", "/api/me/", "", bearer(other.Access)...); w.Code != http.StatusOK {
		t.Errorf("an access token of another family: %d %s", w.Code, w.Body)
	}
	if w := refresh(other.Refresh); w.Code != http.StatusOK {
		t.Fatalf("another family: %d %s", w.Code, w.Body)
	}
}

func TestOfManyRefreshesAtOnceOneGetsTokens(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	token := s.signIn(t, "ana@example.com", goodPassword).Refresh
	fresh := 0
	for _, w := range s.atOnce(30, func(int) *httptest.ResponseRecorder {
		return s.call("POST", "/api/token/refresh/", `{"refresh":"`+token+`"}`)
	}) {
		if w.Code == http.StatusOK {
			fresh++
		}
	}
	if fresh != 1 {
		t.Fatalf("%d got tokens", fresh)
	}
}
