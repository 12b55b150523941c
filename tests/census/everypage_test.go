//go:build pages

package census_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
	"hostpanel/domain/webhook"
	"hostpanel/http/browsertest"
	"hostpanel/http/demo"
	"hostpanel/paneltest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// `make screenshots` and `make pages` look at every page of the route table, in every
// width and both schemes, filled and empty. They take many minutes, so `.ci/run` leaves
// them out.

// notShown are the pages that nothing is seen of, and why.
var notShown = map[string]string{
	"/":              "leads on to another page",
	"/demo/sign-in/": "leads on to another page",
}

// A gallery is a panel whose pages are looked at.
type gallery struct {
	*census
	name  string
	paths map[string][]string // of routes whose paths have variables
}

// filled is a panel with an order that runs, one that is stuck and one that is unpaid,
// with incidents, and with tenants that have one resource of each kind.
func filled(t *testing.T) *gallery {
	c := takeCensus(t, paneltest.WithDemo)
	if _, err := c.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['user_id', 'plan_id', 'widget_id', `+
		`'tenant_id', 'site_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	subTenant := c.hasSubTenant(t, tenantA)
	service := uuid.NewSHA1(uuid.NameSpaceOID, []byte{tenantA})
	open := c.Owes(t, tenantA, service)
	changing := "/billing/subscriptions/" + c.Running(t, tenantA).String() + "/change/"
	c.Server.Demo.Key = c.Known["key"]
	c.Start(t).AtWork(t)
	back := demo.ShopURL(c.Public)
	form := &storefront.Widget{
		Name: "Shop", Plans: []int64{1, 2, 3}, ShowHosting: true, ShowVPS: true, ShowFeatures: true, IsActive: true,
		Theme: "auto", Layout: "cards",
		PrimaryColor: "#3F37C9", AccentColor: "#14632F", BorderRadius: 12, CTAText: "Order", Language: "en", SuccessURL: back,
		CancelURL: back,
	}
	c.Do(t, storefront.MakeWidget{Widget: 50, WidgetID: paneltest.WidgetOne, Spec: form.Fields().Values(), At: time.Now()})
	unpaid := paneltest.Read(t, c.Order(t, http.StatusCreated, paneltest.HostingOrder))
	c.Until(t, "there is a mail", func() bool { return len(letters(t, c.Letters)) > 0 })
	return &gallery{c, "filled", withKinds(true, map[string][]string{
		"/storefront/orders/{uuid}/": {
			"/storefront/orders/" + c.Known["failed"] + "/",
			"/storefront/orders/" + c.Known["running"] + "/",
		},
		"/storefront/return/{order_id}/": {"/storefront/return/" + unpaid.ID + "/"},
		paneltest.Variable.ReplaceAllStringFunc(c.Server.HostedCheckout.PagePath(),
			paneltest.PlainVariable): {paneltest.PathOf(unpaid.URL)},
		"/billing/invoices/{id}/": {
			"/billing/invoices/" + service.String() + "/",
			"/billing/invoices/" + open.String() + "/",
		},
		"/billing/subscriptions/{id}/change/": {changing, changing + "?plan=1&billing_period=yearly"},
		"/set-password/":                      {"/set-password/?token=" + c.Link(t, memberOfA)},
		"/storefront/inbox/{id}/":             {"/storefront/inbox/1/"},
		"/demo/mail/{name}/":                  {"/demo/mail/" + letters(t, c.Letters)[0] + "/"},
		"/demo/mail/{name}/html/":             {"/demo/mail/" + letters(t, c.Letters)[0] + "/html/"},
		"/storefront/integration/":            {"/storefront/integration/?widget=" + paneltest.WidgetOne},
		"/panel/{kind}/":                      {paneltest.SubTenantPages},
		"/panel/{kind}/new/":                  {paneltest.SubTenantPages + "new/"},
		"/panel/{kind}/{id}/":                 {subTenant},
		"/panel/{kind}/{id}/edit/":            {subTenant + "edit/"},
	})}
}

// hasSubTenant gives a tenant room for sub-tenants, and one, and answers with its page.
func (c *census) hasSubTenant(t *testing.T, parent int64) (page string) {
	t.Helper()
	const id = 51
	saas := hosting.SaaSLimits{MaxHostingAccounts: 5}
	c.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: parent}, Spec: saas.Fields().Values()})
	sub := &hosting.Tenant{
		Name: "Client", Email: "client@example.com", Slug: "client", Username: hosting.CustomerNumber(id),
		CustomerNumber: hosting.CustomerNumber(id),
		Parent:         &parent, Status: hosting.InService, IsActive: true, Limits: hosting.NoLimits(),
	}
	c.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: sub.Fields().Values()})
	return fmt.Sprint(paneltest.SubTenantPages, id, "/")
}

