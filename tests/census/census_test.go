//go:build system

package census_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// An object is a target of calls: the values for the variables of a path.
type object struct {
	path   string // prefix of the paths that name it; the longest prefix counts
	values map[string]string
}

func objects(t *testing.T, s *paneltest.Shop) []object {
	const none = "999999"
	placed := func(key string) string {
		return paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder, "X-API-Key", s.Known[key])).ID
	}
	_, colors := web.ColorsOf(*paneltest.Look)
	_, sheet := web.SheetOf(*paneltest.Look)
	s.Seal(t)
	for tenant, job := range jobOf {
		if _, err := s.Owner.Exec(t.Context(),
			`insert into evidence_packs (operation, tenant, file) values ($1, $2, 'a .zip')`, job, tenant); err != nil {
			t.Fatal(err)
		}
	}
	nowhere := "00000000-0000-4000-8000-000000000000"
	billA, noteA := s.Billed(t, tenantA)
	billB, noteB := s.Billed(t, tenantB)
	s.Machined(t, 990+tenantA, tenantA, billA)
	s.Machined(t, 990+tenantB, tenantB, billB)
	creditA, bookedA := s.Credited(t, tenantA)
	creditB, bookedB := s.Credited(t, tenantB)
	cardA, cardB := s.KeepsCard(t, tenantA, uuid.New(), billA), s.KeepsCard(t, tenantB, uuid.New(), billB)
	s.Documented(t)
	var run string
	if err := s.Owner.QueryRow(t.Context(), `select id::text from saga_run order by key limit 1`).Scan(&run); err != nil {
		t.Fatal(err)
	}
	return []object{
		{
			"/operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
			map[string]string{ofA: "31 21", ofB: "33 22", missing: "31 22", deformed: "31 x"},
		},
		{"/operations/api/v1/users/", map[string]string{ofA: "31", ofB: "33", missing: none, deformed: "x"}},
		{"/hosting/api/rest/tenants/", map[string]string{ofA: "21", ofB: "22", missing: none, deformed: "x"}},
		{"/hosting/api/rest/operations/", map[string]string{
			ofA: jobOf[tenantA].String(), ofB: jobOf[tenantB].String(),
			missing: nowhere, deformed: "x",
		}},
		{"/hosting/api/rest/nodes/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/hosting/api/rest/address-pools/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/hosting/api/rest/packages/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/hosting/api/rest/whitelabel/", map[string]string{ofA: "1", ofB: "2", missing: none, deformed: "x"}},
		{"/hosting/api/rest/webhook-endpoints/", map[string]string{
			ofA: "1 " + deliveryOf[tenantA].String(), ofB: "2 " + deliveryOf[tenantB].String(), missing: none + " " + nowhere,
			deformed: "x x",
		}},
		{"/hosting/api/rest/vms/", map[string]string{ofA: "1011", ofB: "1012", missing: none, deformed: "x"}},
		{"/hosting/api/rest/vm-snapshots/", map[string]string{ofA: "1011", ofB: "1012", missing: none, deformed: "x"}},
		{"/hosting/api/rest/", map[string]string{ofA: "1", ofB: "2", missing: none, deformed: "x"}},
		{"/storefront/widget/", map[string]string{existing: web.Widget.Name, missing: "1-00000000.js", deformed: "x.js"}},
		{"/panel/novnc/", map[string]string{existing: "core/rfb.js", missing: "core/none.js", deformed: "~"}},
		{"/panel/whitelabel/", map[string]string{existing: "1 " + sheet, missing: none + " " + sheet, deformed: "1 x"}},
		{
			"/panel/whitelabel/{id:int}/colors/",
			map[string]string{existing: "1 " + colors, missing: none + " " + colors, deformed: "1 x"},
		},
		{"/panel/tenants/", map[string]string{ofA: "21", ofB: "22", missing: none, deformed: "x"}},
		{"/panel/{kind:", map[string]string{existing: "mail-domains", deformed: "nothing"}},
		{onePanelPage(), map[string]string{
			ofA: "mail-domains 1", ofB: "mail-domains 2", missing: "mail-domains " + none,
			deformed: "mail-domains x",
		}},
		{"/billing/services/", map[string]string{ofA: billA.String(), ofB: billB.String(), missing: nowhere, deformed: "x"}},
		{"/billing/api/v1/services/", map[string]string{
			ofA: billA.String(), ofB: billB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/subscriptions/", map[string]string{
			ofA: billA.String(), ofB: billB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/invoices/", map[string]string{ofA: billA.String(), ofB: billB.String(), missing: nowhere, deformed: "x"}},
		{"/billing/payment-methods/", map[string]string{
			ofA: cardA.String(), ofB: cardB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/credit/", map[string]string{ofA: creditA, ofB: creditB, missing: nowhere, deformed: "x"}},
		{"/billing/api/v1/credit/", map[string]string{ofA: creditA, ofB: creditB, missing: nowhere, deformed: "x"}},
		{"/billing/api/v1/credit-movements/", map[string]string{ofA: bookedA, ofB: bookedB, missing: nowhere, deformed: "x"}},
		{"/billing/api/v1/payment-methods/", map[string]string{
			ofA: cardA.String(), ofB: cardB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/api/v1/orders/", map[string]string{
			ofA: billA.String(), ofB: billB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/api/v1/subscriptions/", map[string]string{
			ofA: billA.String(), ofB: billB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/api/v1/invoices/", map[string]string{
			ofA: billA.String(), ofB: billB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/billing/api/v1/credit-notes/", map[string]string{
			ofA: noteA.String(), ofB: noteB.String(), missing: nowhere,
			deformed: "x",
		}},
		{"/audit/log/tile/", map[string]string{existing: "0/000.p/1", missing: "0/x009/999", deformed: "y"}},
		{"/audit/log/tile/entries/", map[string]string{existing: "000.p/1", missing: "x009/999", deformed: "y"}},
		{"/audit/api/v1/events/", map[string]string{
			ofA: s.Position(t, "site-1"), ofB: s.Position(t, "site-2"), missing: none,
			deformed: "x",
		}},
		{"/audit/api/v1/packs/", map[string]string{
			ofA: jobOf[tenantA].String(), ofB: jobOf[tenantB].String(),
			missing: nowhere, deformed: "x",
		}},
		{"/audit/api/v1/streams/", map[string]string{ofA: "site-1", ofB: "site-2", missing: "site-" + none, deformed: "x"}},
		{"/operations/api/v1/plans/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/operations/api/v1/widgets/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/operations/api/v1/api-keys/", map[string]string{existing: "OpenKey1", missing: "Nobody99", deformed: "!"}},
		{"/operations/api/v1/orders/", map[string]string{existing: placed("sister"), missing: nowhere, deformed: "x"}},
		{"/operations/api/v1/sagas/", map[string]string{existing: run, missing: nowhere, deformed: "x"}},
		{"/operations/api/v1/mail-previews/", map[string]string{existing: "invoice_created", missing: "birthday"}},
		{"/operations/api/v1/projections/", map[string]string{existing: "widgets", missing: "nothing"}},
		{"/operations/api/v1/incidents/", map[string]string{
			existing: paneltest.Lonely.ID().String(), missing: nowhere,
			deformed: "x",
		}},
		{"/operations/api/v1/webhook-inbox/", map[string]string{missing: none, deformed: "x"}},
		{"/storefront/api/widget/", map[string]string{
			existing: "allplansallplans", missing: "nobodyhasmadethi",
			deformed: "x",
		}},
		{"/storefront/preview/", map[string]string{existing: "allplansallplans", missing: "nobodyhasmadethi", deformed: "x"}},
		{"/storefront/api/orders/", map[string]string{
			ofA: placed("key"), ofB: placed("stranger"), missing: nowhere,
			deformed: "x",
		}},
		{"/api/me/sessions/", map[string]string{missing: nowhere, deformed: "x"}},
		{"/notifications/api/v1/", map[string]string{ofB: noticeOfB.String(), missing: nowhere, deformed: "x"}},
		{"/notifications/unsubscribe/", map[string]string{
			existing: s.Unsubscribe(stranger), missing: s.Unsubscribe(999999),
			deformed: "x",
		}},
		{"/storefront/webhooks/", map[string]string{existing: "test", deformed: "x"}},
		{"/storefront/join/", map[string]string{missing: s.Joining(stranger, uuid.Nil), deformed: "x"}},
		{"/storefront/return/", map[string]string{missing: nowhere, deformed: "x"}},
		{"/storefront/plans/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/storefront/widgets/", map[string]string{existing: "1", missing: none, deformed: "x"}},
		{"/storefront/orders/", map[string]string{existing: placed("sister"), missing: nowhere, deformed: "x"}},
		{"/storefront/inbox/", map[string]string{missing: none, deformed: "x"}},
		{"/storefront/mails/", map[string]string{existing: "invoice_created", missing: "birthday"}},
		{"/storefront/tenants/", map[string]string{existing: "21", missing: none, deformed: "x"}},
		{"/storefront/users/", map[string]string{existing: "31", missing: none, deformed: "x"}},
		{"/storefront/runs/", map[string]string{existing: run, missing: nowhere, deformed: "x"}},
		{"/storefront/incidents/", map[string]string{
			existing: paneltest.Lonely.ID().String(), missing: nowhere,
			deformed: "x",
		}},
		{"/storefront/checkout/", map[string]string{missing: "cs_test_" + strings.Repeat("x", 24), deformed: "x"}},
	}
}

// onePanelPage is the path of the page of a record, as its route has it.
func onePanelPage() string {
	var names []string
	for _, kind := range hosting.Kinds {
		if kind.HasPages() {
			names = append(names, kind.Collection)
		}
	}
	return "/panel/{kind:" + strings.Join(append(names, "webhook-endpoints", "sub-tenants"), "|") + "}/{id:int}/"
}

// jobOf holds an operation of each tenant.
var jobOf = map[int64]uuid.UUID{
	tenantA: uuid.MustParse("a0000000-0000-4000-8000-000000000001"),
	tenantB: uuid.MustParse("b0000000-0000-4000-8000-000000000001"),
}

// deliveryOf holds a webhook delivery of each tenant.
var deliveryOf = map[int64]uuid.UUID{
	tenantA: uuid.MustParse("a0000000-0000-4000-8000-000000000002"),
	tenantB: uuid.MustParse("b0000000-0000-4000-8000-000000000002"),
}

// noticeOfB is a notification of the administrator of B.
var noticeOfB = uuid.MustParse("c0000000-0000-4000-8000-000000000001")

// A census makes every call of the API, in every role, on every object.
type census struct {
	*paneltest.Shop
	credentials map[string][]string // headers by role
	users       map[string]int64    // the user with the role; 0: none
	all         []object
}

func takeCensus(t *testing.T, options ...func(*paneltest.Shop)) *census {
	s := paneltest.Open(t, options...).Stock(t)
	for id, email := range map[int64]string{
		paneltest.Root: "root@example.com", memberOfA: "ma@example.com",
		adminOfA: "aa@example.com", adminOfB: "ab@example.com", stranger: "none@example.com",
	} {
		s.Person(t, id, email, id == paneltest.Root)
	}
	s.Tenant(t, tenantA, "A")
	s.Tenant(t, tenantB, "B")
	s.Do(t, account.GrantMembership{User: memberOfA, Tenant: tenantA, Role: account.Member, At: time.Now()})
	s.Do(t, account.GrantMembership{User: adminOfA, Tenant: tenantA, Role: account.Admin, At: time.Now()})
	s.Do(t, account.GrantMembership{User: adminOfB, Tenant: tenantB, Role: account.Admin, At: time.Now()})
	s.Do(t, hosting.Request{
		Ref:  hosting.Ref{Kind: "package", ID: 1},
		Spec: (&hosting.Package{Name: "Basic", Slug: "basic"}).Fields().Values(),
	})
	s.Do(t, paneltest.Node(1, "alpha"), paneltest.AddressPool(1, "blue", "192.0.2.0/24"))
	s.OneOfEach(t, 1, tenantA)
	s.OneOfEach(t, 2, tenantB)
	for i, of := range []int64{tenantA, tenantB} {
		s.Do(t, hosting.QueueOperation{
			ID: jobOf[of], Kind: hosting.TenantSync, Tenant: of,
			About: hosting.Ref{Kind: "tenant", ID: of}, Sync: &hosting.Sync{},
		})
		s.Do(t, paneltest.Endpoint(int64(i+1), of), paneltest.Delivery(deliveryOf[of], int64(i+1), of, "site.created"))
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "whitelabel", ID: int64(i + 1)}, Tenant: of,
			Spec: paneltest.Look.Fields().Values(),
		})
	}
	s.Do(t, paneltest.Lonely.Report(time.Now()))
	s.Do(t, notice.Raise{
		ID: noticeOfB, InApp: true, User: adminOfB,
		Text: notice.Text{Type: notice.Info, Title: "News", URL: "/"}, At: time.Now(),
	})
	c := &census{Shop: s, all: objects(t, s), credentials: map[string][]string{
		"not signed in": nil, "storefront key": {"X-API-Key", s.Known["key"]},
	}, users: map[string]int64{
		"no tenant": stranger, "member of A": memberOfA, "administrator of A": adminOfA, "administrator of B": adminOfB,
		"superuser": paneltest.Root,
	}}
	for role, user := range c.users {
		c.credentials[role] = paneltest.Bearer(s.Token(t, user, nil))
	}
	b := c.signedIn(t, paneltest.Root, true)
	c.credentials["superuser in a browser"] = []string{
		"Cookie", "__Host-session=" + b.SessionID(), "X-CSRF-Token",
		b.Csrf(),
	}
	return c
}

// ask makes a call that changes nothing even where it is allowed. It names a
// version that does not exist, or sends an empty form: both are refused after
// the check of rights.
func (c *census) ask(t *testing.T, role, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	if isPage(path) {
		return c.visit(t, role, method, path)
	}
	headers, body := c.credentials[role], ""
	if method != http.MethodGet {
		headers, body = append([]string{"If-Match", `"never"`, "Content-Type", "application/json"}, headers...), `"no object"`
	}
	return c.Call(method, path, body, headers...)
}

// emptyForms are forms that are refused when sent without values.
var emptyForms = map[string]string{
	"/login/": "sign_in", "/logout/": "sign_out", "/password-reset/": "reset", "/account/": "password",
	"/account/second-factor/": "factor_begin",
	"/account/notifications/": "notice_read", "/account/preferences/": "preferences", "/account/sessions/": "session_end",
	"/storefront/keys/": "create", "/storefront/plans/new/": "create_plan", "/storefront/widgets/new/": "create_widget",
	"/storefront/integration/": "create",
	"/storefront/read-tables/": "rebuild", "/billing/orders/": "order_service", "/billing/payment-methods/": "add_method",
}

// visit makes a call with a browser, in a new session.
func (c *census) visit(t *testing.T, role, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	b := c.Browser(t)
	if user := c.users[role]; user != 0 {
		id, err := c.Vault().OpenSession(t.Context(), user, 1)
		if err != nil {
			t.Fatal(err)
		}
		b.Cookies["__Host-session"] = id
		b.Get("/account/")
	} else {
		b.Get("/login/")
	}
	form := emptyForms[path]
	for begin, name := range map[string]string{
		"/storefront/orders/": "cancel", "/storefront/incidents/": "settle",
		"/storefront/runs/": "pause", "/storefront/inbox/": "replay", "/storefront/tenants/": "suspend_tenant",
		"/storefront/users/": "disable_factor", "/storefront/plans/": "change_plan", "/storefront/widgets/": "change_widget",
		"/billing/invoices/": "pay_invoice", "/billing/subscriptions/": "cancel_subscription",
		"/billing/payment-methods/": "remove_payment_method", "/billing/credit/": "pay_out_credit",
	} {
		if emptyForms[path] == "" && strings.HasPrefix(path, begin) {
			form = name
		}
	}
	if strings.HasPrefix(path, "/billing/subscriptions/") && strings.HasSuffix(path, "/change/") {
		form = "change_subscription"
	}
	if strings.HasPrefix(path, "/panel/") {
		form = panelForm(path)
	}
	sent := url.Values{"form": {form}, "action": {"pay"}}
	for _, hidden := range paneltest.Elements(b.Page, "input") {
		if paneltest.Attribute(hidden, "name") == "form_token" {
			sent.Set("form_token", paneltest.Attribute(hidden, "value"))
		}
	}
	if method == http.MethodGet {
		sent = nil
	}
	return b.Do(method, path, sent.Encode(), c.credentials[role]...)
}

