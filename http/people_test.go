package http_test

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/sealing"
	"hostpanel/http/caller"
)

// People of the tests, by number.
const (
	root = 1 // a superuser without tenant
	ana  = 2 // administrates tenant 1, is a member of tenant 2
	ben  = 3 // a member of tenant 1
	eve  = 4 // has no tenant
	gone = 5 // is no longer active
)

const goodPassword = "a good password, really"

var emails = map[int64]string{root: "root@example.com", ana: "ana@example.com", ben: "ben@example.com", eve: "eve@example.com", gone: "gone@example.com"}

// people opens accounts with a good password, and the tenants that they belong
// to.
func (s *shop) people(t testing.TB) *shop {
	t.Helper()
	for id := int64(root); id <= gone; id++ {
		s.person(t, id, emails[id], id == root)
	}
	s.tenant(t, 1, "Bread & Co")
	s.tenant(t, 2, "Cheese")
	s.tenant(t, 3, "Milk")
	s.do(t, account.GrantMembership{User: ana, Tenant: 1, Role: account.Admin, At: time.Now()})
	s.do(t, account.GrantMembership{User: ana, Tenant: 2, Role: account.Member, At: time.Now()})
	s.do(t, account.GrantMembership{User: ben, Tenant: 1, Role: account.Member, At: time.Now()})
	s.do(t, account.Deactivate{User: gone, At: time.Now()})
	for name, id := range map[string]int64{"root": root, "ana": ana, "ben": ben, "eve": eve, "gone": gone} {
		s.known[name] = s.token(t, id, nil)
		s.known[name+"_refresh"] = s.token(t, id, with{"token_type": "refresh"})
	}
	s.known["expired"] = s.token(t, ana, with{"exp": time.Now().Add(-time.Second).Unix()})
	s.known["nobody"] = s.token(t, 4711, nil)
	s.known["userless"] = s.token(t, ana, with{"user_id": nil})
	s.known["password"] = goodPassword
	s.known["base"] = s.public
	return s
}

func (s *shop) person(t testing.TB, id int64, email string, superuser bool) {
	t.Helper()
	hash, err := s.vault().HashPassword(t.Context(), goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ExecuteWith(t.Context(), domain.Metadata{Actor: "test"}, []eventstore.TxStatement{credentials.PasswordRow(id, hash)},
		account.Open{User: id, SubjectID: uuid.New(), Email: email, Name: "Alex Kim", Language: "en", Superuser: superuser, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *shop) tenant(t testing.TB, id int64, name string) {
	t.Helper()
	spec := &hosting.Tenant{Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es", Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 10)}
	spec.Username, spec.CustomerNumber = hosting.CustomerNumber(id), hosting.CustomerNumber(id)
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values()})
}

// with are claims that differ from those of a good token; nil takes one away.
type with map[string]any

// token is one that the panel could have signed.
func (s *shop) token(t testing.TB, user int64, other with) string {
	t.Helper()
	return forge(t, s.server.TokenKeys[0], claimsOf(user, other))
}

func claimsOf(user int64, other with) jwt.MapClaims {
	now := time.Now()
	claims := jwt.MapClaims{
		"token_type": "access", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "jti": "0123456789abcdef0123456789abcdef",
		"user_id": strconv.FormatInt(user, 10), "iss": "hostpanel", "aud": "panel", "sv": 1,
	}
	for name, value := range other {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func forge(t testing.TB, key caller.TokenKey, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	token.Header["kid"] = key.ID
	text, err := token.SignedString(key.Key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func keysOf(r *sealing.Keyring) (all []caller.TokenKey) {
	for _, key := range r.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}

type tokens struct{ Refresh, Access string }

// signIn gets tokens with a password.
func (s *shop) signIn(t testing.TB, email, password string) (got tokens) {
	t.Helper()
	return answered[tokens](t, s.call("POST", "/api/token/", `{"username":"`+email+`","password":"`+password+`"}`))
}

// answered is the body of an answer that has to be 200.
func answered[T any](t testing.TB, w *httptest.ResponseRecorder) (body T) {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }
