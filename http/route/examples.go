package route

import (
	"encoding/json"
	"maps"
	"strconv"
)

// An Example is a call of an operation and its answer, for the API document.
// What is not JSON is a JSON text.
type Example struct {
	Status  int             `json:"status"`
	Request json.RawMessage `json:"request,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// exemplify adds the example of an operation to its description.
func (e Example) exemplify(op map[string]any) {
	if request, takes := op["requestBody"].(map[string]any); takes && e.Request != nil {
		request["content"] = showing(request["content"], e.Request)
	}
	responses, _ := op["responses"].(map[string]any)
	if answer, known := responses[strconv.Itoa(e.Status)].(map[string]any); known && e.Answer != nil {
		answer["content"] = showing(answer["content"], e.Answer)
	}
}

// showing is the content of a body with an example.
func showing(content any, example json.RawMessage) map[string]any {
	shown := map[string]any{}
	types, _ := content.(map[string]any)
	for media, described := range types {
		body, _ := described.(map[string]any)
		body = maps.Clone(body)
		body["example"] = example
		shown[media] = body
	}
	return shown
}
