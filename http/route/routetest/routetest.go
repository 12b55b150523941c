// Package routetest holds conversations with the API, as one would hold them
// with curl. A file has one turn after another, parted by blank lines: what is
// said, and after "=>" what comes back.
//
//	# An order is placed.
//	POST /storefront/api/orders/
//	X-API-Key: <key>
//	{"plan_id": 7, "customer_email": "ana@example.com"}
//	=> 201 Created
//	Location: <base>/storefront/api/orders/<uuid:order>/
//	{"order_id":"<order>","status":"payment_processing"}
//
// A body is sent as application/json unless the turn names a Content-Type. Of
// the answer's headers only those named are compared; "Name: -" means that
// there is none. "<uuid>", "<int>", "<time>", "<number>" and "<any>" stand for
// whatever has that form, "<etc>" for anything at all; "<uuid:order>" keeps it as "<order>" for later turns
// and for the rest of this one. "<totp:secret>" is the present one-time password of
// the secret that was kept under this name, "<next_totp:secret>" the next one. A line of the body with a full stop alone is an
// empty one. The body is compared to the byte.
package routetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// Known are the names that a conversation may use from its beginning.
type Known map[string]string

// Run holds every conversation whose file matches the pattern, each with a
// server of its own.
func Run(t *testing.T, pattern string, begin func(*testing.T) (http.Handler, Known)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations match %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			server, known := begin(t)
			Hold(t, server, string(text), known)
		})
	}
}

// Hold holds one conversation. It stops at the first turn that goes wrong,
// because later ones depend on it.
func Hold(t *testing.T, server http.Handler, text string, known Known) {
	t.Helper()
	names := Known{}
	for name, value := range known {
		names[name] = value
	}
	for _, turn := range Parse(text) {
		answer := turn.say(server, names)
		if err := turn.compare(answer, names); err != nil {
			t.Fatalf("line %d: %s %s\n%v", turn.Line, turn.Method, turn.Path, err)
		}
	}
}

// A Turn is one request and the answer that is expected.
type Turn struct {
	Line         int // in the file
	Method, Path string
	Headers      [][2]string
	Body         string
	Status       string
	WantHeaders  [][2]string
	WantBody     string
}

// Parse reads the turns of a conversation.
func Parse(text string) []Turn {
	var turns []Turn
	line := 1
	for _, block := range strings.Split(text, "\n\n") {
		if turn, ok := parseTurn(block); ok {
			turn.Line = line
			turns = append(turns, turn)
		}
		line += strings.Count(block, "\n") + 2
	}
	return turns
}

func parseTurn(block string) (Turn, bool) {
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(block, "\n"), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	said, want, _ := strings.Cut(strings.Join(lines, "\n"), "\n=> ")
	if strings.TrimSpace(said) == "" {
		return Turn{}, false
	}
	var t Turn
	var first string
	first, t.Headers, t.Body = split(said)
	t.Method, t.Path, _ = strings.Cut(first, " ")
	t.Status, t.WantHeaders, t.WantBody = split(want)
	t.WantBody = emptyLine.ReplaceAllString(t.WantBody, "")
	return t, true
}

var emptyLine = regexp.MustCompile(`(?m)^\.$`)

var header = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):\s*(.*)$`)

// split takes a first line, headers and a body apart.
func split(s string) (first string, headers [][2]string, body string) {
	first, rest, _ := strings.Cut(s, "\n")
	for rest != "" {
		line, more, _ := strings.Cut(rest, "\n")
		parts := header.FindStringSubmatch(line)
		if parts == nil {
			break
		}
		headers = append(headers, [2]string{parts[1], parts[2]})
		rest = more
	}
	return first, headers, rest
}

func (t Turn) say(server http.Handler, names Known) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), t.Method, names.fill(t.Path), strings.NewReader(names.fill(t.Body)))
	if t.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range t.Headers {
		r.Header.Set(h[0], names.fill(h[1]))
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w
}

func (t Turn) compare(w *httptest.ResponseRecorder, names Known) error {
	if got := w.Result().Status; got != t.Status {
		return fmt.Errorf(" got %s %s\nwant %s", got, w.Body, t.Status)
	}
	for _, h := range t.WantHeaders {
		got, want := w.Header().Get(h[0]), h[1]
		if want == "-" && len(w.Header().Values(h[0])) == 0 {
			continue
		}
		if !names.match(want, got) {
			return fmt.Errorf("header %s\n got %s\nwant %s", h[0], got, names.fill(want))
		}
	}
	if got := strings.TrimSuffix(w.Body.String(), "\n"); !names.match(t.WantBody, got) {
		return fmt.Errorf(" got %s\nwant %s", got, names.fill(t.WantBody))
	}
	return nil
}

// forms are what stands for any value of a kind.
var forms = map[string]string{
	"uuid":   `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	"int":    `[0-9]+`,
	"time":   `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z`,
	"number": `ORD-[0-9]{8}-[0-9A-HJKMNP-TV-Z]{6}`,
	"any":    `[^"]*`,
	"etc":    `(?s:.*)`,
}

var placeholder = regexp.MustCompile(`<(\w+)(?::(\w+))?>`)

// fill puts known values in place of their names.
func (k Known) fill(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		name := strings.Trim(p, "<>")
		if value, is := k[name]; is {
			return value
		}
		form, secret, _ := strings.Cut(name, ":")
		if ahead, is := later[form]; is && k[secret] != "" {
			return oneTime(k[secret], ahead)
		}
		return p
	})
}

// later says of which step of time a one-time password is.
var later = map[string]time.Duration{"totp": 0, "next_totp": 30 * time.Second}

func oneTime(secret string, later time.Duration) string {
	code, err := totp.GenerateCode(secret, time.Now().Add(later))
	if err != nil {
		panic(err)
	}
	return code
}

// match compares a text with what was expected, and keeps what it names.
func (k Known) match(want, got string) bool {
	var pattern strings.Builder
	var keep []string
	rest := k.fill(want)
	for {
		at := placeholder.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		p := placeholder.FindStringSubmatch(rest[at[0]:])
		form, isForm := forms[p[1]]
		if !isForm {
			form = regexp.QuoteMeta(p[0])
		}
		pattern.WriteString("(" + form + ")")
		keep = append(keep, p[2])
		rest = rest[at[1]:]
	}
	found := regexp.MustCompile(`^` + pattern.String() + regexp.QuoteMeta(rest) + `$`).FindStringSubmatch(got)
	for i, name := range keep {
		if found != nil && name != "" {
			k[name] = found[i+1]
		}
	}
	return found != nil
}