// withKinds adds the pages of each kind in the customer area; those of a record, and the
// form to change it, where there are records.
func withKinds(hasRecords bool, paths map[string][]string) map[string][]string {
	add := func(page, path string) { paths[page] = append(paths[page], path) }
	kinds := append(slices.Clone(hosting.Kinds),
		hosting.Kind{Collection: webhook.EndpointCollection, Verbs: hosting.All, Plurals: map[string]string{}})
	for _, kind := range kinds {
		if !kind.HasPages() {
			continue
		}
		add("/panel/{kind}/", kind.Page(0))
		add("/panel/{kind}/new/", kind.Page(0)+"new/")
		if hasRecords {
			add("/panel/{kind}/{id}/", kind.Page(1))
		}
		if hasRecords && kind.Verbs&hosting.Patch != 0 {
			add("/panel/{kind}/{id}/edit/", kind.Page(1)+"edit/")
		}
	}
	return paths
}

func letters(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if strings.HasSuffix(one.Name(), ".eml") {
			names = append(names, one.Name())
		}
	}
	return names
}

// empty is a panel with a superuser, and with a tenant without anything.
func empty(t *testing.T) *gallery {
	s := paneltest.Open(t, paneltest.WithDemo)
	s.Person(t, paneltest.Root, "root@example.com", true)
	s.Person(t, adminOfA, "aa@example.com", false)
	s.Tenant(t, tenantA, "A")
	s.Do(t, account.GrantMembership{User: adminOfA, Tenant: tenantA, Role: account.Admin, At: time.Now()})
	s.Start(t)
	return &gallery{
		&census{Shop: s, users: map[string]int64{"superuser": paneltest.Root, "administrator of A": adminOfA}},
		"empty", withKinds(false, map[string][]string{
			"/set-password/": {}, // it is shown to holders of a link
			"/demo/shop/":    {}, // it is never without its order form
		}),
	}
}

// addresses are where a page is looked at; none where it has nothing to show.
func (g *gallery) addresses(t *testing.T, path string) []string {
	t.Helper()
	if all := g.paths[paneltest.Variable.ReplaceAllStringFunc(path, paneltest.PlainVariable)]; all != nil {
		return all
	}
	if !paneltest.Variable.MatchString(path) {
		return []string{path}
	}
	if g.name == "empty" {
		return nil
	}
	all := g.census.paths(t, path)
	for _, what := range []string{existing, ofA} {
		if all[what] != "" {
			return []string{all[what]}
		}
	}
	t.Errorf("say what may stand in %s", path)
	return nil
}

// visitors of a page, the one for whom it is made first.
func watchers(path string) []string {
	if strings.HasPrefix(path, "/panel/") || strings.HasPrefix(path, "/billing/") {
		return []string{"administrator of A", "superuser", "not signed in"}
	}
	return []string{"superuser", "administrator of A", "not signed in"}
}

// shownTo opens a session of the first role that is shown the page.
func (g *gallery) shownTo(t *testing.T, path string) (session string, isShown bool) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, role := range watchers(path) {
		session := ""
		if user := g.users[role]; user != 0 {
			id, err := g.Vault().OpenSession(t.Context(), user, 1)
			if err != nil {
				t.Fatal(err)
			}
			session = id
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Public+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "session", Value: session})
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, w.Body)
		_ = w.Body.Close()
		if w.StatusCode == http.StatusOK {
			return session, true
		}
	}
	return "", false
}

// pages are all of the route table, and the reference, which describes that table.
func (g *gallery) pages() []string {
	all := []string{paneltest.ReferencePath}
	for _, r := range g.Server.Routes() {
		if r.IsPage() && notShown[r.Path] == "" {
			all = append(all, r.Path)
		}
	}
	return all
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

func TestEveryPageIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, open := range []func(*testing.T) *gallery{filled, empty} {
		g := open(t)
		for _, page := range g.pages() {
			for i, path := range g.addresses(t, page) {
				name := strings.Trim(notInName.ReplaceAllString(paneltest.Variable.ReplaceAllStringFunc(page,
					paneltest.PlainVariable), "-"), "-")
				t.Run(g.name+"/"+name, func(t *testing.T) { g.look(t, path, fmt.Sprintf("%s/%s-%d", g.name, name, i+1)) })
			}
		}
	}
}

