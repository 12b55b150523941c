//go:build system

package census_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// These calls ask for the password again. The ends of keys and accounts do not:
// they have to be quick.
var confirmedCalls = []string{
	"DELETE /api/me/second-factor/",
	"DELETE /operations/api/v1/users/{id:int}/",
	"DELETE /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"PATCH /operations/api/v1/api-keys/{id:[0-9A-Za-z]{8}}/",
	"PATCH /operations/api/v1/users/{id:int}/",
	"PATCH /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"POST /api/me/second-factor/",
	"POST /api/me/second-factor/enable/",
	"POST /api/me/second-factor/recovery-codes/",
	"POST /billing/api/v1/credit/{id:uuid}/pay_out/",
	"POST /billing/api/v1/payment-methods/",
	"POST /billing/api/v1/subscriptions/{id:uuid}/payment_method/",
	"POST /operations/api/v1/api-keys/",
	"POST /operations/api/v1/orders/{uuid:uuid}/refund/",
	"POST /operations/api/v1/users/",
	"POST /operations/api/v1/users/{id:int}/disable_second_factor/",
	"POST /operations/api/v1/users/{id:int}/memberships/",
	"POST /operations/api/v1/users/{id:int}/reset_link/",
	"PUT /operations/api/v1/users/{id:int}/",
}

func TestKeysRolesAndRefundsAskForThePasswordAgain(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	super, member := c.signedIn(t, paneltest.Root, false), c.signedIn(t, memberOfA, false)
	var asked []string
	for _, r := range c.routes() {
		if isPage(r.Path) || r.Access.Scheme == "" || r.Method == http.MethodGet {
			continue
		}
		for what, path := range c.paths(t, r.Path) {
			w := super.Script(r.Method, path, `"no object"`, "X-CSRF-Token", super.Csrf(), "If-Match", `"never"`)
			if w.Body.String() != paneltest.AskedAgain {
				continue
			}
			asked = append(asked, r.Method+" "+r.Path)
			if w.Code != http.StatusForbidden || w.Header().Get("X-Error-Code") != "reauthentication_required" {
				t.Errorf("%s: %d %v", path, w.Code, w.Header())
			}
			if byToken := c.ask(t, "superuser", r.Method, path); byToken.Body.String() == paneltest.AskedAgain {
				t.Errorf("%s %s (%s) asks a token for the password", r.Method, path, what)
			}
			if strings.HasPrefix(r.Path, "/api/me/") {
				continue // everybody's own
			}
			other := member.Script(r.Method, path, `"no object"`, "X-CSRF-Token", member.Csrf())
			paneltest.Answers(t, "no superuser: "+path, other, http.StatusForbidden,
				`{"detail":"You do not have permission to perform this action."}`)
		}
	}
	slices.Sort(asked)
	if asked = slices.Compact(asked); !slices.Equal(asked, confirmedCalls) {
		t.Errorf("the password is asked for again at\n%s\nand not at\n%s", strings.Join(asked, "\n"),
			strings.Join(confirmedCalls, "\n"))
	}
}
