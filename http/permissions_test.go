package http_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hostpanel/http/route"
)

// Two tenants and everybody who could want something of them. None of the
// people has anything to do with the other tenant.
const (
	tenantA, tenantB    = 21, 22
	memberOfA, adminOfA = 31, 32
	adminOfB, stranger  = 33, 34
)

// The roles, in the order of the columns of docs/generated/permissions.md.
var roles = []string{"not signed in", "no tenant", "member of A", "administrator of A", "administrator of B", "superuser", "storefront key"}

// Whose object a call names.
const (
	ofNobody = "" // the call names none
	ofA      = "of A"
	ofB      = "of B"
	existing = "existing" // and nobody's in particular
	missing  = "missing"
	deformed = "malformed"
)

// What becomes of a call: it is let in, whatever comes of it then, or refused.
const (
	in        = "yes"
	unknown   = "401"
	forbidden = "403"
	absent    = "404"
	toLogin   = "login"
)

// A right says what becomes of calls to paths that begin so.
type right struct {
	path  string
	may   func(role, object string) string
	write func(role, object string) string // nil: writers are those who may read
	patch func(role, object string) string // nil: as write
}

// rights are what docs/security.md, "Who may do what", says, by the beginning
// of the path: the longest one counts. They are written down here a second
// time on purpose: no declaration of a route is asked.
var rights = []right{
	{path: "/", may: everybody},
	{path: "/login/", may: everybody},
	{path: "/logout/", may: everybody},
	{path: "/password-reset/", may: everybody},
	{path: "/account/", may: visitors},
	{path: "/storefront/", may: operatorsInABrowser},
	{path: "/api/me/", may: signedIn},
	{path: "/api/token/", may: everybody},
	{path: "/api/password-reset/", may: everybody},
	{path: "/api/schema/", may: everybody},
	{path: "/hosting/api/rest/", may: members, write: membersWriting},
	{path: "/hosting/api/rest/tenants/", may: ownTenants, write: superusers, patch: administrators},
	{path: "/hosting/api/rest/tenants/{id:int}/activate/", may: ownTenants},
	{path: "/hosting/api/rest/tenants/{id:int}/stats/", may: ownTenants},
	{path: "/hosting/api/rest/tenants/{id:int}/sync/", may: administrators},
	{path: "/hosting/api/rest/sites/{id:int}/restore/", may: superusers},
	{path: "/hosting/api/rest/tenants/", may: ownTenants},
	{path: "/hosting/api/rest/packages/", may: signedIn, write: superusers},
	{path: "/hosting/api/rest/whitelabel/", may: administrators},
	{path: "/hosting/api/rest/webhook-endpoints/", may: administrators},
	{path: "/notifications/api/v1/", may: recipients},
	{path: "/notifications/unsubscribe/", may: everybody},
	{path: "/operations/api/v1/", may: superusers},
	{path: "/storefront/api/", may: holdersOfKeys},
	{path: "/storefront/webhooks/", may: everybody},
	{path: "/storefront/return/", may: everybody},
	{path: "/storefront/checkout/", may: everybody},
	{path: "/set-password/", may: everybody},
	{path: "/panel/", may: everybody},
	{path: "/healthz", may: everybody},
	{path: "/readyz", may: everybody},
	{path: "/metrics", may: operatorsOnly},
}

func everybody(_, object string) string {
	if object == missing {
		return absent
	}
	return in
}

func signedIn(role, object string) string {
	switch role {
	case "not signed in", "storefront key":
		return unknown
	}
	return everybody(role, object)
}

// recipients see what they were told, and superusers nothing more than that.
func recipients(role, object string) string {
	if signedIn(role, object) == in && object == ofB && role != "administrator of B" {
		return absent
	}
	return signedIn(role, object)
}

func superusers(role, object string) string {
	switch role {
	case "superuser":
		return everybody(role, object)
	case "not signed in", "storefront key":
		return unknown
	}
	return forbidden
}

// visitors have signed in with a browser.
func visitors(role, object string) string {
	if signedIn(role, object) == unknown {
		return toLogin
	}
	return in
}

func operatorsInABrowser(role, object string) string {
	if role == "superuser" || visitors(role, object) == toLogin {
		return visitors(role, object)
	}
	return forbidden
}

// operatorsOnly is a superuser from elsewhere; this machine needs no token.
func operatorsOnly(role, object string) string { return superusers(role, object) }

// ownTenants are those that somebody belongs to; to the others they do not exist.
func ownTenants(role, object string) string {
	own := map[string]string{"member of A": ofA, "administrator of A": ofA, "administrator of B": ofB}
	switch {
	case signedIn(role, object) != in, role == "superuser", object == ofNobody:
		return signedIn(role, object)
	case own[role] == object:
		return in
	}
	return absent
}

// members see what belongs to the tenant for which they act.
func members(role, object string) string {
	own := map[string]string{"member of A": ofA, "administrator of A": ofA, "administrator of B": ofB}[role]
	switch {
	case role == "superuser", signedIn(role, object) == unknown:
		return signedIn(role, object)
	case object == ofNobody, object == own:
		return in
	}
	return absent
}

// membersWriting act for a tenant, or are superusers.
func membersWriting(role, object string) string {
	if role == "no tenant" {
		return forbidden
	}
	return members(role, object)
}

