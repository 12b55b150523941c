package paneltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
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

// GoodPassword is that of all people.
const GoodPassword = "a good password, really"

// Emails are the addresses of people.
var Emails = map[int64]string{
	Root: "root@example.com", Ana: "ana@example.com", Ben: "ben@example.com",
	Eve: "eve@example.com", Gone: "gone@example.com",
}

// People opens accounts with a good password, and the tenants that they belong
// to.
func (s *Shop) People(t testing.TB) *Shop {
	t.Helper()
	if s.isNew(t) {
		return people.give(t, s)
	}
	return s.makePeople(t)
}

var people = fixture{make: func(t testing.TB) *Shop { return Open(t).makePeople(t) }}

func (s *Shop) makePeople(t testing.TB) *Shop {
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

// Person opens an account with the good password.
func (s *Shop) Person(t testing.TB, id int64, email string, superuser bool) {
	t.Helper()
	hash, err := s.Vault().HashPassword(t.Context(), GoodPassword)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ExecuteWith(t.Context(), domain.Metadata{Actor: "test"},
		[]eventstore.TxStatement{credentials.PasswordRow(id, hash)},
		account.Open{
			User: id, SubjectID: uuid.New(), Email: email, Name: "Alex Kim", Language: "en", Superuser: superuser,
			At: time.Now(),
		})
	if err != nil {
		t.Fatal(err)
	}
}

// Tenant makes a tenant with a slug of its number.
func (s *Shop) Tenant(t testing.TB, id int64, name string) {
	t.Helper()
	spec := &hosting.Tenant{
		Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es",
		Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 10),
	}
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

// ClaimsOf are the claims of a token for a user.
func ClaimsOf(user int64, other With) jwt.MapClaims {
	now := time.Now()
	claims := jwt.MapClaims{
		"token_type": "access", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(),
		"jti":     "0123456789abcdef0123456789abcdef",
		"user_id": strconv.FormatInt(user, 10), "iss": "hostpanel", "aud": "panel", "sv": 1,
	}
	for name, value := range other {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// Forge signs claims.
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

// Tokens are what a sign-in returns.
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

// Bearer is the header with an access token.
func Bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// Organisation makes one, of which users are members.
func (s *Shop) Organisation(t testing.TB, id int64, name string, members ...int64) {
	t.Helper()
	spec := &hosting.Tenant{
		Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es",
		Status: "active", IsActive: true,
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values()})
	for _, user := range members {
		s.Do(t, account.GrantMembership{User: user, Tenant: id, Role: account.Admin, At: time.Now()})
	}
}

// Addresses of residents.
const (
	AnaMail  = "ana@example.com"
	RootMail = "root@example.com"
)

// Guarded applies the rate limits.
func Guarded(s *Shop) { s.Server.Settings.Abuse = true }

// Try signs in from an IP address.
func (s *Shop) Try(from, email, password string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/token/",
		strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, email, password)))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}

// A shownSignIn is a sign-in as the API shows it.
type shownSignIn struct {
	ID, Kind  string
	IsCurrent bool `json:"is_current"`
}

// SignIns are those of the caller.
func (s *Shop) SignIns(t *testing.T, headers ...string) (all []shownSignIn) {
	t.Helper()
	w := s.Call("GET", "/api/me/sessions/", "", headers...)
	var page struct{ Results []shownSignIn }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return page.Results
}

// purpose is that of a link that sets a password.
const purpose = "set_password"

// Link is the token of a link that sets a user's password.
func (s *Shop) Link(t *testing.T, user int64) string {
	t.Helper()
	token := credentials.NewToken()
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{},
		credentials.TokenRows(token, purpose, user, time.Hour)); err != nil {
		t.Fatal(err)
	}
	return token
}

// Code is what an app shows, some steps of time from now.
func Code(t testing.TB, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// WrongCode is a code of six digits that is wrong for some minutes.
func WrongCode(t testing.TB, secret string) string {
	t.Helper()
	right := map[string]bool{}
	for steps := -4; steps <= 4; steps++ {
		right[Code(t, secret, steps)] = true
	}
	for n := 0; ; n++ {
		if wrong := fmt.Sprintf("%06d", n); !right[wrong] {
			return wrong
		}
	}
}

// Enrolled gives a user a second factor. No code is used up.
func (s *Shop) Enrolled(t testing.TB, user int64) (secret string, recovery []string) {
	t.Helper()
	secret, err := s.Accounts.ProposeFactor(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if recovery, err = s.Accounts.EnableFactor(t.Context(), domain.Metadata{Actor: "user:2"}, user,
		Code(t, secret, 0)); err != nil {
		t.Fatal(err)
	}
	s.ForgetsCodes(t)
	return secret, recovery
}

// ForgetsCodes makes codes good that were used before.
func (s *Shop) ForgetsCodes(t testing.TB) {
	t.Helper()
	if _, err := s.Owner.Exec(t.Context(), `update second_factors set last_step = 0`); err != nil {
		t.Fatal(err)
	}
}

// WaitFor waits until done returns true.
func WaitFor(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Error("nothing happens")
			return
		}
	}
}

// Figures lets the panel have metrics.
func Figures(s *Shop) {
	s.Server.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("orders 7"))
	})
}

// InvalidToken is the refusal of a token.
func InvalidToken(message string) string {
	return `{"detail":"Given token not valid for any token type","code":"token_not_valid",` +
		`"messages":[{"token_class":"AccessToken","token_type":"access","message":"` +
		message + `"}]}`
}

// Unsubscribe returns the token in mails about invoices to a user.
func (s *Shop) Unsubscribe(user int64) string {
	return notice.Unsubscription{User: user, Preference: notice.Billing.Preference()}.Token(s.Server.UnsubscribeKeys[0])
}

// IsOfSessions tells whether a call is refused to tokens.
func IsOfSessions(method, path string) bool {
	return path == "/api/me/confirm/" || strings.HasPrefix(path, "/api/me/second-factor/") && method != http.MethodGet
}

// Password is that of residents.
const Password = "Tr0ub4dor & 3 caballos"

// Resident creates an account with a password.
func (s *Shop) Resident(t testing.TB, user int64, email, language string, superuser bool) {
	t.Helper()
	hash, err := s.Vault().HashPassword(t.Context(), Password)
	if err != nil {
		t.Fatal(err)
	}
	row := credentials.PasswordRow(user, hash)
	_, err = s.ExecuteWith(t.Context(), domain.Metadata{}, []eventstore.TxStatement{row},
		account.Open{
			User: user, SubjectID: uuid.New(), Email: email, Name: "Ana", Language: language, Superuser: superuser,
			At: time.Now(),
		},
		account.ChangePassword{User: user, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

// Speaks gives a user another language.
func Speaks(user int64, language string) domain.Command {
	return account.ChangeProfile{
		User: user, SubjectID: uuid.New(), Email: Emails[user], Name: "Alex Kim",
		Language: language, At: time.Now(),
	}
}
