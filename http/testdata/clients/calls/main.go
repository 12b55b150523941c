// Command calls makes every call of calls.http with the client that
// oapi-codegen has generated.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"clients/client"
)

// known is what the panel is, who calls, and what answers have told.
var known map[string]string

func main() {
	if err := json.Unmarshal([]byte(os.Getenv("PANEL")), &known); err != nil {
		log.Fatalf("read who calls: %v", err)
	}
	panel, err := client.NewClientWithResponses(known["url"])
	if err != nil {
		log.Fatal(err)
	}
	calls(context.Background(), panel)
}

// fill puts what is known in place of its name.
func fill(text string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "<"+name+">", value)
	}
	return text
}

// from reads a T that has to know every field of the text.
func from[T any](text string) (t T) {
	decoder := json.NewDecoder(strings.NewReader(fill(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		log.Fatalf("%s is no %T: %v", text, t, err)
	}
	return t
}

// with sends headers, in pairs.
func with(headers ...string) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], fill(headers[i+1]))
		}
		return nil
	}
}

type answer interface {
	StatusCode() int
	GetBody() []byte
}

// said holds an answer against what has to come; the line is that of
// calls.http.
func said(line, status int, a answer, err error) {
	switch {
	case err != nil:
		log.Fatalf("calls.http:%d: %v", line, err)
	case a.StatusCode() != status:
		log.Fatalf("calls.http:%d answers %d, not %d: %s", line, a.StatusCode(), status, bytes.TrimSpace(a.GetBody()))
	}
}

// keep remembers what an answer has told.
func keep(name string, value any) { known[name] = fmt.Sprint(value) }
