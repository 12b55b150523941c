package routetest

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bodies are the JSON Schemas of the answers of an OpenAPI document. Each is
// compiled for the first answer that needs it: most tests see a few of them.
type bodies struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const source = "openapi.json"

func readBodies(t testing.TB, document []byte) *bodies {
	t.Helper()
	described, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("read the document: %v", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(source, described); err != nil {
		t.Fatalf("read the document: %v", err)
	}
	return &bodies{compiler: compiler, compiled: map[string]*jsonschema.Schema{}}
}

// check compares a JSON body with the schema of its route, status and media
// type. Other bodies have no schema.
func (b *bodies) check(route *routers.Route, answer *httptest.ResponseRecorder) error {
	described := route.Operation.Responses.Status(answer.Code)
	media := answer.Header().Get("Content-Type")
	if described == nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return nil
	}
	if content := described.Value.Content[media]; content == nil || content.Schema == nil {
		return nil
	}
	at := described.Ref
	if at == "" {
		at = "#" + pointer("paths", route.Path, strings.ToLower(route.Method), "responses", strconv.Itoa(answer.Code))
	}
	schema, err := b.schema(at + pointer("content", media, "schema"))
	if err != nil {
		return fmt.Errorf("the schema of %d %s: %w", answer.Code, media, err)
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer.Body.Bytes()))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	return schema.Validate(body)
}

func (b *bodies) schema(fragment string) (*jsonschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.compiled[fragment] == nil {
		schema, err := b.compiler.Compile(source + fragment)
		if err != nil {
			return nil, err
		}
		b.compiled[fragment] = schema
	}
	return b.compiled[fragment], nil
}

// pointer is a JSON pointer as it stands in the fragment of a URL.
func pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name)))
	}
	return b.String()
}