// look takes pictures of a page, or lets axe read it, in every form.
func (g *gallery) look(t *testing.T, path, name string) {
	session, isShown := g.shownTo(t, path)
	if !isShown {
		t.Fatal("the page is shown in no role")
	}
	p := browsertest.Open(t)
	p.Go(g.Public + "/healthz")
	p.Text(fmt.Sprintf(`document.cookie = "session=%s; path=/"`, session))
	canRun := !strings.HasSuffix(path, "/html/") && !strings.HasSuffix(path,
		"/document/") // they forbid all scripts, and so axe
	inEveryForm(t, p, name, canRun, func(what string) {
		p.Go(g.Public + path)
		p.Until(isComplete)
		if at := p.Text("scrollY"); at != "0" {
			t.Errorf("%s: the page begins at %s, below its header", what, at)
		}
		if p.Text(paneltest.MenuShowsThePage) != "true" {
			t.Errorf("%s: the menu does not show where one is", what)
		}
	})
}

const isComplete = `document.readyState === "complete" && deepAll(".bones").length === 0`

// inEveryForm takes pictures of the page that is opened, or lets axe read it.
func inEveryForm(t *testing.T, p *browsertest.Page, name string, canRun bool, open func(what string)) {
	t.Helper()
	for _, width := range []int64{320, 768, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			p.Size(width, 900)
			p.Prefers("prefers-color-scheme", scheme)
			what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			open(what)
			p.Until(isComplete)
			if wide := p.Text("document.documentElement.scrollWidth > innerWidth"); wide != "false" {
				t.Errorf("%s: the page is wider than the window", what)
			}
			p.Picture(what)
			if os.Getenv("SCREENSHOTS") == "" && canRun {
				p.Text(`[...document.querySelectorAll("main section:has(details.operation)")].slice(2, -1).forEach((section) => ` +
					`section.remove())`) // of the reference: all are alike
				p.Accessible(what)
			}
		}
	}
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}

// The pages of a second factor follow from one another, and the recovery codes are shown
// once, so they are looked at on the way of a person.
func TestThePagesOfASecondFactorAreLookedAt(t *testing.T) {
	s := paneltest.Open(t).Start(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	p := browsertest.Open(t)
	stays := func(string) {}
	looks := func(name string) { inEveryForm(t, p, "second-factor/"+name, true, stays) }
	signsIn := func() {
		p.Go(s.Public + "/login/?next=/account/second-factor/")
		p.Type("#sign_in-username", paneltest.AnaMail)
		p.Type("#sign_in-password", paneltest.Password)
		p.Click("form button.main")
	}
	signsIn()
	p.Type("#factor_begin-password", paneltest.Password)
	p.Click("section button.main")
	p.See("Secret:")
	looks("scan")
	secret := strings.ReplaceAll(p.Text(`document.querySelector("section code").textContent`), " ", "")
	p.Type("#factor_on-otp", paneltest.WrongCode(t, secret))
	p.Click("section button.main")
	p.See("The code is wrong.")
	looks("wrong")
	p.Type("#factor_on-otp", paneltest.Code(t, secret, 0))
	p.Click("section button.main")
	p.Until(`document.querySelectorAll(".codes li").length === 10`)
	looks("codes")
	p.Go(s.Public + "/account/second-factor/")
	looks("on")
	p.Click(".bar form button")
	p.Until(`location.pathname === "/login/"`)
	signsIn()
	p.Until(`document.querySelector("#code-otp")`)
	looks("sign-in")
}

// README and the tour show these, as `make pictures` makes them.
func TestPicturesOfTheReadme(t *testing.T) {
	t.Parallel()
	folder := cmp.Or(os.Getenv("PICTURES"), t.TempDir()) // `make pictures` names one
	g := filled(t)
	for id, about := range map[int64]string{
		1: `"For small sites and shops"`, 2: `"A machine of your own"`,
		3: `"For agencies and their clients"`,
	} {
		g.Do(t, storefront.ChangePlan{
			Plan: id, Spec: map[string]json.RawMessage{"description": []byte(about)},
			At: time.Now(),
		})
	}
	session, _ := g.shownTo(t, "/storefront/")
	p := browsertest.Open(t)
	p.Size(1280, 1000)
	p.Prefers("prefers-color-scheme", "light")
	p.Go(g.Public + "/healthz")
	p.Text(fmt.Sprintf(`document.cookie = "session=%s; path=/"`, session))
	for name, path := range map[string]string{
		"shop": strings.TrimPrefix(demo.ShopURL(g.Public), g.Public), "dashboard": "/storefront/",
		"order": "/storefront/orders/" + g.Known["failed"] + "/",
	} {
		if !strings.HasPrefix(path, "http") {
			path = g.Public + path
		}
		p.Go(path)
		p.Until(isComplete)
		file := folder + "/" + name + ".webp"
		p.Small(file)
		if about, err := os.Stat(file); err != nil || about.Size() > 100_000 {
			t.Errorf("%s: %v, %v", file, about, err)
		}
	}
}
