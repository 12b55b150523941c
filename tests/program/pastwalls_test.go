//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/tests/processtest"
)

func TestNothingCanBeChangedInAViewOfThePast(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r, d := h.Start(), h.Demo()
	at := time.Now()
	processtest.Eventually(t, "the moment is over", func() bool { return time.Now().After(at) })
	view := h.Serving("--as-of", at.Format(time.RFC3339Nano), "--listen", "127.0.0.1:0") // beside the panel
	bearer := []string{
		"Authorization", "Bearer " + view.SignIn(d.Superuser).Field(t, "access"), "Content-Type",
		processtest.AsJSON,
	}

	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	must(t, json.Unmarshal([]byte(view.Ask(http.StatusOK, "GET", "/api/schema/", "").Body), &document))
	signIns := []string{"login", "logout", "token_obtain", "token_refresh", "token_verify", "token_blacklist"}
	refused := 0
	for path, methods := range document.Paths {
		for method, one := range methods {
			if method == "get" || method == "parameters" || slices.Contains(signIns, one.OperationID) {
				continue
			}
			a := writes(view, strings.ToUpper(method), path, bearer)
			if a.Status != http.StatusMethodNotAllowed || a.Header.Get("X-Error-Code") != "view_of_the_past" ||
				strings.Contains(a.Header.Get("Allow"), strings.ToUpper(method)) {
				t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
			}
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("only %d calls change something", refused)
	}
	tellsThatItIsThePast(view, at, bearer)
	view.Ask(http.StatusOK, "GET", "/audit/api/v1/streams/plan-1/events/", "", bearer...)
	if looks := r.Ask(http.StatusOK, "GET", "/audit/api/v1/looks/", "", bearer...); !strings.Contains(looks.Body,
		`"plan-1"`) {
		t.Errorf("who looked back is not recorded: %s", looks.Body)
	}
	isForSuperusers(view, r, d)
	hasABanner(view, d)

	view.End(syscall.SIGKILL)
	r.Stop()
	r = h.Start() // which drops what the killed process has left
	r.Stop()
	if left := schemas(t, h); len(left) > 0 {
		t.Error("there is still", left)
	}
}

var variable = regexp.MustCompile(`{\w+}`)

// writes makes a call with some value or other for the variables of its path.
func writes(r *processtest.Process, method, path string, bearer []string) (a processtest.Answer) {
	r.T.Helper()
	const id = "0cd9962d-0ea3-46f9-9835-9fcf9bb47f2c"
	path = strings.NewReplacer("{kind}", "sites", "{uuid}", id).Replace(path)
	for _, value := range []string{"1", id, "ab12CD34", "test", "cs_test_BSb6ueh0CUm11fTZGR1iWCkq"} {
		var err error
		a, err = processtest.Call(r.T.Context(), method, r.Base+variable.ReplaceAllString(path, value), "{}", bearer...)
		must(r.T, err)
		if a.Status != http.StatusNotFound {
			return a
		}
	}
	return a
}

func tellsThatItIsThePast(r *processtest.Process, at time.Time, bearer []string) {
	r.T.Helper()
	moment := at.UTC().Format(time.RFC3339Nano)
	a := r.Ask(http.StatusOK, "GET", "/operations/api/v1/orders/", "", bearer...)
	if a.Header.Get("X-As-Of") != moment {
		r.T.Error(a.Header)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := r.Ask(http.StatusOK, "GET", path, ""); a.Body != fmt.Sprintf(`{"status":"ok","as_of":%q}`, moment) {
			r.T.Error(a.Body)
		}
	}
	if figures := r.Ask(http.StatusOK, "GET", "/metrics", "").Body; !strings.Contains(figures,
		"\nhostpanel_as_of_seconds ") || strings.Contains(figures, "\nhostpanel_orders") {
		r.T.Error(figures)
	}
}

// isForSuperusers turns all others away, and says why.
func isForSuperusers(r *processtest.Process, live *processtest.Process, d serve.Demo) {
	r.T.Helper()
	const only = "This is a view of the past: it is for superusers only."
	a := r.Ask(http.StatusForbidden, "POST", "/api/token/", processtest.PasswordLogin(d.TenantAdmin.Username,
		d.TenantAdmin.Password), "Content-Type", processtest.AsJSON)
	b := r.Ask(http.StatusForbidden, "GET", "/hosting/api/rest/sites/", "", "Authorization",
		"Bearer "+live.SignIn(d.TenantAdmin).Field(r.T, "access"))
	c := r.Ask(http.StatusForbidden, "GET", "/storefront/api/plans/", "", "X-API-Key", d.APIKey)
	for _, refused := range []processtest.Answer{a, b, c} {
		if !strings.Contains(refused.Body, only) || refused.Header.Get("X-Error-Code") != "view_of_the_past" {
			r.T.Error(refused.Body)
		}
	}
	r.Ask(http.StatusUnauthorized, "POST", "/api/token/", processtest.PasswordLogin(d.TenantAdmin.Username, "wrong"),
		"Content-Type", processtest.AsJSON)
	r.Ask(http.StatusUnauthorized, "GET", "/hosting/api/rest/sites/", "")
}

// hasABanner signs in as a superuser at a browser, and looks at some pages.
func hasABanner(r *processtest.Process, d serve.Demo) {
	r.T.Helper()
	const banner = "You see the panel as of "
	page := r.Ask(http.StatusOK, "GET", "/login/", "")
	if !strings.Contains(page.Body, banner) {
		r.T.Error(page.Body)
	}
	cookie := func(a processtest.Answer) string {
		return "session=" + (&http.Response{Header: a.Header}).Cookies()[0].Value
	}
	_, token, _ := strings.Cut(page.Body, `name="form_token" value="`)
	token, _, _ = strings.Cut(token, `"`)
	enter := func(want int, who serve.Login) processtest.Answer {
		sent := url.Values{"form": {"sign_in"}, "form_token": {token}, "username": {who.Username}, "password": {who.Password}}
		return r.Ask(want, "POST", "/login/", sent.Encode(), "Content-Type", processtest.AsForm, "Cookie", cookie(page),
			"Origin", r.Base)
	}
	if told := enter(http.StatusForbidden, d.TenantAdmin); !strings.Contains(told.Body, "it is for superusers only") {
		r.T.Error(told.Body)
	}
	session := cookie(enter(http.StatusSeeOther, d.Superuser))
	for path, status := range map[string]int{
		"/storefront/": 200, "/storefront/orders/": 200, "/storefront/tenants/": 200,
		"/storefront/runs/": 200, "/account/": 200, "/storefront/nowhere/": 404,
	} {
		if page := r.Ask(status, "GET", path, "", "Cookie", session, "Accept", "text/html"); status == 200 &&
			!strings.Contains(page.Body, banner) && !strings.Contains(page.Body, "Ve el panel tal como estaba") {
			r.T.Errorf("%s has no banner: %s", path, page.Body)
		}
	}
	refused := r.Ask(http.StatusMethodNotAllowed, "POST", "/account/", "form=profile", "Cookie", session, "Content-Type",
		processtest.AsForm, "Origin", r.Base)
	if !strings.Contains(refused.Body, "nothing can be changed here") &&
		!strings.Contains(refused.Body, "no se puede cambiar nada") {
		r.T.Error(refused.Body)
	}
}

// What the settings name outside counts who comes. The panel of today looks at it when it
// starts; a view of the past never does.
func TestAViewOfThePastReachesNothingOutside(t *testing.T) {
	t.Parallel()
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = outside.Close() }()
	var came atomic.Int64
	go func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_ = conn.Close()
		}
	}()
	h, d, _ := onISPConfig(t)
	h.Env = append(h.Env, "ISPCONFIG_URL=http://"+outside.Addr().String(), "SMTP_URL=smtp://"+outside.Addr().String())
	r := h.Serving("--listen", "127.0.0.1:0")
	processtest.Eventually(t, "the panel looks at what is outside", func() bool { return came.Load() > 1 })
	paths := lists(t, r)
	r.Stop()
	came.Store(0)

	view := h.Serving("--as-of", time.Now().Format(time.RFC3339Nano), "--listen", "127.0.0.1:0")
	bearer := []string{
		"Authorization", "Bearer " + view.SignIn(d.Superuser).Field(t, "access"), "Content-Type",
		processtest.AsJSON,
	}
	shown(view, paths, bearer...)
	writes(view, "POST", "/operations/api/v1/users/", bearer)
	view.Ask(http.StatusForbidden, "GET", "/storefront/checkout/test/cs_test_BSb6ueh0CUm11fTZGR1iWCkq/", "")
	view.Stop()
	if n := came.Load(); n > 0 {
		t.Errorf("the view has called outside %d times", n)
	}
}
