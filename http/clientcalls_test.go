//go:build clients

package http_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// An apiOperation is one of the API document.
type apiOperation struct {
	id, method, path string
	takes            bool              // a body
	query            map[string]string // parameters by name: their type
	params           bool              // has parameters besides those of the path
	endless          bool              // answers with a stream, which generated clients wait for the end of
	isFile           bool              // answers with a document, which generated clients read as JSON
}

type callable []apiOperation

func callableIn(t *testing.T, document []byte) (all callable) {
	t.Helper()
	var read struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Parameters []struct {
				Name, In string
				Schema   struct{ Type any }
			}
			RequestBody any
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	for path, item := range read.Paths {
		for method, described := range item {
			o := apiOperation{
				id: described.ID, method: strings.ToUpper(method), path: path, takes: described.RequestBody != nil,
				query: map[string]string{},
			}
			for _, p := range described.Parameters {
				o.params = o.params || p.In != "path"
				if p.In == "query" {
					o.query[p.Name] = fmt.Sprint(p.Schema.Type)
				}
			}
			_, o.endless = described.Responses["200"].Content["text/event-stream"]
			for _, media := range []string{"application/pdf", "text/csv", "application/zip"} {
				if _, is := described.Responses["200"].Content[media]; is {
					o.isFile = true
				}
			}
			all = append(all, o)
		}
	}
	return all
}

// concernsClients tells what programs of customers call.
func (o apiOperation) concernsClients() bool {
	if o.endless || o.isFile || paneltest.IsOfSessions(o.method, o.path) { // for scripts of pages
		return false
	}
	for _, prefix := range []string{
		"/hosting/api/rest/", "/api/token/", "/api/me/", "/notifications/api/v1/",
		"/billing/api/v1/",
	} {
		if strings.HasPrefix(o.path, prefix) {
			return true
		}
	}
	return false
}

// A clientCall is a turn of the conversation as a call of an operation.
type clientCall struct {
	apiOperation
	line, status int
	headers      [][2]string
	body         string
	in           []string    // what the path names
	asks         string      // the query as JSON; "": none
	keeps        [][2]string // property of the answer, and what it is called from then on
}

var kept = regexp.MustCompile(`"(\w+)":"?<\w+:(\w+)>`)

func (all callable) call(turn routetest.Turn) (c clientCall, err error) {
	path, query, _ := strings.Cut(turn.Path, "?")
	for _, o := range all {
		if in, is := o.names(path); is && o.method == turn.Method && (c.id == "" || len(in) < len(c.in)) {
			c.apiOperation, c.in = o, in
		}
	}
	if c.id == "" {
		return c, fmt.Errorf("there is no such route")
	}
	c.line, c.headers, c.body = turn.Line, turn.Headers, turn.Body
	if c.takes && c.body == "" {
		c.body = "{}"
	}
	if c.status, err = strconv.Atoi(strings.Fields(turn.Status)[0]); err != nil {
		return c, err
	}
	for _, found := range kept.FindAllStringSubmatch(turn.WantBody, -1) {
		c.keeps = append(c.keeps, [2]string{found[1], found[2]})
	}
	c.asks, err = c.asked(query)
	return c, err
}

// names tells what stands for the variables of the operation's path.
func (o apiOperation) names(path string) (in []string, is bool) {
	want, got := strings.Split(o.path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	for i := range want {
		switch {
		case strings.HasPrefix(want[i], "{"):
			in = append(in, got[i])
		case want[i] != got[i]:
			return nil, false
		}
	}
	return in, true
}

// asked is the query as JSON, each parameter of the type that it has.
func (o apiOperation) asked(query string) (string, error) {
	if query == "" {
		return "", nil
	}
	var all []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		if err != nil {
			return "", err
		}
		kind, known := o.query[name]
		switch {
		case !known:
			return "", fmt.Errorf("there is no parameter %s", name)
		case kind == "array":
			value = "[" + value + "]"
		case kind == "string" || value == "last":
			value = strconv.Quote(value)
		}
		all = append(all, strconv.Quote(name)+":"+value)
	}
	return "{" + strings.Join(all, ",") + "}", nil
}

// A clientProgram is made for each language: all calls, one after another.
type clientProgram []clientCall

