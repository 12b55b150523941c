package samplecode_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hostpanel/http/samplecode"
)

// nasty has what is special in a shell, in JavaScript, in Go, in Python and in JSON.
const nasty = "it's \\ \" ` ${HOME} \"\"\" \\n $(id) ñ €"

var runners = map[string]func(t *testing.T, code string) *exec.Cmd{
	"curl": func(_ *testing.T, code string) *exec.Cmd { return exec.Command("sh", "-c", code) },
	"javascript": func(t *testing.T, code string) *exec.Cmd {
		return exec.Command("node", written(t, "call.mjs", code))
	},
	"go": func(t *testing.T, code string) *exec.Cmd {
		return exec.Command("go", "run", written(t, "main.go", code))
	},
	"python": func(t *testing.T, code string) *exec.Cmd { return exec.Command("python3", written(t, "call.py", code)) },
}

func written(t *testing.T, name, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// program is what a language needs.
var program = map[string]string{"curl": "curl", "javascript": "node", "go": "go", "python": "python3"}

func TestSamplesSendWhatTheCallSays(t *testing.T) {
	var last atomic.Pointer[[]string] // what was sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last.Store(&[]string{r.Method, r.URL.RequestURI(), r.Header.Get("X-Name"), r.Header.Get("Content-Type"), string(body)})
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("the answer"))
	}))
	defer server.Close()
	for _, call := range []samplecode.Call{
		{Method: "GET", URL: server.URL + "/a/?b=c&d=e", Headers: []samplecode.Header{{Name: "X-Name", Value: "it's \"so\""}}},
		{Method: "POST", URL: server.URL + "/a/", Body: []byte(`{"text":` + quoted(nasty) + `,"more":[1,true,null]}`)},
		{Method: "POST", URL: server.URL + "/empty/"},
		{Method: "PATCH", URL: server.URL + "/a/", Body: []byte(`{}`)},
		{Method: "DELETE", URL: server.URL + "/a/"},
	} {
		for _, s := range samplecode.Of(call) {
			t.Run(call.Method+" "+s.Name, func(t *testing.T) {
				if _, err := exec.LookPath(program[s.Name]); err != nil {
					t.Skip(program[s.Name] + " is not installed")
				}
				out, err := runners[s.Name](t, s.Code).CombinedOutput()
				if err != nil || !strings.Contains(string(out), "the answer") {
					t.Fatalf("%v: %s\n%s", err, out, s.Code)
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

func TestEveryLanguageHasASample(t *testing.T) {
	for _, s := range samplecode.Of(samplecode.Call{Method: "GET", URL: "https://panel.example/"}) {
		if runners[s.Name] == nil || s.Title == "" || s.Code == "" {
			t.Errorf("%+v", s)
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
