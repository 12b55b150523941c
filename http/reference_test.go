package http_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"hostpanel/http/browsertest"
	"hostpanel/http/reference"
	"hostpanel/http/samplecode/samplecodetest"
)

const (
	referencePath = "/api/schema/swagger-ui/"
	referenceMost = 250_000 // bytes of all its files, compressed
)

func TestTheReferenceIsSmall(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	w := s.call("GET", referencePath, "", "Accept-Encoding", "gzip")
	all := w.Body.Len() + len(reference.Style) + len(reference.Script)
	t.Logf("%d bytes", all)
	if all > referenceMost || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes of a page that is sent as %q", all, w.Header().Get("Content-Encoding"))
	}
}

// Each sample of an operation makes its call, when what a caller has stands in the
// places for it.
func TestSamplesOfTheReferenceRun(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).people(t).open(t)
	server := httptest.NewServer(s.server.Handler())
	defer server.Close()
	s.public = server.URL
	b := s.rewire(t).browser(t)
	if w := b.get(referencePath); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	for _, language := range []string{"curl", "go", "python"} {
		t.Run(language, func(t *testing.T) {
			fill := strings.NewReplacer(reference.Token, s.known["ana"], reference.APIKey, s.known["key"], "bread.example", language+".example")
			for operation, part := range map[string]string{"plan_list": `"slug":"hosting-s"`, "me_read": `"ana@example.com"`, "order_create": `"order_number":"ORD-`, "database_list": `"results":[`} {
				code := fill.Replace(b.sampleOf(operation, language))
				if said := samplecodetest.Run(t, language, code); code == "" || !strings.Contains(said, part) {
					t.Errorf("%s: %s\n%s", operation, said, code)
				}
			}
		})
	}
}

// sampleOf is the program that the reference shows for an operation.
func (b *browser) sampleOf(operation, language string) string {
	for _, part := range elements(b.page, "div") {
		if attribute(part, "id") != operation {
			continue
		}
		for _, code := range elements(part, "pre") {
			if attribute(code, "data-sample") == language {
				return rawText(code)
			}
		}
	}
	return ""
}

// Every link of the page leads to something on it, and each call is there once.
func TestTheReferenceIsWholeWithoutScripts(t *testing.T) {
	t.Parallel()
	b := openShop(t).browser(t)
	b.get(referencePath)
	ids := map[string]int{}
	for d := range b.page.Descendants() {
		if id := attribute(d, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d parts have the id %s", n, id)
		}
	}
	for _, a := range elements(b.page, "a") {
		if to, inside := strings.CutPrefix(attribute(a, "href"), "#"); inside && ids[to] == 0 {
			t.Errorf("#%s leads nowhere", to)
		}
	}
	text := textOf(b.page)
	for _, part := range []string{"site.created", "certificate.expiring", "webhook", "Version", "Credentials: Authorization: Bearer", "No credentials.", "Too many calls."} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	for _, described := range operationsIn(t, b.server.Document()) {
		if !slices.ContainsFunc(elements(b.page, "details"), func(op *html.Node) bool {
			return attribute(op, "data-method") == described.method && attribute(op, "data-path") == described.path
		}) {
			t.Errorf("%s %s is not on the page", described.method, described.path)
		}
	}
}

// onlySamples leaves the open operation on the page, and of the others and of the
// records three of each method: all are alike, and axe looks at every element.
const onlySamples = `(() => {
	const left = {};
	for (const each of document.querySelectorAll(".operation:not([open])")) {
		const method = each.dataset.method;
		left[method] = (left[method] ?? 0) + 1;
		if (left[method] > 3) each.remove();
	}
})()`

func TestTheReferenceIsSearchedAndTriedOut(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).people(t).open(t)
	s.resident(t, 71, "olga@example.com", "en", true)
	p := browsertest.Open(t)
	p.Go(s.public + referencePath)
	for width, scheme := range map[int64]string{320: "dark", 1440: "light"} {
		p.Size(width, 900)
		p.Prefers("prefers-color-scheme", scheme)
		p.Go(s.public + referencePath + "?" + scheme + "#site_create")
		p.Until(`document.querySelector("#site_create .try")`)
		p.View("reference-" + scheme)
		p.Text(onlySamples)
		p.Accessible("the reference, " + scheme)
		if wide := p.Text("document.documentElement.scrollWidth > innerWidth"); wide != "false" {
			t.Errorf("the page is wider than a window of %d", width)
		}
	}
	p.Size(1280, 900)
	p.Go(s.public + referencePath)
	p.Keys("/")
	p.Keys("nothing-like-it")
	p.Until(`document.querySelectorAll(".operation:not([hidden])").length === 0`)
	p.Text(`(() => { const box = document.querySelector("#find"); box.value = "healthz"; box.dispatchEvent(new Event("input")); })()`)
	p.See("1 match")
	p.Go(s.public + referencePath + "?key#plan_list")
	p.Type("#api-key", s.known["key"])
	p.Click("#plan_list .try button")
	p.See(`"slug": "hosting-s"`)
	p.Go(s.public + "/login/?next=/account/")
	p.Type("#sign_in-username", "olga@example.com")
	p.Type("#sign_in-password", password)
	p.Click("button.main")
	p.Until(`location.pathname === "/account/"`)
	p.Go(s.public + referencePath + "#me_change")
	p.Until(`document.querySelector("#me_change .try textarea")`)
	p.Text(`document.querySelector("#me_change .try textarea").value = '{"name": "Olga Tried"}'`)
	p.Click("#me_change .try button")
	p.See(`"name": "Olga Tried"`)
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
