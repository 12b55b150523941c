package paneltest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json and testdata/routes.txt anew")

// Current compares a committed file with what it should be.
func Current(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Fatalf("%s is not current; run go test ./http -run '%s' -update (%v)", file, t.Name(), err)
	}
}

// ReferencePath is the page of the API reference.
const ReferencePath = "/api/schema/swagger-ui/"

// InABrowser signs a user in at a browser.
func (s *Shop) InABrowser(t *testing.T, user int64) *Shop {
	t.Helper()
	id, err := s.Vault().OpenSession(t.Context(), user, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Browser(t)
	b.Cookies["__Host-session"] = id
	b.Get("/account/")
	s.Known["session"], s.Known["csrf_token"] = id, b.Csrf()
	return s
}

// PlainVariable is a variable of a path without the form of its values.
func PlainVariable(v string) string {
	name, _, _ := strings.Cut(strings.Trim(v, "{}"), ":")
	return "{" + name + "}"
}
