// Package route declares HTTP endpoints. One declaration gives an endpoint its
// place in the router, its access rule, the order of checks that every call
// goes through, the decoding and checking of its request, the form of its
// answer and refusals, and its entry in the API document.
//
// Paths are written as callers know them, with variables in braces:
// "{id:int}" is a whole number, "{order_id:uuid}" an identifier,
// "{name:a|b}" whatever the expression after the colon matches.
//
// docs/api.md, "Wire rules", describes what callers see.
package route

import (
	"context"
	"maps"
	"net/http"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Route is one endpoint: a method of a path.
type Route struct {
	Method  string
	Path    string
	Name    string // operation id of the API document: "order_create"
	Summary string
	About   string

	Access Access // zero: that of the area
	Class  string // of the object that the path names, for its 404: "Order"
	Status int    // of a successful answer
	Cache  string // Cache-Control of a successful answer
	Fails  []Fail // refusals of its own, for the API document
	Params []Param
	Heads  []Param // request headers

	Request Shape // of the body; without fields: it is not looked at
	Answer  Shape // of the answer; without fields: there is none

	// Find loads the object that the path names, before the body is looked
	// at. It becomes the call's Subject; its version is compared with If-Match.
	Find func(context.Context, Call) (subject any, etag string, err error)

	// Bar refuses callers because of the state of what they would write in. It
	// is asked after Find. nil: no caller is refused for it.
	Bar func(context.Context, Call) error

	// Check says what else is wrong with a request, such as references that
	// lead nowhere. It is asked even if some fields could not be read, which
	// it is told, so that all that is wrong is said at once.
	Check func(ctx context.Context, c Call, request any, wrong *field.Errors) error

	// Serve carries out the call. A nil answer has no body.
	Serve func(context.Context, Call) (Answer, error)

	// Resume answers a repeated request whose first answer was never given,
	// from the record that stands at Location. nil: the record is shown as
	// its own GET shows it.
	Resume func(ctx context.Context, c Call, location string) (Answer, error)

	// Show answers instead of Serve with a page or a file, or takes a body raw.
	Show func(context.Context, Call) (*Document, error)

	// Follow answers instead of Serve with a stream of events, from behind a
	// position of the log on; see [Stream].
	Follow func(ctx context.Context, c Call, after int64) (Following, error)
	// Converse answers instead of Serve with a WebSocket; see [Socket].
	Converse func(context.Context, Call) (Conversation, error)

	blank   func() field.Record // an empty request, where it is no zero value
	also    int                 // another status of a successful answer; 0: none
	keep    domain.Keep         // of Idempotency-Key; "": it is not looked at
	hashed  bool                // the ETag is made from the body
	tagged  bool                // the answer names its version by itself
	sends   map[string]any      // media types of an answer that is no record, for the API document
	raw     bool                // takes any media type, in both slash forms
	page    bool                // is for people: security headers of pages, errors as pages
	bodyMax int64
	known   func() map[string]bool // names of fields, of requests with a body

	perCaller, perAddress, perRoute int // streams at most; 0: any number
}

// An Answer is what a successful call returns: a [field.Set], or a list.
type Answer interface {
	AppendJSON([]byte) []byte // as it is sent
	AppendKept([]byte) []byte // as a replay sends it: null for what is shown only once
}

// A Shape describes the body of a request or of an answer.
type Shape struct {
	Fields func() field.Set
	Mode   field.Mode
	Many   bool // a plain array
	Paged  bool // a page of a list; with Many, to those who ask for one
}

// A Fail is a refusal that a route may answer with, for the API document.
type Fail struct {
	Status int
	When   string
}

// A Param is a query parameter, for the API document. Its schema is that of
// the field.
type Param struct {
	Field field.Field
	When  string
}

type record[T any] interface {
	*T
	field.Record
}

func fieldsOf[T any, P record[T]]() field.Set { return P(new(T)).Fields() }

// Get declares an endpoint that shows one A.
func Get[A any, PA record[A]](path, summary string, show func(context.Context, Call) (PA, error)) Route {
	return Route{
		Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusOK, Cache: "private, no-cache",
		Answer: Shape{Fields: fieldsOf[A, PA], Mode: field.Shown},
		Serve:  func(ctx context.Context, c Call) (Answer, error) { return shown[A](show(ctx, c)) },
	}
}

// List declares an endpoint that shows all A's as a plain array.
func List[A any, PA record[A]](path, summary string, list func(context.Context, Call) ([]A, error)) Route {
	return Route{
		Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusOK, Cache: "private, no-cache",
		Answer: Shape{Fields: fieldsOf[A, PA], Mode: field.Shown, Many: true}, hashed: true,
		Serve: func(ctx context.Context, c Call) (Answer, error) {
			all, err := list(ctx, c)
			return array[A, PA](all), err
		},
	}
}

// Pages declares an endpoint that shows A's in pages.
func Pages[A any, PA record[A]](path, summary string, list func(context.Context, Call, Window) (Page[A], error)) Route {
	return Route{
		Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusOK, Cache: "private, no-cache",
		Answer: Shape{Fields: fieldsOf[A, PA], Mode: field.Shown, Paged: true}, hashed: true,
		Serve: func(ctx context.Context, c Call) (Answer, error) {
			return paged[A, PA](ctx, c, list)
		},
	}
}

// ListOrPages declares an endpoint that shows all A's as a plain array, and in
// pages to callers who ask for a page. There are never more than most.
func ListOrPages[A any, PA record[A]](path, summary string, most int64, list func(context.Context, Call, Window) (Page[A], error)) Route {
	r := Pages[A, PA](path, summary, list)
	inPages := r.Serve
	r.Answer.Many = true
	r.Serve = func(ctx context.Context, c Call) (Answer, error) {
		if c.Query.Has("page") || c.Query.Has("page_size") {
			return inPages(ctx, c)
		}
		all, err := list(ctx, c, Window{Limit: most})
		return array[A, PA](all.Results), err
	}
	return r
}

// Post declares an endpoint that takes a Q and makes an A.
func Post[Q, A any, PQ record[Q], PA record[A]](path, summary string, make func(context.Context, Call, PQ) (PA, error)) Route {
	r := write[Q, A, PQ, PA](http.MethodPost, path, summary, field.Create, make)
	_, r.tagged = any(PA(nil)).(interface{ Tag() string })
	r.Status = http.StatusCreated
	r.keep = domain.KeepDay
	return r
}

// Put declares an endpoint that replaces what Find has found, a *Q.
func Put[Q, A any, PQ record[Q], PA record[A]](path, summary string, replace func(context.Context, Call, PQ) (PA, error)) Route {
	return write[Q, A, PQ, PA](http.MethodPut, path, summary, field.Replace, replace)
}

// Patch declares an endpoint that changes some fields of what Find has found,
// a *Q.
func Patch[Q, A any, PQ record[Q], PA record[A]](path, summary string, change func(context.Context, Call, PQ) (PA, error)) Route {
	r := write[Q, A, PQ, PA](http.MethodPatch, path, summary, field.Patch, change)
	r.keep = domain.KeepDay
	return r
}

// Nothing is the request of an endpoint that takes no fields.
type Nothing struct{}

// Fields of nothing are none.
func (*Nothing) Fields() field.Set { return field.Set{} }

// Delete declares an endpoint that removes something.
func Delete(path, summary string, remove func(context.Context, Call) error) Route {
	return Route{
		Method: http.MethodDelete, Path: path, Summary: summary, Status: http.StatusNoContent,
		Serve: func(ctx context.Context, c Call) (Answer, error) { return nil, remove(ctx, c) },
	}
}

func write[Q, A any, PQ record[Q], PA record[A]](
	method, path, summary string, mode field.Mode, do func(context.Context, Call, PQ) (PA, error),
) Route {
	return Route{
		Method: method, Path: path, Summary: summary, Status: http.StatusOK, Cache: "private, no-cache",
		Request: Shape{Fields: fieldsOf[Q, PQ], Mode: mode},
		Answer:  Shape{Fields: fieldsOf[A, PA], Mode: field.Shown},
		Serve: func(ctx context.Context, c Call) (Answer, error) {
			q, isQ := c.Subject.(PQ)
			if !isQ {
				q = emptyOf[Q, PQ](c.blank)
			}
			var err error
			c.Sent, err = q.Fields().Speaking(c.table.options.Language).Decode(c.json, mode)
			if err = c.checkFurther(ctx, q, q.Fields(), err); err != nil {
				return nil, err
			}
			return shown[A](do(ctx, c, q))
		},
	}
}

// emptyOf is a request before anything of it is read.
func emptyOf[Q any, PQ record[Q]](blank func() field.Record) PQ {
	if blank != nil {
		return blank().(PQ) //nolint:forcetypeassert // the route is declared for Q
	}
	return new(Q)
}

// checkFurther adds what the route itself finds wrong with a request to what
// could not be read.
func (c Call) checkFurther(ctx context.Context, request any, fields field.Set, err error) error {
	wrong := field.ErrorsOf(err)
	if c.check == nil || err != nil && !fields.Has(wrong[0].Field) { // it is no object at all
		return err
	}
	if err := c.check(ctx, c, request, &wrong); err != nil {
		return err
	}
	return wrong.In(fields).Err()
}

func shown[A any, PA record[A]](a PA, err error) (Answer, error) {
	if err != nil {
		return nil, err
	}
	return a.Fields(), nil
}

// The options of a route.

// IsPage tells whether the answer is a page that people look at.
func (r Route) IsPage() bool {
	_, is := r.sends["text/html"]
	return is && r.Method == http.MethodGet
}

// As names the operation.
func (r Route) As(name string) Route { r.Name = name; return r }

// Of names the class of the object in the path.
func (r Route) Of(class string) Route { r.Class = class; return r }

// For sets an access rule of its own.
func (r Route) For(a Access) Route { r.Access = a; return r }

// With sets the status of a successful answer.
func (r Route) With(status int) Route { r.Status = status; return r }

// OrWith names another status that a successful answer may have, which the
// handler sets.
func (r Route) OrWith(status int) Route { r.also = status; return r }

// Caching sets the Cache-Control of a successful answer.
func (r Route) Caching(directives string) Route { r.Cache = directives; return r }

// Hashed gives the answer an ETag made from its body.
func (r Route) Hashed() Route { r.hashed = true; return r }

// Tagged says that the handler gives the answer an ETag.
func (r Route) Tagged() Route { r.tagged = true; return r }

// Sending documents the media type of an answer that is no record, with its
// schema; nil: a text.
func (r Route) Sending(media string, schema map[string]any) Route {
	if schema == nil {
		schema = map[string]any{"type": "string"}
	}
	r.sends = maps.Clone(r.sends)
	if r.sends == nil {
		r.sends = map[string]any{}
	}
	r.sends[media] = map[string]any{"schema": schema}
	return r
}

// Keeping says how long an Idempotency-Key is remembered; "": never looked at.
func (r Route) Keeping(k domain.Keep) Route { r.keep = k; return r }

// Resuming answers repeated requests whose first answer was never given.
func (r Route) Resuming(f func(ctx context.Context, c Call, location string) (Answer, error)) Route {
	r.Resume = f
	return r
}

// Checking says what else may be wrong with the request, a *Q: see [Check].
func (r Route) Checking(check func(ctx context.Context, c Call, request any, wrong *field.Errors) error) Route {
	r.Check = check
	return r
}

// Check makes a check of requests of the type Q one of any request.
func Check[Q any](check func(context.Context, Call, *Q, *field.Errors) error) func(context.Context, Call, any, *field.Errors) error {
	return func(ctx context.Context, c Call, request any, wrong *field.Errors) error {
		return check(ctx, c, request.(*Q), wrong) //nolint:forcetypeassert // the route is declared for Q
	}
}

// Asking says what an empty request is, where only a table knows the fields of
// Q; it makes a *Q.
func (r Route) Asking(blank func() field.Record) Route {
	r.blank = blank
	r.Request.Fields = func() field.Set { return blank().Fields() }
	return r
}

// Answering says which fields an answer has, where only a table knows those of A.
func (r Route) Answering(fields func() field.Set) Route {
	r.Answer.Fields = fields
	return r
}

// Finding loads the object that the path names.
func (r Route) Finding(f func(context.Context, Call) (any, string, error)) Route {
	r.Find = f
	return r
}

// Barring refuses callers because of the state of what they would write in.
func (r Route) Barring(f func(context.Context, Call) error) Route { r.Bar = f; return r }

// Failing documents a refusal.
func (r Route) Failing(status int, when string) Route {
	r.Fails = append(append([]Fail{}, r.Fails...), Fail{status, when})
	return r
}

// Taking documents query parameters.
func (r Route) Taking(parameters ...field.Field) Route {
	r.Params = append(make([]Param, 0, len(r.Params)+len(parameters)), r.Params...)
	for _, f := range parameters {
		r.Params = append(r.Params, Param{Field: f, When: f.About})
	}
	return r
}

// Hearing documents a request header.
func (r Route) Hearing(f field.Field) Route {
	r.Heads = append(append([]Param{}, r.Heads...), Param{Field: f, When: f.About})
	return r
}

// Saying explains the route in the API document.
func (r Route) Saying(about string) Route { r.About = about; return r }

// UpTo sets how many bytes a body may have.
func (r Route) UpTo(bytes int64) Route { r.bodyMax = bytes; return r }
