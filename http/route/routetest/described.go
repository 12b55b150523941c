package routetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// A Description is what an OpenAPI document says of the answers of a server.
// To read one takes long; it serves any number of servers.
type Description struct {
	router  routers.Router
	schemas *schemas
}

// Read reads an OpenAPI document.
func Read(t testing.TB, document []byte) *Description {
	t.Helper()
	described, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatalf("read the document: %v", err)
	}
	router, err := gorillamux.NewRouter(described)
	if err != nil {
		t.Fatalf("read the paths of the document: %v", err)
	}
	return &Description{router: router, schemas: readSchemas(t, document)}
}

// Watch is the server with a watch on its answers: each has to be what the
// description says that its route may answer: status, headers, media type and
// body. Paths that are not in it are left alone.
func (d *Description) Watch(t testing.TB, server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		ctx, leave := context.WithCancel(r.Context())
		server.ServeHTTP(glance{answer, leave}, r.WithContext(ctx))
		leave()
		if route, _, err := d.router.FindRoute(r); err == nil {
			d.compare(t, r, route, answer)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// A first part of an answer that does not end is what is sent of it at once;
// then the client leaves.
type glance struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

// Flush is what only such answers do.
func (g glance) Flush() {
	g.ResponseRecorder.Flush()
	g.leave()
}

func (d *Description) compare(t testing.TB, r *http.Request, route *routers.Route, answer *httptest.ResponseRecorder) {
	t.Helper()
	err := d.schemas.check(route, answer)
	if err != nil {
		t.Errorf("%s %s is not answered as it is described: %v", r.Method, r.URL.Path, err)
	}
	if answered := route.Operation.Responses.Status(answer.Code); answered != nil && answered.Value != nil {
		for _, missing := range undescribed(answered.Value, answer) {
			t.Errorf("%s %s answers %d with a %s that is not described", r.Method, r.URL.Path, answer.Code, missing)
		}
	}
}

// undescribed are the headers of the API and the media type that an answer has
// and its description lacks.
func undescribed(described *openapi3.Response, answer *httptest.ResponseRecorder) (missing []string) {
	for _, name := range apiHeaders {
		if answer.Header().Get(name) != "" && described.Headers[name] == nil {
			missing = append(missing, "header "+name)
		}
	}
	media := answer.Header().Get("Content-Type")
	if answer.Body.Len() > 0 && described.Content.Get(media) == nil {
		missing = append(missing, "body of "+media)
	}
	return missing
}

// apiHeaders are the headers that programs act on.
var apiHeaders = []string{
	"ETag", "Location", "Retry-After", "WWW-Authenticate", "X-Request-ID", "X-Error-Code", "Idempotent-Replayed", "X-Unknown-Fields",
	"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}
