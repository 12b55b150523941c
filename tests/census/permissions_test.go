//go:build system

package census_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hostpanel/http/route"
	"hostpanel/paneltest"
)

// Two tenants, and users in every role. Each member belongs to one of the
// tenants only.
const (
	tenantA, tenantB    = 21, 22
	memberOfA, adminOfA = 31, 32
	adminOfB, stranger  = 33, 34
)

// The roles, in the order of the columns of docs/generated/permissions.md.
var roles = []string{
	"not signed in", "no tenant", "member of A", "administrator of A", "administrator of B",
	"superuser", "storefront key",
}

// The owner of the object that a call names.
const (
	ofNobody = "" // the call names none
	ofA      = "of A"
	ofB      = "of B"
	existing = "existing" // an object that belongs to no tenant
	missing  = "missing"
	deformed = "malformed"
)

// The outcome of a call: allowed, or the way it was refused.
const (
	in        = "yes"
	unknown   = "401"
	forbidden = "403"
	absent    = "404"
	toLogin   = "login"
)

// A right gives the outcome of calls to paths with a prefix.
type right struct {
	path  string
	may   func(role, object string) string
	write func(role, object string) string // nil: as read
	patch func(role, object string) string // nil: as write
	// door is who reaches the path at all, if what they own decides further; nil: who may
	// write.
	door func(role, object string) string
}

// rights repeats docs/security.md, "Who may do what", by prefix of the path; the
// longest prefix counts. The routes' own declarations are not used, so that the
// test is independent of them.
var rights = []right{
	{path: "/", may: everybody},
	{path: "/login/", may: everybody},
	{path: "/logout/", may: everybody},
	{path: "/password-reset/", may: everybody},
	{path: "/account/", may: visitors},
	{path: "/storefront/", may: operatorsInABrowser},
	{path: "/api/me/", may: signedIn},
	{path: "/api/me/confirm/", may: sessionsOnly},
	{path: "/api/me/second-factor/", may: signedIn, write: sessionsOnly},
	{path: "/api/token/", may: everybody},
	{path: "/api/password-reset/", may: everybody},
	{path: "/api/schema/", may: everybody},
	{path: "/audit/api/v1/", may: administrators},
	{path: "/audit/log/", may: operatorsOnly},
	{path: "/billing/api/v1/", may: members, write: administrators},
	{path: "/billing/api/v1/services/{id:uuid}/vm/console/", may: members, write: membersWriting},
	{path: "/billing/api/v1/services/{id:uuid}/vm/console/ws/", may: holdersOfTickets},
	{path: "/billing/api/v1/invoices/{id:uuid}/mark_paid/", may: superusers},
	{path: "/billing/api/v1/credit/{id:uuid}/pay_out/", may: superusers},
	{path: "/billing/api/v1/credit-movements/", may: members, write: superusers},
	{path: "/billing/api/v1/credit-movements/{id:uuid}/reverse/", may: superusers},
	{path: "/billing/api/v1/totals/", may: superusers},
	{path: "/billing/api/v1/books/", may: superusers},
	{path: "/billing/api/v1/invoices/{id:uuid}/waive/", may: superusers},
	{path: "/billing/invoices/", may: visitors},
	{path: "/billing/invoices/{id:uuid}/", may: membersInABrowser, write: administratorsInABrowser},
	{path: "/billing/orders/", may: visitors, write: administratorsInABrowser},
	{path: "/billing/services/", may: visitors},
	{path: "/billing/services/{id:uuid}/", may: membersInABrowser},
	{path: "/billing/services/{id:uuid}/console/", may: membersWritingInABrowser},
	{path: "/billing/credit/", may: visitors},
	{path: "/billing/credit/{id:uuid}/", may: membersInABrowser, write: administratorsInABrowser},
	{path: "/billing/subscriptions/", may: visitors},
	{path: "/billing/subscriptions/{id:uuid}/", may: membersInABrowser, write: administratorsInABrowser},
	{path: "/billing/payment-methods/", may: visitors, write: administratorsInABrowser},
	{path: "/billing/payment-methods/{id:uuid}/", may: membersInABrowser, write: administratorsInABrowser},
	{path: "/billing/subscriptions/{id:uuid}/change/", may: administratorsInABrowser},
	{path: "/hosting/api/rest/", may: members, write: membersWriting},
	{path: "/hosting/api/rest/tenants/", may: ownTenants, write: superusers, patch: administrators, door: administrators},
	// resellers make sub-tenants
	{path: "/hosting/api/rest/tenants/{id:int}/activate/", may: ownTenants},
	{path: "/hosting/api/rest/tenants/{id:int}/stats/", may: ownTenants},
	{path: "/hosting/api/rest/tenants/{id:int}/sync/", may: administrators},
	{path: "/hosting/api/rest/tenants/{id:int}/export/", may: administrators},
	{path: "/hosting/api/rest/sites/{id:int}/restore/", may: superusers},
	{path: "/hosting/api/rest/tenants/", may: ownTenants},
	{path: "/hosting/api/rest/vms/{id:int}/root_password/", may: administrators},
	{path: "/hosting/api/rest/nodes/", may: superusers},
	{path: "/hosting/api/rest/address-pools/", may: superusers},
	{path: "/hosting/api/rest/packages/", may: signedIn, write: superusers},
	{path: "/hosting/api/rest/whitelabel/", may: administrators},
	{path: "/hosting/api/rest/webhook-endpoints/", may: administrators},
	{path: "/notifications/api/v1/", may: recipients},
	{path: "/notifications/unsubscribe/", may: everybody},
	{path: "/operations/api/v1/", may: superusers},
	{path: "/storefront/integration/", may: visitors, write: operatorsInABrowser},
	{path: "/storefront/preview/", may: signedIn},
	{path: "/storefront/api/", may: holdersOfKeys},
	{path: "/storefront/webhooks/", may: everybody},
	{path: "/storefront/return/", may: everybody},
	{path: "/storefront/join/", may: everybody},
	{path: "/storefront/widget.js", may: everybody},
	{path: "/storefront/widget/", may: everybody},
	{path: "/storefront/checkout/", may: everybody},
	{path: "/set-password/", may: everybody},
	{path: "/panel/", may: visitors},
	{path: "/panel/style.css", may: everybody},
	{path: "/panel/copy.js", may: everybody},
	{path: "/panel/live.js", may: everybody},
	{path: "/panel/console.js", may: everybody},
	{path: "/panel/novnc/", may: everybody},
	{path: "/panel/whitelabel/", may: everybody},
	{path: "/panel/tenants/{id:int}/export/", may: exportersInABrowser, door: visitors},
	{path: "/panel/{kind:", may: visitors},
	{path: onePanelPage(), may: membersInABrowser, write: membersWritingInABrowser},
	{path: onePanelPage() + "edit/", may: membersWritingInABrowser},
	{path: "/healthz", may: everybody},
	{path: "/readyz", may: everybody},
	{path: "/metrics", may: operatorsOnly},
}