func (p clientProgram) typeScript() string {
	var b strings.Builder
	b.WriteString("import createClient from \"openapi-fetch\";\nimport type { paths } from " +
		"\"../client/api.gen.js\";\nimport { known, said } from \"./said.js\";\n\n")
	for _, name := range append(p.begins(), "url") {
		fmt.Fprintf(&b, "const %s = known[%q]!;\n", name, name)
	}
	b.WriteString("const panel = createClient<paths>({ baseUrl: url });\n\n")
	for _, c := range p {
		var options []string
		if params := c.typeScriptParams(); params != "" {
			options = append(options, "params: { "+params+" }")
		}
		var headers []string
		for _, h := range c.headers {
			headers = append(headers, fmt.Sprintf("%q: %s", h[0], inTypeScript(strconv.Quote(h[1]))))
		}
		if len(headers) > 0 {
			options = append(options, "headers: { "+strings.Join(headers, ", ")+" }")
		}
		if c.body != "" {
			options = append(options, "body: "+inTypeScript(c.body))
		}
		call := fmt.Sprintf("said(%d, %d, await panel.%s(%q, { %s }))", c.line, c.status, c.method, c.path,
			strings.Join(options, ", "))
		var keeps []string
		for _, k := range c.keeps {
			keeps = append(keeps, k[0]+": "+k[1])
		}
		if len(keeps) > 0 {
			call = "const { " + strings.Join(keeps, ", ") + " } = " + call
		}
		b.WriteString(call + ";\n")
	}
	return b.String()
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

func (c clientCall) typeScriptParams() string {
	var path, params []string
	for i, name := range inBraces.FindAllStringSubmatch(c.path, -1) {
		path = append(path, name[1]+": "+inTypeScript(c.in[i]))
	}
	if len(path) > 0 {
		params = append(params, "path: { "+strings.Join(path, ", ")+" }")
	}
	if c.asks != "" {
		params = append(params, "query: "+inTypeScript(c.asks))
	}
	return strings.Join(params, ", ")
}

var (
	texts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	named = regexp.MustCompile(`<(\w+)>`)
)

// inTypeScript is JSON with names in it as an expression.
func inTypeScript(text string) string {
	text = texts.ReplaceAllStringFunc(text, func(s string) string {
		if !named.MatchString(s) {
			return s
		}
		return "`" + named.ReplaceAllString(s[1:len(s)-1], "$${$1}") + "`"
	})
	return named.ReplaceAllString(text, "$1")
}

// begins are the names that are known before the first call.
func (p clientProgram) begins() (all []string) {
	keeps := map[string]bool{}
	for _, c := range p {
		texts := append(slices.Clone(c.in), c.body, c.asks)
		for _, h := range c.headers {
			texts = append(texts, h[1])
		}
		for _, found := range named.FindAllStringSubmatch(strings.Join(texts, " "), -1) {
			if !keeps[found[1]] && !slices.Contains(all, found[1]) {
				all = append(all, found[1])
			}
		}
		for _, k := range c.keeps {
			keeps[k[1]] = true
		}
	}
	return all
}

func (p clientProgram) golang() string {
	var b strings.Builder
	b.WriteString("// Code generated from calls.http by make clients. DO NOT EDIT.\n\npackage main\n\nimport " +
		"(\n\t\"context\"\n\n\t\"clients/client\"\n\n\t\"github.com/oapi-codegen/runtime/types\"\n)\n\nfunc calls(ctx " +
		"context.Context, panel *client.ClientWithResponses) {\n")
	before := p.begins()
	for _, c := range p {
		name := exported(c.id)
		arguments := append([]string{"ctx"}, c.goPath(before)...)
		if c.params {
			arguments = append(arguments, fmt.Sprintf("&client.%sParams{}", name))
			if c.asks != "" {
				arguments[len(arguments)-1] = fmt.Sprintf("new(from[client.%sParams](%q))", name, c.asks)
			}
		}
		if c.takes {
			arguments = append(arguments, fmt.Sprintf("from[client.%sJSONRequestBody](%q)", name, c.body))
		}
		for _, h := range c.headers {
			arguments = append(arguments, fmt.Sprintf("with(%q, %q)", h[0], h[1]))
		}
		fmt.Fprintf(&b, "\ta%d, err := panel.%sWithResponse(%s)\n\tsaid(%d, %d, a%d, err)\n", c.line, name,
			strings.Join(arguments, ", "), c.line, c.status, c.line)
		for _, k := range c.keeps {
			fmt.Fprintf(&b, "\t%s := a%d.JSON%d.%s\n\tkeep(%q, %s)\n", k[1], c.line, c.status, exported(k[0]), k[1], k[1])
		}
	}
	return b.String() + "}\n"
}

// goPath are the values in the path: what earlier answers gave, and ids that
// are known before the first call.
func (c clientCall) goPath(before []string) (all []string) {
	for _, value := range c.in {
		name := named.ReplaceAllString(value, "$1")
		if slices.Contains(before, name) {
			name = fmt.Sprintf("from[types.UUID](%q)", strconv.Quote(value))
		}
		all = append(all, name)
	}
	return all
}

// exported is what oapi-codegen calls something: TenantId for tenant_id.
func exported(name string) string {
	up := true
	return strings.Map(func(r rune) rune {
		if r == '_' {
			up = true
			return -1
		}
		if up {
			up, r = false, unicode.ToUpper(r)
		}
		return r
	}, name)
}
