package routetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the JSON Schemas of the answers of an OpenAPI document. Each is
// compiled for the first answer that needs it: most tests see a few of them.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const source = "openapi.json"

func readSchemas(t testing.TB, document []byte) *schemas {
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
	return &schemas{compiler: compiler, compiled: map[string]*jsonschema.Schema{}}
}

// check compares the headers and a JSON body with the schemas of their route, status
// and media type. Other bodies have no schema.
func (s *schemas) check(route *routers.Route, answer *httptest.ResponseRecorder) error {
	described := route.Operation.Responses.Status(answer.Code)
	if described == nil {
		return fmt.Errorf("the status %d is not described", answer.Code)
	}
	at := described.Ref
	if at == "" {
		at = "#" + pointer("paths", route.Path, strings.ToLower(route.Method), "responses", strconv.Itoa(answer.Code))
	}
	for name, header := range described.Value.Headers {
		where := header.Ref
		if where == "" {
			where = at + pointer("headers", name)
		}
		if err := s.header(where, header.Value, answer.Header().Get(name)); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	media := answer.Header().Get("Content-Type")
	if media != "application/json" && !strings.HasSuffix(media, "+json") {
		return nil
	}
	if content := described.Value.Content[media]; content == nil || content.Schema == nil {
		return nil
	}
	return s.body(at+pointer("content", media, "schema"), answer.Body.Bytes())
}

// header compares a header with its schema: a number where that wants one, and else a
// text. It may be missing unless it is required.
func (s *schemas) header(at string, described *openapi3.Header, text string) error {
	if text == "" && !described.Required {
		return nil
	}
	schema, err := s.compile(at + "/schema")
	if err != nil {
		return err
	}
	if kind := described.Schema.Value.Type; kind.Is("integer") || kind.Is("number") {
		return schema.Validate(json.Number(text))
	}
	return schema.Validate(text)
}

func (s *schemas) body(at string, text []byte) error {
	schema, err := s.compile(at)
	if err != nil {
		return fmt.Errorf("the schema of the body: %w", err)
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	return schema.Validate(body)
}

func (s *schemas) compile(fragment string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[fragment] == nil {
		schema, err := s.compiler.Compile(source + fragment)
		if err != nil {
			return nil, err
		}
		s.compiled[fragment] = schema
	}
	return s.compiled[fragment], nil
}

// pointer is a JSON pointer as it stands in the fragment of a URL.
func pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + url.PathEscape(tokens.Replace(name)))
	}
	return b.String()
}

// tokens escapes the name of a member for a JSON pointer.
var tokens = strings.NewReplacer("~", "~0", "/", "~1")
