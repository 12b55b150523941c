//go:build system

package census_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/paneltest"
)

// hostileTexts are query values, escaped, that no text of a record can be.
var hostileTexts = []string{
	"%ff", "%00", "a%0Ab", "%ed%a0%80", "%", "a;b", "%E2%80%A8", strings.Repeat("x", 300),
	"%27%22%5C--",
}

var pathVariables = regexp.MustCompile(`\{[^{}]*\}`)

// Whatever bytes a list is asked for, it answers; and a text filter that none
// can match finds none.
func TestListsAnswerAnyBytes(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	s.Do(t, paneltest.Endpoint(1, 1))
	s.Do(t, hosting.Request{
		Ref: hosting.Ref{Kind: "dns_zone", ID: 1}, Tenant: 1,
		Spec: (&hosting.DNSZone{Origin: "bread.example.", TTL: 3600}).Fields().Values(),
	})
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "vm", ID: 1}, Tenant: 1, Spec: hosting.NewMachine(1, "").Fields().Values()})
	lists := 0
	for _, r := range s.Server.Routes() {
		if !r.Answer.Paged {
			continue
		}
		lists++
		path := pathVariables.ReplaceAllString(r.Path, "1")
		names := []string{"search", "ordering", "page", "page_size", "unknown"}
		for _, p := range r.Params {
			names = append(names, p.Field.Name)
		}
		for _, name := range names {
			for _, text := range hostileTexts {
				w := s.Call("GET", path+"?"+name+"="+text, "", paneltest.Bearer(s.Known["root"])...)
				if w.Code >= http.StatusInternalServerError {
					t.Errorf("%s?%s=%s: %d %s", path, name, text, w.Code, w.Body)
				}
			}
			if at := slices.IndexFunc(r.Params, func(p route.Param) bool { return p.Field.Name == name }); at >= 0 &&
				isFreeText(r.Params[at].Field) {
				w := s.Call("GET", path+"?"+name+"="+strings.Repeat("x", 300), "", paneltest.Bearer(s.Known["root"])...)
				if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{"count":0,`) && w.Body.String() != "[]" {
					t.Errorf("%s is filtered by a text that no %s is: %d %.80s", path, name, w.Code, w.Body)
				}
			}
		}
	}
	if lists < 20 {
		t.Errorf("only %d lists", lists)
	}
}

// isFreeText tells filters by a text that is none of a list of choices.
func isFreeText(f field.Field) bool {
	_, text := f.Value().(string)
	return text && f.OneOf == nil && f.Name != "ordering"
}

// wrongValues are JSON values of every type, most of which a field cannot be.
var wrongValues = []string{
	`true`, `"x"`, `5`, `-1`, `1.5`, `[]`, `{}`, `[[]]`, `[true]`, `"a\u0000b"`, `"\ud800"`,
	`""`, `null`, `"%ff"`,
}

// What cannot be a value of a field gets one message, not a second one that
// follows from a value which was never read.
func TestAValueOfTheWrongTypeGetsOneMessage(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	type said map[string]any
	for _, r := range s.Server.Routes() {
		if r.Method != http.MethodPost || r.Request.Fields == nil || strings.Contains(r.Path, "{") ||
			strings.HasPrefix(r.Path, "/storefront") {
			continue
		}
		for _, f := range r.Request.Fields() {
			for _, value := range wrongValues {
				w := s.Call("POST", r.Path, fmt.Sprintf(`{%q:%s}`, f.Name, value), paneltest.Bearer(s.Known["root"])...)
				if w.Code >= http.StatusInternalServerError {
					t.Errorf("%s with %s %s: %d %s", r.Path, f.Name, value, w.Code, w.Body)
				}
				var body said
				_ = json.Unmarshal(w.Body.Bytes(), &body) // other answers name no fields
				if all, _ := body[f.Name].([]any); len(all) > 1 && isTypeMessage(all) {
					t.Errorf("%s with %s %s says %q", r.Path, f.Name, value, all)
				}
			}
		}
	}
}

// isTypeMessage tells messages that a value was not read at all.
func isTypeMessage(messages []any) bool {
	return slices.ContainsFunc(messages, func(m any) bool {
		text := fmt.Sprint(m)
		return strings.HasPrefix(text, "Expected ") || strings.HasPrefix(text, "Not a valid") ||
			strings.HasPrefix(text, "This list may") ||
			strings.HasSuffix(text, "may not be null.") || strings.HasSuffix(text, "may not be blank.") ||
			strings.HasPrefix(text, "A valid")
	})
}

// Forms whose bytes are no text are refused, wherever they are sent.
func TestFormsTakeTexts(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	forms := 0
	for _, r := range s.Server.Routes() {
		if r.Method != http.MethodPost || r.Show == nil || strings.Contains(r.Path, "{") {
			continue
		}
		forms++
		for _, body := range []string{
			"username=%ff&password=x&form=sign_in", "username=a%00b&password=x", "%ff=1",
			"email=%ed%a0%80&form=reset",
		} {
			w := s.Call("POST", r.Path, body, "Content-Type", "application/x-www-form-urlencoded")
			if w.Code >= http.StatusInternalServerError {
				t.Errorf("%s with %s: %d %s", r.Path, body, w.Code, w.Body)
			}
		}
	}
	if forms == 0 {
		t.Error("no route takes a form")
	}
	if w := s.Call("POST", "/login/", "username=%ff&password=x", "Content-Type",
		"application/x-www-form-urlencoded"); w.Code != http.StatusBadRequest {
		t.Errorf("a sign-in without UTF-8: %d", w.Code)
	}
}
