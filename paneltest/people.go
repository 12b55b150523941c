package paneltest

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
	Root = 1 // a superuser without tenant
	Ana  = 2 // administrates tenant 1, is a member of tenant 2
	Ben  = 3 // a member of tenant 1
	Eve  = 4 // has no tenant
	Gone = 5 // is no longer active
)

const GoodPassword = "a good password, really"

var Emails = map[int64]string{Root: "root@example.com", Ana: "ana@example.com", Ben: "ben@example.com", Eve: "eve@example.com", Gone: "gone@example.com"}

// People opens accounts with a good password, and the tenants that they belong
// to.
func (s *Shop) People(t testing.TB) *Shop {
	t.Helper()
	for id := int64(Root); id <= Gone; id++ {
		s.Person(t, id, Emails[id], id == Root)
	}
	s.Tenant(t, 1, "Bread & Co")
	s.Tenant(t, 2, "Cheese")
	s.Tenant(t, 3, "Milk")
	s.Do(t, account.GrantMembership{User: Ana, Tenant: 1, Role: account.Admin, At: time.Now()})
	s.Do(t, account.GrantMembership{User: Ana, Tenant: 2, Role: account.Member, At: time.Now()})
	s.Do(t, account.GrantMembership{User: Ben, Tenant: 1, Role: account.Member, At: time.Now()})
	s.Do(t, account.Deactivate{User: Gone, At: time.Now()})
	for name, id := range map[string]int64{"root": Root, "ana": Ana, "ben": Ben, "eve": Eve, "gone": Gone} {
		s.Known[name] = s.Token(t, id, nil)
		s.Known[name+"_refresh"] = s.Token(t, id, With{"token_type": "refresh"})
	}
	s.Known["expired"] = s.Token(t, Ana, With{"exp": time.Now().Add(-time.Second).Unix()})
	s.Known["nobody"] = s.Token(t, 4711, nil)
	s.Known["userless"] = s.Token(t, Ana, With{"user_id": nil})
	s.Known["password"] = GoodPassword
	s.Known["base"] = s.Public
	return s
}

func (s *Shop) Person(t testing.TB, id int64, email string, superuser bool) {
	t.Helper()
	hash, err := s.Vault().HashPassword(t.Context(), GoodPassword)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ExecuteWith(t.Context(), domain.Metadata{Actor: "test"}, []eventstore.TxStatement{credentials.PasswordRow(id, hash)},
		account.Open{User: id, SubjectID: uuid.New(), Email: email, Name: "Alex Kim", Language: "en", Superuser: superuser, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Shop) Tenant(t testing.TB, id int64, name string) {
	t.Helper()
	spec := &hosting.Tenant{Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es", Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 10)}
	spec.Username, spec.CustomerNumber = hosting.CustomerNumber(id), hosting.CustomerNumber(id)
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values()})
}

// With are claims that differ from those of a good token; nil takes one away.
type With map[string]any

// Token is one that the panel could have signed.
func (s *Shop) Token(t testing.TB, user int64, other With) string {
	t.Helper()
	return Forge(t, s.Server.TokenKeys[0], ClaimsOf(user, other))
}

func ClaimsOf(user int64, other With) jwt.MapClaims {
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

func Forge(t testing.TB, key caller.TokenKey, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	token.Header["kid"] = key.ID
	text, err := token.SignedString(key.Key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func KeysOf(r *sealing.Keyring) (all []caller.TokenKey) {
	for _, key := range r.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}

type Tokens struct{ Refresh, Access string }

// SignIn gets tokens with a password.
func (s *Shop) SignIn(t testing.TB, email, password string) (got Tokens) {
	t.Helper()
	return Answered[Tokens](t, s.Call("POST", "/api/token/", `{"username":"`+email+`","password":"`+password+`"}`))
}

// Answered is the body of an answer that has to be 200.
func Answered[T any](t testing.TB, w *httptest.ResponseRecorder) (body T) {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func Bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }
