package route

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"

	"hostpanel/domain/field"
)

// read reads the body once, up to the limit of the route.
func (x *exchange) read() ([]byte, error) {
	if !x.isRead {
		x.body, x.unread = x.readAll()
		x.isRead = true
	}
	return x.body, x.unread
}

func (x *exchange) readAll() ([]byte, error) {
	if x.r.ContentLength > x.route.bodyMax {
		return nil, tooLarge
	}
	body, err := io.ReadAll(&metered{Reader: http.MaxBytesReader(x.w, x.r.Body, x.route.bodyMax), x: x})
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, unavailable):
		return nil, unavailable
	case err != nil:
		return nil, &Refusal{Status: http.StatusBadRequest, Detail: "The request body could not be read.", Slug: "parse_error"}
	}
	return body, nil
}

// takeBody reads the body, if the route wants one, and parses it.
func (x *exchange) takeBody() error {
	if x.route.Show != nil {
		if x.r.Method != http.MethodPost {
			return nil
		}
		var err error
		x.call.Body, err = x.read()
		return err
	}
	if x.route.Request.Fields == nil {
		return nil
	}
	body, err := x.read()
	if err != nil {
		return err
	}
	if len(body) > 0 && !isJSON(x.r.Header.Get("Content-Type")) {
		return unsupported(x.r.Header.Get("Content-Type"))
	}
	x.call.json, err = field.Parse(body)
	x.tellUnknown()
	return err
}

func isJSON(mediaType string) bool {
	base, _, _ := strings.Cut(mediaType, ";")
	return strings.EqualFold(strings.TrimSpace(base), "application/json")
}

const (
	bodyMax = 1 << 20   // bytes of a JSON body
	openMax = 16 << 10  // bytes of a body of a caller who needs no credentials
	rawMax  = 256 << 10 // bytes of a raw body
	formMax = 64 << 10  // bytes of a form
)

// longestBody is how long a body may be. Before a caller is known it is short;
// webhooks of payment providers have a limit of their own.
func (r *Route) longestBody() int64 {
	most := cmp.Or(r.bodyMax, bodyMax)
	if r.Access.Scheme == "" && !r.raw {
		return min(most, openMax)
	}
	return most
}
