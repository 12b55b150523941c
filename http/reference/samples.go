package reference

import (
	"strings"

	"hostpanel/http/samplecode"
)

// Placeholders for what a caller has: a test replaces them, and so does the reader.
const (
	Token  = "ACCESS_TOKEN"
	APIKey = "YOUR_API_KEY"
)

// samplesOf are programs that make the call of an operation; none, where a page
// answers, which browsers alone ask for.
func (d *document) samplesOf(server, path, method string, op *operation) []samplecode.Sample {
	if kind, _, _ := first(op.success().Content); kind == "text/html" {
		return nil
	}
	call := samplecode.Call{
		Method: strings.ToUpper(method), URL: server + filled(path, op.Parameters), Headers: d.credentials(op),
	}
	if _, m, known := first(op.RequestBody.Content); known && len(m.Example) > 0 {
		call.Body = m.Example
	}
	return samplecode.Of(call)
}

// credentials are the header that lets a program in.
func (d *document) credentials(op *operation) []samplecode.Header {
	for _, all := range op.Security {
		for name := range all {
			switch s := d.Components.SecuritySchemes[name]; {
			case s.Scheme == "bearer":
				return []samplecode.Header{{Name: "Authorization", Value: "Bearer " + Token}}
			case s.In == "header" && name == "apiKey":
				return []samplecode.Header{{Name: s.Name, Value: APIKey}}
			}
		}
	}
	return nil
}

// filled is the path with values in it that have the right form.
func filled(path string, all []parameter) string {
	for _, p := range all {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", valueOf(p))
		}
	}
	return path
}

func valueOf(p parameter) string {
	switch {
	case p.Schema != nil && p.Schema.Type == "integer":
		return "1"
	case p.Schema != nil && p.Schema.Format == "uuid":
		return "00000000-0000-4000-8000-000000000000"
	}
	return strings.ToUpper(p.Name)
}

// success is the answer when all is well: the one with the lowest status.
func (op *operation) success() response {
	lowest := ""
	for status := range op.Responses {
		if lowest == "" || status < lowest {
			lowest = status
		}
	}
	return op.Responses[lowest]
}