// panelForm is a form of a page that changes nothing when it is sent without values: a
// mail domain with mailboxes is not removed.
func panelForm(path string) string {
	switch {
	case strings.HasSuffix(path, "/new/"):
		return "panel_create"
	case strings.HasSuffix(path, "/edit/"):
		return "panel_change"
	case path == "/panel/tenants/":
		return "panel_tenant"
	}
	return "panel_remove"
}

// isPage tells whether a path is an HTML page.
func isPage(path string) bool {
	among := func(begins ...string) bool {
		return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(path, begin) })
	}
	if among("/storefront/") {
		return !among("/storefront/api/", "/storefront/webhooks/", "/storefront/widget.js", "/storefront/widget/")
	}
	if strings.HasSuffix(path, ".css") || strings.HasSuffix(path, ".js") {
		return false
	}
	return path == "/" || among("/panel/", "/billing/invoices/", "/billing/payment-methods/", "/billing/orders/",
		"/billing/credit/", "/billing/services/", "/billing/subscriptions/", "/login/", "/logout/", "/password-reset/",
		"/account/", "/set-password/", "/notifications/unsubscribe/")
}

// outcome classifies an answer: allowed, or how it was refused.
func outcome(w *httptest.ResponseRecorder) string {
	switch {
	case w.Code == http.StatusUnauthorized && strings.Contains(w.Header().Get("WWW-Authenticate"), "realm="):
		return unknown
	case w.Code == http.StatusForbidden:
		return forbidden
	case w.Code == http.StatusNotFound:
		return absent
	case w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/login/?next="):
		return toLogin
	case w.Code >= http.StatusInternalServerError:
		return w.Result().Status
	}
	return in
}

// of finds the entry with the longest prefix of a path.
func of[T any](path string, all []T, begin func(T) string) (T, bool) {
	var found T
	for _, one := range all {
		isIt := strings.HasPrefix(path, begin(one)) && (begin(one) != "/" || path == "/")
		if isIt && len(begin(one)) > len(begin(found)) {
			found = one
		}
	}
	return found, begin(found) != ""
}

// paths returns the concrete paths of a route, by the object that they name.
func (c *census) paths(t *testing.T, path string) map[string]string {
	if !paneltest.Variable.MatchString(path) {
		return map[string]string{ofNobody: path}
	}
	named, known := of(path, c.all, func(o object) string { return o.path })
	if !known {
		t.Fatalf("say what may stand in %s", path)
	}
	filled := map[string]string{}
	for what, values := range named.values {
		next := strings.Fields(values)
		filled[what] = paneltest.Variable.ReplaceAllStringFunc(path, func(string) string {
			value := next[0]
			next = next[1:]
			return value
		})
	}
	return filled
}
