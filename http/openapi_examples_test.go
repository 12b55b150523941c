package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/http/route"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// Each operation that takes or answers a record has an example in the API
// document. It is a turn of a conversation that a test holds with the panel;
// those in testdata/examples come first. `make generate` writes the file anew.
func TestEveryOperationHasAnExampleFromAConversation(t *testing.T) {
	t.Parallel()
	operations := operationsIn(t, declared().Document())
	all := map[string]route.Example{}
	for _, turn := range conversations(t) {
		op, known := operations.of(turn)
		if _, has := all[op.ID]; has || !known {
			continue
		}
		if example, whole := turn.exampleOf(op); whole {
			all[op.ID] = example
		}
	}
	for _, op := range operations {
		if _, has := all[op.ID]; !has && op.needsExample() {
			t.Errorf("%s %s has no example: hold a conversation about it in testdata/examples", op.method, op.path)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(all); err != nil {
		t.Fatal(err)
	}
	if found := longSecret.FindString(text.String()); found != "" {
		t.Errorf("%s looks like a secret: put <any> in its place in the conversation", found)
	}
	paneltest.Current(t, "examples.json", text.String())
}

// longSecret is a text of letters and digits as random ones look. Identifiers
// have hyphens between shorter parts.
var longSecret = regexp.MustCompile(`[A-Za-z0-9+/_]{24,}[0-9=]|[A-Za-z]+[0-9][A-Za-z0-9+/]{22,}`)

// A toldTurn is a turn with the names that its conversation gives to values.
type toldTurn struct {
	routetest.Turn
	names map[string]string // the forms that they have
}

var naming = regexp.MustCompile(`<(\w+):(\w+)>`)

// conversations are all turns that tests hold, those of the examples first.
func conversations(t *testing.T) (all []toldTurn) {
	t.Helper()
	first, _ := filepath.Glob("testdata/examples/*.http")
	others, _ := filepath.Glob("testdata/*/*.http")
	shops, _ := filepath.Glob("testdata/*.http")
	for _, file := range slices.Concat(first, others, shops) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, found := range naming.FindAllStringSubmatch(string(text), -1) {
			names[found[2]] = found[1]
		}
		for _, turn := range routetest.Parse(string(text)) {
			if !strings.HasPrefix(file, "testdata/clients/") { // those say nothing about answers
				all = append(all, toldTurn{turn, names})
			}
		}
	}
	return all
}

// A describedOperation is one of the API document.
type describedOperation struct {
	method, path string
	matches      *regexp.Regexp
	ID           string `json:"operationId"`
	RequestBody  struct{ Content map[string]any }
	Responses    map[string]struct{ Content map[string]any }
}

type describedOperations []describedOperation

func operationsIn(t *testing.T, document []byte) (all describedOperations) {
	t.Helper()
	var read struct {
		Paths map[string]map[string]describedOperation
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	for path, item := range read.Paths {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
		for method, op := range item {
			op.method, op.path, op.matches = strings.ToUpper(method), path, regexp.MustCompile(`^`+pattern+`$`)
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b describedOperation) int { // "{" sorts behind all letters, so fixed paths come first
		return strings.Compare(a.path+a.method, b.path+b.method)
	})
	return all
}

// of is the operation of a turn.
func (all describedOperations) of(turn toldTurn) (describedOperation, bool) {
	path, _, _ := strings.Cut(turn.Path, "?")
	i := slices.IndexFunc(all, func(o describedOperation) bool {
		return o.method == turn.Method &&
			o.matches.MatchString(path)
	})
	if i < 0 {
		return describedOperation{}, false
	}
	return all[i], true
}

// takes tells whether the operation has a body that examples show.
func (o describedOperation) takes() bool {
	return o.RequestBody.Content["application/json"] != nil ||
		o.RequestBody.Content["*/*"] != nil && o.answers("200") != ""
}

// answers tells the media type of a body that examples show.
func (o describedOperation) answers(status string) string {
	for _, media := range []string{"application/json", "text/event-stream"} {
		if o.Responses[status].Content[media] != nil {
			return media
		}
	}
	return ""
}

// needsExample excepts pages and files, what has no body, and the document
// itself.
func (o describedOperation) needsExample() bool {
	if o.path == "/api/schema/" {
		return false
	}
	return o.takes() || slices.ContainsFunc([]string{"200", "201", "202"},
		func(status string) bool { return o.answers(status) != "" })
}

// exampleOf is the turn as an example, if it is a success that the conversation
// has all of.
func (c toldTurn) exampleOf(o describedOperation) (route.Example, bool) {
	status, _, _ := strings.Cut(c.Status, " ")
	if _, described := o.Responses[status]; status >= "300" || !described || !o.needsExample() {
		return route.Example{}, false
	}
	example := route.Example{Request: c.stable(c.Body), Answer: c.stable(c.WantBody)}
	example.Status, _ = strconv.Atoi(status)
	if o.answers(status) == "text/event-stream" {
		example.Answer = c.heard()
	}
	return example, o.takes() == (example.Request != nil) && (o.answers(status) != "") == (example.Answer != nil)
}

// heard is the body of a stream.
func (c toldTurn) heard() json.RawMessage {
	if !strings.Contains(c.WantBody, "event:") {
		return nil
	}
	text, _ := json.Marshal(strings.TrimSpace(c.filled(c.WantBody)))
	return text
}

// stable is a body whose changing values are always the same, and whose lists
// are short; nil, if the conversation does not have all of it.
func (c toldTurn) stable(body string) json.RawMessage {
	text := []byte(c.filled(body))
	if len(text) == 0 || !json.Valid(text) {
		return nil
	}
	return shortened(text)
}

// The values of examples, by the forms and names of conversations.
var exampleValues = map[string]string{
	"uuid": "7f3c9c1e-5b1a-4c52-9d0e-3a1f6b2c8d4e", "int": "12", "time": "2026-03-01T09:30:00Z",
	"number": "ORD-20260301-7K3M9Q",
	"any":    "…", "totp": "287082", "next_totp": "081804", "etc": "", "base": paneltest.PublicURL,
	"password": "a password of yours", "external": "17", "astray": "7",
}

// exampleIDs are identifiers that tests give to conversations.
var exampleIDs = strings.Fields("running failed unpaid odd by_hand ended_order graced graced_order waiting " +
	"waiting_order stuck incident other_incident " +
	"first second third foreign pending delivered run parked adopted remade removed changed invoice open_invoice " +
	"waived_invoice subscription credit_note card changing balance movement")

var standsFor = regexp.MustCompile(`,?<etc>,?|<(\w+)(?::(\w+))?>`)

func (c toldTurn) filled(text string) string {
	return standsFor.ReplaceAllStringFunc(text, func(found string) string {
		form, name, _ := strings.Cut(strings.Trim(found, "<>,"), ":")
		if form == "etc" {
			return ""
		}
		if kind, given := c.names[form]; given {
			form, name = kind, form
		}
		switch {
		case form == "uuid" && name != "", slices.Contains(exampleIDs, form):
			return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name+form)).String()
		case strings.HasSuffix(form, "_number"):
			return exampleValues["number"]
		}
		if value, known := exampleValues[form]; known {
			return value
		}
		return found
	})
}

// shortened has no more than two records in a list.
func shortened(text json.RawMessage) json.RawMessage {
	const most = 2
	if text = bytes.TrimSpace(text); text[0] != '[' && text[0] != '{' {
		return text
	}
	var parts []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, _ = decoder.Token()
	for decoder.More() {
		label := ""
		if text[0] == '{' {
			key, _ := decoder.Token()
			label = fmt.Sprintf("%q:", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil
		}
		if text[0] == '[' && len(parts) == most && value[0] == '{' {
			break
		}
		parts = append(parts, label+string(shortened(value)))
	}
	return json.RawMessage(string(text[0]) + strings.Join(parts, ",") +
		string(text[0]+2)) // "]" and "}" stand two behind "[" and "{"
}
