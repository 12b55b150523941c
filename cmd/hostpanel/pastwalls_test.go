package main

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
)

func TestNothingCanBeChangedInAViewOfThePast(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r, d := h.start(), h.demo()
	at := time.Now()
	eventually(t, "the moment is over", patience, func() bool { return time.Now().After(at) })
	view := h.serving("--as-of", at.Format(time.RFC3339Nano), "--listen", "127.0.0.1:0") // beside the panel
	bearer := []string{"Authorization", "Bearer " + view.signIn(d.Superuser).field(t, "access"), "Content-Type", asJSON}

	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	must(t, json.Unmarshal([]byte(view.ask(http.StatusOK, "GET", "/api/schema/", "").body), &document))
	signIns := []string{"login", "logout", "token_obtain", "token_refresh", "token_verify", "token_blacklist"}
	refused := 0
	for path, methods := range document.Paths {
		for method, one := range methods {
			if method == "get" || method == "parameters" || slices.Contains(signIns, one.OperationID) {
				continue
			}
			a := view.writes(strings.ToUpper(method), path, bearer)
			if a.status != http.StatusMethodNotAllowed || a.header.Get("X-Error-Code") != "view_of_the_past" || strings.Contains(a.header.Get("Allow"), strings.ToUpper(method)) {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("only %d calls change something", refused)
	}
	view.tellsThatItIsThePast(at, bearer)
	view.ask(http.StatusOK, "GET", "/audit/api/v1/streams/plan-1/events/", "", bearer...)
	if looks := r.ask(http.StatusOK, "GET", "/audit/api/v1/looks/", "", bearer...); !strings.Contains(looks.body, `"plan-1"`) {
		t.Errorf("who looked back is not recorded: %s", looks.body)
	}
	view.isForSuperusers(r, d)
	view.hasABanner(d)

	view.end(syscall.SIGKILL)
	r.stop()
	r = h.start() // which drops what the killed process has left
	r.stop()
	if left := schemas(t, h); len(left) > 0 {
		t.Error("there is still", left)
	}
}

var variable = regexp.MustCompile(`{\w+}`)

// writes makes a call with some value or other for the variables of its path.
func (r *running) writes(method, path string, bearer []string) (a answer) {
	r.t.Helper()
	const id = "0cd9962d-0ea3-46f9-9835-9fcf9bb47f2c"
	path = strings.NewReplacer("{kind}", "sites", "{uuid}", id).Replace(path)
	for _, value := range []string{"1", id, "ab12CD34", "test", "cs_test_BSb6ueh0CUm11fTZGR1iWCkq"} {
		var err error
		a, err = call(r.t.Context(), method, r.base+variable.ReplaceAllString(path, value), "{}", bearer...)
		must(r.t, err)
		if a.status != http.StatusNotFound {
			return a
		}
	}
	return a
}

func (r *running) tellsThatItIsThePast(at time.Time, bearer []string) {
	r.t.Helper()
	moment := at.UTC().Format(time.RFC3339Nano)
	a := r.ask(http.StatusOK, "GET", "/operations/api/v1/orders/", "", bearer...)
	if a.header.Get("X-As-Of") != moment {
		r.t.Error(a.header)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := r.ask(http.StatusOK, "GET", path, ""); a.body != fmt.Sprintf(`{"status":"ok","as_of":%q}`, moment) {
			r.t.Error(a.body)
		}
	}
	if figures := r.ask(http.StatusOK, "GET", "/metrics", "").body; !strings.Contains(figures, "\nhostpanel_as_of_seconds ") || strings.Contains(figures, "\nhostpanel_orders") {
		r.t.Error(figures)
	}
}

// isForSuperusers turns all others away, and says why.
func (r *running) isForSuperusers(live *running, d serve.Demo) {
	r.t.Helper()
	const only = "This is a view of the past: it is for superusers only."
	a := r.ask(http.StatusForbidden, "POST", "/api/token/", passwordLogin(d.TenantAdmin.Username, d.TenantAdmin.Password), "Content-Type", asJSON)
	b := r.ask(http.StatusForbidden, "GET", "/hosting/api/rest/sites/", "", "Authorization", "Bearer "+live.signIn(d.TenantAdmin).field(r.t, "access"))
	c := r.ask(http.StatusForbidden, "GET", "/storefront/api/plans/", "", "X-API-Key", d.APIKey)
	for _, refused := range []answer{a, b, c} {
		if !strings.Contains(refused.body, only) || refused.header.Get("X-Error-Code") != "view_of_the_past" {
			r.t.Error(refused.body)
		}
	}
	r.ask(http.StatusUnauthorized, "POST", "/api/token/", passwordLogin(d.TenantAdmin.Username, "wrong"), "Content-Type", asJSON)
	r.ask(http.StatusUnauthorized, "GET", "/hosting/api/rest/sites/", "")
}

// hasABanner signs in as a superuser at a browser, and looks at some pages.
func (r *running) hasABanner(d serve.Demo) {
	r.t.Helper()
	const banner = "You see the panel as of "
	page := r.ask(http.StatusOK, "GET", "/login/", "")
	if !strings.Contains(page.body, banner) {
		r.t.Error(page.body)
	}
	cookie := func(a answer) string { return "session=" + (&http.Response{Header: a.header}).Cookies()[0].Value }
	_, token, _ := strings.Cut(page.body, `name="form_token" value="`)
	token, _, _ = strings.Cut(token, `"`)
	enter := func(want int, who serve.Login) answer {
		sent := url.Values{"form": {"sign_in"}, "form_token": {token}, "username": {who.Username}, "password": {who.Password}}
		return r.ask(want, "POST", "/login/", sent.Encode(), "Content-Type", asForm, "Cookie", cookie(page), "Origin", r.base)
	}
	if told := enter(http.StatusForbidden, d.TenantAdmin); !strings.Contains(told.body, "it is for superusers only") {
		r.t.Error(told.body)
	}
	session := cookie(enter(http.StatusSeeOther, d.Superuser))
	for path, status := range map[string]int{"/storefront/": 200, "/storefront/orders/": 200, "/storefront/tenants/": 200, "/storefront/runs/": 200, "/account/": 200, "/storefront/nowhere/": 404} {
		if page := r.ask(status, "GET", path, "", "Cookie", session, "Accept", "text/html"); status == 200 && !strings.Contains(page.body, banner) && !strings.Contains(page.body, "Ve el panel tal como estaba") {
			r.t.Errorf("%s has no banner: %s", path, page.body)
		}
	}
	refused := r.ask(http.StatusMethodNotAllowed, "POST", "/account/", "form=profile", "Cookie", session, "Content-Type", asForm, "Origin", r.base)
	if !strings.Contains(refused.body, "nothing can be changed here") && !strings.Contains(refused.body, "no se puede cambiar nada") {
		r.t.Error(refused.body)
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
	h.env = append(h.env, "ISPCONFIG_URL=http://"+outside.Addr().String(), "SMTP_URL=smtp://"+outside.Addr().String())
	r := h.serving("--listen", "127.0.0.1:0")
	eventually(t, "the panel looks at what is outside", patience, func() bool { return came.Load() > 1 })
	paths := lists(t, r)
	r.stop()
	came.Store(0)

	view := h.serving("--as-of", time.Now().Format(time.RFC3339Nano), "--listen", "127.0.0.1:0")
	bearer := []string{"Authorization", "Bearer " + view.signIn(d.Superuser).field(t, "access"), "Content-Type", asJSON}
	view.shown(paths, bearer...)
	view.writes("POST", "/operations/api/v1/users/", bearer)
	view.ask(http.StatusForbidden, "GET", "/storefront/checkout/test/cs_test_BSb6ueh0CUm11fTZGR1iWCkq/", "")
	view.stop()
	if n := came.Load(); n > 0 {
		t.Errorf("the view has called outside %d times", n)
	}
}
