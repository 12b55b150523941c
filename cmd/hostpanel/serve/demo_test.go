package serve_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// quiet is a console that nothing is read from.
var quiet = console.Console{Out: io.Discard, Err: io.Discard}

func TestTheDemoIsSetUpOnce(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	p := programtest.Open(t, url, dir, true)
	if err := serve.SetUp(t.Context(), p, quiet); err != nil {
		t.Fatal(err)
	}
	first, err := serve.ReadDemo(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, err := p.Store.Reader().Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := programtest.Open(t, url, dir, true)
	next.SetPublicURL("https://elsewhere.example.com")
	if err := serve.SetUp(t.Context(), next, quiet); err != nil {
		t.Fatal(err)
	}
	second, err := serve.ReadDemo(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	if second.BaseURL != "https://elsewhere.example.com" {
		t.Errorf("reached at %s", second.BaseURL)
	}
	if second.Shop.URL != "https://elsewhere.example.com/demo/shop/" {
		t.Errorf("the shop is at %s", second.Shop.URL)
	}
	second.BaseURL, second.Shop.URL = first.BaseURL, first.Shop.URL
	if second != first {
		t.Errorf("%+v became %+v", first, second)
	}
	// where the shop's customers come back to
	if after, _, err := p.Store.Reader().Head(t.Context()); err != nil || after != head+1 {
		t.Errorf("the second start has written %d events, %v", after-head, err)
	}
	if err := serve.SetUp(t.Context(), next, quiet); err != nil {
		t.Fatal(err)
	}
	if after, _, err := p.Store.Reader().Head(t.Context()); err != nil || after != head+1 {
		t.Errorf("the third start has written %d events, %v", after-head-1, err)
	}
	shop, err := p.Tables.For(projections.System).Orders().Widget(t.Context(), second.Shop.WidgetID)
	if err != nil || shop.SuccessURL != "https://elsewhere.example.com/demo/shop/" || len(shop.Offered) != 3 {
		t.Errorf("%+v, %v", shop, err)
	}
	if file, err := os.Stat(filepath.Join(dir, "demo.json")); err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", file.Mode(), err)
	}
}

func TestADemoDoesNotMixWithRealData(t *testing.T) {
	url := eventstoretest.URL(t)
	if err := serve.SetUp(t.Context(), programtest.Open(t, url, t.TempDir(), false),
		console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := serve.SetUp(t.Context(), programtest.Open(t, url, dir, true), quiet); err == nil ||
		!strings.Contains(err.Error(), "superuser") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo.json")); !os.IsNotExist(err) {
		t.Errorf("demo.json was written: %v", err)
	}
}

func TestTheFirstSuperusersPasswordIsShownOnce(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	var shown [2]bytes.Buffer
	for i := range shown {
		if err := serve.SetUp(t.Context(), programtest.Open(t, url, dir, false),
			console.Console{Out: &bytes.Buffer{}, Err: &shown[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(shown[0].String(), "admin@localhost") || !strings.Contains(shown[0].String(), "Password:") ||
		shown[1].Len() > 0 {
		t.Errorf("shown: %q, then %q", shown[0].String(), shown[1].String())
	}
}

func TestAPasswordThatIsSetIsNotShown(t *testing.T) {
	p := programtest.Open(t, eventstoretest.URL(t), t.TempDir(), false)
	p.Config.AdminEmail, p.Config.AdminPassword = "root@panel.example", "correct horse battery"
	var shown bytes.Buffer
	if err := serve.SetUp(t.Context(), p, console.Console{Out: &bytes.Buffer{}, Err: &shown}); err != nil ||
		shown.Len() > 0 {
		t.Errorf("%q, %v", shown.String(), err)
	}
	user, known, err := p.Tables.For(projections.System).Accounts().UserByEmail(t.Context(), "root@panel.example")
	if err != nil || !known || !user.IsSuperuser {
		t.Fatalf("%+v, %v", user, err)
	}
	if is, err := credentials.Open(p.Pool, p.Keys).CheckPassword(t.Context(), user.ID,
		"correct horse battery"); err != nil || !is {
		t.Errorf("the password does not fit: %v", err)
	}
}

// Tests of other packages hash at next to no cost, and the program never does
// (docs/security.md, "Passwords").
func TestTheProgramHashesPasswordsAtTheirFullCost(t *testing.T) {
	p := programtest.Open(t, eventstoretest.URL(t), t.TempDir(), false)
	p.Config.AdminEmail, p.Config.AdminPassword = "root@panel.example", "correct horse battery"
	if err := serve.SetUp(t.Context(), p, quiet); err != nil {
		t.Fatal(err)
	}
	hashed := func(by string) {
		t.Helper()
		var phc string
		err := p.Pool.QueryRow(t.Context(), `select phc from credentials where user_id = 1`).Scan(&phc)
		if err != nil || !strings.HasPrefix(phc, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("%s: %s, %v", by, phc, err)
		}
	}
	hashed("the first start")
	cheap, err := credentials.Open(p.Pool, p.Keys).Hashing(eventstoretest.Hashing).HashPassword(t.Context(),
		"battery horse staple")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Store.ExecuteWith(t.Context(), domain.Metadata{Cause: eventstoretest.Cause},
		[]eventstore.TxStatement{credentials.PasswordRow(1, cheap)}); err != nil {
		t.Fatal(err)
	}
	if is, err := p.Server().Credentials.CheckPassword(t.Context(), 1, "battery horse staple"); err != nil || !is {
		t.Errorf("the password does not fit: %v", err)
	}
	hashed("a sign-in")
	if err := p.Sagas.Accounts.Change(t.Context(), domain.Metadata{Cause: eventstoretest.Cause}, 1,
		"staple horse battery"); err != nil {
		t.Fatal(err)
	}
	hashed("a change")
}

// withoutDemo is the same configuration for a panel that is no demo.
func withoutDemo(t *testing.T, c *config.Config) *config.Config {
	t.Helper()
	other, err := config.New(config.Settings{
		DatabaseURL: c.DatabaseURL, DataDir: c.DataDir, PublicURL: c.PublicURL, SecretKey: programtest.SecretKey,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	return other
}
