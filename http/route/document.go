package route

import (
	"context"
	"net/http"
	"os"
)

// A Document is an answer that is no record: a page, a file, or the answer to
// a raw body.
type Document struct {
	Status int    // zero: that of the route
	Type   string // Content-Type
	Body   []byte
	File   *os.File // instead of Body: what is too long for the memory. It is closed afterwards
	ETag   string   // without quotes; "": none
	Cache  string   // "": that of the route
	Header http.Header

	FormAction []string // further origins that a page's forms may lead to
	Images     []string // further origins of a page's images
}

// File declares an endpoint that sends something other than records.
func File(path, summary string, show func(context.Context, Call) (*Document, error)) Route {
	return Route{Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusOK, Show: show}
}

// View declares a page for people, or with POST what its form does.
func View(method, path, summary string, show func(context.Context, Call) (*Document, error)) Route {
	r := Route{
		Method: method, Path: path, Summary: summary, Status: http.StatusOK, Cache: "no-store", Show: show, page: true,
		bodyMax: formMax,
	}
	return r.Sending("text/html", nil)
}

// Raw declares an endpoint that takes a body of any media type as it is, in
// both slash forms of its path, because providers follow no redirects.
func Raw(path, summary string, take func(context.Context, Call) (*Document, error)) Route {
	return Route{Method: http.MethodPost, Path: path, Summary: summary, Status: http.StatusOK, Show: take, raw: true, bodyMax: rawMax}
}
