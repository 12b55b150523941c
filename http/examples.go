package http

import (
	_ "embed" // the examples
	"encoding/json"
	"sync"

	"hostpanel/http/route"
)

//go:embed examples.json
var exampleFile []byte

// examples are those of the API document, by operation. `make generate` takes
// them from the conversations in testdata, which tests hold with the panel.
var examples = sync.OnceValue(func() map[string]route.Example {
	var all map[string]route.Example
	if err := json.Unmarshal(exampleFile, &all); err != nil {
		panic("http: examples.json: " + err.Error())
	}
	return all
})
