package route

import (
	"errors"
	"io"
	"net/http"
)

// read reads the body once, up to the limit of the route.
func (x *exchange) read() ([]byte, error) {
	if x.isRead {
		return x.body, nil
	}
	if x.r.ContentLength > x.route.bodyMax {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.route.bodyMax))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, &Refusal{Status: http.StatusBadRequest, Detail: "The request body could not be read.", Slug: "parse_error"}
	}
	x.body, x.isRead = body, true
	return body, nil
}
