//go:build system

package browser_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"hostpanel/http/samplecode"
	"hostpanel/http/samplecode/samplecodetest"
)

// nasty has what is special in a shell, in JavaScript, in Go, in Python and in JSON.
const nasty = "it's \\ \" ` ${HOME} \"\"\" \\n $(id) ñ €"

func TestSamplesSendWhatTheCallSays(t *testing.T) {
	var last atomic.Pointer[[]string] // what was sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last.Store(&[]string{
			r.Method, r.URL.RequestURI(), r.Header.Get("X-Name"), r.Header.Get("Content-Type"),
			string(body),
		})
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("the answer"))
	}))
	defer server.Close()
	for _, call := range []samplecode.Call{
		{
			Method: "GET", URL: server.URL + "/a/?b=c&d=e",
			Headers: []samplecode.Header{{Name: "X-Name", Value: "it's \"so\""}},
		},
		{Method: "POST", URL: server.URL + "/a/", Body: []byte(`{"text":` + quoted(nasty) + `,"more":[1,true,null]}`)},
		{Method: "POST", URL: server.URL + "/empty/"},
		{Method: "PATCH", URL: server.URL + "/a/", Body: []byte(`{}`)},
		{Method: "DELETE", URL: server.URL + "/a/"},
	} {
		for _, s := range samplecode.Of(call) {
			t.Run(call.Method+" "+s.Name, func(t *testing.T) {
				if said := samplecodetest.Run(t, s.Name, s.Code); !strings.Contains(said, "the answer") {
					t.Fatalf("%s\n%s", said, s.Code)
				}
				got, media, name := *last.Swap(new([]string)), "", ""
				if call.Body != nil {
					media = "application/json"
				}
				for _, h := range call.Headers {
					name = h.Value
				}
				want := []string{call.Method, strings.TrimPrefix(call.URL, server.URL), name, media, string(call.Body)}
				for i := range want {
					if i == 4 && compact(got[i]) == compact(want[i]) {
						continue
					}
					if got[i] != want[i] {
						t.Errorf("%q was sent, not %q\n%s", got[i], want[i], s.Code)
					}
				}
			})
		}
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// compact is JSON as one writes it with the fewest characters.
func compact(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	b, _ := json.Marshal(value)
	return string(b)
}