func may(t *testing.T, method, path, role, what string) string {
	rule, known := of(path, rights, func(r right) string { return r.path })
	switch {
	case !known:
		t.Fatalf("say who may call %s", path)
	case what == deformed:
		return absent // a malformed path matches no route in any role
	case rule.patch != nil && method == http.MethodPatch:
		return rule.patch(role, what)
	case rule.write != nil && method != http.MethodGet:
		return rule.write(role, what)
	}
	return rule.may(role, what)
}

func TestEverybodyMayDoWhatIsTheirsAndNothingElse(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	var table strings.Builder
	for _, r := range c.routes() {
		paths := c.paths(t, r.Path)
		for _, what := range []string{ofNobody, existing, ofA, ofB, missing, deformed} {
			path, named := paths[what]
			if !named {
				continue
			}
			fmt.Fprintf(&table, "| %s | `%s` | %s |", r.Method,
				paneltest.Variable.ReplaceAllStringFunc(r.Path, paneltest.PlainVariable), what)
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
	paneltest.Current(t, "../../docs/generated/permissions.md",
		permissionsHead+"| call | path | object | "+strings.Join(roles, " | ")+" |\n|---|---|---|"+strings.Repeat("---|",
			len(roles))+"\n"+table.String())
}

// routes returns all routes in the order of their paths.
func (c *census) routes() []route.Route {
	all := c.Server.Routes()
	slices.SortStableFunc(all, func(a, b route.Route) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

const permissionsHead = `# Who may call what

Generated by a test that makes every call in every role (` + "`make generate`" +
	`); do not edit. [permissions.md](../permissions.md) explains the
roles, the objects and the answers.

`

// A call for another tenant's object is answered like one for a missing object.
func TestWhatIsForeignIsAnsweredLikeWhatIsMissing(t *testing.T) {
	t.Parallel()
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
				if outcome(w) == toLogin {
					w.Header().Del("Location") // has the path
				}
				w.Header().Del("RateLimit")
				w.Header().Del("X-RateLimit-Remaining")
				w.Header().Del("X-RateLimit-Reset")
			}
			if a.Code != b.Code || withoutTokens(a) != withoutTokens(b) || fmt.Sprint(a.Header()) != fmt.Sprint(b.Header()) {
				t.Errorf("%s %s as %s: %d %s %v, but of nothing %d %s %v", r.Method, foreign, role, a.Code, a.Body, a.Header(),
					b.Code, b.Body, b.Header())
			}
		}
	}
	if compared < 50 {
		t.Fatalf("only %d calls were compared", compared)
	}
}

var formTokens = regexp.MustCompile(`(csrf-token" content|form_token" value|form_by" value)="[^"]*"`)

// withoutTokens is a page without what binds its forms to a session.
func withoutTokens(w *httptest.ResponseRecorder) string {
	return formTokens.ReplaceAllString(w.Body.String(), "")
}

// A method that the path lacks gets 405 only if the caller may call the path.
func TestAWrongMethodIsRefusedAfterTheCaller(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	ruling := map[string][]string{} // methods whose rules also cover the methods that the path lacks: all writes, or the first
	for _, r := range c.routes() {
		if r.Method != http.MethodGet {
			ruling[r.Path] = append(ruling[r.Path], r.Method)
		}
	}
	for _, r := range c.routes() {
		if ruling[r.Path] == nil {
			ruling[r.Path] = []string{r.Method}
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
			want := may(t, ruling[r.Path][0], r.Path, role, ofNobody)
			if rule, _ := of(r.Path, rights, func(r right) string { return r.path }); rule.door != nil {
				want = rule.door(role, ofNobody)
			}
			for _, method := range ruling[r.Path] {
				if may(t, method, r.Path, role, ofNobody) == in {
					want = in
				}
			}
			if got := outcome(w); want == in && w.Code != http.StatusMethodNotAllowed || want != in && got != want {
				t.Errorf("TRACE %s as %s: %d %s, not %s", paths[what], role, w.Code, w.Body, want)
			}
		}
	}
}
