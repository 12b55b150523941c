package routetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const conversation = `# Somebody greets.
GET /hello/
X-Name: <who>
=> 200 OK
X-Seen: <int:seen>
X-None: -
{"hello":"<who>","id":"<uuid:id>"}

# And comes back.
POST /again/<id>/
{"seen":<seen>}
=> 200 OK
{"hello":"","id":"<id>"}
`

func echo(id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", "41")
		_, _ = fmt.Fprintf(w, `{"hello":"%s","id":"%s"}`, r.Header.Get("X-Name"), id)
	})
}

func TestAConversationKeepsWhatItNames(t *testing.T) {
	Hold(t, echo("3f2504e0-4f89-41d3-9a0c-0305e82c3301"), conversation, Known{"who": "Ana"})
	turns := Parse(conversation)
	if len(turns) != 2 || turns[1].Line != 9 || turns[1].Method != "POST" || turns[1].Body != `{"seen":<seen>}` {
		t.Errorf("%+v", turns)
	}
}

func TestWhatDiffersIsFound(t *testing.T) {
	turn := Parse(conversation)[0]
	right := Known{"who": "Ana"}
	answer := turn.say(echo("3f2504e0-4f89-41d3-9a0c-0305e82c3301"), right)
	if err := turn.compare(answer, right); err != nil || right["seen"] != "41" {
		t.Fatalf("%v %v", err, right)
	}
	wrong := map[string]func(*Turn){
		"status": func(t *Turn) { t.Status = "201 Created" },
		"header": func(t *Turn) { t.WantHeaders = [][2]string{{"X-Seen", "42"}} },
		"absent": func(t *Turn) { t.WantHeaders = [][2]string{{"X-Seen", "-"}} },
		"body":   func(t *Turn) { t.WantBody += " " },
		"form":   func(t *Turn) { t.WantBody = `{"hello":"<int>","id":"<uuid>"}` },
		"name":   func(t *Turn) { t.WantBody = `{"hello":"<nobody>","id":"<uuid>"}` },
	}
	for what, change := range wrong {
		other := turn
		change(&other)
		if other.compare(answer, Known{"who": "Ana"}) == nil {
			t.Errorf("another %s was not noticed", what)
		}
	}
}

// A listener keeps what a watch finds.
type listener struct {
	testing.TB
	heard []string
}

func (l *listener) Helper() {}

func (l *listener) Errorf(format string, args ...any) {
	l.heard = append(l.heard, fmt.Sprintf(format, args...))
}

const document = `{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/hello/": {"get": {"responses": {"200": {
	"description": "x", "headers": {"X-Left": {"schema": {"type": "integer"}}}, "content": {"application/json": {
	"schema": {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}}}}}}}}}`

// Answers that differ from the document are found: in status, media type, form and format.
func TestAnAnswerThatIsNotDescribedIsFound(t *testing.T) {
	description := Read(t, []byte(document))
	for _, test := range []struct {
		status            int
		media, left, body string
		want              string
	}{
		{200, "application/json", "41", `{"at":"2026-01-02T03:04:05Z"}`, ""},
		{200, "application/json", "41", `{"at":"yesterday"}`, "date-time"},
		{200, "application/json", "41", `{"at":5}`, "want string"},
		{200, "application/json", "41", `[]`, "want object"},
		{200, "application/json", "41", `{`, "no JSON"},
		{200, "text/plain", "", `{}`, "text/plain that is not described"},
		{200, "application/json", "many", `{}`, "header X-Left"},
		{200, "application/json", "4.5", `{}`, "want integer"},
		{201, "application/json", "", `{}`, "status 201 is not described"},
	} {
		l := &listener{TB: t}
		watched := description.Watch(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", test.media)
			w.Header().Set("X-Left", test.left)
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}))
		watched.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/hello/", nil))
		if heard := strings.Join(l.heard, "\n"); !strings.Contains(heard, test.want) || (test.want == "") != (heard == "") {
			t.Errorf("%d %s %s: %q, want %q", test.status, test.media, test.body, heard, test.want)
		}
	}
}
