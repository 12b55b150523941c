package accounts_test

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
	"hostpanel/paneltest"
)

// Each file is a conversation of a user who signs in, or fails to.
func TestConversationsOfPeople(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/people/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Open(t, paneltest.Figures).People(t)
		return s.Handler, s.Known
	})
}

const (
	noCredentials = `{"detail":"Authentication credentials were not provided."}`
	noUserClaim   = `{"detail":"Token contained no recognizable user identification","code":"token_not_valid"}`
)

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
	s := paneltest.Open(t).People(t)
	key := s.Server.TokenKeys[0]
	good := paneltest.ClaimsOf(paneltest.Root, nil)
	pair, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	genuine := strings.Split(s.Known["root"], ".")
	kid := map[string]any{"kid": key.ID}
	forged := map[string]string{
		"no algorithm":                    signed(t, jwt.SigningMethodNone, kid, jwt.UnsafeAllowNoneSignatureType, good),
		"no algorithm, in capitals":       part(`{"alg":"NONE","kid":"`+key.ID+`"}`) + "." + genuine[1] + ".",
		"no algorithm, signature kept":    part(`{"alg":"none","kid":"`+key.ID+`"}`) + "." + genuine[1] + "." + genuine[2],
		"no signature":                    genuine[0] + "." + genuine[1] + ".",
		"two parts":                       genuine[0] + "." + genuine[1],
		"four parts":                      s.Known["root"] + ".x",
		"RS256 by a key of the forger":    signed(t, jwt.SigningMethodRS256, kid, pair, good),
		"PS256 by a key of the forger":    signed(t, jwt.SigningMethodPS256, kid, pair, good),
		"RS256 that names our key as its": part(`{"alg":"RS256","kid":"`+key.ID+`"}`) + "." + genuine[1] + "." + genuine[2],
		"HS256 by a public key":           signed(t, jwt.SigningMethodHS256, kid, pair.N.Bytes(), good),
		"HS384 by our key":                signed(t, jwt.SigningMethodHS384, kid, key.Key, good),
		"HS512 by our key":                signed(t, jwt.SigningMethodHS512, kid, key.Key, good),
		"another key": paneltest.Forge(t,
			caller.TokenKey{ID: key.ID, Key: []byte("another key of thirty-two bytes!")}, good),
		"an empty key":              paneltest.Forge(t, caller.TokenKey{ID: key.ID, Key: []byte{}}, good),
		"a key id that is not ours": paneltest.Forge(t, caller.TokenKey{ID: "ffffffff", Key: key.Key}, good),
		"no key id":                 signed(t, jwt.SigningMethodHS256, nil, key.Key, good),
		"a key id that is a number": signed(t, jwt.SigningMethodHS256, map[string]any{"kid": 1}, key.Key, good),
		"a key id that is a path": signed(t, jwt.SigningMethodHS256, map[string]any{"kid": "../../dev/null"},
			[]byte{0}, good),
		"a key brought along": signed(t, jwt.SigningMethodHS256,
			map[string]any{"kid": "x", "jwk": map[string]any{"kty": "oct", "k": "AAAA"}}, []byte{0, 0, 0}, good),
		"a key to be fetched": signed(t, jwt.SigningMethodRS256,
			map[string]any{"jku": "https://evil.example/", "x5u": "https://evil.example/"}, pair, good),
		"other claims under the signature": genuine[0] + "." + part(`{"user_id":"1"}`) + "." + genuine[2],
		"claims that are no object":        forgeRaw(t, key, `["root"]`),
		"claims that are no JSON":          forgeRaw(t, key, `{"user_id":`),
		"padding":                          genuine[0] + "." + genuine[1] + "." + genuine[2] + "=",
		"another spelling of the bits":     genuine[0] + "." + genuine[1] + "." + sameBits(genuine[2]),
	}
	for name, token := range forged {
		w := s.Call("GET", "/api/me/", "", paneltest.Bearer(token)...)
		if w.Code != http.StatusUnauthorized || w.Body.String() != paneltest.InvalidToken("Token is invalid") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusOK {
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
	s := paneltest.Open(t).People(t)
	for name, c := range map[string]struct {
		other paneltest.With
		want  string
	}{
		"as it is":              {nil, ""},
		"no end":                {paneltest.With{"exp": nil}, paneltest.InvalidToken("Token is invalid")},
		"no id":                 {paneltest.With{"jti": nil}, paneltest.InvalidToken("Token is invalid")},
		"no type":               {paneltest.With{"token_type": nil}, paneltest.InvalidToken("Token is invalid")},
		"no audience":           {paneltest.With{"aud": nil}, paneltest.InvalidToken("Token is invalid")},
		"no issuer":             {paneltest.With{"iss": nil}, paneltest.InvalidToken("Token is invalid")},
		"no session version":    {paneltest.With{"sv": nil}, paneltest.InvalidToken("Token is invalid")},
		"no user":               {paneltest.With{"user_id": nil}, noUserClaim},
		"no beginning":          {paneltest.With{"iat": nil}, ""},
		"another audience":      {paneltest.With{"aud": "shop"}, paneltest.InvalidToken("Token is invalid")},
		"another issuer":        {paneltest.With{"iss": "evil"}, paneltest.InvalidToken("Token is invalid")},
		"another type":          {paneltest.With{"token_type": "sliding"}, paneltest.InvalidToken("Token has wrong type")},
		"a refresh token":       {paneltest.With{"token_type": "refresh"}, paneltest.InvalidToken("Token has wrong type")},
		"over this very second": {paneltest.With{"exp": time.Now().Unix()}, paneltest.InvalidToken("Token is expired")},
		"over, and of a shop":   {paneltest.With{"exp": 1, "aud": "shop"}, paneltest.InvalidToken("Token is invalid")},
		"an end that is a text": {paneltest.With{"exp": "tomorrow"}, paneltest.InvalidToken("Token is invalid")},
		"a later session":       {paneltest.With{"sv": 2}, paneltest.InvalidToken("Token is invalid")},
		"a session before all":  {paneltest.With{"sv": 0}, paneltest.InvalidToken("Token is invalid")},
		"a user in words":       {paneltest.With{"user_id": "root"}, noUserClaim},
		"a user in a number":    {paneltest.With{"user_id": 1}, paneltest.InvalidToken("Token is invalid")},
		"a user below zero":     {paneltest.With{"user_id": "-1"}, noUserClaim},
		"user 0":                {paneltest.With{"user_id": "0"}, noUserClaim},
		"too great a user":      {paneltest.With{"user_id": "9223372036854775808"}, noUserClaim},
		"a longer token": {
			paneltest.With{"more": strings.Repeat("x", 8<<10)},
			paneltest.InvalidToken("Token is invalid"),
		},
	} {
		w := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Token(t, paneltest.Root, c.other))...)
		if c.want == "" && w.Code == http.StatusOK {
			continue
		}
		if w.Code != http.StatusUnauthorized || w.Body.String() != c.want ||
			w.Header().Get("WWW-Authenticate") != `Bearer realm="api"` {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestOnlyOneWordIsTheScheme(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for header, want := range map[string]int{
		"Bearer " + s.Known["ana"]: 200, "bearer " + s.Known["ana"]: 200, "BEARER   " + s.Known["ana"]: 200,
		"JWT " + s.Known["ana"]: 401, s.Known["ana"]: 401, "": 401, "Bearer" + s.Known["ana"]: 401,
		"Bearer:" + s.Known["ana"]: 401,
	} {
		if w := s.Call("GET", "/api/me/", "", "Authorization", header); w.Code != want {
			t.Errorf("%.10s…: %d %s", header, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/api/me/", nil)
	r.Header["Authorization"] = []string{"Bearer " + s.Known["ana"], "Bearer " + s.Known["root"]}
	w := httptest.NewRecorder()
	if s.Handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("two headers: %d", w.Code)
	}
}

func TestATokenIsAsItIsDescribed(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	got := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
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
		if want := fmt.Sprintf(`{"alg":"HS256","kid":"%s","typ":"JWT"}`, s.Server.TokenKeys[0].ID); string(header) != want {
			t.Errorf("header %s", header)
		}
		if claims["token_type"] != want.kind || claims["user_id"] != "2" || claims["aud"] != "panel" ||
			claims["iss"] != "hostpanel" || claims["sv"] != float64(1) {
			t.Errorf("%v", claims)
		}
		if id, _ := claims["jti"].(string); len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
			t.Errorf("id %v", claims["jti"])
		}
		begin, _ := claims["iat"].(float64)
		if end, _ := claims["exp"].(float64); time.Duration(end-begin)*time.Second != want.life || len(claims) != 9 ||
			claims["sid"] == nil {
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
	s := paneltest.Open(t).People(t)
	s.Server.TokenKeys = keys(older)
	s.Rewire(t)
	before := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	s.Server.TokenKeys = keys(newer + "," + older)
	s.Rewire(t)
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(before.Access)...); w.Code != http.StatusOK {
		t.Fatalf("the former key's token: %d %s", w.Code, w.Body)
	}
	after := paneltest.Answered[paneltest.Tokens](t,
		s.Call("POST", "/api/token/refresh/", `{"refresh":"`+before.Refresh+`"}`))
	token, _, err := jwt.NewParser().ParseUnverified(after.Access, jwt.MapClaims{})
	if err != nil || token.Header["kid"] != keys(newer)[0].ID {
		t.Fatalf("signed with %v", token.Header["kid"])
	}
	s.Server.TokenKeys = keys(newer)
	s.Rewire(t)
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(before.Access)...); w.Code != http.StatusUnauthorized ||
		w.Body.String() != paneltest.InvalidToken("Token is invalid") {
		t.Fatalf("the removed key's token: %d %s", w.Code, w.Body)
	}
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(after.Access)...); w.Code != http.StatusOK {
		t.Fatalf("the new key's token: %d %s", w.Code, w.Body)
	}
}

// Changes of an account end its tokens, and the refusals give the reason.
func TestAStolenTokenDoesNotOutliveTheAccountsChanges(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	const none = `{"detail":"No active account found for the given token."}`
	now := time.Now()
	for user, c := range map[int64]struct {
		change          func()
		access, refresh string
	}{
		paneltest.Ana: {
			func() {
				s.Call("POST", "/api/me/password/", `{"current_password":"`+paneltest.GoodPassword+`","new_password":"another good one"}`,
					paneltest.Bearer(s.Known["ana"])...)
			}, `{"detail":"The user's password has been changed.","code":"password_changed"}`,
			`{"detail":"The user's password has been changed.","code":"password_changed"}`,
		},
		paneltest.Ben: {
			func() { s.Do(t, account.Deactivate{User: paneltest.Ben, At: now}) },
			`{"detail":"User is inactive","code":"user_inactive"}`, none,
		},
		paneltest.Eve: {
			func() { s.Do(t, account.EndSessions{User: paneltest.Eve, At: now}) },
			paneltest.InvalidToken("Token is invalid"), `{"detail":"Token is invalid","code":"token_not_valid"}`,
		},
	} {
		stolen := s.SignIn(t, paneltest.Emails[user], paneltest.GoodPassword)
		c.change()
		if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(stolen.Access)...); w.Code != http.StatusUnauthorized ||
			w.Body.String() != c.access {
			t.Errorf("access of %d: %d %s", user, w.Code, w.Body)
		}
		if w := s.Call("POST", "/api/token/refresh/",
			`{"refresh":"`+stolen.Refresh+`"}`); w.Code != http.StatusUnauthorized || w.Body.String() != c.refresh {
			t.Errorf("refresh of %d: %d %s", user, w.Code, w.Body)
		}
		if w := s.Call("POST", "/api/token/verify/", `{"token":"`+stolen.Access+`"}`); w.Code != http.StatusUnauthorized {
			t.Errorf("verify of %d: %d %s", user, w.Code, w.Body)
		}
	}
	s.Do(t, account.Reactivate{User: paneltest.Ben, At: now})
	w := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ben"])...)
	if w.Body.String() != paneltest.InvalidToken("Token is invalid") {
		t.Errorf("after the account was opened again: %d %s", w.Code, w.Body)
	}
}