// administrators see what belongs to the tenant for which they act.
func administrators(role, object string) string {
	own := map[string]string{"administrator of A": ofA, "administrator of B": ofB}[role]
	switch {
	case role == "superuser", signedIn(role, object) == unknown:
		return signedIn(role, object)
	case own == "":
		return forbidden
	case object == ofNobody, object == own:
		return in
	}
	return absent
}

// holdersOfKeys see orders that were placed with a key of the same owner.
func holdersOfKeys(role, object string) string {
	switch {
	case role != "storefront key":
		return unknown
	case object == ofB:
		return absent
	}
	return everybody(role, object)
}

func may(t *testing.T, method, path, role, what string) string {
	rule, known := of(path, rights, func(r right) string { return r.path })
	switch {
	case !known:
		t.Fatalf("say who may call %s", path)
	case what == deformed:
		return absent // such a path is none, whoever asks
	case rule.patch != nil && method == http.MethodPatch:
		return rule.patch(role, what)
	case rule.write != nil && method != http.MethodGet:
		return rule.write(role, what)
	}
	return rule.may(role, what)
}

func TestEverybodyMayDoWhatIsTheirsAndNothingElse(t *testing.T) {
	c := takeCensus(t)
	var table strings.Builder
	for _, r := range c.routes() {
		paths := c.paths(t, r.Path)
		for _, what := range []string{ofNobody, existing, ofA, ofB, missing, deformed} {
			path, named := paths[what]
			if !named {
				continue
			}
			fmt.Fprintf(&table, "| %s | `%s` | %s |", r.Method, variable.ReplaceAllStringFunc(r.Path, plainly), what)
			for _, role := range roles {
				w := c.ask(t, role, r.Method, path)
				if got, want := outcome(w), may(t, r.Method, r.Path, role, what); got != want {
					t.Errorf("%s %s (%s) as %s: %s, not %s: %d %s", r.Method, path, what, role, got, want, w.Code, w.Body)
				}
				fmt.Fprintf(&table, " %s |", outcome(w))
			}
			table.WriteByte('\n')
		}
	}
	current(t, "../docs/generated/permissions.md", permissionsHead+"| call | path | object | "+strings.Join(roles, " | ")+" |\n|---|---|---|"+strings.Repeat("---|", len(roles))+"\n"+table.String())
}

// routes are all of them, in the order of their paths.
func (c *census) routes() []route.Route {
	all := c.server.Routes()
	slices.SortStableFunc(all, func(a, b route.Route) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

func plainly(v string) string {
	name, _, _ := strings.Cut(strings.Trim(v, "{}"), ":")
	return "{" + name + "}"
}

const permissionsHead = `# Who may call what

Generated by a test that makes every call in every role (` + "`make generate`" + `); do not edit. [permissions.md](../permissions.md) explains the
roles, the objects and the answers.

`

// Whoever asks for what belongs to others learns nothing, not even that it exists.
func TestWhatIsForeignIsAnsweredLikeWhatIsMissing(t *testing.T) {
	c := takeCensus(t)
	compared := 0
	for _, r := range c.routes() {
		paths := c.paths(t, r.Path)
		for _, role := range roles {
			foreign, nowhere := paths[ofB], paths[missing]
			if role == "administrator of B" {
				foreign = paths[ofA]
			}
			if foreign == "" || nowhere == "" || role == "superuser" {
				continue
			}
			compared++
			a, b := c.ask(t, role, r.Method, foreign), c.ask(t, role, r.Method, nowhere)
			for _, w := range []*httptest.ResponseRecorder{a, b} {
				w.Header().Del("X-Request-Id")
				w.Header().Del("RateLimit")
				w.Header().Del("X-RateLimit-Remaining")
				w.Header().Del("X-RateLimit-Reset")
			}
			if a.Code != b.Code || a.Body.String() != b.Body.String() || fmt.Sprint(a.Header()) != fmt.Sprint(b.Header()) {
				t.Errorf("%s %s as %s: %d %s %v, but of nothing %d %s %v", r.Method, foreign, role, a.Code, a.Body, a.Header(), b.Code, b.Body, b.Header())
			}
		}
	}
	if compared < 50 {
		t.Fatalf("only %d calls were compared", compared)
	}
}

// Methods that a path does not have tell nothing to those who may not call it.
func TestAWrongMethodIsRefusedAfterTheCaller(t *testing.T) {
	c := takeCensus(t)
	first := map[string]string{} // method of each path, whose rule holds for those that there are not
	for _, r := range c.routes() {
		if first[r.Path] == "" {
			first[r.Path] = r.Method
		}
		paths := c.paths(t, r.Path)
		what := ofNobody
		for _, there := range []string{existing, ofA, missing} {
			if what == ofNobody && paths[there] != "" {
				what = there
			}
		}
		for _, role := range roles {
			w := c.ask(t, role, http.MethodTrace, paths[what])
			want := may(t, first[r.Path], r.Path, role, ofNobody)
			if got := outcome(w); want == in && w.Code != http.StatusMethodNotAllowed || want != in && got != want {
				t.Errorf("TRACE %s as %s: %d %s, not %s", paths[what], role, w.Code, w.Body, want)
			}
		}
	}
}
