package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"hostpanel/domain/field"
)

// metadata is the body of an answer to OPTIONS: what is there, and which
// fields the caller may send (docs/api.md, "Asking what may be sent").
type metadata struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description"`
	Renders     []string                   `json:"renders"`
	Parses      []string                   `json:"parses"`
	Actions     map[string]field.Described `json:"actions,omitempty"`
}

// describe answers OPTIONS. Pages, files and webhooks take no fields.
func (x *exchange) describe() error {
	first := x.endpoint.first
	if first.Show != nil || first.Converse != nil {
		if err := x.settle(); err != nil {
			return err
		}
		x.keepSecret()
		x.send(http.StatusOK, nil)
		return errAnswered
	}
	about := metadata{
		Name: first.Summary, Description: first.About, Renders: []string{"application/json"}, Parses: []string{"application/json"},
		Actions: map[string]field.Described{},
	}
	if first.Follow != nil {
		about.Renders = []string{eventStream}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		r := x.endpoint.methods[method]
		if r == nil || r.Request.Fields == nil {
			continue
		}
		may, err := x.mayCall(r)
		if err != nil {
			return err
		}
		if may {
			about.Actions[method] = r.Request.Fields().Describe(r.Request.Mode, r.answerFields())
		}
	}
	if err := x.settle(); err != nil {
		return err
	}
	x.sendMetadata(about)
	return errAnswered
}

func (r *Route) answerFields() field.Set {
	if r.Answer.Fields == nil {
		return nil
	}
	return r.Answer.Fields()
}

// mayCall tells whether the caller may make a call, as far as that can be told
// without making it: by their role, and by what the path names.
func (x *exchange) mayCall(r *Route) (bool, error) {
	if r.Access.Fits != nil && !r.Access.Fits(x.call.Caller) {
		return false, nil
	}
	if r.Find == nil {
		return true, nil
	}
	_, _, err := r.Find(x.r.Context(), x.call)
	if err == nil {
		return true, nil
	}
	if refusal := x.t.refusalOf(err); refusal != nil && refusal.Status < http.StatusInternalServerError {
		return false, nil
	}
	return false, err
}

func (x *exchange) sendMetadata(about metadata) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(about); err != nil {
		panic(errors.Join(errors.New("route: describe "+x.endpoint.path), err)) // fields are always JSON
	}
	x.keepSecret()
	x.w.Header().Set("Content-Type", "application/json")
	x.send(http.StatusOK, indented(bytes.TrimSuffix(body.Bytes(), []byte("\n")), x.indent))
}
