package route_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hostpanel/http/route"
)

func TestTheDocumentShowsTheExamplesOfOperations(t *testing.T) {
	s := &shop{}
	const request, answer = `"example":{"domain":"a<b"}`, `"example":{"id":1}`
	options := route.Options{Examples: map[string]route.Example{
		"order_create": {Status: 201, Request: json.RawMessage(`{"domain":"a<b"}`), Answer: json.RawMessage(`{"id":1}`)},
		"never_made":   {Status: 200, Answer: json.RawMessage(`{"id":2}`)},
	}}
	document := string(route.Mount(options, s.storefront()).JSON())
	if strings.Count(document, request) != 1 || strings.Count(document, answer) != 1 || strings.Contains(document, `{"id":2}`) {
		t.Errorf("the examples are not where they belong")
	}
	if again := string(route.Mount(route.Options{}, s.storefront()).JSON()); strings.Contains(again, `"example"`) {
		t.Error("an example has become a part of the declaration")
	}
}