func TestAnErasedUserIsGone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	stolen := s.SignIn(t, "ben@example.com", paneltest.GoodPassword)
	if err := s.Server.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, paneltest.Ben); err != nil {
		t.Fatal(err)
	}
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(stolen.Access)...); w.Code != http.StatusUnauthorized ||
		w.Body.String() != `{"detail":"User not found","code":"user_not_found"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.Call("POST", "/api/token/refresh/",
		`{"refresh":"`+stolen.Refresh+`"}`); w.Body.String() != `{"detail":"No active account found for the given token."}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client may use a refresh token twice at once. A later reuse means a stolen
// copy.
func TestARefreshTokenThatIsUsedAgainEndsItsFamily(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	first := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	other := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	refresh := func(token string) *httptest.ResponseRecorder {
		return s.Call("POST", "/api/token/refresh/", `{"refresh":"`+token+`"}`)
	}
	second := paneltest.Answered[paneltest.Tokens](t, refresh(first.Refresh))
	const blacklisted = `{"detail":"Token is blacklisted","code":"token_not_valid"}`
	if w := refresh(first.Refresh); w.Code != http.StatusUnauthorized || w.Body.String() != blacklisted {
		t.Fatalf("at once: %d %s", w.Code, w.Body)
	}
	third := paneltest.Answered[paneltest.Tokens](t, refresh(second.Refresh)) // forgiven: the family lives
	if n := s.Events(t, "security.token_reused"); n != 0 {
		t.Fatalf("%d events about a permitted reuse", n)
	}
	if _, err := s.Owner.Exec(t.Context(), `update refresh_tokens set used_at = used_at - interval '11 seconds' where `+
		`used_at is not null`); err != nil {
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
	if n := s.Count(t, `select count(*) from events where name = 'security.token_reused' and stream = 'security-2'`); n != 1 {
		t.Fatalf("%d events", n)
	}
	for name, pair := range map[string]paneltest.Tokens{"first": first, "second": second, "third": third} {
		if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(pair.Access)...); w.Code != http.StatusUnauthorized ||
			w.Body.String() != paneltest.InvalidToken("Token is invalid") {
			t.Errorf("the %s access token of the family: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.Call("GET", "/api/me/", "", paneltest.Bearer(other.Access)...); w.Code != http.StatusOK {
		t.Errorf("an access token of another family: %d %s", w.Code, w.Body)
	}
	if w := refresh(other.Refresh); w.Code != http.StatusOK {
		t.Fatalf("another family: %d %s", w.Code, w.Body)
	}
}

// keysOf are the keys of access tokens.
func keysOf(r *sealing.Keyring) (all []caller.TokenKey) {
	for _, key := range r.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}
