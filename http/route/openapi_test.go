package route_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hostpanel/http/route"
	"hostpanel/http/route/routetest"
)

var variable = regexp.MustCompile(`\{(\w+)(:[^/]*)?\}`)

func TestTheDocumentIsOpenAPI(t *testing.T) {
	s, table := newShop()
	w := call(table, "GET", "/api/schema/", "", "Accept", "text/html, */*;q=0.8")
	expect(t, w, 200, `"openapi":"3.1.0"`)
	document, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(context.Background(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Fatal(err)
	}
	for _, area := range []route.Area{s.storefront(), s.hosting(), s.others()} {
		for _, r := range area.Routes {
			item := document.Paths.Value(variable.ReplaceAllString(r.Path, "{$1}"))
			if described := item != nil && item.GetOperation(r.Method) != nil; described == (r.Path == "/login/") {
				t.Errorf("%s %s is in the document: %t", r.Method, r.Path, described)
			}
		}
	}
	create := document.Paths.Value("/storefront/api/orders/").Post
	body := create.RequestBody.Value.Content["application/json"].Schema.Value
	if create.OperationID != "order_create" || len(body.Required) != 3 || body.Properties["plan_id"].Value.Description == "" {
		t.Errorf("%+v", create)
	}
	for _, status := range []string{"201", "400", "401", "403", "406", "409", "413", "415", "422", "429", "500", "503"} {
		if create.Responses.Value(status) == nil {
			t.Errorf("order_create lacks %s", status)
		}
	}
}

func TestTheDocumentIsServedAsYAMLToo(t *testing.T) {
	_, table := newShop()
	for _, w := range []*httptest.ResponseRecorder{
		call(table, "GET", "/api/schema/?format=yaml", ""), call(table, "GET", "/api/schema/", "", "Accept", "application/yaml"),
	} {
		expect(t, w, 200, "openapi: 3.1.0\n")
		if w.Header().Get("Content-Type") != "application/yaml" {
			t.Error(w.Header())
		}
		fromYAML, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(fromYAML)
		fromJSON, _ := openapi3.NewLoader().LoadFromData(table.JSON())
		want, _ := json.Marshal(fromJSON)
		if string(again) != string(want) {
			t.Errorf("\n got %s\nwant %s", again, want)
		}
	}
	expect(t, call(table, "GET", "/api/schema/?format=xml", ""), 404, "Not found.")
	expect(t, call(table, "GET", "/api/schema/", "", "Accept", "text/html"), 406, "Accept header")
}

func TestThePageOfTheAPIShowsEveryRoute(t *testing.T) {
	_, table := newShop()
	w := call(table, "GET", "/api/schema/swagger-ui/", "")
	expect(t, w, 200, "/storefront/api/orders/{order_id}/")
	page := w.Body.String()
	for _, part := range []string{"plan_id", "(required)", "stripe | test", "Place an order", "If-Match"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if strings.Contains(strings.ReplaceAll(page, `src="/api/schema/`, ""), `src="`) ||
		strings.Contains(page, "<style") || strings.Contains(page, " style=") {
		t.Error("the page loads foreign code, or has inline code")
	}
	if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "style-src 'self';") || strings.Contains(got, "unsafe") {
		t.Error(got)
	}
}

// What is large is sent compressed to callers who take that, each form with an ETag of its own.
func TestTheDocumentAndItsPageAreSentCompressed(t *testing.T) {
	_, table := newShop()
	for _, path := range []string{"/api/schema/", "/api/schema/?format=yaml", "/api/schema/swagger-ui/"} {
		plain := call(table, "GET", path, "")
		zipped := call(table, "GET", path, "", "Accept-Encoding", "deflate, gzip;q=1.0")
		if zipped.Header().Get("Content-Encoding") != "gzip" {
			t.Error(path, zipped.Header())
		}
		z, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(path, err)
		}
		if unzipped, err := io.ReadAll(z); err != nil || string(unzipped) != plain.Body.String() {
			t.Error(path, "the compressed form is another one", err)
		}
		for _, encoding := range []string{"gzip;q=0", "gzip; q=0.0", "br"} {
			if w := call(table, "GET", path, "", "Accept-Encoding", encoding); w.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s %s: %v", path, encoding, w.Header())
			}
		}
		tag := zipped.Header().Get("ETag")
		if tag != "" && tag == plain.Header().Get("ETag") {
			t.Errorf("%s has the ETag %s in both forms", path, tag)
		}
		again := call(table, "GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", tag)
		if tag != "" && again.Code != 304 {
			t.Errorf("%s of %s: %d", path, tag, again.Code)
		}
		for _, w := range []*httptest.ResponseRecorder{plain, zipped, again} {
			if w.Header().Get("Vary") != "Accept-Encoding" {
				t.Error(path, w.Header())
			}
		}
	}
}

// The document describes also the answers of the area that serves it.
func TestTheDocumentDescribesItsOwnAnswers(t *testing.T) {
	_, table := newShop()
	watched := routetest.Read(t, table.JSON()).Watch(t, table)
	tag := call(table, "GET", "/api/schema/", "").Header().Get("ETag")
	for _, test := range []struct {
		query  string
		header []string
		want   int
	}{
		{"", nil, 200},
		{"?format=yaml", nil, 200},
		{"", []string{"If-None-Match", tag}, 304},
		{"?format=xml", nil, 404},
		{"", []string{"Accept", "image/png"}, 406},
	} {
		if w := call(watched, "GET", "/api/schema/"+test.query, "", test.header...); w.Code != test.want {
			t.Errorf("%s %s: %d, want %d", test.query, test.header, w.Code, test.want)
		}
	}
}

// Headers that refusals carry are described with them.
func TestRefusalsNameTheirHeaders(t *testing.T) {
	_, table := newShop()
	document, err := openapi3.NewLoader().LoadFromData(table.JSON())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, method string
		status       int
		header       string
	}{
		{"/hosting/api/rest/sites/{id}/", "PATCH", 412, "ETag"},
		{"/hosting/api/rest/sites/{id}/", "GET", 304, "ETag"},
		{"/storefront/api/orders/", "POST", 429, "RateLimit"},
	} {
		described := document.Paths.Value(test.path).GetOperation(test.method).Responses.Status(test.status)
		if described == nil || described.Value.Headers[test.header] == nil {
			t.Errorf("%d of %s %s does not name %s", test.status, test.method, test.path, test.header)
		}
	}
}

// What routes answer alike stands once in the document.
func TestRoutesShareTheirRefusals(t *testing.T) {
	_, table := newShop()
	document, err := openapi3.NewLoader().LoadFromData(table.JSON())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, name := range map[int]string{401: "Unauthorized", 406: "NotAcceptable"} {
				r := operation.Responses.Status(status)
				if r != nil && *r.Value.Description == *document.Components.Responses[name].Value.Description && r.Ref == "" {
					t.Errorf("%d of %s %s is no reference", status, method, path)
				}
			}
		}
	}
}
